"""Where a visitor's session lives, and the commands that the widgets call.

The only module that touches `st.session_state`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import streamlit as st

from attnviz.core import PRESETS, AttnvizError, Scenario, edit
from attnviz.core.arrays import Array
from attnviz.core.expr import Cell
from attnviz.figures import View
from attnviz.parsing import parse_block
from attnviz.tables import EditResult, apply_edits, only_bits, place_block
from attnviz.ui.inputs import HELD, holds, numbers, set_cells, set_variant
from attnviz.ui.session import Draft, Editor, Session, opening_cell

Change = Callable[[Scenario], edit.Change]
ALL_HEADS = "all heads"
ONE_ROW = "all"  # the name of the row of a list: it goes for all of them
TEXTS = {"text": edit.set_text, "context_text": edit.set_context}
MIN_WIDTH, MAX_WIDTH = 600, 1300  # px that pictures are laid out for; beyond, they stretch
Part = tuple[Array, tuple[str, ...], tuple[str, ...]]


def session() -> Session:
    """This visitor's session; the walkthrough when it is new."""
    if "attnviz" not in st.session_state:
        st.session_state["attnviz"] = Session.new()
    current: Session = st.session_state["attnviz"]
    return current


# Widgets: each shows the session; its callback reads what was chosen.


def show(key: str, value: Any) -> str:
    """Make the widget of this key show a value, and give the key."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return key


def once(key: str, value: Any) -> str:
    """The same for a setting that only the widget holds: `value` is where it starts."""
    if key not in st.session_state:
        st.session_state[key] = value
    else:
        st.session_state[key] = st.session_state[key]  # keeps it while its widget is not drawn
    return key


def setting(key: str, default: Any = None) -> Any:
    """What a widget holds."""
    return st.session_state.get(key, default)


def view(**more: Any) -> View:
    """How pictures are drawn, from the widgets and the page's theme."""
    decimals = setting("decimals", "2")
    return View(
        decimals=None if decimals == "all" else int(decimals),
        palette=setting("palette", View.palette),
        tokens_as=setting("tokens_as", "rows"),
        dark=st.context.theme.type == "dark",
        width=session().width,
        **more,
    )


# Commands.


def change(how: Change) -> None:
    """Replace the scenario by what `how` makes of it, or say why not and keep the old one."""
    now = session()
    now.quiet()
    try:
        now.take(how(now.scenario))
    except AttnvizError as error:
        now.refused = str(error)


def undo() -> None:
    """Back to before the last change."""
    session().undo()


def redo() -> None:
    """Forward again."""
    session().redo()


def open_preset(name: str) -> None:
    """Begin an example anew."""
    change(lambda _: (PRESETS[name], ""))
    now = session()
    now.chosen, now.trail, now.draft = opening_cell(now.trace), (), None
    now.opened = frozenset()


def set_text(text: str, field: str = "text") -> None:
    """Take a new text of a field; a refused one stays there, with the reason."""
    now = session()
    now.quiet()
    try:
        now.take(TEXTS[field](now.scenario, text))
        if now.draft is not None and now.draft.field == field:
            now.draft = None
    except AttnvizError as error:
        now.draft = Draft(text, error, field)


def text_of(field: str) -> str:
    """What a text's field shows: the text in use, or what was refused."""
    now = session()
    if now.draft is not None and now.draft.field == field:
        return now.draft.text
    return str(getattr(now.scenario, field))


def cut_text() -> None:
    """Take as much of a refused text as is allowed."""
    now = session()
    if now.draft is not None:
        limit = edit.token_limit(now.scenario)
        text = edit.first_tokens(now.draft.text, now.scenario.tokenizer, limit)
        set_text(text, now.draft.field)


def choose_variant(name: str) -> None:
    """Take what was chosen or typed for a field of `Config`."""
    change(lambda s: set_variant(s, name, setting(f"variant_{name}")))


def switch(table: str) -> None:
    """Turn a table of `OPTIONAL` on or off; one in which nothing is set is opened or closed."""
    now, on = session(), bool(setting(f"variant_{table}"))
    if table in HELD:
        now.opened = now.opened | {table} if on else now.opened - {table}
    if on or holds(now.scenario, table):
        change(lambda s: edit.switch(s, table, on))


def pad() -> None:
    """Hide the chosen keys from every query."""
    change(lambda s: edit.set_padding(s, setting("padding")))


def cross() -> None:
    """Begin with a second text, which is the first one's at first, or leave it."""
    on = bool(setting("crossed"))
    change(lambda s: edit.set_context(s, s.text if on else None))
    now = session()
    if now.draft is not None and now.draft.field == "context_text":
        now.draft = None


def choose(cell: Cell, *, deeper: bool = False) -> None:
    """Open the arithmetic of a cell."""
    session().choose(cell, deeper=deeper)


def head_name(head: int) -> str:
    """What a head is called in the choice of heads."""
    return f"head {head + 1}"


def clicked() -> None:
    """Open the arithmetic of the cell that was clicked, or reached by arrow keys."""
    event = setting("bridge", {}).get("cell")
    if event:
        cell = Cell(str(event["key"]), tuple(int(i) for i in event["index"]), 0.0)
        choose(cell)
        trace = session().trace
        one_head = setting("heads") != ALL_HEADS
        if one_head and cell.key in trace and trace.axes(cell.key)[0] == "head":
            show("heads", head_name(cell.index[0]))  # a click on a thumbnail shows its head


def widened() -> None:
    """Take the width that the browser has for the pictures."""
    width = setting("bridge", {}).get("width")
    if width:
        session().width = min(max(int(width), MIN_WIDTH), MAX_WIDTH)


def back_to(step: int) -> None:
    """Back along the way to an earlier cell."""
    session().back_to(step)


# Tables.


def part(table: str, head: int | None, columns_first: bool) -> Part:
    """A table as it is edited: its numbers, row labels and column labels; a list as one row."""
    now = session()
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
    now = session()
    key = f"{name}_{now.revisions.get(table, 0)}{'t' if columns_first else ''}"
    if key not in st.session_state or key not in now.editors:  # new, or not drawn for a while
        array, _, columns = part(table, head, columns_first)
        now.editors[key] = Editor(array, columns, table, head, title, columns_first)
    now.editors[key].title = title
    return key


def edit_table(key: str) -> None:
    """Take what was typed into a table editor."""
    fresh = session().editors[key].fresh(st.session_state[key]["edited_rows"])
    if fresh:
        _take_edits(key, fresh)


def pasted() -> None:
    """Take what was pasted into a table editor, as it was before the grid could cut it."""
    event = setting("bridge", {}).get("paste")
    if event and str(event["editor"]) in session().editors:
        key = str(event["editor"])
        columns = session().editors[key].columns
        if 0 <= (column := int(event["column"])) < len(columns):
            _take_edits(key, {int(event["row"]): {columns[column]: str(event["text"])}}, True)


def _take_edits(
    key: str, typed: Mapping[int | str, Mapping[str, Any]], paste: bool = False
) -> None:
    now = session()
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
    now = session()
    grid = now.editors[key]
    array, rows, columns = part(grid.table, grid.head, grid.columns_first)
    now.quiet()
    try:
        block = parse_block(str(st.session_state[text_key]))
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
    change(lambda s: set_cells(s, table, head, cells))


def _take(result: EditResult, grid: Editor, typed_into: str = "") -> None:
    now = session()
    now.quiet()
    now.notes = result.notes
    swap, head = grid.columns_first, grid.head
    cells = {(c, r) if swap else (r, c): v for (r, c), v in result.cells.items()}
    if cells:
        try:
            now.take(set_cells(now.scenario, grid.table, head, cells), typed_into)
        except AttnvizError as error:
            now.refused = str(error)
            now.begin_anew(grid.table)
    if result.problems:
        now.refused = " ".join(result.problems)
    if result.transposable:
        now.transposable = (grid.table, head)
