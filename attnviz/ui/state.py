"""Where a visitor's session lives, and the commands that the widgets call.

The only module that touches `st.session_state`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.core import PRESETS, AttnvizError, Scenario, edit, run
from attnviz.core.arrays import Array
from attnviz.core.expr import Cell
from attnviz.core.ready import COMPARISONS
from attnviz.figures import View
from attnviz.parsing import parse_block
from attnviz.tables import EditResult, apply_edits, place_block
from attnviz.ui.session import Draft, Editor, Session, opening_cell

Change = Callable[[Scenario], edit.Change]
ALL_HEADS = "all heads"
MIN_WIDTH, MAX_WIDTH = 600, 1900  # px that pictures are laid out for; beyond, they stretch
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
    chosen: dict[str, Any] = {
        "decimals": None if decimals == "all" else int(decimals),
        "palette": setting("palette", View.palette),
        "tokens_as": setting("tokens_as", "rows"),
        "dark": st.context.theme.type == "dark",
        "width": session().room[0],
    }
    return View(**chosen | more)


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


def set_text(text: str) -> None:
    """Take a new text; a refused one stays in its field, with the reason."""
    now = session()
    now.quiet()
    try:
        now.take(edit.set_text(now.scenario, text))
        now.draft = None
    except AttnvizError as error:
        now.draft = Draft(text, error)


def cut_text() -> None:
    """Take as much of a refused text as is allowed."""
    now = session()
    if now.draft is not None:
        limit = edit.token_limit(now.scenario)
        set_text(edit.first_tokens(now.draft.text, now.scenario.tokenizer, limit))


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


def measured() -> None:
    """Take the room that the browser has for the pictures."""
    room = setting("bridge", {}).get("room")
    if room:
        width, height = map(int, room)
        session().room = (min(max(width, MIN_WIDTH), MAX_WIDTH), min(max(height, 400), 4000))


def show_tables(head: int) -> None:
    """Show the tables of a head, with a cell of it."""
    now = session()
    now.choose(opening_cell(now.trace, head))


def back_to(step: int) -> None:
    """Back along the way to an earlier cell."""
    session().back_to(step)


# Views.


def view_name() -> str:
    """The view that is open."""
    return str(setting("view", "Explore"))


def presenting() -> bool:
    """Whether the page is laid out for a projector."""
    return bool(setting("presenting", False))


def present(on: bool) -> None:
    """Lay the page out for a projector, or leave that; the chosen cell stays."""
    once("presenting", on)
    show("presenting", on)


def go_to(step: int) -> None:
    """Open a step."""
    session().go_to(step)


def next_head() -> None:
    """Open the same place of the next head."""
    now = session()
    now.go_to(now.step, now.head + 1)


def reveal() -> None:
    """Show one row more of the step's result."""
    session().reveal()


def fold_arithmetic() -> None:
    """Show or hide the arithmetic while presenting."""
    show("arithmetic", not setting("arithmetic", True))


def read_token() -> None:
    """Mark the rows of the token that was chosen, or of none."""
    now = session()
    labels, chosen = now.trace.labels("x")[0], setting("token")
    now.token = labels.index(chosen) if chosen in labels else None


def pin() -> None:
    """Keep the present state as A, to compare with."""
    now = session()
    now.pinned = (now.scenario, now.trace)


def compare(name: str) -> None:
    """Set both sides of a ready-made comparison; what is shown is B."""
    now, ready = session(), COMPARISONS[name]
    now.quiet()
    try:
        a = ready.a(now.scenario)
        pinned = (a, run(a))
        now.take((ready.b(now.scenario), ready.says))
        now.pinned = pinned
    except AttnvizError as error:
        now.refused = str(error)


# Tables.


def part(table: str, head: int | None, columns_first: bool) -> Part:
    """A table as it is edited: its numbers, row labels and column labels."""
    trace = session().trace
    array, labels = trace[table], trace.labels(table)
    own = array if head is None else array[head]
    if columns_first:
        return own.T, labels[-1], labels[-2]
    return own, labels[-2], labels[-1]


def editor(name: str, table: str, head: int | None, title: str, columns_first: bool) -> str:
    """The key of a table's editor."""
    now = session()
    key = f"{name}_{now.revisions.get(table, 0)}{'t' if columns_first else ''}"
    if key not in st.session_state or key not in now.editors:  # new, or not drawn for a while
        array, _, columns = part(table, head, columns_first)
        now.editors[key] = Editor(array, columns, table, head, title, columns_first)
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
    block = paste or len(result.cells) > sum(map(len, typed.values()))
    _take(result, grid, typed_into="" if block else grid.table)
    if result.problems or block:
        now.begin_anew(grid.table)


def paste_table(key: str, text_key: str, transpose: bool) -> None:
    """Take a whole table pasted as text."""
    now = session()
    grid = now.editors[key]
    array, _, _ = part(grid.table, grid.head, grid.columns_first)
    now.quiet()
    try:
        block = parse_block(str(st.session_state[text_key]))
        shape = (array.shape[0], array.shape[1])
        result = place_block(block, shape, (0, 0), grid.title, transpose)
    except AttnvizError as error:
        now.refused = f"{grid.title}: {error}"
        return
    _take(result, grid)


def transpose_table(table: str, head: int | None) -> None:
    """Exchange rows and columns of a square table."""
    own, _, _ = part(table, head, columns_first=True)
    change(lambda s: edit.set_table(s, table, own, head))


def _take(result: EditResult, grid: Editor, typed_into: str = "") -> None:
    now = session()
    now.quiet()
    now.notes = result.notes
    swap, head = grid.columns_first, grid.head
    cells = {(c, r) if swap else (r, c): v for (r, c), v in result.cells.items()}
    indexed: dict[tuple[int, ...], float] = {
        at if head is None else (head, *at): value for at, value in cells.items()
    }
    if indexed:
        try:
            now.take(edit.set_cells(now.scenario, grid.table, indexed), typed_into)
        except AttnvizError as error:
            now.refused = str(error)
            now.begin_anew(grid.table)
    if result.problems:
        now.refused = " ".join(result.problems)
    if result.transposable:
        now.transposable = (grid.table, head)
