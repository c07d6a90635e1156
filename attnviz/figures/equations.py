"""A stage as the matrix equation that it is."""

import re
from dataclasses import replace

from attnviz.core.trace import Trace
from attnviz.figures.blocks import Parts, ends, parts
from attnviz.figures.chain import chain
from attnviz.figures.draw import draw
from attnviz.figures.fit import choices
from attnviz.figures.labels import escape
from attnviz.figures.palettes import Inks, inks
from attnviz.figures.panel import Panel
from attnviz.figures.places import Layout, Placed
from attnviz.figures.scheme import product
from attnviz.figures.sheet import Arranged, Word
from attnviz.figures.view import Marks, Spec, View
from attnviz.figures.words import note

MAX_BLANKS = 1000  # cells still to be revealed that are outlined one by one
_NO_MARKS = Marks()


def equation(
    trace: Trace,
    stage_key: str,
    head: int | None,
    view: View,
    marks: Marks = _NO_MARKS,
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
    tokens = max(len(trace.tokens), len(trace.key_tokens))
    arranged = _arranged(parts(trace, stage_key, head, view), view, tokens)
    view = replace(view, sizes=arranged.sizes)
    *operands, result = arranged.placed
    words = arranged.words
    if rows is not None:
        panel = _revealed(result.panel, max(rows, 0), view)
        result = replace(result, panel=panel)
        shown = ends(panel.values, view.decimals)
        words = tuple(replace(w, text=shown) if w.range_of_result else w for w in words)
    placed = (*operands, result)
    layout = Layout(placed, (), int(arranged.width), arranged.height)
    spec = draw(trace, layout, view, marks)
    ink = inks(view.dark)
    spec["layout"]["annotations"] += [_annotation(word, layout, ink) for word in words if word.text]
    x, y = _axes(placed)
    blanks = _blanks(result.panel, x, y, ink)
    if blanks:
        spec["layout"]["shapes"] = [blanks, *spec["layout"]["shapes"]]
    if not result.panel.values.size:
        spec["data"] = [part for part in spec["data"] if part.get("xaxis") != x]
        nothing = {"type": "scatter", "mode": "none", "x": [None], "y": [None]}
        spec["data"].append(nothing | {"hoverinfo": "skip", "xaxis": x, "yaxis": y})
    for name, axis in spec["layout"].items():
        if name.startswith("xaxis"):
            axis["ticklabelstandoff"] = 3  # no outline crosses a name
    for part in spec["data"]:
        if _place(part.get("xaxis", "x")) in arranged.steps:
            part.pop("meta", None)  # no cell of the trace, which a click could ask for
    spec["layout"]["shapes"] = [
        _whole(shape, placed[_place(shape["xref"])], layout) for shape in spec["layout"]["shapes"]
    ]
    return spec


def _arranged(parts: Parts, view: View, tokens: int) -> Arranged:
    """The best of the ways to draw the cells that has room, first with larger labels."""
    arrange = product if parts.kind == "product" else chain
    small = replace(view.sizes, label=view.sizes.small_cell)
    for cells in choices(parts, view, tokens):
        for sizes in (view.sizes, small):
            found = arrange(parts, view, sizes, cells, False)
            if found is not None:
                return found
    found = arrange(parts, view, small, cells, True)
    assert found is not None
    return found


def _place(axis: str) -> int:
    """The place among the panels of the one that stands on an axis, or on an axis over it."""
    return (int(axis[1:] or 1) - 1) % 1000


def _whole(shape: Spec, placed: Placed, layout: Layout) -> Spec:
    """A shape on a panel's axes -> the same on the picture, where Plotly cuts no line in half."""

    def px(match: re.Match[str]) -> str:
        letter, number = match[1], float(match[2])
        if letter in "MH":
            return (
                f"{letter}{(placed.left + (number + 0.5) * placed.cell_width) / layout.width:.5f}"
            )
        down = placed.top + (number + 0.5) * placed.cell_height
        return f"{letter}{1 - down / layout.height:.5f}"

    path = re.sub(r"([MHV,])(-?[\d.]+)", px, shape["path"])
    return shape | {"path": path, "xref": "paper", "yref": "paper"}


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


def _blanks(panel: Panel, x: str, y: str, ink: Inks) -> Spec | None:
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
    return shape | {"layer": "above", "xref": x, "yref": y}


def _annotation(word: Word, layout: Layout, ink: Inks) -> Spec:
    color = ink.text if word.title else ink.muted
    x, y = word.x / layout.width, 1 - word.y / layout.height
    shown = note(escape(word.text), x, y, word.size, color)
    font = shown["font"] | {"weight": 700 if word.title else 400}
    return shown | {"font": font, "xanchor": "center" if word.center else "left"}
