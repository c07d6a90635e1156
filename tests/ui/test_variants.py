"""Every variant of attention: its widget, its tables, what it changes and the way back."""

import gc
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import PRESETS, Trace, run
from attnviz.core import CHOICES, Scenario
from attnviz.core.config import OPTIONAL
from attnviz.core.masks import ALIGNMENTS, MASKS
from attnviz.core.normalise import NORMALISERS
from attnviz.core.positions import POSITIONS
from attnviz.ui.session import Session
from attnviz.ui.variants import ELSEWHERE, help_of, label_of

APP = str(Path(__file__).parents[2] / "app.py")
START = PRESETS["walkthrough"]


@pytest.fixture
def app() -> AppTest:
    return go(AppTest.from_file(APP, default_timeout=30))


def go(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def session(app: AppTest) -> Session:
    found: Session = app.session_state["attnviz"]
    return found


def scenario(app: AppTest) -> Scenario:
    return session(app).scenario


def trace(app: AppTest) -> Trace:
    return session(app).trace


def stages(app: AppTest) -> set[str]:
    return {stage.key for stage in trace(app).stages}


def problem(app: AppTest) -> str:
    return session(app).problem


def choose(app: AppTest, name: str, value: Any) -> None:
    """Choose, type or switch: the widget of a choice, a table or a text."""
    kinds = (app.selectbox, app.text_input, app.toggle, app.multiselect, app.text_area)
    [widget] = [w for kind in kinds for w in kind if w.key == name]
    widget.set_value(value)
    go(app)


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click()
    go(app)


def tables(app: AppTest) -> list[str]:
    """The editors on the page, without their revisions."""
    return [str(e.key).removeprefix("edit_").rsplit("_", 1)[0] for e in app.data_editor]


def edit(app: AppTest, table: str, edits: Mapping[int, Mapping[str, str]]) -> None:
    """Type into an editor that was not typed into before."""
    editor = next(e for e in app.data_editor if str(e.key).startswith(f"edit_{table}_"))
    states = app._tree.get_widget_states()
    state = states.widgets.add()
    state.id = editor.proto.id
    rows = {str(row): dict(cells) for row, cells in edits.items()}
    state.string_value = json.dumps({"edited_rows": rows, "added_rows": [], "deleted_rows": []})
    app._run(states)
    assert not app.exception


def shown(app: AppTest) -> str:
    """Everything that the page says in HTML."""
    return " ".join(element.proto.body for element in (*app.main.get("html"), *side(app)))


def side(app: AppTest) -> list[Any]:
    return list(app.sidebar.get("html"))


def held(app: AppTest) -> dict[str, Any]:
    """What the widgets of the side bar hold."""
    kinds = (app.selectbox, app.text_input, app.toggle, app.text_area, app.multiselect)
    return {w.key: w.value for kind in kinds for w in kind}


def drawn(app: AppTest) -> set[str]:
    """The stages on the pictures of the page."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    return {t["meta"][0] for spec in specs for t in spec["data"] if t["type"] == "heatmap"}


# Every choice.

CHOSEN: dict[str, list[tuple[Any, str]]] = {  # name -> (value, the stage that is its own)
    "scale": [("0.25", ""), ("1/3", "")],
    "temperature": [("2", "tempered")],
    "softcap": [("0.5", "capped")],
    "causal": [(True, "masked")],
    "normaliser": [(name, "") for name in NORMALISERS if name != "softmax"],
    "positions": [
        (name, "x_positioned" if kind.added else "q_rotated" if kind.pairs else "biased")
        for name, kind in POSITIONS.items()
        if name != "none"
    ],
}


@pytest.mark.parametrize(
    ("name", "value", "stage"),
    [(name, value, stage) for name, values in CHOSEN.items() for value, stage in values],
)
def test_a_choice_reaches_the_page_and_undo_takes_it_back(
    app: AppTest, name: str, value: Any, stage: str
) -> None:
    before = held(app)
    assert stage not in stages(app)
    choose(app, f"variant_{name}", value)
    after = held(app)[f"variant_{name}"]
    assert problem(app) == ""
    assert getattr(scenario(app).config, name) != getattr(START.config, name)
    assert (trace(app)["output"] != run(START)["output"]).any()
    assert stages(app) <= drawn(app) | {"x"}
    assert not stage or stage in drawn(app)
    press(app, "undo")
    assert scenario(app).same(START)
    assert stage not in drawn(app)
    assert held(app) == before
    press(app, "redo")
    assert held(app)[f"variant_{name}"] == after
    press(app, "reset")
    assert held(app) == before


@pytest.mark.parametrize(
    ("before", "name", "value"),
    [
        ({"causal": True}, "causal_offset", "-1"),
        ({"normaliser": "top_k"}, "top_k", "1"),
        ({"positions": "sinusoidal"}, "position_base", "100"),
        ({"positions": "rope"}, "position_base", "2"),
    ],
)
def test_a_choice_that_needs_another(
    app: AppTest, before: dict[str, Any], name: str, value: str
) -> None:
    choose(app, "size_d_k", "4")  # two pairs of columns turn
    for key, chosen in before.items():
        choose(app, f"variant_{key}", chosen)
    old = trace(app)["output"]
    choose(app, f"variant_{name}", value)
    assert (trace(app)["output"] != old).any()
    assert "no effect" not in shown(app)
    press(app, "undo")
    np.testing.assert_array_equal(trace(app)["output"], old)


def test_rotary_columns_can_be_some_of_them(app: AppTest) -> None:
    choose(app, "size_d_k", "4")
    choose(app, "variant_positions", "rope")
    choose(app, "variant_rope_dims", "2")
    turned = trace(app)["q_rotated"] != trace(app)["q"]
    assert turned.any(axis=(0, 1)).tolist() == [True, True, False, False]
    choose(app, "variant_rope_dims", "3")
    assert "even number" in problem(app)
    assert scenario(app).config.rope_dims == 2
    assert app.text_input(key="variant_rope_dims").value == "2"


def test_both_alignments_where_counts_differ(app: AppTest) -> None:
    choose(app, "crossed", True)
    choose(app, "context_text", "a b c d e")
    choose(app, "variant_causal", True)
    for name, kind in ALIGNMENTS.items():
        choose(app, "variant_causal_alignment", name)
        ahead = kind.offset(3, 5)
        assert np.isneginf(trace(app)["masked"][0]).tolist() == [
            [j > i + ahead for j in range(5)] for i in range(3)
        ]
    assert "no effect" not in shown(app)


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("scale", "abc", "scale: “abc” is not a number. Type a number such as"),
        ("softcap", "0", "softcap: must be above 0 (got 0"),
        ("softcap", "-1", "softcap: must be above 0"),
        ("temperature", "0", "temperature: must be above 0"),
        ("temperature", "inf", "temperature: “inf” is not a finite number"),
        ("causal_offset", "1.5", "causal offset: not a whole number (got 1.5)"),
        ("top_k", "0", "k of top-k: must be at least 1"),
        ("position_base", "1e999", "base of positions: “1e999” is larger than float64 can hold"),
        ("rope_dims", "1", "rotary dimensions: must be at least 2"),
    ],
)
def test_a_number_that_is_none_is_refused_and_the_picture_stays(
    app: AppTest, name: str, typed: str, said: str
) -> None:
    field = app.text_input(key=f"variant_{name}").value
    choose(app, f"variant_{name}", typed)
    assert problem(app).startswith(said)
    assert scenario(app).same(START)
    assert app.text_input(key=f"variant_{name}").value == field
    assert "last good state" in shown(app)


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [("scale", "0,25", 0.25), ("temperature", "1/2", 0.5), ("softcap", " 1e-1 ", 0.1)],
)
def test_numbers_are_read_as_in_tables_and_nothing_is_the_default(
    app: AppTest, name: str, typed: str, value: float
) -> None:
    choose(app, f"variant_{name}", typed)
    assert getattr(scenario(app).config, name) == value
    assert ("decimal comma" in " ".join(session(app).notes)) is ("," in typed)
    choose(app, f"variant_{name}", "")
    assert scenario(app).same(START)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("causal_offset", "2", "Causal offset has no effect: the causal mask is off."),
        ("top_k", "1", "K of top-k has no effect: the normaliser keeps every score."),
        ("rope_dims", "2", "Rotary dimensions has no effect"),
        ("position_base", "5", "Base of positions has no effect"),
        ("causal_alignment", "bottom-right", "Causal alignment has no effect"),
    ],
)
def test_what_does_nothing_says_so_beside_its_widget(
    app: AppTest, name: str, value: str, said: str
) -> None:
    assert "no effect" not in shown(app)
    choose(app, f"variant_{name}", value)
    assert said in " ".join(element.proto.body for element in side(app))
    press(app, "undo")
    assert "no effect" not in shown(app)


def test_every_choice_and_table_has_a_widget_with_its_words(app: AppTest) -> None:
    widgets = {
        w.key: w for w in (*app.sidebar.selectbox, *app.sidebar.text_input, *app.sidebar.toggle)
    }
    for name, choice in CHOICES.items():
        if name not in ELSEWHERE:
            widget = widgets[f"variant_{name}"]
            assert widget.label == label_of(choice)
            assert widget.help == help_of(choice)
            assert choice.says[:12] in widget.help
            for option in choice.options.values():
                assert option.label in [*widget.options]
    for name, option in OPTIONAL.items():
        assert widgets[f"variant_{name}"].label == label_of(option)
    for name in MASKS:
        assert f"variant_{name}" in widgets
    assert "arXiv:2408" in widgets["variant_softcap"].help.replace("\\", "")


def entries(variants: Mapping[str, Any]) -> dict[str, Any]:
    """The dict under a read-only view of it."""
    [found] = gc.get_referents(variants)
    assert isinstance(found, dict)
    return found


def test_a_new_variant_is_one_entry_of_one_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    halved = replace(
        NORMALISERS["sigmoid"], label="halved sigmoid", says="Half.", warning="Half of it only."
    )
    near = replace(POSITIONS["alibi"], label="twice as near", distance=lambda ahead: 2 * ahead)
    monkeypatch.setitem(entries(NORMALISERS), "halved", halved)
    monkeypatch.setitem(entries(POSITIONS), "near", near)
    monkeypatch.setitem(
        entries(CHOICES), "later", replace(CHOICES["softcap"], label="later choice")
    )
    monkeypatch.setitem(entries(CHOICES), "project", CHOICES["project"])
    monkeypatch.setattr("attnviz.core.config.Config.later", None, raising=False)
    app = go(AppTest.from_file(APP, default_timeout=30))
    assert app.text_input(key="variant_later").label == "Later choice"
    choose(app, "variant_normaliser", "halved")
    assert "Half of it only." in shown(app)
    choose(app, "variant_positions", "near")
    assert "biased" in drawn(app)
    assert "halved sigmoid" in app.selectbox(key="variant_normaliser").options


# Tables.


@pytest.mark.parametrize(
    ("table", "editor", "after"),
    [
        ("b_q", "b_q_1", "w_q_1"),
        ("b_k", "b_k_1", "w_k_1"),
        ("b_v", "b_v_1", "w_v_1"),
        ("b_o", "b_o", "w_o"),
    ],
)
def test_a_bias_is_drawn_shown_as_one_row_edited_and_switched_off(
    app: AppTest, table: str, editor: str, after: str
) -> None:
    choose(app, f"variant_{table}", True)
    names = tables(app)
    assert names.index(editor) == names.index(after) + 1
    assert "drawn from seed 0" in shown(app)
    drawn_bias = trace(app)[table]
    edit(app, editor, {0: {"d1": "2.5"}})
    at = (1, 1) if drawn_bias.ndim == 2 else (1,)
    assert trace(app)[table][at] == 2.5
    assert (trace(app)[table] != drawn_bias).sum() == 1
    choose(app, f"variant_{table}", False)
    assert editor not in tables(app)
    np.testing.assert_array_equal(trace(app)["output"], run(START)["output"])
    choose(app, f"variant_{table}", True)
    assert trace(app)[table][at] == 2.5
    for _ in range(4):
        press(app, "undo")
    assert scenario(app).same(START)
    assert app.toggle(key=f"variant_{table}").value is False


def test_a_cell_of_a_bias_is_refused_by_name(app: AppTest) -> None:
    choose(app, "variant_b_q", True)
    edit(app, "b_q_1", {0: {"d1": "abc"}})
    assert problem(app).startswith("b_Q head 2, row all, column d1: “abc” is not a number")


@pytest.mark.parametrize("key", ["b_q", "b_o"])
def test_a_cell_of_a_bias_can_be_explained(app: AppTest, key: str) -> None:
    choose(app, f"variant_{key}", True)
    index = (1, 0) if key == "b_q" else (3,)
    session(app).choose(trace(app).cell(key, index))
    go(app)
    assert session(app).chosen.index == index
    assert f"{trace(app)[key][index]:.2f}".replace("-", "−") in shown(app)


def test_a_bias_without_its_table_says_why_not(app: AppTest) -> None:
    choose(app, "variant_b_q", True)
    choose(app, "variant_start", "qkv")
    assert "b_Q has no effect: Q, K and V are given." in shown(app)
    assert "b_q_1" not in tables(app)


def test_score_bias_opens_empty_and_adds_to_one_score(app: AppTest) -> None:
    choose(app, "variant_bias", True)
    assert scenario(app).same(START)
    assert session(app).past == []
    edit(app, "bias", {1: {"major": "3"}})
    added = trace(app)["biased"] - trace(app)["scaled"]
    assert np.argwhere(added).tolist() == [[0, 1, 0], [1, 1, 0]]
    assert "biased" in drawn(app)
    choose(app, "variant_bias", False)
    assert "biased" not in drawn(app)
    choose(app, "variant_bias", True)
    assert trace(app)["bias"][1, 0] == 3
    press(app, "undo")
    press(app, "undo")
    press(app, "undo")
    assert scenario(app).same(START)


def test_a_mask_is_typed_as_one_and_zero(app: AppTest) -> None:
    choose(app, "variant_mask", True)
    edit(app, "mask", {0: {"league": "0"}, 1: {"baseball": "0"}})
    assert scenario(app).hidden == {(0, 1), (1, 2)}
    assert trace(app)["attention"][:, 0, 1].tolist() == [0, 0]
    assert "masked" in drawn(app)
    edit(app, "mask", {0: {"league": "1"}, 1: {"baseball": "0"}})
    assert scenario(app).hidden == {(1, 2)}
    press(app, "undo")
    press(app, "undo")
    assert scenario(app).same(START)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("0.5", "0.5 is neither 1 (may attend) nor 0 (hidden); the old value 1 stays."),
        ("yes", "“yes” is not a number; the old value 1 stays."),
        ("-1", "-1 is neither 1"),
    ],
)
def test_a_mask_cell_that_is_neither_is_refused_by_name(
    app: AppTest, typed: str, said: str
) -> None:
    choose(app, "variant_mask", True)
    edit(app, "mask", {1: {"major": typed, "league": "0"}})
    assert problem(app).startswith(f"mask, row league, column major: {said}")
    assert scenario(app).hidden == {(1, 1)}


def test_tables_with_tokens_as_columns_take_the_same_cell(app: AppTest) -> None:
    app.radio(key="tokens_as").set_value("columns")
    for name in ("mask", "bias", "b_q"):
        choose(app, f"variant_{name}", True)
    edit(app, "mask", {0: {"league": "0"}})
    edit(app, "bias", {0: {"league": "2"}})
    edit(app, "b_q_1", {1: {"all": "7"}})
    assert scenario(app).hidden == {(1, 0)}
    assert dict(scenario(app).bias_edits) == {(1, 0): 2.0}
    assert trace(app)["b_q"][1, 1] == 7


def test_padding_is_chosen_by_token_also_where_words_repeat(app: AppTest) -> None:
    app.text_area(key="text").set_value("the cat the")
    choose(app, "variant_keep", True)
    assert app.multiselect(key="padding").options == ["the₁", "cat", "the₃"]
    choose(app, "padding", [2])
    assert (trace(app)["attention"][:, :, 2] == 0).all()
    assert "masked" in drawn(app)
    choose(app, "variant_keep", False)
    assert (trace(app)["attention"] > 0).all()
    choose(app, "variant_keep", True)
    assert app.multiselect(key="padding").value == [2]
    app.text_area(key="text").set_value("cat the")
    go(app)
    assert scenario(app).padding == {1}
    for _ in range(4):
        press(app, "undo")
    assert app.multiselect(key="padding").value == []
    press(app, "reset")
    assert app.toggle(key="variant_keep").value is False


def test_a_row_that_may_attend_to_nothing_says_so(app: AppTest) -> None:
    choose(app, "variant_keep", True)
    choose(app, "padding", [0, 1, 2])
    notes = [chart.proto.spec for chart in app.get("plotly_chart")]
    assert sum(note.count("nothing to attend to") for note in notes) == 6
    assert not trace(app)["heads"].any()


def test_all_masks_at_once_hide_what_any_of_them_hides(app: AppTest) -> None:
    choose(app, "variant_causal", True)
    choose(app, "variant_keep", True)
    choose(app, "padding", [0])
    choose(app, "variant_mask", True)
    edit(app, "mask", {2: {"baseball": "0"}})
    allowed = trace(app)["attention"][0] > 0
    assert allowed.tolist() == [[False] * 3, [False, True, False], [False, True, False]]


def test_learned_positions_are_a_table_to_edit(app: AppTest) -> None:
    choose(app, "variant_positions", "learned")
    assert tables(app)[:2] == ["x", "positions"]
    edit(app, "positions", {1: {"d2": "9"}})
    assert trace(app)["x_positioned"][1, 2] == trace(app)["x"][1, 2] + 9
    assert {"x", "x_positioned"} <= drawn(app)
    press(app, "undo")
    press(app, "undo")
    assert "positions" not in tables(app)
    assert "x" not in drawn(app)


def test_a_second_text_gives_keys_and_values(app: AppTest) -> None:
    choose(app, "crossed", True)
    assert app.text_area(key="context_text").value == START.text
    np.testing.assert_array_equal(trace(app)["output"], run(START)["output"])
    choose(app, "context_text", "the cat sat on it")
    assert trace(app)["scores"].shape == (2, 3, 5)
    assert tables(app)[:2] == ["x", "context"]
    edit(app, "context", {4: {"d0": "6"}})
    assert trace(app)["context"][4, 0] == 6
    choose(app, "size_d_context", "3")
    assert trace(app)["w_k"].shape == (2, 3, 2)
    choose(app, "crossed", False)
    assert tables(app)[0:2] == ["x", "w_q_0"]
    assert "size_d_context" not in held(app)
    for _ in range(5):
        press(app, "undo")
    assert scenario(app).same(START)
    assert app.toggle(key="crossed").value is False


def test_a_second_text_that_is_refused_stays_in_its_field(app: AppTest) -> None:
    choose(app, "crossed", True)
    choose(app, "context_text", "  ")
    assert problem(app).startswith("second text: there are no tokens yet")
    assert app.text_area(key="text").value == START.text
    assert app.text_area(key="context_text").value == "  "
    choose(app, "context_text", "word " * 600)
    assert "512" in problem(app)
    press(app, "cut")
    assert len(scenario(app).key_tokens) == 512
    choose(app, "context_text", "  ")
    choose(app, "crossed", False)
    assert problem(app) == ""
    assert trace(app)["scores"].shape == (2, 3, 3)


def test_learned_positions_of_a_second_text(app: AppTest) -> None:
    choose(app, "crossed", True)
    choose(app, "variant_positions", "learned")
    assert tables(app)[:4] == ["x", "positions", "context", "context_positions"]
    edit(app, "context_positions", {0: {"d0": "5"}})
    assert trace(app)["context_positions"][0, 0] == 5
    assert {"x", "x_positioned", "context", "context_positioned"} <= drawn(app)


@pytest.mark.parametrize("view", ["Explore", "Step by step"])
def test_an_operand_of_another_head_shows_that_head(app: AppTest, view: str) -> None:
    choose(app, "size_n_heads", "4")
    app.segmented_control(key="view").set_value(view)
    go(app)
    session(app).choose(trace(app).cell("concat", (1, 4)))
    go(app)
    press(app, "operand_0")
    assert (session(app).chosen.key, session(app).chosen.index) == ("heads", (2, 1, 0))
    assert app.selectbox(key="one_head" if view != "Explore" else "heads").value == "head 3"
    press(app, "back_0")
    assert (session(app).chosen.key, session(app).chosen.index) == ("concat", (1, 4))


def test_heads_that_share_keys_name_each_other(app: AppTest) -> None:
    choose(app, "size_n_heads", "4")
    assert app.text_input(key="size_n_kv_heads").value == "4"
    choose(app, "size_n_kv_heads", "2")
    assert trace(app)["w_k"].shape == (2, 4, 2)
    assert app.text_input(key="size_n_kv_heads").value == "2"
    assert "W_K heads 1, 2" in shown(app)
    assert "W_V heads 1, 2" in shown(app)
    assert "W_Q head 1" in shown(app)
    assert any("heads 1, 2" in c.proto.spec for c in app.get("plotly_chart"))
    choose(app, "heads", "head 3")
    session(app).choose(trace(app).cell("k", (1, 0, 0)))
    go(app)
    assert "heads 3, 4: major&#x27;s key, d0" in shown(app)
    choose(app, "heads", "head 1")
    session(app).choose(trace(app).cell("k", (0, 0, 0)))
    go(app)
    edit(app, "w_k_0", {0: {"d0": "abc"}})
    assert problem(app).startswith("W_K heads 1, 2, row d0, column d0")
    choose(app, "size_n_kv_heads", "3")
    assert "one of 1, 2, 4" in problem(app)
    choose(app, "size_n_kv_heads", "1")
    assert "W_K heads 1 to 4" in shown(app)
    press(app, "undo")
    press(app, "undo")
    assert app.text_input(key="size_n_kv_heads").value == "4"


@pytest.mark.parametrize(
    ("key", "typed", "says"),
    [
        ("size_n_kv_heads", "3", "cannot be shared evenly by 2 query heads"),
        ("size_n_heads", "0", "n_heads: out of range"),
        ("variant_scale", "abc", "scale: "),
        ("variant_rope_dims", "3", "rope_dims: "),
        ("seed", "-1", "seed: "),
    ],
)
def test_what_cannot_be_is_said_beside_its_widget_until_something_else_is_done(
    app: AppTest, key: str, typed: str, says: str
) -> None:
    choose(app, "variant_positions", "rope")
    choose(app, key, typed)
    assert any(says in element.proto.body for element in side(app))
    assert says in problem(app)
    choose(app, "variant_temperature", "2")
    assert not any(says in element.proto.body for element in side(app))


def test_start_from_q_k_and_v(app: AppTest) -> None:
    choose(app, "variant_start", "qkv")
    assert tables(app) == ["q_1", "k_1", "v_1", "w_o"]
    assert "size_d_model" not in held(app)
    assert "rounded to 15 digits" in shown(app)
    assert max(len(cell) for cell in app.data_editor[0].value.to_numpy().flat) <= 4
    np.testing.assert_allclose(trace(app)["output"], run(START)["output"], rtol=1e-13)
    edit(app, "k_1", {2: {"d1": "8"}})
    assert trace(app)["k"][1, 2, 1] == 8
    choose(app, "variant_start", "x")
    np.testing.assert_array_equal(trace(app)["output"], run(START)["output"])
    choose(app, "variant_start", "qkv")
    assert trace(app)["k"][1, 2, 1] == 8
    for _ in range(4):
        press(app, "undo")
    assert scenario(app).same(START)
    assert "w_q_1" in tables(app)


def test_a_mistake_on_purpose_is_called_one(app: AppTest) -> None:
    assert "mistake on purpose" not in shown(app)
    choose(app, "variant_normaliser", "softmax_columns")
    warnings = [e.proto.body for e in app.main.get("html") if "warning" in e.proto.body]
    assert any("columns sum to 1, rows do not" in body for body in warnings)
    press(app, "undo")
    assert "mistake on purpose" not in shown(app)


# Cases that broke others.


def test_b09_a_query_that_may_attend_to_nothing(app: AppTest) -> None:
    choose(app, "size_n_heads", "1")
    choose(app, "size_d_k", "1")
    choose(app, "variant_scale", "1")
    choose(app, "variant_start", "qkv")
    edit(app, "q_0", {row: {"d0": "1"} for row in range(3)})
    edit(app, "k_0", {row: {"d0": str(row)} for row in range(3)})
    choose(app, "variant_mask", True)
    edit(app, "mask", {2: {"major": "0", "league": "0", "baseball": "0"}})
    weights = [0.0900, 0.2447, 0.6652]
    np.testing.assert_allclose(trace(app)["attention"][0, :2], [weights] * 2, atol=5e-5)
    assert not trace(app)["attention"][0, 2].any()
    assert not trace(app)["heads"][0, 2].any()
    assert all(np.isfinite(trace(app)[key]).all() for key in ("attention", "heads", "output"))
    assert any("nothing to attend to" in c.proto.spec for c in app.get("plotly_chart"))


def test_b23_one_query_five_titles_then_three_queries_seven_keys(app: AppTest) -> None:
    choose(app, "size_n_heads", "1")
    choose(app, "variant_start", "qkv")
    choose(app, "crossed", True)
    choose(app, "text", "query")
    choose(app, "context_text", "one two three four five")
    assert trace(app)["attention"].shape == (1, 1, 5)
    assert trace(app)["heads"].shape == (1, 1, 2)
    choose(app, "size_d_k", "4")
    choose(app, "text", "a b c")
    choose(app, "context_text", "p q r s t u v")
    assert trace(app)["q"].shape == (1, 3, 4)
    assert trace(app)["scores"].shape == (1, 3, 7)
    assert trace(app)["heads"].shape == (1, 3, 2)
    assert problem(app) == ""
    assert trace(app).labels("attention")[1:] == (("a", "b", "c"), tuple("pqrstuv"))
