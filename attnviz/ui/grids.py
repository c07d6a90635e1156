"""What is typed and pasted into the tables, and what becomes of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.core import AttnvizError
from attnviz.core.arrays import Array
from attnviz.core.numbers import number_text
from attnviz.parsing import parse_block
from attnviz.tables import EditResult, apply_edits, only_bits, place_block
from attnviz.ui import moves, state
from attnviz.ui.editor import Editor
from attnviz.ui.inputs import numbers, set_cells

ONE_ROW = "all"  # the name of the row of a list: it goes for all of them
Part = tuple[Array, tuple[str, ...], tuple[str, ...]]


def part(table: str, head: int | None, columns_first: bool) -> Part:
    """A table as it is edited: its numbers, row labels and column labels; a list as one row."""
    now = state.session()
    array = numbers(now.scenario, table)
    assert array is not None
    labels = now.trace.labels(table if table in now.trace else "scores")
    own = array if head is None else array[head]
    rows = labels[-2] if own.ndim == 2 else (ONE_ROW,)
    own = np.atleast_2d(own)
    if columns_first:
        return own.T, labels[-1], rows
    return own, rows, labels[-1]


def editor(name: str, table: str, head: int | None, title: str, columns_first: bool) -> str:
    """The key of a table's editor."""
    now = state.session()
    key = f"{name}_{now.revisions.get(table, 0)}{'t' if columns_first else ''}"
    if state.setting(key) is None or key not in now.editors:  # new, or not drawn for a while
        array, _, columns = part(table, head, columns_first)
        now.editors[key] = Editor(array, columns, table, head, title, columns_first)
    now.editors[key].title = title
    return key


def edit_table(key: str) -> None:
    """Take what was typed into a table editor."""
    fresh = state.session().editors[key].fresh(state.setting(key)["edited_rows"])
    if fresh:
        _take_edits(key, fresh)
        moves.spread()


def pasted() -> None:
    """Take what was pasted into a table editor, as it was before the grid could cut it."""
    event = state.setting("bridge", {}).get("paste")
    if event and str(event["editor"]) in state.session().editors:
        key = str(event["editor"])
        columns = state.session().editors[key].columns
        if 0 <= (column := int(event["column"])) < len(columns):
            _take_edits(key, {int(event["row"]): {columns[column]: str(event["text"])}}, True)
            moves.spread()


def _take_edits(
    key: str, typed: Mapping[int | str, Mapping[str, Any]], paste: bool = False
) -> None:
    now = state.session()
    grid = now.editors[key]
    array, rows, columns = part(grid.table, grid.head, grid.columns_first)
    result = apply_edits(array, typed, rows, columns, grid.title)
    if grid.table == "mask":
        result = only_bits(result, array, rows, columns, grid.title)
    block = paste or len(result.cells) > sum(map(len, typed.values()))
    _take(result, grid, typed_into="" if block else grid.table)
    if result.problems or block:
        now.begin_anew(grid.table)


def paste_table(key: str, text_key: str, transpose: bool) -> None:
    """Take a whole table pasted as text."""
    now = state.session()
    grid = now.editors[key]
    array, rows, columns = part(grid.table, grid.head, grid.columns_first)
    now.quiet()
    try:
        block = parse_block(str(state.setting(text_key)))
        shape = (array.shape[0], array.shape[1])
        result = place_block(block, shape, (0, 0), grid.title, transpose)
        if grid.table == "mask":
            result = only_bits(result, array, rows, columns, grid.title)
    except AttnvizError as error:
        now.refused = f"{grid.title}: {error}"
        return
    _take(result, grid)


def transpose_table(table: str, head: int | None) -> None:
    """Exchange rows and columns of a square table."""
    own, _, _ = part(table, head, columns_first=True)
    cells = {(r, c): float(own[r, c]) for r, c in np.ndindex(*own.shape)}
    state.change(lambda s: set_cells(s, table, head, cells))
    moves.spread()


def _place(grid: Editor, cells: Mapping[tuple[int, int], float]) -> str:
    """What was typed and where: X, row league, column d0: 1e+200."""
    if len(cells) > 1:
        return f"{grid.title}: these {len(cells)} numbers"
    [((row, column), value)] = cells.items()
    _, rows, columns = part(grid.table, grid.head, grid.columns_first)
    return f"{grid.title}, row {rows[row]}, column {columns[column]}: {number_text(value)}"


def _take(result: EditResult, grid: Editor, typed_into: str = "") -> None:
    now = state.session()
    now.quiet()
    now.notes = result.notes
    swap, head = grid.columns_first, grid.head
    cells = {(c, r) if swap else (r, c): v for (r, c), v in result.cells.items()}
    if cells:
        try:
            now.take(set_cells(now.scenario, grid.table, head, cells), typed_into)
        except AttnvizError as error:
            now.refused = f"{_place(grid, result.cells)} cannot be used. {error}"
            now.begin_anew(grid.table)
    if result.problems:
        now.refused = " ".join(result.problems)
    if result.transposable:
        now.transposable = (grid.table, head)
