"""What is marked in a picture: cells that are outlined, names in bold, cells without a colour."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from attnviz.core.arrays import BoolArray
from attnviz.core.expr import Cell
from attnviz.core.trace import Trace
from attnviz.figures.palettes import Inks
from attnviz.figures.panel import Panel
from attnviz.figures.view import Marks, Sizes, Spec

MAX_RUNS = 2000  # stretches of masked cells in one matrix that are hatched
_TOKENS = ("query", "token")


def operand_inks(marks: Marks) -> dict[str, str]:
    """For each array that operands of the chosen cell are in, the name of its ink."""
    keys = dict.fromkeys(cell.key for cell in marks.operands)
    return dict(zip(keys, ("query", "key", "value"), strict=False))


def bold(trace: Trace, marks: Marks) -> dict[str, set[int]]:
    """For each axis the places whose names are set in bold: the chosen token's and cell's."""
    chosen: dict[str, set[int]] = {}
    if marks.token is not None:
        for axis in (*_TOKENS, *_key_axes(trace)):
            chosen.setdefault(axis, set()).add(marks.token)
    if marks.cell is not None and len(marks.cell.index) > 1:
        axes = trace.axes(marks.cell.key)
        for axis, place in zip(axes[-2:], marks.cell.index[-2:], strict=True):
            if axis in ("query", "key", "token"):
                chosen.setdefault(axis, set()).add(place)
    return chosen


def _key_axes(trace: Trace) -> tuple[str, ...]:
    return ("key",) if trace.tokens == trace.key_tokens else ()


def outlines(trace: Trace, panel: Panel, marks: Marks, sizes: Sizes, ink: Inks) -> list[Spec]:
    """The shapes around the marked cells of one panel; their axes are still to be named."""
    shape = len(panel.rows), len(panel.columns)
    shape = shape[::-1] if panel.transposed else shape
    drawn: list[Spec] = []

    def outline(chosen: BoolArray, color: str, width: float, name: str) -> None:
        if not chosen.any():
            return
        path = _boxes(chosen.T if panel.transposed else chosen)
        # The halo lets the line be seen on cells of any colour.
        drawn.append(_shape(path, ink.page, width + 2, "halo"))
        drawn.append(_shape(path, color, width, name))

    axes = trace.axes(panel.key)
    if marks.token is not None and axes[-2:][0] in (*_TOKENS, *_key_axes(trace)):
        chosen = np.zeros(shape, dtype=np.bool_)
        chosen[marks.token : marks.token + 1] = True
        color = ink.key if axes[-2:][0] == "key" else ink.query
        outline(chosen, color, sizes.outline * 0.8, "token")
    for key, name in operand_inks(marks).items():
        cells = [cell for cell in marks.operands if cell.key == key]
        outline(_chosen(panel, shape, cells), getattr(ink, name), sizes.outline, "operand")
    if marks.cell is not None:
        outline(_chosen(panel, shape, [marks.cell]), ink.text, sizes.outline, "chosen")
    return drawn


def _shape(path: str, color: str, width: float, name: str) -> Spec:
    line = {"color": color, "width": width}
    return {"type": "path", "path": path, "line": line, "name": name, "layer": "above"}


def _chosen(panel: Panel, shape: tuple[int, int], cells: Sequence[Cell]) -> BoolArray:
    """Which cells of a panel are meant; the one column of a row sum stands for its whole row."""
    chosen = np.zeros(shape, dtype=np.bool_)
    for cell in cells:
        head, place = (None, cell.index) if panel.head is None else (cell.index[0], cell.index[1:])
        if cell.key == panel.key and head == panel.head:
            row, column = place if len(place) == 2 else (0, *place)  # a bias is one row
            chosen[row, min(column, shape[1] - 1)] = True
    return chosen


def _boxes(chosen: BoolArray) -> str:
    """Chosen cells -> an SVG path around each of their rectangles."""
    return " ".join(
        f"M{left - 0.5},{top - 0.5}H{right + 0.5}V{bottom + 0.5}H{left - 0.5}Z"
        for top, bottom, left, right in rectangles(chosen)
    )


def moved(path: str, x: Callable[[float], str], y: Callable[[float], str]) -> str:
    """A path of `outlines` in other coordinates."""

    def move(match: re.Match[str]) -> str:
        letter, number = match[1], float(match[2])
        return f"{letter}{x(number) if letter in 'MH' else y(number)}"

    return re.sub(r"([MHV,])(-?[\d.]+)", move, path)


def rectangles(chosen: BoolArray) -> list[tuple[int, int, int, int]]:
    """(rows, columns) -> first row, last row, first column, last column of each stretch.

    Stretches of a row that are the same in the next row are one rectangle.
    """
    found: list[tuple[int, int, int, int]] = []
    before: list[tuple[int, int]] = []
    for row, cells in enumerate(chosen):
        edges = np.flatnonzero(np.diff(cells, prepend=False, append=False))
        runs = [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        if runs and runs == before:
            same = found[-len(runs) :]
            found[-len(runs) :] = [(top, row, left, right) for top, _, left, right in same]
        else:
            found += [(row, row, left, right) for left, right in runs]
        before = runs
    return found


def outlined(trace: Trace, marks: Marks) -> list[Spec]:
    """What `outlines` and `bold` mark for a cell, for a page that marks its pictures itself.

    Each array has its axes and, for each head with marked cells, the rectangles and their ink.
    """
    inks = operand_inks(marks)
    groups: dict[tuple[str, int | None, str], list[tuple[int, ...]]] = {}
    for cell in (*marks.operands, *filter(None, [marks.cell])):
        ink = "text" if cell is marks.cell else inks.get(cell.key)
        has_head = trace.has_heads(cell.key)
        place = cell.index[has_head:]
        if ink is not None and len(place) == 2:  # a bias is in no picture
            groups.setdefault((cell.key, cell.index[0] if has_head else None, ink), []).append(
                place
            )
    found = []
    for (key, head, ink), places in groups.items():
        chosen = np.zeros(trace[key].shape[-2:], dtype=np.bool_)
        chosen[tuple(zip(*places, strict=True))] = True
        found.append({"key": key, "head": head, "ink": ink, "boxes": rectangles(chosen)})
    return found


def hatching(chosen: BoolArray, ink: Inks, shape: str) -> Spec | None:
    """Cells that have no colour: a hatched ground, in a layer of its own."""
    spans = rectangles(chosen) if chosen.any() else []
    if not 0 < len(spans) <= MAX_RUNS:
        return None
    x: list[float | None] = []
    y: list[float | None] = []
    for top, bottom, left, right in spans:
        x += [left - 0.5, right + 0.5, right + 0.5, left - 0.5, None]
        y += [top - 0.5, top - 0.5, bottom + 0.5, bottom + 0.5, None]
    pattern = {"shape": shape, "size": 7, "solidity": 0.18}
    return {
        "type": "scatter",
        "x": x[:-1],
        "y": y[:-1],
        "mode": "none",
        "fill": "toself",
        "fillpattern": pattern | {"fgcolor": ink.hatch, "bgcolor": ink.masked},
    }
