"""The script as a whole, driven without a browser."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import PRESETS, Trace, run
from attnviz.core import Scenario

APP = str(Path(__file__).parents[2] / "app.py")
TYPED: dict[tuple[int, str], dict[int, dict[str, Any]]] = {}
START = PRESETS["walkthrough"]


@pytest.fixture
def app() -> AppTest:
    test = AppTest.from_file(APP, default_timeout=30).run()
    assert not test.exception
    return test


def scenario(app: AppTest) -> Scenario:
    current: Scenario = app.session_state["attnviz"].scenario
    return current


def trace(app: AppTest) -> Trace:
    current: Trace = app.session_state["attnviz"].trace
    return current


def problem(app: AppTest) -> str:
    return str(app.session_state["attnviz"].problem)


def drawn(app: AppTest, name: str) -> dict[str, Any]:
    """The figure of a chart."""
    charts = [c.proto for c in app.get("plotly_chart") if c.proto.id.endswith(f"plot_{name}")]
    figure: dict[str, Any] = json.loads(charts[0].spec)
    return figure


def notes(app: AppTest) -> str:
    return " ".join(app.session_state["attnviz"].notes)


def go(app: AppTest) -> None:
    app.run()
    assert not app.exception


def edit(app: AppTest, table: str, edits: dict[int, dict[str, Any]]) -> None:
    """Type into a table editor as the browser reports it: all edits since it was mounted."""
    editor = next(e for e in app.data_editor if str(e.key).startswith(f"edit_{table}_"))
    typed = TYPED.setdefault((id(app), str(editor.key)), {})
    for row, cells in edits.items():
        typed.setdefault(row, {}).update(cells)
    states = app._tree.get_widget_states()
    state = states.widgets.add()
    state.id = editor.proto.id
    rows = {str(row): cells for row, cells in typed.items()}
    state.string_value = json.dumps({"edited_rows": rows, "added_rows": [], "deleted_rows": []})
    app._run(states)
    assert not app.exception


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click()
    go(app)


def test_default_is_the_walkthrough(app: AppTest) -> None:
    assert scenario(app).same(START)
    assert app.text_area(key="text").value == "major league baseball"


@pytest.mark.parametrize(
    ("table", "name", "index"),
    [
        ("x", "x", (1, 0)),
        ("w_q_1", "w_q", (1, 1, 0)),
        ("w_k_1", "w_k", (1, 1, 0)),
        ("w_v_1", "w_v", (1, 1, 0)),
        ("w_o", "w_o", (1, 0)),
    ],
)
def test_each_table_takes_an_edit(
    app: AppTest, table: str, name: str, index: tuple[int, ...]
) -> None:
    edit(app, table, {1: {"d0": "0.125"}})
    assert trace(app)[name][index] == 0.125
    changed = trace(app)[name] != run(START)[name]
    assert changed.sum() == 1


def test_second_edit_keeps_the_first(app: AppTest) -> None:
    edit(app, "w_q_1", {0: {"d0": "7"}})
    edit(app, "w_q_1", {2: {"d1": "8"}})
    assert scenario(app).params.w_q[1, 0, 0] == 7
    assert scenario(app).params.w_q[1, 2, 1] == 8


def test_b19_four_edits_and_four_times_undo(app: AppTest) -> None:
    for table in ("w_q_1", "w_k_1", "w_v_1", "w_o"):
        edit(app, table, {0: {"d0": "0.95"}})
    for _ in range(4):
        press(app, "undo")
    assert scenario(app).same(START)
    assert app.button(key="undo").disabled
    for _ in range(4):
        press(app, "redo")
    assert scenario(app).params.w_o is not None
    assert scenario(app).params.w_o[0, 0] == 0.95


def test_b20_refused_cell_keeps_its_value_and_is_named(app: AppTest) -> None:
    edit(app, "w_k_1", {2: {"d1": "abc"}})
    assert all(word in problem(app) for word in ("W_K head 2", "row d2", "column d1", "abc"))
    assert scenario(app).same(START)
    edit(app, "w_k_1", {2: {"d1": "0.5"}})
    assert problem(app) == ""
    assert scenario(app).params.w_k[1, 2, 1] == 0.5


def test_b21_deleted_cell_keeps_its_value(app: AppTest) -> None:
    edit(app, "w_o", {0: {"d0": None}})
    assert "0.2 stays" in problem(app)
    assert scenario(app).same(START)


def test_text_keeps_rows_and_edits(app: AppTest) -> None:
    edit(app, "x", {1: {"d0": "0.125"}})
    app.text_area(key="text").set_value("the major league baseball")
    go(app)
    assert trace(app)["x"][2, 0] == 0.125
    np.testing.assert_array_equal(trace(app)["x"][1], START.x[0])


def test_empty_text_is_a_hint_and_keeps_the_picture(app: AppTest) -> None:
    app.text_area(key="text").set_value("   ")
    go(app)
    assert "Type a word" in problem(app)
    assert app.session_state["attnviz"].hint
    assert scenario(app).same(START)


def test_ten_thousand_words_are_refused_and_can_be_cut(app: AppTest) -> None:
    app.text_area(key="text").set_value("word " * 10_000)
    go(app)
    assert "512" in problem(app)
    assert app.text_area(key="text").value == "word " * 10_000
    press(app, "cut")
    assert len(scenario(app).tokens) == 512
    assert problem(app) == ""


def test_long_token(app: AppTest) -> None:
    app.text_area(key="text").set_value("a" * 200 + " b")
    go(app)
    assert trace(app)["scores"].shape == (2, 2, 2)
    texts = [text for part in drawn(app, "head_0")["data"] for text in part.get("text", ())]
    assert f"{'a' * 5}…{'a' * 4}" in texts
    assert not any("a" * 11 in text for text in texts)
    hovers = "".join(str(part.get("hovertext", "")) for part in drawn(app, "head_0")["data"])
    assert "a" * 200 in hovers.replace("<br>", "")


@pytest.mark.parametrize(
    ("size", "value", "word"),
    [
        ("n_heads", "0", "nearest legal value is 1"),
        ("d_model", "5000", "1024"),
        ("d_k", "-3", "1"),
        ("d_v", "2.7", "not a whole number (expected 1 to 1024, got '2.7')"),
        ("n_heads", "", "not a whole number"),
    ],
)
def test_b15_illegal_sizes_name_the_nearest_legal(
    app: AppTest, size: str, value: str, word: str
) -> None:
    app.text_input(key=f"size_{size}").set_value(str(value))
    go(app)
    assert size in problem(app)
    assert word in problem(app)
    assert scenario(app).same(START)
    assert app.text_input(key=f"size_{size}").value == str(getattr(START.sizes, size))


def test_b15_three_heads_at_width_32_and_more_heads_than_width(app: AppTest) -> None:
    for size, value in (("d_model", 32), ("n_heads", 3), ("d_model", 2)):
        app.text_input(key=f"size_{size}").set_value(str(value))
        go(app)
        assert problem(app) == ""
    assert trace(app)["q"].shape == (3, 3, 2)


def test_b21_width_six_and_back_to_four(app: AppTest) -> None:
    app.text_input(key="size_d_model").set_value("6")
    go(app)
    assert "W_Q keeps 16 of 16 cells" in notes(app)
    assert np.isfinite(trace(app)["output"]).all()
    app.text_input(key="size_d_model").set_value("4")
    go(app)
    assert scenario(app).same(START)


def test_b22_both_heads_with_the_same_tables(app: AppTest) -> None:
    rows = START.params.w_q[0]
    edit(app, "w_q_1", {r: {f"d{c}": str(rows[r, c]) for c in (0, 1)} for r in range(4)})
    np.testing.assert_array_equal(trace(app)["q"][0], trace(app)["q"][1])


def test_projection_off_makes_the_concatenation_the_result(app: AppTest) -> None:
    app.toggle(key="project").set_value(False)
    go(app)
    assert trace(app).result == "concat"
    app.toggle(key="project").set_value(True)
    go(app)
    assert scenario(app).same(START)


def test_the_switch_of_the_projection_is_off_where_there_is_none_and_makes_one(
    app: AppTest,
) -> None:
    app.selectbox(key="preset").set_value("search")
    go(app)
    assert not app.toggle(key="project").value
    app.toggle(key="project").set_value(True)
    go(app)
    assert trace(app)["output"].shape == (2, 14)
    assert app.toggle(key="project").value
    press(app, "undo")
    assert trace(app).result == "concat"
    assert not app.toggle(key="project").value


def test_reset_and_undo_of_reset(app: AppTest) -> None:
    edit(app, "w_o", {0: {"d0": "9"}})
    press(app, "reset")
    assert scenario(app).same(START)
    press(app, "undo")
    assert scenario(app).params.w_o is not None
    assert scenario(app).params.w_o[0, 0] == 9


@pytest.mark.parametrize("typed", ["1.5", "-1", "", "seven"])
def test_a_seed_that_is_none_is_refused_and_the_field_shows_the_seed_in_use(
    app: AppTest, typed: str
) -> None:
    app.text_input(key="seed").set_value(typed)
    go(app)
    assert problem(app).startswith("seed: not a whole number from 0 on")
    assert app.text_input(key="seed").value == str(START.seed)


def test_same_seed_same_numbers(app: AppTest) -> None:
    app.text_input(key="seed").set_value("7")
    go(app)
    first = trace(app)["output"]
    press(app, "randomise")
    assert scenario(app).seed == 8
    app.text_input(key="seed").set_value("7")
    go(app)
    np.testing.assert_array_equal(trace(app)["output"], first)


@pytest.mark.parametrize(
    ("key", "value", "changed"),
    [
        ("decimals", "all", "text"),
        ("palette", "greys", "colorscale"),
        ("tokens_as", "columns", "z"),
        ("cell_text", False, "text"),
    ],
)
def test_every_view_setting_is_seen_and_changes_no_number(
    app: AppTest, key: str, value: Any, changed: str
) -> None:
    def parts() -> dict[str, list[Any]]:
        data = drawn(app, "head_0")["data"]
        return {name: [trace.get(name) for trace in data] for name in ("z", "text", "colorscale")}

    before = parts()
    kinds = {"tokens_as": app.radio, "cell_text": app.toggle}
    kinds.get(key, app.selectbox)(key=key).set_value(value)
    go(app)
    assert parts()[changed] != before[changed]
    assert scenario(app).same(START)


def test_tokens_as_columns_turns_the_formula_too(app: AppTest) -> None:
    app.radio(key="tokens_as").set_value("columns")
    go(app)
    said = " ".join(element.body for element in app.get("html") if "panel-cell" in element.body)
    assert "S′ᵀ[baseball, league]" in said or "Sᵀ[baseball, league]" in said
    assert "largest score of the column" in said


def test_tokens_as_columns_edits_the_same_cell(app: AppTest) -> None:
    app.radio(key="tokens_as").set_value("columns")
    go(app)
    edit(app, "w_q_1", {1: {"d3": "0.75"}})
    assert scenario(app).params.w_q[1, 3, 1] == 0.75


def test_overflow_is_named_and_the_picture_stays(app: AppTest) -> None:
    edit(app, "w_q_1", {0: {"d0": "1e300"}})
    edit(app, "w_k_1", {0: {"d0": "1e300"}})
    assert problem(app).startswith("W_K head 2, row d0, column d0: 1e+300 cannot be used.")
    assert "float64" in problem(app)
    assert np.isfinite(trace(app)["output"]).all()


def test_the_answer_speaks_of_the_head_that_is_shown(app: AppTest) -> None:
    app.text_area(key="text").set_value("the quick brown fox jumps over the dog")
    go(app)
    assert app.session_state["attnviz"].chosen.index[0] == 0
