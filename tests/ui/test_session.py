"""The session of one visitor, without Streamlit."""

from typing import Any

import numpy as np
import pytest

from attnviz.core import LimitError, edit
from attnviz.ui.editor import Editor
from attnviz.ui.session import Session


def editor() -> Editor:
    return Editor(np.array([[0.5, 1.0], [2.0, 3.0]]), ("d0", "d1"))


def test_editor_gives_each_typed_text_once() -> None:
    one = editor()
    assert one.fresh({0: {"d0": "7"}}) == {0: {"d0": "7"}}
    assert one.fresh({0: {"d0": "7"}}) == {}
    assert one.fresh({0: {"d0": "7"}, 1: {"d1": "8"}}) == {1: {"d1": "8"}}
    assert one.fresh({0: {"d0": "9"}, 1: {"d1": "8"}}) == {0: {"d0": "9"}}


def test_a_deleted_cell_is_fresh_too() -> None:
    assert editor().fresh({0: {"d0": None}}) == {0: {"d0": None}}


def test_a_cell_set_back_is_given_as_its_first_value() -> None:
    one = editor()
    one.fresh({0: {"d0": "7"}})
    assert one.fresh({}) == {0: {"d0": "0.5"}}
    assert one.fresh({}) == {}


def changed(session: Session) -> dict[str, int]:
    return {table: count for table, count in session.revisions.items() if count}


def test_only_tables_that_differ_begin_anew() -> None:
    session = Session.new()
    session.take(edit.set_cells(session.scenario, "w_o", {(0, 0): 5.0}), typed_into="w_o")
    assert changed(session) == {}
    session.undo()
    assert changed(session) == {"w_o": 1}
    session.take(edit.set_text(session.scenario, "the league"))
    assert changed(session) == {"w_o": 1, "x": 1, "bias": 1, "mask": 1}  # named by the words


def test_a_change_that_changes_nothing_leaves_no_trace_in_the_history() -> None:
    session = Session.new()
    session.take((session.scenario, ""))
    assert session.past == []


def test_a_new_change_ends_redo() -> None:
    session = Session.new()
    session.take(edit.set_text(session.scenario, "one"))
    session.undo()
    assert len(session.future) == 1
    session.take(edit.set_text(session.scenario, "two"))
    assert session.future == []
    session.redo()
    assert session.scenario.text == "two"


def test_chosen_cell_and_the_way_to_it_survive_a_change_while_they_exist() -> None:
    session = Session.new()
    first = session.trace.cell("attention", (1, 2, 0))
    session.choose(first)
    session.choose(session.trace.cell("scaled", (1, 2, 0)), deeper=True)
    session.take(edit.set_cells(session.scenario, "w_q", {(1, 0, 0): 0.9}))
    assert session.chosen.index == (1, 2, 0)
    assert session.chosen.value == session.trace["scaled"][1, 2, 0]
    assert [cell.value for cell in session.trail] == [session.trace["attention"][1, 2, 0]]
    session.back_to(0)
    assert (session.chosen.key, session.trail) == ("attention", ())
    session.take(edit.set_text(session.scenario, "one"))
    assert session.chosen.index[1:] == (0, 0)


def test_a_cell_that_is_not_there_is_not_chosen() -> None:
    session = Session.new()
    chosen = session.chosen
    for key, index in (("attention", (0, 9, 0)), ("nothing", (0, 0)), ("attention", (0,))):
        cell: Any = type(chosen)(key, index, 0.0)
        session.choose(cell)
        assert session.chosen == chosen


def test_refused_scenario_leaves_everything_as_it_was() -> None:
    session = Session.new()
    scenario, trace = session.scenario, session.trace
    with pytest.raises(LimitError):
        session.take(edit.resize(session.scenario, n_heads=0))
    assert (session.scenario, session.trace, session.past) == (scenario, trace, [])


@pytest.mark.parametrize(
    "change",
    [
        lambda s: edit.set_context(s, "a b c"),
        lambda s: edit.set_padding(s, [1]),
        lambda s: edit.switch(s, "b_q", True),
        lambda s: edit.set_mask(s, {(0, 0): False}),
        lambda s: edit.set_cells(s, "bias", {(0, 0): 1.0}),
        lambda s: edit.set_config(s, temperature=2.0),
        lambda s: edit.resize(edit.resize(s, n_heads=4)[0], n_kv_heads=2),
        lambda s: edit.set_context(s, s.text),
    ],
)
def test_the_side_bar_is_drawn_anew_for_what_it_shows(change: Any) -> None:
    session = Session.new()
    session.take(edit.set_padding(session.scenario, [0]))
    before = session.side()
    session.take(change(session.scenario))
    assert session.side() != before
    session.undo()
    assert session.side() == before


def test_cells_of_an_open_table_leave_the_side_bar() -> None:
    session = Session.new()
    session.opened = frozenset({"bias", "mask"})
    before = session.side()
    session.take(edit.set_cells(session.scenario, "bias", {(0, 0): 1.0}))
    session.take(edit.set_mask(session.scenario, {(0, 0): False}))
    session.take(edit.set_cells(session.scenario, "x", {(0, 0): 1.0}))
    assert session.side() == before
