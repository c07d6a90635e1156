"""A stage as the matrix equation that it is."""

from dataclasses import replace

from attnviz.core.trace import Trace
from attnviz.figures.blocks import parts
from attnviz.figures.canvas import arranged, painted, whole
from attnviz.figures.palettes import Inks, inks
from attnviz.figures.panel import Panel, ends
from attnviz.figures.places import Layout, Placed
from attnviz.figures.view import NO_MARKS, Marks, Spec, View

MAX_BLANKS = 1000  # cells still to be revealed that are outlined one by one


def equation(
    trace: Trace,
    stage_key: str,
    head: int | None,
    view: View,
    marks: Marks = NO_MARKS,
    *,
    rows: int | None = None,
) -> Spec:
    """A stage as an equation: left operand left, right operand above, the result where they meet.

    A stage that is no product is a chain of matrices that leads to the result.

    Args:
        trace: the computation.
        stage_key: which stage.
        head: the query head, from 0; None for stages without heads.
        view: how it is shown.
        marks: what is outlined.
        rows: how many queries of the result are revealed, None for all.

    Raises:
        ScenarioError: the trace has no such stage or head.
    """
    found = arranged(trace, parts(trace, stage_key, head, view), view)
    *operands, result = found.placed
    if rows is not None:
        result = replace(result, panel=_revealed(result.panel, max(rows, 0), view))
        range_text = ends(result.panel.values, view.decimals)
        words = [replace(w, text=range_text) if w.range_of_result else w for w in found.words]
        found = replace(found, placed=(*operands, result), words=tuple(words))
    spec = painted(trace, found, view, marks)
    x, y = _axes(found.placed)
    blanks = _blanks(result.panel, inks(view.dark))
    if blanks:
        layout = Layout(found.placed, (), int(found.width), found.height)
        spec["layout"]["shapes"].insert(0, whole(blanks, result, layout))
    if not result.panel.values.size:
        spec["data"] = [part for part in spec["data"] if part.get("xaxis") != x]
        nothing = {"type": "scatter", "mode": "none", "x": [None], "y": [None]}
        spec["data"].append(nothing | {"hoverinfo": "skip", "xaxis": x, "yaxis": y})
    return spec


def _revealed(panel: Panel, rows: int, view: View) -> Panel:
    """The panel with only the numbers of its first queries; its names stay."""
    part = (slice(None), slice(rows)) if panel.transposed else (slice(rows), slice(None))
    values = panel.values[part]

    def cut(texts: list[list[str]] | None) -> list[list[str]] | None:
        return None if texts is None else [row[part[1]] for row in texts[part[0]]]

    return replace(
        panel,
        values=values,
        texts=cut(panel.texts),
        hover=cut(panel.hover),
        sums=panel.sums[:rows],
        extent=panel.extent and ends(values, view.decimals),
    )


def _axes(placed: tuple[Placed, ...]) -> tuple[str, str]:
    """The names of the last panel's axes."""
    row = max(place for place, one in enumerate(placed) if not one.same_rows)
    last = len(placed) - 1
    return f"x{last + 1}" if last else "x", f"y{row + 1}" if row else "y"


def _blanks(panel: Panel, ink: Inks) -> Spec | None:
    """The outlines of cells that are still to be revealed."""
    n_rows, n_columns = len(panel.rows), len(panel.columns)
    top, left = panel.values.shape
    top, left = (0, left) if panel.transposed else (top, 0)
    if top == n_rows or left == n_columns:
        return None
    each = (n_rows - top) * (n_columns - left) <= MAX_BLANKS
    down = range(top, n_rows + 1) if each else (top, n_rows)
    across = range(left, n_columns + 1) if each else (left, n_columns)
    lines = [f"M{left - 0.5},{row - 0.5}H{n_columns - 0.5}" for row in down]
    lines += [f"M{column - 0.5},{top - 0.5}V{n_rows - 0.5}" for column in across]
    line = {"color": ink.hatch, "width": 1.5}
    shape = {"type": "path", "path": " ".join(lines), "line": line, "name": "blank"}
    return shape | {"layer": "above"}
