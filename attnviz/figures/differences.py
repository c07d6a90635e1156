"""One stage of two computations, A and B, side by side, and B − A."""

from dataclasses import replace

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.compare import difference
from attnviz.core.errors import ScenarioError
from attnviz.core.numbers import format_number
from attnviz.core.stages import STAGES
from attnviz.core.trace import Trace
from attnviz.figures.blocks import Parts, shape
from attnviz.figures.canvas import arranged, painted
from attnviz.figures.hover import Rows
from attnviz.figures.labels import text_width, wrapped
from attnviz.figures.panel import LARGEST, MAX_HOVER_CELLS, SMALLEST, Panel, ends, resolve, widest
from attnviz.figures.places import place_of
from attnviz.figures.view import Marks, Spec, View

DIFFERENCE = "B − A"
MAX_PAIRS = 5000  # cells up to which the hovers of a difference also say A and B


def difference_picture(a: Trace, b: Trace, key: str, head: int | None, view: View) -> Spec:
    """A, B and B − A of one stage; where there is no difference, a sentence says why.

    A and B share one colour range; B − A has its own, the same for all heads. Each heatmap's
    `meta` also says which of the three it is.

    Args:
        a, b: two computations.
        key: a stage of at least one of them.
        head: the query head, from 0; None for stages without heads.
        view: how it is shown.

    Raises:
        ScenarioError: neither of them has such a stage or head.
    """
    traces = {"A": a, "B": b}
    shown: dict[str, Panel] = {}
    said: list[str] = []
    for name, trace in traces.items():
        lack = _lack(trace, key, head)
        if lack:
            said.append(f"{name} has no {lack}, so there is no difference.")
        else:
            shown[name] = replace(resolve(trace, [(key, head)], view, small=True)[0], title=name)
    if not shown:
        b.index("attention", head)
        resolve(b, [(key, head)], view)
    if not said:
        low, high = min(p.low for p in shown.values()), max(p.high for p in shown.values())
        shown = {name: replace(panel, low=low, high=high) for name, panel in shown.items()}
        try:
            change = difference(a, b, key)
            shown[DIFFERENCE] = _difference(shown["A"], shown["B"], change, view)
            if a[key].shape[-2:] != b[key].shape[-2:]:
                said.append(f"{DIFFERENCE} is of the words that both have, from the first on.")
        except ScenarioError as error:
            said.append(str(error))
    cells = sum(panel.values.size for panel in shown.values())
    widths = [widest(panel.values, view.decimals) for panel in shown.values()]
    most = max(widths, key=lambda text: text_width(text, 1))
    shown = {name: replace(panel, widest=most) for name, panel in shown.items()}
    if cells <= MAX_HOVER_CELLS:
        hovers = _hovers(traces, shown)
        shown = {name: replace(panel, hover=hovers[name]) for name, panel in shown.items()}
    *others, last = shown.values()
    where = f", head {(head or 0) + 1}" if last.head is not None else ""
    row = Parts(
        kind="row",
        operands=tuple(others),
        result=last,
        steps=(False,) * len(others),
        sign="",
        formula=f"{_title(key)}{where}",
        said=(last.conventions[0], *said),
    )
    trace = traces[next(iter(shown))]
    spec = painted(trace, arranged(trace, row, view), view, Marks())
    names = tuple(shown)
    for part in spec["data"]:
        if part["type"] != "heatmap":
            continue
        name = names[place_of(part["xaxis"])]
        part["meta"] = [*part["meta"], name]
        panel = shown[name]
        if name == DIFFERENCE and panel.hover is None and panel.values.size <= MAX_PAIRS:
            part["customdata"] = _pairs(shown["A"].values, shown["B"].values, panel.values.shape)
    return spec


def _lack(trace: Trace, key: str, head: int | None) -> str:
    """What a trace has not: a stage or a head, in words; empty where it has both."""
    if all(stage.key != key for stage in trace.stages):
        return _title(key).lower()
    heads = range(len(trace["attention"]))
    return f"head {head + 1}" if head is not None and head not in heads else ""


def _title(key: str) -> str:
    return next((stage.title for stage in STAGES if stage.key == key), key)


def _difference(a: Panel, b: Panel, change: Array, view: View) -> Panel:
    """B − A as a panel; its colours are symmetric about 0 and the same for all heads."""
    values = change if b.head is None else change[b.head]
    values = values.T if view.transposed else values
    finite = np.abs(change[np.isfinite(change)])
    limit = min(max(float(finite.max(initial=0.0)), SMALLEST), LARGEST) if finite.any() else 1.0
    row, column = ("%{x}", "%{y}") if view.transposed else ("%{y}", "%{x}")
    places = f"{row}, {column}: "
    pair = "A %{customdata[0]}, B %{customdata[1]}, " if values.size <= MAX_PAIRS else ""
    template = places + pair + "B − A "
    extent = ends(values, view.decimals) if values.any() else "no difference"
    if not np.isfinite(values).all():
        extent = ", ".join(part for part in (extent, "some hidden in one of them") if part)
    panel = replace(
        b,
        values=values,
        rows=_names(a.rows, b.rows, values.shape[0]),
        columns=_names(a.columns, b.columns, values.shape[1]),
        title=DIFFERENCE,
        low=-limit,
        high=limit,
        colour="signed",
        template=f"{template}%{{z:.15~g}}<extra></extra>",
        masked_template=f"{template}−∞<extra></extra>",
        sums=(),
        extent=extent,
    )
    return replace(panel, subtitle=f"difference {shape(panel)}")


def _names(a: tuple[str, ...], b: tuple[str, ...], count: int) -> tuple[str, ...]:
    """The names of the first places; where A and B have different ones, both."""
    pairs = zip(a[:count], b[:count], strict=True)
    return tuple(x if x == y else f"{x} → {y}" for x, y in pairs)


def _hovers(traces: dict[str, Trace], shown: dict[str, Panel]) -> dict[str, Rows]:
    """For each panel and cell the sentences of A and B and the difference."""

    def sentence(name: str, row: int, column: int) -> str:
        panel = shown[name]
        place = (column, row) if panel.transposed else (row, column)
        return f"{name}: {traces[name].sentence(panel.key, panel.head, *place, None)}"

    def has(name: str, row: int, column: int) -> bool:
        n_rows, n_columns = shown[name].values.shape
        return bool(row < n_rows and column < n_columns)

    def text(names: tuple[str, ...], row: int, column: int) -> str:
        lines = [sentence(name, row, column) for name in names if has(name, row, column)]
        if DIFFERENCE in shown and has(DIFFERENCE, row, column):
            value = float(shown[DIFFERENCE].values[row, column])
            lines.append(f"{DIFFERENCE}: {format_number(value, None)}")
        return "<br>".join(map(wrapped, lines))

    hovers: dict[str, Rows] = {}
    for name, panel in shown.items():
        names = ("A", "B") if DIFFERENCE in shown else (name,)
        n_rows, n_columns = panel.values.shape
        hovers[name] = [[text(names, i, j) for j in range(n_columns)] for i in range(n_rows)]
    return hovers


def _pairs(a: Array, b: Array, size: tuple[int, ...]) -> list[list[list[str]]]:
    """(row, column) numbers of A and of B -> both as texts for each cell that both have."""
    n_rows, n_columns = size
    return [
        [
            [format_number(float(x), None), format_number(float(y), None)]
            for x, y in zip(*rows, strict=True)
        ]
        for rows in zip(a[:n_rows, :n_columns], b[:n_rows, :n_columns], strict=True)
    ]
