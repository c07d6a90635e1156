"""The views beside Explore: step by step, for the projector, two states compared, the heads."""

import html
import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.core.ready import COMPARISONS
from attnviz.core.stages import STAGES
from tests.ui.test_script import APP, edit, go, notes, press, problem, scenario, trace

STEPS = len(STAGES)


@pytest.fixture
def app() -> AppTest:
    test = AppTest.from_file(APP, default_timeout=30).run()
    assert not test.exception
    return test


def open_view(app: AppTest, name: str) -> None:
    app.segmented_control(key="view").set_value(name)
    go(app)


def charts(app: AppTest) -> dict[str, Any]:
    """The pictures on the page, by key."""
    return {
        str(chart.proto.id).split("plot_")[-1]: json.loads(chart.proto.spec)
        for chart in app.get("plotly_chart")
    }


def words(app: AppTest) -> str:
    return html.unescape(" ".join(element.body for element in app.get("html")))


def arrays(spec: dict[str, Any]) -> list[str]:
    return [part["meta"][0] for part in spec["data"] if part.get("meta")]


def step(app: AppTest) -> dict[str, Any]:
    return next(spec for key, spec in charts(app).items() if key.startswith("step"))


def test_every_stage_is_a_step_and_says_what_and_why(app: AppTest) -> None:
    open_view(app, "Step by step")
    for place, stage in enumerate(trace(app).stages):
        app.segmented_control(key="step").set_value(place)
        go(app)
        assert stage.title in words(app)
        assert stage.what in words(app)
        assert stage.why in words(app)
        assert arrays(step(app))[-1] == stage.key


def test_b16_numbers_are_the_same_at_every_visit(app: AppTest) -> None:
    open_view(app, "Step by step")
    app.segmented_control(key="step").set_value(0)
    go(app)
    count = len(trace(app).stages)
    there = []
    for _ in range(count - 1):
        there.append(step(app))
        press(app, "step_next")
    assert app.button(key="step_next").disabled
    back = []
    for _ in range(count - 1):
        press(app, "step_back")
        back.append(step(app))
    assert app.button(key="step_back").disabled
    assert back[::-1] == there


def test_rows_are_revealed_one_by_one_with_their_arithmetic(app: AppTest) -> None:
    open_view(app, "Step by step")
    for rows in (0, 1, 2, 3, 0):
        press(app, "reveal")
        drawn = [
            sum(value is not None for row in part["z"] for value in row)
            for part in step(app)["data"]
            if part.get("meta", [""])[0] == "attention"
        ]
        assert drawn == ([3 * rows] if rows else [])
        if rows:
            assert app.session_state["attnviz"].chosen.index == (1, rows - 1, 2)


def test_the_step_keeps_its_head_and_the_next_one_can_be_had(app: AppTest) -> None:
    press(app, "present")
    assert "head 2 of 2" in words(app)
    press(app, "step_back")
    press(app, "next_head")
    assert "head 1 of 2" in words(app)
    assert app.session_state["attnviz"].chosen.key == "scaled"
    assert app.session_state["attnviz"].chosen.index == (0, 1, 2)
    press(app, "leave")
    assert app.session_state["attnviz"].chosen.index == (0, 1, 2)
    assert [key for key in charts(app) if key.startswith("head_0")]


def test_steps_show_one_head_and_name_it(app: AppTest) -> None:
    open_view(app, "Step by step")
    choice = app.segmented_control(key="one_head")
    assert choice.options == ["head 1", "head 2"]
    assert choice.value == "head 2"
    choice.set_value("head 1")
    go(app)
    assert "Attention weights, head 1" in words(app)
    assert app.session_state["attnviz"].chosen.index == (0, 1, 2)
    open_view(app, "Explore")
    assert app.segmented_control(key="heads").value == "all heads"
    app.segmented_control(key="heads").set_value("head 2")
    go(app)
    open_view(app, "Step by step")
    assert "Attention weights, head 2" in words(app)
    app.segmented_control(key="one_head").set_value("head 1")
    go(app)
    open_view(app, "Explore")
    assert app.segmented_control(key="heads").value == "head 1"


@pytest.mark.parametrize(
    ("cell", "outlined"),
    [
        ("q.1.1.0", {"x": "query", "w_q_1": "key"}),
        ("output.0.1", {"w_o": "key"}),
        ("w_k.1.0.0", {"w_k_1": "text"}),
        ("x.2.1", {"x": "text"}),
        ("scores.1.0.0", {}),
    ],
)
def test_tables_outline_what_the_cell_is_made_of(cell: str, outlined: dict[str, str]) -> None:
    app = AppTest.from_file(APP, default_timeout=30)
    app.query_params["cell"] = cell
    go(app)
    found = re.findall(r"st-key-edit_(\w+)_0::after[^}]*--ink-(\w+)", words(app))
    assert dict(found) == outlined


def test_presenting_shows_one_step_and_no_tables(app: AppTest) -> None:
    press(app, "present")
    assert list(charts(app)) == [key for key in charts(app) if key.startswith("step")]
    assert not app.data_editor
    assert 'class="result"' in words(app)
    press(app, "fold_arithmetic")
    assert 'class="result"' not in words(app)


def test_a_new_text_while_in_the_steps(app: AppTest) -> None:
    open_view(app, "Step by step")
    app.text_area(key="text").set_value("one")
    go(app)
    assert trace(app)["attention"].shape == (2, 1, 1)
    assert arrays(step(app))[-1] == "attention"


def test_a_word_is_marked_and_read_out(app: AppTest) -> None:
    app.pills(key="token").set_value("league")
    go(app)
    assert "head 1, league attends to: major 0.24, league 0.35, baseball 0.41; Σ = 1" in words(app)
    names = [shape["name"] for spec in charts(app).values() for shape in spec["layout"]["shapes"]]
    assert names.count("token") >= 12
    app.text_area(key="text").set_value("major")
    go(app)
    assert app.session_state["attnviz"].token is None


def test_a_pinned_state_is_compared_with_what_follows(app: AppTest) -> None:
    open_view(app, "Compare")
    press(app, "pin")
    assert "A and B are the same." in words(app)
    edit(app, "w_q_1", {0: {"d0": "9"}})
    assert "W_Q head 2, row d0, column d0: 0.3 → 9" in words(app)
    spec = next(spec for key, spec in charts(app).items() if key.startswith("compare_1"))
    assert arrays(spec).count("attention") >= 2
    press(app, "undo")
    assert "A and B are the same." in words(app)


@pytest.mark.parametrize("name", COMPARISONS)
def test_ready_made_comparisons(app: AppTest, name: str) -> None:
    open_view(app, "Compare")
    start = scenario(app)
    app.selectbox(key="ready").set_value(name)
    go(app)
    assert problem(app) == ""
    assert "A and B are the same." not in words(app)
    if not scenario(app).same(start):
        assert COMPARISONS[name].says in notes(app)
    for stage in trace(app).stages:
        app.segmented_control(key="compared").set_value(stage.key)
        go(app)
        assert [key for key in charts(app) if key.startswith("compare_")]


def test_ready_made_comparisons_do_not_build_on_each_other(app: AppTest) -> None:
    open_view(app, "Compare")
    edit(app, "w_q_1", {0: {"d0": "9"}})
    start = scenario(app)
    said = {
        "scale": "scale: 1/√d_k → 1",
        "heads": "n_heads: 1 → 2",
        "repeat": "tokens: major league baseball → major league baseball major",
    }
    for name in ("scale", "heads", "repeat", "repeat", "scale"):
        app.selectbox(key="ready").set_value(name)
        go(app)
        lines = re.findall(r'class="difference">([^<]*)<', words(app))
        assert lines == [said[name]]
        pinned, b = app.session_state["attnviz"].pinned[0], scenario(app)
        assert pinned.same(COMPARISONS[name].a(start))
        assert b.same(COMPARISONS[name].b(start))
    edit(app, "w_k_1", {0: {"d0": "7"}})
    app.selectbox(key="ready").set_value("heads")
    go(app)
    assert scenario(app).config.scale == 1.0  # what a person made of B is where the next begins


def test_heads_at_a_glance(app: AppTest) -> None:
    open_view(app, "Heads")
    assert [key for key in charts(app) if key.startswith("flow")]
    assert "not why" in words(app)
    assert "0.48, baseball → baseball" in words(app)


@pytest.mark.parametrize("view", ["Step by step", "Compare", "Heads"])
@pytest.mark.parametrize(
    "text", ["one", "the cat the dog", "a " * 40, "<b> &lt; $x$ **y** :smile:"]
)
def test_every_view_takes_every_text(app: AppTest, view: str, text: str) -> None:
    app.text_area(key="text").set_value(text)
    go(app)
    open_view(app, view)
    if view == "Compare":
        press(app, "pin")
    app.radio(key="tokens_as").set_value("columns")
    go(app)
    app.text_input(key="size_n_heads").set_value("4")
    go(app)
    assert charts(app)
