"""Step by step, the projector, two states and the heads, as a browser shows them."""

from collections.abc import Callable

import numpy as np
import pytest

from attnviz import PRESETS, run
from attnviz.core import edit
from tests.browser.driver import Driver
from tests.browser.test_audit import overlapping, too_faint, too_small

TRACE = run(PRESETS["walkthrough"])
HALL = 1920, 1080


def rail(driver: Driver) -> str:
    return str(driver.page.locator(".rail .present").inner_text())


def test_left_and_right_go_from_step_to_step(driver: Driver) -> None:
    driver.open_view("Step by step")
    assert "step 7 of 10" in driver.page.locator(".st-key-rail").inner_text()
    driver.key("ArrowLeft")
    driver.key("ArrowLeft")
    assert driver.page.locator(".step-title").inner_text() == "Raw scores, head 2"
    np.testing.assert_allclose(driver.matrix("step", "scores"), TRACE["scores"][1], atol=1e-12)
    driver.key("ArrowRight")
    np.testing.assert_allclose(driver.matrix("step", "scaled"), TRACE["scaled"][1], atol=1e-12)
    driver.click_matrix("step", "scaled", 0, 0)
    assert "major to major: scaled score 0.43" in driver.answer()
    driver.key("ArrowRight")
    assert "major attends to major with 0.26" in driver.answer()


def test_keys_walk_all_steps_forward_and_back_over_the_same_numbers(
    open_app: Callable[..., Driver],
) -> None:
    driver = open_app(query="?view=step-by-step&cell=x.1.2")
    shown = []
    for key in ["ArrowRight"] * (len(TRACE.stages) - 1) + ["ArrowLeft"] * len(TRACE.stages):
        place = len(shown) if key == "ArrowRight" else 2 * (len(TRACE.stages) - 1) - len(shown)
        stage = TRACE.stages[place]
        assert driver.page.locator(".step-title").inner_text().startswith(stage.title)
        numbers = driver.matrix("step", stage.key)
        own = TRACE[stage.key][1] if TRACE.has_heads(stage.key) else TRACE[stage.key]
        np.testing.assert_array_equal(numbers, own)
        shown.append(driver.chart("step"))
        driver.key(key)
    assert shown == shown[::-1]


def test_arrows_in_a_field_move_its_cursor_and_no_step(driver: Driver) -> None:
    driver.open_view("Step by step")
    driver.page.get_by_label("Text", exact=True).click()
    driver.key("ArrowLeft")
    assert "step 7 of 10" in driver.page.locator(".st-key-rail").inner_text()


def test_presenting_is_driven_by_keys_alone(open_app: Callable[..., Driver]) -> None:
    driver = open_app(*HALL)
    driver.press("Present")
    assert not driver.page.locator("section[data-testid=stSidebar]").is_visible()
    assert rail(driver) == "Attention weights"
    driver.key("ArrowLeft")
    assert rail(driver) == "Scaled scores"
    driver.key("h")
    assert "head 1 of 2" in driver.page.locator(".chips").inner_text()
    driver.key("Shift+ArrowLeft")
    assert (
        "S[league, league] / √d_k = 1.323 / √2"
        in driver.page.locator(".st-key-present_foot").inner_text()
    )
    driver.key("e")
    assert "1.32" not in driver.page.locator(".st-key-present_foot").inner_text()
    driver.key("e")
    driver.key(" ")
    driver.key(" ")
    assert np.isfinite(driver.matrix("step", "scaled")).sum() == 3
    driver.key("Shift+ArrowDown")
    assert rail(driver) == "Scaled scores"  # no cell of another step is chosen
    driver.key("PageDown")
    assert rail(driver) == "Attention weights"
    for _ in range(4):
        driver.key("Shift+ArrowLeft")
    assert rail(driver) == "Attention weights"
    driver.key("Escape")
    assert driver.page.locator("section[data-testid=stSidebar]").is_visible()
    assert driver.answer().startswith("head 1: ")
    assert driver.page.locator(".st-key-chart_head_1").count() == 1  # all heads, as before


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_back_row_can_read_every_step(open_app: Callable[..., Driver], dark: bool) -> None:
    driver = open_app(*HALL, dark)
    driver.press("Present")
    for _ in range(6):
        driver.key("ArrowLeft")
    for _ in TRACE.stages:
        texts = [t for t in driver.texts() if t["text"] != "Skip to main content"]
        assert [t["text"] for t in texts if t["size"] < 20] == []
        numbers = [t for t in texts if t["cell"]]
        assert numbers
        assert min(t["size"] for t in numbers) >= 30
        assert too_faint(texts) == []
        assert overlapping([t for t in texts if t["chart"]]) == []
        page = driver.page.evaluate(
            "() => { const m = document.querySelector('[data-testid=stMain]');"
            " return [m.scrollHeight - m.clientHeight, m.scrollWidth - m.clientWidth]; }"
        )
        assert max(page) <= 1
        driver.key("ArrowRight")


@pytest.mark.parametrize("words", [8, 12])
def test_the_lines_of_a_low_projector_do_not_cross(
    open_app: Callable[..., Driver], words: int
) -> None:
    driver = open_app(1366, 768)
    driver.set_text(" ".join(f"word{i}" for i in range(words)))
    driver.press("Present")
    texts = [t for t in driver.texts() if not t["chart"] and t["text"] != "Skip to main content"]
    assert overlapping(texts) == []
    head = driver.page.locator(".chips .head").bounding_box()
    assert head["x"] + head["width"] <= 1366


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", ["Step by step", "Compare", "Heads"])
def test_texts_of_the_views_can_be_read(
    open_app: Callable[..., Driver], view: str, dark: bool
) -> None:
    driver = open_app(1280, 800, dark)
    driver.open_view(view)
    if view == "Compare":
        driver.press("Pin this as A")
        driver.type_cell("w_q_1", 0, 0, "0.9")
    texts = driver.texts()
    assert too_small(texts) == []
    assert too_faint(texts) == []
    for chart in sorted({t["chart"] for t in texts if t["chart"]}):
        assert overlapping([t for t in texts if t["chart"] == chart]) == [], chart


def test_the_views_fill_a_large_window(open_app: Callable[..., Driver]) -> None:
    driver = open_app(*HALL)
    for view, chart, width in (
        ("Step by step", "step", 100),
        ("Compare", "compare_1", 85),
        ("Heads", "flow", 0),
    ):
        driver.open_view(view)
        if view == "Compare":
            driver.press("Pin this as A")
        if width:
            assert driver.cell_size(chart, "attention")["width"] >= width
        texts = [t for t in driver.texts() if t["chart"]]
        for name in {t["chart"] for t in texts}:
            assert overlapping([t for t in texts if t["chart"] == name]) == [], (view, name)
        scrolled = driver.page.evaluate(
            "() => { const m = document.querySelector('[data-testid=stMain]');"
            " return m.scrollHeight - m.clientHeight; }"
        )
        assert scrolled <= 1, view


def test_an_edit_is_compared_with_what_was_pinned(driver: Driver) -> None:
    driver.open_view("Compare")
    driver.press("Pin this as A")
    driver.type_cell("w_q_1", 0, 0, "0.9")
    assert (
        "W_Q head 2, row d0, column d0: 0.3 → 0.9"
        in driver.page.locator("[data-testid=stMain]").inner_text()
    )
    changed = edit.set_cells(PRESETS["walkthrough"], "w_q", {(1, 0, 0): 0.9})[0]
    b = run(changed)["attention"]
    for head in range(2):
        drawn = {
            part["meta"][-1]: np.array(part["z"], float)
            for part in driver.chart(f"compare_{head}")
            if part["type"] == "heatmap"
        }
        a = TRACE["attention"][head]
        np.testing.assert_allclose(drawn["A"], a, atol=1e-12)
        np.testing.assert_allclose(drawn["B"], b[head], atol=1e-12)
        np.testing.assert_allclose(drawn["B − A"], b[head] - a, atol=1e-12)


def test_a_word_is_marked_everywhere_until_it_is_chosen_again(driver: Driver) -> None:
    word = driver.page.locator(".st-key-token button", has_text="league")
    word.click()
    driver.page.wait_for_timeout(500)
    driver.wait_idle()
    said = driver.page.locator(".reading").all_inner_texts()
    assert said[1].startswith("head 2, league attends to: major 0.21, league 0.32, baseball 0.47")
    driver.page.locator(".st-key-explain_text").scroll_into_view_if_needed()
    for line in driver.page.locator(".reading").all():
        box = line.bounding_box()
        assert 0 <= box["y"] <= box["y"] + box["height"] < 300  # beside the answer, which stays
    word.click()
    driver.page.wait_for_timeout(500)
    driver.wait_idle()
    assert driver.page.locator(".reading").count() == 0
