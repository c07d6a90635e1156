"""While something happens: no blank, no veil, one run for one edit, passing marks; and keys."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import WebSocket

from tests.browser.driver import Driver

# Watches every frame: charts without a picture, faded elements, how often the script ran.
_WATCH = """() => {
  const seen = window.seen = {blank: [], faint: 0, runs: 0, outlined: 0, frames: 0};
  const app = document.querySelector('[data-testid=stApp]');
  new MutationObserver(() => {
    if (app.getAttribute('data-test-script-state') === 'running') seen.runs += 1;
  }).observe(app, {attributeFilter: ['data-test-script-state']});
  const whole = (e) => e.getBoundingClientRect().height > 50
    && e.querySelector('.heatmaplayer image')
    && e.querySelector('.infolayer .annotation, .scatterlayer text');
  const look = () => {
    seen.frames += 1;
    for (const box of document.querySelectorAll('[class*="st-key-chart_"]')) {
      const blank = ![...box.querySelectorAll('.js-plotly-plot, .attnviz-ghost')].some(whole);
      if (blank && box.wasBlank) seen.blank.push(box.className.match(/st-key-\\w+/)[0]);
      box.wasBlank = blank; // twice in a row: it has been painted so
    }
    for (const e of document.querySelectorAll('[data-stale=true]'))
      if (Number(getComputedStyle(e).opacity) < 1) seen.faint += 1;
    seen.outlined = Math.max(seen.outlined, document.querySelectorAll('.attnviz-changed').length);
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.fixture
def watched(driver: Driver) -> Driver:
    driver.page.wait_for_timeout(500)
    driver.page.evaluate(_WATCH)
    return driver


def seen(driver: Driver) -> dict[str, Any]:
    return dict(driver.page.evaluate("() => window.seen"))


def edit_a_cell(driver: Driver) -> None:
    driver.type_cell("w_q_1", 0, 0, "0.9")


CHANGES: dict[str, Callable[[Driver], None]] = {
    "edit": edit_a_cell,
    "click": lambda driver: driver.click_matrix("head_0", "scores", 1, 1),
    "text": lambda driver: driver.set_text("the cat sat"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_picture_is_ever_blank_or_faded(watched: Driver, change: str) -> None:
    CHANGES[change](watched)
    frames = seen(watched)
    assert frames["frames"] > 10
    assert frames["blank"] == []
    assert frames["faint"] == 0
    assert watched.page.locator(".attnviz-ghost").count() == 0


def test_one_edit_does_not_run_the_script_twice(watched: Driver) -> None:
    edit_a_cell(watched)
    watched.page.wait_for_timeout(1000)
    assert watched.read_cell("w_q_1", 0, 0) == "0.9"
    assert seen(watched)["runs"] <= 1  # none where its start and its end came together


def test_a_click_sends_tool_bar_and_tables_only_where_they_change(driver: Driver) -> None:
    received: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: received.append(bytes(data)))

    driver.page.on("websocket", listen)
    driver.page.reload()
    driver.wait_idle()
    tables = driver.page.locator(".st-key-tables")
    clicks = (("head_1", 2, 0, False), ("head_0", 1, 1, True), ("head_0", 1, 2, False))
    for chart, head, row, anew in clicks:
        received.clear()
        driver.click_matrix(chart, "scores", row, 1)
        assert driver.answer().startswith(f"head {head}: ")
        assert f"W_Q head {head}" in tables.inner_text()
        for sent in (b"W_Q head", b"Redo"):
            assert (sent in b"".join(received)) is anew


@pytest.mark.parametrize("wait", range(100, 600, 50))
def test_a_click_counts_while_an_edit_is_drawn(again: Driver, wait: int) -> None:
    again.page.wait_for_timeout(300)
    at = again.place_in_matrix("head_1", "scores", 2, 0)
    again.select_cell("w_q_1", 0, 0)
    again.type_here("0.9")
    again.page.wait_for_timeout(wait)
    again.page.mouse.move(*at)
    again.page.mouse.down()
    again.page.wait_for_timeout(60)
    again.page.mouse.up()
    again.page.wait_for_timeout(600)
    again.wait_idle()
    assert again.read_cell("w_q_1", 0, 0) == "0.9"
    assert again.answer().startswith("head 2: baseball's query meets major's key")


def test_changed_cells_are_outlined_for_two_seconds(watched: Driver) -> None:
    edit_a_cell(watched)
    watched.page.wait_for_timeout(2500)
    assert seen(watched)["outlined"] >= 2  # the strip of head 2, and the output
    assert watched.page.locator(".attnviz-changed").count() == 0


def test_undo_redraws_only_the_table_that_differs(again: Driver) -> None:
    edit_a_cell(again)
    mark = "() => document.querySelectorAll('[data-testid=stDataFrame]').forEach(e => e.old = 1)"
    again.page.evaluate(mark)
    again.press("Undo")
    kept = again.page.evaluate(
        "() => [...document.querySelectorAll('[data-testid=stDataFrame]')].map(e => e.old || 0)"
    )
    assert kept == [1, 0, 1, 1, 1]
    assert again.read_cell("w_q_1", 0, 0) == "0.3"


def test_a_cell_typed_back_to_its_first_value(again: Driver) -> None:
    start = again.matrix("head_1", "q")
    edit_a_cell(again)
    assert not np.array_equal(again.matrix("head_1", "q"), start)
    again.type_cell("w_q_1", 0, 0, "0.3")
    np.testing.assert_array_equal(again.matrix("head_1", "q"), start)


def test_edits_are_kept_while_another_head_is_shown(driver: Driver) -> None:
    edit_a_cell(driver)
    for head in ("head 1", "head 2"):
        driver.page.get_by_text(head, exact=True).click()
        driver.page.wait_for_timeout(300)
        driver.wait_idle()
    assert driver.read_cell("w_q_1", 0, 0) == "0.9"
    driver.type_cell("w_q_1", 1, 0, "0.8")
    assert [driver.read_cell("w_q_1", row, 0) for row in (0, 1)] == ["0.9", "0.8"]


def test_row_names_cannot_be_typed_over(again: Driver) -> None:
    box = again.grid("w_q_1").bounding_box()
    again.click(box["x"] + 12, box["y"] + 36 + 14)
    again.type_here("zz")
    again.page.wait_for_timeout(500)
    assert again.grid("w_q_1").locator('[data-testid="glide-cell-0-0"]').text_content() == "d0"


def test_refused_input_marks_the_picture_until_it_is_put_right(again: Driver) -> None:
    def mark() -> str:
        style = "() => getComputedStyle(document.querySelector('.st-key-pictures')).boxShadow"
        return str(again.page.evaluate(style))

    assert "217, 119, 6" not in mark()
    again.type_cell("w_o", 0, 0, "abc")
    assert "last good state" in again.answer()
    assert "217, 119, 6" in mark()
    again.type_cell("w_o", 0, 0, "0.4")
    assert "last good state" not in again.answer()
    assert "217, 119, 6" not in mark()


def test_a_refused_text_is_not_lost_by_another_edit(again: Driver) -> None:
    long = "word " * 600
    again.set_text(long)
    assert "512" in again.answer()
    edit_a_cell(again)
    assert again.page.get_by_label("Text", exact=True).input_value() == long
    assert "512" not in again.answer()
    assert again.matrix("head_1", "q").shape == (3, 2)
    again.press("Undo")
    assert again.read_cell("w_q_1", 0, 0) == "0.3"
    assert again.page.get_by_label("Text", exact=True).input_value() == long


def test_undo_takes_a_refused_text_back_and_nothing_else(again: Driver) -> None:
    edit_a_cell(again)
    again.set_text("")
    assert "no tokens yet" in again.answer()
    again.press("Undo")
    assert again.page.get_by_label("Text", exact=True).input_value() == "major league baseball"
    assert again.read_cell("w_q_1", 0, 0) == "0.9"


def test_answer_stays_when_the_page_is_scrolled(open_app: Callable[..., Driver]) -> None:
    driver = open_app(1280, 500)
    driver.page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollTo(0, 400)")
    driver.page.wait_for_timeout(200)
    box = driver.page.locator(".st-key-answer").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 10


# Keys.


def test_enter_takes_the_text_and_shift_enter_begins_a_line(again: Driver) -> None:
    field = again.page.get_by_label("Text", exact=True)
    field.fill("a b")
    again.page.keyboard.press("Enter")
    again.page.wait_for_timeout(300)
    again.wait_idle()
    assert again.matrix("head_0", "scores").shape == (2, 2)
    again.page.keyboard.press("Shift+Enter")
    again.page.keyboard.type("c", delay=40)
    again.page.keyboard.press("Enter")
    again.page.wait_for_timeout(300)
    again.wait_idle()
    assert again.matrix("head_0", "scores").shape == (3, 3)


def test_control_z_goes_back_and_forward_but_not_while_typing(again: Driver) -> None:
    start = again.matrix("head_1", "q")
    edit_a_cell(again)
    edited = again.matrix("head_1", "q")
    field = again.page.get_by_label("Text", exact=True)
    field.click()
    again.page.keyboard.press("Control+z")
    again.page.wait_for_timeout(500)
    again.wait_idle()
    np.testing.assert_array_equal(again.matrix("head_1", "q"), edited)
    again.page.locator(".st-key-chart_head_0").focus()
    for keys, expected in (("Control+z", start), ("Control+Shift+z", edited), ("Control+z", start)):
        again.page.keyboard.press(keys)
        again.page.wait_for_timeout(300)
        again.wait_idle()
        np.testing.assert_array_equal(again.matrix("head_1", "q"), expected)


def test_arrow_keys_move_the_chosen_cell(driver: Driver) -> None:
    driver.page.locator(".st-key-chart_head_1").focus()
    for key, said in (
        ("ArrowUp", "major attends to baseball with 0.40"),
        ("ArrowLeft", "major attends to league with 0.33"),
        ("ArrowDown", "league attends to league with 0.32"),
        ("ArrowLeft", "league attends to major with 0.21"),
        ("ArrowLeft", "league to baseball: scaled score 1.60"),
        ("ArrowRight", "league attends to major with 0.21"),
    ):
        driver.page.keyboard.press(key)
        driver.page.wait_for_timeout(300)
        driver.wait_idle()
        assert said in driver.answer()


@pytest.mark.parametrize("token", ["$$x$$", "a_b^c", "</code>", "*b*"])
def test_formula_of_any_token_can_be_seen_and_copied(again: Driver, token: str) -> None:
    again.set_text(f"{token} league")
    again.click_matrix("head_0", "scores", 0, 1)
    assert f"q_{token} · k_league" in again.explanation()
    again.page.get_by_role("button", name="Copy").click()
    panel = again.page.get_by_role("dialog")
    panel.locator(".katex").first.wait_for()
    assert panel.locator(".katex-error").count() == 0
    assert f"q_{token} · k_league" in panel.locator("code").first.inner_text()
    again.page.keyboard.press("Escape")
    panel.wait_for(state="hidden")


def test_four_tokens_need_no_scrolling(again: Driver) -> None:
    again.set_text("a lazy dog sleeps")
    heights = again.page.evaluate(
        "() => { const m = document.querySelector('[data-testid=stMain]');"
        " return [m.scrollHeight, m.clientHeight]; }"
    )
    assert heights[0] <= heights[1] + 1


def test_undo_of_a_text_reaches_the_side_bar(again: Driver) -> None:
    again.set_text("one two")
    again.press("Undo")
    assert again.page.get_by_label("Text", exact=True).input_value() == "major league baseball"
    again.press("Reset")
    assert again.matrix("head_0", "scores").shape == (3, 3)


def test_pictures_are_laid_out_for_the_room_there_is(open_app: Callable[..., Driver]) -> None:
    def height(width: int) -> float:
        driver = open_app(width, 900)
        driver.set_text("major league baseball fans")
        driver.page.wait_for_timeout(500)
        driver.wait_idle()
        box = driver.page.locator(".st-key-chart_head_0").bounding_box()
        assert box is not None
        return float(box["height"])

    assert height(1440) < height(1000) - 30  # one line of matrices, or more
