"""What one visitor's session holds, and the commands that change it.

The only module that touches `st.session_state`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from attnviz.core import PRESETS, AttnvizError, LimitError, Scenario, TextError, Trace, edit, run
from attnviz.core.arrays import BoolArray
from attnviz.core.expr import Cell
from attnviz.core.presets import WALKTHROUGH
from attnviz.figures import View
from attnviz.parsing import parse_block
from attnviz.tables import EditResult, apply_edits, place_block

MAX_HISTORY = 200
Change = Callable[[Scenario], edit.Change]


@dataclass
class Session:
    """One visitor's page.

    Args:
        scenario, trace: what is shown, and its computation: always the last good one.
        past, future: for undo and redo.
        revision: goes up when tables are replaced as a whole, so that editors start anew.
        table_revisions: the same for a single table.
        problem: the one sentence on what was refused; empty when all is well.
        hint: whether the problem is no mistake, such as an empty text.
        notes: sentences on what a change did.
        draft: a text that was refused, kept as typed.
        chosen: the cell whose arithmetic is open; trail: the cells on the way to it.
        before: the trace before the last change, until its marks were drawn once.
        seen: for each editor the texts that were dealt with.
        transposable: a square table just pasted, that may be meant the other way round.
    """

    scenario: Scenario
    trace: Trace
    past: list[Scenario] = field(default_factory=list)
    future: list[Scenario] = field(default_factory=list)
    revision: int = 0
    table_revisions: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    hint: bool = False
    notes: tuple[str, ...] = ()
    draft: str | None = None
    chosen: Cell | None = None
    trail: tuple[Cell, ...] = ()
    before: Trace | None = None
    seen: dict[str, dict[tuple[str, str], Any]] = field(default_factory=dict)
    transposable: tuple[str, int | None] | None = None


def session() -> Session:
    """This visitor's session; the walkthrough when it is new."""
    if "attnviz" not in st.session_state:
        scenario = PRESETS[WALKTHROUGH]
        new = Session(scenario, run(scenario))
        new.chosen = _opening_cell(new.trace)
        st.session_state["attnviz"] = new
    current: Session = st.session_state["attnviz"]
    return current


def _opening_cell(trace: Trace) -> Cell:
    """The largest weight of the second query of the last head: a number worth asking about."""
    weights = trace["attention"]
    row = min(1, weights.shape[1] - 1)
    index = (len(weights) - 1, row, int(weights[-1, row].argmax()))
    return trace.cell("attention", index)


# Widgets: each shows the session; its callback reads what was chosen.


def show(key: str, value: Any) -> str:
    """Make the widget of this key show a value, and give the key."""
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


# Commands.


def change(how: Change, *, whole: bool = True, clear: bool = True) -> bool:
    """Replace the scenario by what `how` makes of it, or say why not and keep the old one.

    Args:
        how: the change.
        whole: whether tables are replaced as a whole.
        clear: whether sentences on earlier changes go away.
    """
    now = session()
    if clear:
        now.problem, now.hint, now.notes, now.transposable = "", False, (), None
    try:
        scenario, note = how(now.scenario)
        trace = run(scenario)
    except AttnvizError as error:
        now.problem, now.hint = str(error), isinstance(error, TextError)
        return False
    if note:
        now.notes += (note,)
    if not scenario.same(now.scenario):
        now.past = [*now.past[-MAX_HISTORY + 1 :], now.scenario]
        now.future = []
    _accept(now, scenario, trace, whole)
    return True


def _accept(now: Session, scenario: Scenario, trace: Trace, whole: bool) -> None:
    now.before = now.trace
    now.scenario, now.trace, now.draft = scenario, trace, None
    if whole:
        now.revision += 1
        now.seen.clear()
    now.chosen = _still(trace, now.chosen) or _opening_cell(trace)
    kept = (_still(trace, cell) for cell in now.trail)
    now.trail = tuple(cell for cell in kept if cell is not None)


def _still(trace: Trace, cell: Cell | None) -> Cell | None:
    """The same cell in a new trace, or None where it is gone."""
    if cell is None or cell.key not in trace:
        return None
    shape = trace[cell.key].shape
    inside = len(shape) == len(cell.index) and all(
        i < n for i, n in zip(cell.index, shape, strict=True)
    )
    return trace.cell(cell.key, cell.index) if inside else None


def undo() -> None:
    """Back to the scenario before the last change."""
    now = session()
    if now.past:
        now.future.append(now.scenario)
        _go(now, now.past.pop(), "Undone.")


def redo() -> None:
    """Forward again after undo."""
    now = session()
    if now.future:
        now.past.append(now.scenario)
        _go(now, now.future.pop(), "Done again.")


def _go(now: Session, scenario: Scenario, note: str) -> None:
    now.problem, now.hint, now.notes, now.transposable = "", False, (note,), None
    _accept(now, scenario, run(scenario), whole=True)


def open_preset(name: str) -> None:
    """Begin an example anew."""
    change(lambda _: (PRESETS[name], ""))
    session().chosen = _opening_cell(session().trace)
    session().trail = ()


def set_text(text: str) -> None:
    """Take a new text; a refused one stays in its field."""
    if not change(lambda s: edit.set_text(s, text)):
        session().draft = text


def cut_text() -> None:
    """Take as much of a refused text as is allowed."""
    now = session()
    scenario = now.scenario
    limit = edit.token_limit(scenario)
    text = edit.first_tokens(now.draft or "", scenario.tokenizer, limit)
    change(lambda s: edit.set_text(s, text))


def too_long() -> bool:
    """Whether a refused text waits that could be cut."""
    draft = session().draft
    if draft is None:
        return False
    try:
        edit.set_text(session().scenario, draft)
    except LimitError:
        return True
    except AttnvizError:
        return False
    return False


def edit_table(key: str, table: str, head: int | None, title: str, columns_first: bool) -> None:
    """Take what was typed into a table editor."""
    now = session()
    typed = st.session_state[key]["edited_rows"]
    seen = now.seen.setdefault(key, {})
    fresh: dict[int | str, dict[str, Any]] = {}
    for row, cells in typed.items():
        for name, text in cells.items():
            if seen.get((str(row), name), fresh) != text:
                fresh.setdefault(row, {})[name] = text
                seen[str(row), name] = text
    array, rows, columns = table_parts(now, table, head, columns_first)
    result = apply_edits(array, fresh, rows, columns, title)
    is_block = len(result.cells) > sum(map(len, fresh.values()))
    _take(result, table, head, columns_first, whole=is_block)
    if result.problems or is_block:
        now.table_revisions[table] = now.table_revisions.get(table, 0) + 1
        now.seen.pop(key, None)


def paste_table(
    key: str, table: str, head: int | None, title: str, columns_first: bool, transpose: bool
) -> None:
    """Take a whole table pasted as text."""
    now = session()
    array, _, _ = table_parts(now, table, head, columns_first)
    try:
        block = parse_block(str(st.session_state[key]))
        result = place_block(block, (array.shape[0], array.shape[1]), (0, 0), title, transpose)
    except AttnvizError as error:
        now.problem, now.hint, now.notes = f"{title}: {error}", False, ()
        return
    _take(result, table, head, columns_first, whole=True)


def transpose_table(table: str, head: int | None) -> None:
    """Exchange rows and columns of a square table."""
    now = session()
    array = now.scenario.x if table == "x" else now.scenario.params.tables()[table]
    part = array if head is None else array[head]
    change(lambda s: edit.set_table(s, table, part.T, head))


def _take(
    result: EditResult, table: str, head: int | None, columns_first: bool, *, whole: bool
) -> None:
    now = session()
    now.problem, now.hint, now.notes, now.transposable = "", False, result.notes, None
    cells = {(c, r) if columns_first else (r, c): v for (r, c), v in result.cells.items()}
    indexed: dict[tuple[int, ...], float] = {
        at if head is None else (head, *at): value for at, value in cells.items()
    }
    if indexed:
        change(lambda s: edit.set_cells(s, table, indexed), whole=whole, clear=False)
    if result.problems:
        now.problem = " ".join(result.problems)
    if result.transposable:
        now.transposable = (table, head)


def table_parts(
    now: Session, table: str, head: int | None, columns_first: bool
) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """A table as it is edited: its numbers, row labels and column labels."""
    array, labels = now.trace[table], now.trace.labels(table)
    part = array if head is None else array[head]
    if columns_first:
        return part.T, labels[-1], labels[-2]
    return part, labels[-2], labels[-1]


def choose(cell: Cell, *, deeper: bool = False) -> None:
    """Open the arithmetic of a cell; `deeper` keeps the way back."""
    now = session()
    if deeper and now.chosen is not None:
        now.trail = (*now.trail, now.chosen)
    else:
        now.trail = ()
    now.chosen = _still(now.trace, cell) or now.chosen


def back_to(place: int) -> None:
    """Back along the way to an earlier cell."""
    now = session()
    now.chosen, now.trail = now.trail[place], now.trail[:place]


def clicked(key: str, index: tuple[int, ...]) -> None:
    """Open the arithmetic of a clicked cell."""
    now = session()
    cell = _still(now.trace, Cell(key, index, 0.0))
    if cell is not None:
        choose(cell)


def changed_cells() -> dict[str, BoolArray]:
    """What the last change changed, by array; empty once it was asked."""
    now = session()
    before, now.before = now.before, None
    if before is None:
        return {}
    changed: dict[str, BoolArray] = {}
    for stage in now.trace.stages:
        if stage.key in before and before[stage.key].shape == now.trace[stage.key].shape:
            cells = np.asarray(before[stage.key] != now.trace[stage.key])
            if cells.any():
                changed[stage.key] = cells
    return changed


def view(**more: Any) -> View:
    """How pictures are drawn, from the widgets and the page's theme."""
    decimals = setting("decimals", "2")
    return View(
        decimals=None if decimals == "all" else int(decimals),
        palette=setting("palette", View.palette),
        tokens_as=setting("tokens_as", "rows"),
        dark=st.context.theme.type == "dark",
        **more,
    )
