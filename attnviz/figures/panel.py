"""One matrix, resolved: everything that is drawn of it, before any Plotly."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from attnviz.core.arrays import Array, BoolArray
from attnviz.core.errors import ScenarioError
from attnviz.core.numbers import format_number
from attnviz.core.ops import Given, head_of
from attnviz.core.stages import TABLES, Stage, Table
from attnviz.core.trace import Trace
from attnviz.figures import hover
from attnviz.figures.labels import text_width
from attnviz.figures.view import View

MAX_HOVER_CELLS = 256  # cells of one picture up to which each has its arithmetic in the hover
MAX_WIDEST = 4000  # numbers that are written out to find the widest
EXACT_CELLS = 1000  # larger matrices are drawn in float32
ATTENTION = 0.0, 1.0  # the colour range of attention, whatever the weights
PALE = 0.2  # weights that are all below this are hardly seen on it, which is then said
NOTHING = "nothing to attend to"
SMALLEST, LARGEST = 1e-300, 8e307  # ends of a colour range whose span is a float64 too
ROUND_STEPS = (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10)
_PLURALS = {"query": "queries", "key": "keys", "token": "tokens"}


_CONTEXT = Stage(
    **{item.name: getattr(TABLES["context"], item.name) for item in fields(Table)},
    op=Given("context"),
)


@dataclass(frozen=True)
class Panel:
    """A matrix as it is drawn; rows and columns are those of the picture.

    Args:
        key, head: which array of the trace; head is its own first index, or None.
        transposed: whether the picture shows the array with rows and columns exchanged.
        values: the numbers.
        rows, columns: the labels; row_axis, column_axis: the names of their axes.
        title: the formula; subtitle: name and shape.
        axes: the axes in words, and details; conventions: the same as sentences, longest first.
        low, high: the ends of the colour range, shared by all heads.
        colour: "signed" or "attention".
        texts: the numbers as shown, None where there are too many cells for them.
        widest: the widest number of all heads, so that heads line up.
        hover: a text for each cell, None where the picture is too large for it.
        template, masked_template: then a sentence that Plotly fills in.
        sums: for attention, the sum of each query's weights, as shown.
        extent: the smallest and the largest number, as shown, and why they are pale.
    """

    key: str
    head: int | None
    transposed: bool
    values: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_axis: str
    column_axis: str
    title: str
    subtitle: str
    axes: str
    conventions: tuple[str, ...]
    low: float
    high: float
    colour: str
    texts: list[list[str]] | None
    widest: str
    hover: hover.Rows | None
    template: str
    masked_template: str
    sums: tuple[str, ...]
    extent: str

    @property
    def masked(self) -> BoolArray:
        """Where a cell is hidden: minus infinity."""
        return np.asarray(np.isneginf(self.values))

    @property
    def odd(self) -> BoolArray:
        """Where a cell is no number that could have a colour, and not masked either."""
        return np.asarray(np.isnan(self.values) | np.isposinf(self.values))


def input_keys(trace: Trace) -> list[str]:
    """The embeddings and what positions make of them, where there is more than X as it is set."""
    found = ["context"] if "context" in trace else []
    found += [stage.key for stage in trace.stages if stage.axes[-1] == "d_model"]
    keys = sorted(found, key=lambda key: trace.axes(key)[0] != "token")
    return keys if len(keys) > 1 else []


def head_keys(trace: Trace) -> list[str]:
    """The stages that every head has, in order."""
    return [s.key for s in trace.stages if s.has_heads]


def joint_keys(trace: Trace) -> list[str]:
    """The stages after the heads were joined, in order."""
    return [s.key for s in trace.stages if s.axes[0] == "query"]


def cell_count(trace: Trace, n_heads: int) -> int:
    """How many cells a page with so many heads shows."""
    per_head = sum(int(trace[key][0].size) for key in head_keys(trace))
    others = [*input_keys(trace), *joint_keys(trace)]
    return n_heads * per_head + sum(int(trace[key].size) for key in others)


def shared_range(trace: Trace, stage: Stage) -> tuple[float, float]:
    """The colour range of a stage over all heads; masked cells have no part in it."""
    if stage.colour == "attention":
        return ATTENTION
    array = trace[stage.key]
    sizes = np.abs(array[np.isfinite(array)])
    limit = float(sizes.max()) if sizes.size and sizes.any() else 1.0
    limit = round_up(min(max(limit, SMALLEST), LARGEST))
    return -limit, limit


def round_up(value: float) -> float:
    """The next round number, so that an edit in one head seldom recolours the others."""
    power = int(f"{value:e}".split("e")[1])
    ends = (float(f"{step}e{power}") for step in ROUND_STEPS)
    return next(end for end in ends if end >= value)


def resolve(
    trace: Trace, places: Sequence[tuple[str, int | None]], view: View, *, small: bool = False
) -> list[Panel]:
    """Matrices of a trace -> what is drawn of them.

    Args:
        trace: the computation.
        places: (stage, query head) of each; the head is None for stages without heads. The
            embeddings of a second text are drawn like a stage.
        view: how they are shown.
        small: whether they are only an overview, without numbers.

    Raises:
        ScenarioError: the trace has no such stage.
    """
    stages = {"context": _CONTEXT} if "context" in trace else {}
    stages |= {stage.key: stage for stage in trace.stages}
    unknown = [key for key, _ in places if key not in stages]
    if unknown:
        raise ScenarioError(
            "only stages are drawn", where=unknown[0], expected="one of " + ", ".join(stages)
        )
    cells = [_matrix(trace, key, head)[0].size for key, head in places]
    arithmetic = not small and sum(cells) <= MAX_HOVER_CELLS
    with_text: set[int] = set()
    left = 0 if small else view.max_text_cells
    for place in sorted(range(len(places)), key=cells.__getitem__):
        left -= cells[place]
        if left >= 0:
            with_text.add(place)
    return [
        _panel(trace, stages[key], head, view, place in with_text, arithmetic)
        for place, (key, head) in enumerate(places)
    ]


def _matrix(trace: Trace, key: str, head: int | None) -> tuple[Array, int | None]:
    array = trace[key]
    if not trace.has_heads(key):
        return array, None
    own_head = head_of(array, head or 0, len(trace["attention"]))
    return array[own_head], own_head


def _panel(
    trace: Trace, stage: Stage, head: int | None, view: View, with_text: bool, arithmetic: bool
) -> Panel:
    key = stage.key
    array, own_head = _matrix(trace, key, head)
    rows, columns = trace.labels(key)[-2:]
    row_axis, column_axis = trace.axes(key)[-2:]
    extent = ends(array, view.decimals) or "all masked"
    finite = array[np.isfinite(array)]
    if stage.colour == "attention" and finite.size and finite.max() < PALE:
        extent += f", colours run from {ATTENTION[0]:g} to {ATTENTION[1]:g}"
    sums = _sums(trace, array, head or 0, view) if key == "attention" else ()
    said = hover.texts(trace, stage, own_head, array.shape, view.decimals) if arithmetic else None
    number = ".7~g" if array.size > EXACT_CELLS else ".15~g"
    name = trace.labels(key)[0][own_head] if own_head is not None else ""
    shared = f", {name}" if len(trace[key]) < len(trace["attention"]) and name else ""
    if view.transposed:
        array, rows, columns = array.T, columns, rows
        row_axis, column_axis = column_axis, row_axis
        said = None if said is None else [list(column) for column in zip(*said, strict=True)]
    texts = None
    if with_text:
        texts = [[format_number(float(v), view.cell_decimals) for v in row] for row in array]
    low, high = shared_range(trace, stage)
    formula = (stage.formula_columns if view.transposed else stage.formula)[0]
    if isinstance(stage.op, Given):
        formula = ""
    symbol = stage.symbol + ("ᵀ" if view.transposed else "")
    detail = stage.detail(trace.values)
    suffix = f", {detail}" if detail else ""
    return Panel(
        key=key,
        head=own_head,
        transposed=view.transposed,
        values=array,
        rows=rows,
        columns=columns,
        row_axis=row_axis,
        column_axis=column_axis,
        title=symbol if formula in ("", symbol) else f"{symbol} = {formula.replace(' · ', '·')}",
        subtitle=f"{stage.title.lower()} {len(rows)}×{len(columns)}{shared}",
        axes=f"{axis_word(row_axis)} × {axis_word(column_axis)}{suffix}",
        conventions=(
            f"rows are {_plural(row_axis)}, columns are {_plural(column_axis)}{suffix}",
            f"rows: {_plural(row_axis)}, columns: {_plural(column_axis)}{suffix}",
        ),
        low=low,
        high=high,
        colour=stage.colour,
        texts=texts,
        widest=widest(trace[key], view.cell_decimals) if with_text else "",
        hover=said,
        template=hover.template(stage, name, number, view.transposed),
        masked_template=hover.template(stage, name, None, view.transposed, -np.inf),
        sums=sums,
        extent=extent,
    )


def axis_word(axis: str) -> str:
    """What an axis is called beside a matrix."""
    return "head·d_v" if axis == "concat" else axis


def _plural(axis: str) -> str:
    return _PLURALS.get(axis, "dimensions")


def _sums(trace: Trace, weights: Array, head: int, view: View) -> tuple[str, ...]:
    """(query, key) weights of one head -> the sum of each row, with a word where it is empty."""
    empty = trace.empty_rows[head]
    return tuple(
        f"Σ = {format_number(float(total), view.decimals, trim=True)}"
        + (f", {NOTHING}" if nothing else "")
        for total, nothing in zip(weights.sum(axis=-1), empty, strict=True)
    )


def ends(values: Array, decimals: int | None) -> str:
    """The smallest and the largest number, as shown; empty without any."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return ""
    return " … ".join(format_number(float(v), decimals) for v in (finite.min(), finite.max()))


def widest(array: Array, decimals: int | None) -> str:
    """The widest number of an array as it is written."""
    values = array.ravel()
    if values.size > MAX_WIDEST:
        values = np.partition(values, [0, 1, -2, -1])[[0, 1, -2, -1]]
    texts = {format_number(value, decimals) for value in values.tolist()}
    return max(texts, key=lambda text: text_width(text, 1))
