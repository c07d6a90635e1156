"""What only a browser shows: painting, typing in grids, clicks."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from attnviz import PRESETS, run
from tests.browser.driver import Driver

TRACE = run(PRESETS["walkthrough"])
GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "walkthrough.json").read_text("utf-8"))
NAMES = {
    "q": "q",
    "k": "k",
    "v": "v",
    "raw": "scores",
    "scaled": "scaled",
    "weights": "attention",
    "heads": "heads",
}


def test_opens_with_the_walkthrough_and_asks_for_nothing_outside(driver: Driver) -> None:
    for golden, key in NAMES.items():
        for head in (0, 1):
            drawn = driver.matrix(f"head_{head}", key)
            np.testing.assert_allclose(drawn, GOLDEN["stages"][golden][head], rtol=0, atol=1e-12)
    for golden, key in (("concat", "concat"), ("output", "output")):
        drawn = driver.matrix("joint", key)
        np.testing.assert_allclose(drawn, GOLDEN["stages"][golden], rtol=0, atol=1e-12)
    assert driver.answer() == "head 2: league attends to baseball with 0.47"


def test_typed_cell_reaches_every_stage(again: Driver) -> None:
    untouched = again.matrix("head_0", "q")
    again.type_cell("w_q_1", 1, 0, "2.5")
    x, w_q = np.array(GOLDEN["inputs"]["x"]), np.array(GOLDEN["inputs"]["wq"][1])
    w_q[1, 0] = 2.5
    q = x @ w_q
    scores = q @ np.array(GOLDEN["stages"]["k"][1]).T
    weights = np.exp(scores / np.sqrt(2))
    weights /= weights.sum(axis=1, keepdims=True)
    heads = weights @ np.array(GOLDEN["stages"]["v"][1])
    output = np.hstack([GOLDEN["stages"]["heads"][0], heads]) @ np.array(GOLDEN["inputs"]["wo"])
    for key, expected in (("q", q), ("scores", scores), ("attention", weights), ("heads", heads)):
        np.testing.assert_allclose(again.matrix("head_1", key), expected, atol=1e-12)
    np.testing.assert_allclose(again.matrix("joint", "output"), output, atol=1e-12)
    np.testing.assert_array_equal(again.matrix("head_0", "q"), untouched)


@pytest.mark.parametrize(
    ("typed", "value", "said"),
    [
        (".07", 0.07, ""),
        ("1e-3", 0.001, ""),
        ("1,5", 1.5, "decimal comma"),
        ("-0.125", -0.125, ""),
        ("0.1234567890123", 0.1234567890123, ""),
        ("1/3", 1 / 3, ""),
    ],
)
def test_b20_typed_without_opening_the_cell(
    again: Driver, typed: str, value: float, said: str
) -> None:
    again.type_cell("w_o", 0, 0, typed)
    z = np.array(GOLDEN["stages"]["concat"])
    w_o = np.array(GOLDEN["inputs"]["wo"])
    w_o[0, 0] = value
    np.testing.assert_allclose(again.matrix("joint", "output"), z @ w_o, atol=1e-12)
    assert said in again.answer()


@pytest.mark.parametrize("typed", ["abc", "1e999", "1abc"])
def test_b20_refused_by_table_row_and_column(again: Driver, typed: str) -> None:
    before = again.matrix("joint", "output")
    again.type_cell("w_o", 0, 0, typed)
    answer = again.answer()
    assert all(word in answer for word in ("W_O", "h1 d0", "d0", typed, "0.2 stays"))
    assert "last good state" in answer
    np.testing.assert_array_equal(again.matrix("joint", "output"), before)
    assert again.read_cell("w_o", 0, 0) == "0.2"


def test_b20_minus_sign_pasted(again: Driver) -> None:
    again.paste_cell("w_o", 0, 0, "−0.125")
    z, w_o = np.array(GOLDEN["stages"]["concat"]), np.array(GOLDEN["inputs"]["wo"])
    w_o[0, 0] = -0.125
    np.testing.assert_allclose(again.matrix("joint", "output"), z @ w_o, atol=1e-12)


def test_pasted_block_fills_rightwards_and_downwards(again: Driver) -> None:
    again.paste_cell("w_q_1", 1, 0, "7\t8\n9\t10")
    x = np.array(GOLDEN["inputs"]["x"])
    w_q = np.array(GOLDEN["inputs"]["wq"][1])
    w_q[1:3] = [[7, 8], [9, 10]]
    np.testing.assert_allclose(again.matrix("head_1", "q"), x @ w_q, atol=1e-12)


def test_pasted_numpy_print_fills_the_table(again: Driver) -> None:
    again.paste_cell("w_k_1", 0, 0, "[[1.  2. ]\n [3.  4. ]\n [5.  6. ]\n [7.  8. ]]")
    x = np.array(GOLDEN["inputs"]["x"])
    w_k = np.arange(1.0, 9.0).reshape(4, 2)
    np.testing.assert_allclose(again.matrix("head_1", "k"), x @ w_k, atol=1e-12)
    assert again.read_cell("w_k_1", 3, 1) == "8"


def test_b19_four_quick_edits_are_kept_and_undone(driver: Driver) -> None:
    start = driver.matrix("joint", "output")
    for table, row in (("w_q_1", 0), ("w_k_1", 1), ("w_v_1", 2), ("w_o", 3)):
        driver.select_cell(table, row, 0)
        driver.type_here(f"0.{row + 1}")
        driver.page.wait_for_timeout(400)
    driver.page.wait_for_timeout(500)
    driver.wait_idle()
    cells = [driver.read_cell(t, r, 0) for t, r in (("w_q_1", 0), ("w_k_1", 1), ("w_v_1", 2))]
    assert [*cells, driver.read_cell("w_o", 3, 0)] == ["0.1", "0.2", "0.3", "0.4"]
    for _ in range(4):
        driver.press("Undo")
    np.testing.assert_array_equal(driver.matrix("joint", "output"), start)
    assert driver.page.get_by_role("button", name="Undo", exact=True).is_disabled()


def test_who_types_fast_loses_nothing(again: Driver) -> None:
    again.select_cell("w_q_1", 0, 0)
    again.page.wait_for_timeout(300)
    for turn in range(3):
        typed = [f"{turn + 1}.{row}5" for row in range(4)]
        for text in typed[:-1]:
            for key in ("7", "Backspace"):
                again.page.keyboard.press(key)
            again.type_here(text)
        again.type_here(typed[-1], end="Escape")  # which takes this one back
        for _ in range(3):
            again.page.keyboard.press("ArrowUp")
        again.page.wait_for_timeout(1500)
        again.wait_idle()
        cells = [again.read_cell("w_q_1", row, 0) for row in range(4)]
        assert cells == [*typed[:-1], "0.5"]


def test_what_is_typed_while_a_new_text_is_drawn_is_kept(again: Driver) -> None:
    again.page.get_by_label("Text", exact=True).fill("the cat sat")
    again.select_cell("w_q_1", 0, 0)  # leaves the text, which is then taken
    again.type_here("12.5")
    again.page.wait_for_timeout(1500)
    again.wait_idle()
    assert again.read_cell("w_q_1", 0, 0) == "12.5"
    assert again.labels("head_1")["y"] == ["the", "cat", "sat"]


def test_tab_goes_to_the_next_cell_and_the_next_edit_is_kept(again: Driver) -> None:
    again.type_cell("w_o", 0, 0, "0.7", end="Tab")
    again.type_here("0.9")
    again.page.wait_for_timeout(300)
    again.wait_idle()
    assert [again.read_cell("w_o", 0, c) for c in (0, 1)] == ["0.7", "0.9"]


@pytest.mark.parametrize(
    "tokens",
    [
        pytest.param(["the", "cat", "the"], id="B01"),
        pytest.param(["1", "2", "10"], id="B02"),
        pytest.param(["2024", "is", "2025"], id="B02-years"),
        pytest.param(["1E1", "2A1", "3E2"], id="B02-exponents"),
        pytest.param(["2026-01-01", "2026-01-08", "2026-01-15"], id="B03"),
        pytest.param(["<s>", "a&b", "<b>x</b>"], id="B04"),
        pytest.param(["&lt;", "%{z}", "$x$"], id="B04-entities"),
        pytest.param(["<script>alert(1)</script>", "*a*", ":smile:"], id="B04-script"),
        pytest.param(["Straße", "日本語", "مرحبا"], id="B06"),
        pytest.param(["🇩🇪", "é", "e\u0301"], id="B06-codings"),
    ],
)
def test_tokens_are_shown_letter_for_letter(again: Driver, tokens: list[str]) -> None:
    again.set_text(" ".join(tokens))
    scores = again.matrix("head_0", "scores")
    assert scores.shape == (3, 3)
    labels = again.labels("head_0")["y"][:3]
    shown = [label.rstrip("₁₂₃") for label in labels]
    cut = [t if len(t) <= 10 else f"{t[:5]}…{t[-4:]}" for t in tokens]
    assert shown == cut
    assert len(set(labels)) == 3
    if tokens[0] != tokens[2]:
        assert not np.array_equal(scores[0], scores[2])
    hover = [t for t in again.chart("head_0") if t["type"] == "heatmap"][-1]["hovertext"]
    assert len(hover) == 3
    cell = again.cell_size("head_0", "scores")
    assert cell["width"] > 40
    assert cell["height"] > 25


def test_long_words_stay_within_the_answer_line_and_the_arithmetic(again: Driver) -> None:
    again.set_text("a" * 200 + " " + "W" * 200)
    assert "W" * 200 in again.answer()
    widths = "(e) => [e.scrollWidth, e.clientWidth]"
    for place in (".st-key-answer .answer", ".st-key-explain_text .panel-cell"):
        inside, room = again.page.locator(place).evaluate(widths)
        assert inside <= room
    assert again.page.locator(".st-key-answer .answer").bounding_box()["height"] <= 80


def test_click_opens_the_arithmetic_and_operands_lead_down(driver: Driver) -> None:
    driver.click_matrix("head_0", "scores", 1, 0)
    explanation = driver.explanation()
    assert "q_league · k_major = 0.58·0.37 + 1.11·0.49" in explanation
    assert "= 0.76" in explanation
    driver.page.locator(".st-key-operand_0 button").first.click()
    driver.wait_idle()
    assert "x_league · W_Q[:, d0] = 0.5·0.5 + 0.3·0.8 + 0·0.7 + 0.9·0.1" in driver.explanation()
    driver.page.locator(".st-key-operand_1 button").first.click()
    driver.wait_idle()
    assert "W_Q[d0, d0]" in driver.explanation()
    driver.page.locator(".st-key-back_0 button").first.click()
    driver.wait_idle()
    assert "q_league · k_major" in driver.explanation()


def test_a_cell_of_each_stage_opens_its_arithmetic(again: Driver) -> None:
    for stage in TRACE.stages:
        if stage.key == "x":  # it is a table
            continue
        has_head = TRACE.has_heads(stage.key)
        row, column = 2, 1
        again.click_matrix("head_0" if has_head else "joint", stage.key, row, column)
        expected = TRACE.explain(stage.key, 0 if has_head else None, row, column)
        said = again.explanation()
        *steps, result = expected.steps(2)
        assert " = ".join((expected.symbolic, *steps)) in said, stage.key
        assert f"= {result}" in said
        assert expected.title in said


_MARKED = """() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const inks = ['text', 'query', 'key', 'value'].map((ink) => [`--ink-${ink}`, ink]);
  const found = {outlines: [], bold: []};
  for (const chart of document.querySelectorAll('.js-plotly-plot')) {
    const { left, top } = chart.getBoundingClientRect();
    for (const path of chart.querySelectorAll('.attnviz-marked path')) {
      const ink = inks.find(([name]) => path.style.stroke === `var(${name})`);
      const { x, y, width, height } = path.getBoundingClientRect();
      if (!ink) continue;
      const cells = chart._fullData.filter((t) => t.meta).flatMap((t) => {
        const [ax, ay] = [t.xaxis, t.yaxis].map(
          (a) => chart._fullLayout[`${a[0]}axis${a.slice(1)}`]);
        return t.z.flatMap((row, r) => [...row.keys()].filter((c) => {
          const [px, py] = [left + ax._offset + ax.d2p(t.x0 + c * t.dx),
            top + ay._offset + ay.d2p(t.y0 + r * t.dy)];
          return px > x && px < x + width && py > y && py < y + height;
        }).map((c) => `${t.meta[0]} ${t.meta[1]} ${r} ${c}`));
      });
      found.outlines.push([ink[1], cells]);
    }
    const names = [...chart.querySelectorAll('.scatterlayer text')]
      .filter((text) => ['top center', 'middle left'].includes(text.__data__.tp));
    for (const text of [...chart.querySelectorAll('g[class*=axislayer] text'), ...names])
      if (text.style.fontWeight === '700') found.bold.push(text.textContent);
  }
  return found;
}"""


@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
def test_a_click_outlines_the_operands_and_paints_no_picture_anew(
    open_app: Callable[..., Driver], tokens_as: str
) -> None:
    again = open_app(query=f"?tokens_as={tokens_as}")
    page, turned = again.page, tokens_as == "columns"
    page.evaluate("() => { window.kept = [...document.querySelectorAll('.js-plotly-plot')]; }")
    for key, outlines, bold in (
        (
            "scores",
            {
                "query": {"q 1 1 0", "q 1 1 1"},
                "key": {"k 1 2 0", "k 1 2 1"},
                "text": {"scores 1 1 2"},
            },
            {"league", "baseball"},
        ),
        (
            "heads",
            {
                "query": {f"attention 1 1 {j}" for j in range(3)},
                "key": {f"v 1 {j} 1" for j in range(3)},
                "text": {"heads 1 1 1"},
            },
            {"league"},
        ),
    ):
        row, column = 1, 2 if key == "scores" else 1
        again.click_matrix("head_1", key, *((column, row) if turned else (row, column)))
        found = page.evaluate(_MARKED)
        drawn = {}
        for ink, cells in found["outlines"]:
            places = [cell.split(" ") for cell in cells]
            swapped = [(k, h, c, r) if turned else (k, h, r, c) for k, h, r, c in places]
            drawn[ink] = {" ".join(place) for place in swapped}
        assert drawn == outlines
        assert set(found["bold"]) == bold
        assert page.evaluate("() => window.kept.every((chart) => chart.isConnected && chart.data)")
        assert page.locator(".attnviz-pick").count() == 0


@pytest.mark.parametrize("height", [720, 900])
def test_the_whole_arithmetic_can_be_copied_and_is_in_sight(again: Driver, height: int) -> None:
    page = again.page
    page.set_viewport_size({"width": 1440, "height": height})
    again.click_matrix("head_1", "attention", 1, 2)
    again.press("Copy")
    dialog = page.get_by_role("dialog")
    box = dialog.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= height
    assert dialog.locator(".katex-display").is_visible()
    text, latex = dialog.locator("[data-testid=stCode]").all()
    copied = []
    for code in (text, latex):
        code.hover()
        code.get_by_role("button").click()
        copied.append(page.evaluate("() => navigator.clipboard.readText()"))
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1440, "height": 900})
    again.wait_idle()
    lines = copied[0].splitlines()
    assert [line.split(" = ")[0] for line in lines] == [
        "q_league · k_baseball",
        "S[league, baseball] / √d_k",
        "e^(S′[league, baseball] − m) / Σ e^(s′_league − m)",
    ]
    assert [line.split(" = ")[-1] for line in lines] == [
        f"{n} (head 2)" for n in ("2.27", "1.60", "0.47")
    ]
    assert copied[1].startswith(r"\begin{aligned}")
    assert copied[1].count("&=") == 9


def test_the_parts_of_tables_that_a_number_is_made_of_are_outlined(again: Driver) -> None:
    again.type_cell("w_q_1", 1, 0, "0.123456789")  # columns of different widths
    again.click_matrix("head_1", "q", 1, 1)
    for table, first, last in (("x", (1, 0), (1, 3)), ("w_q_1", (0, 1), (3, 1))):
        left, top, width, height = again.page.evaluate(
            """(table) => {
              const box = document.querySelector(`[class*="st-key-edit_${table}"]`);
              const { left, top } = box.getBoundingClientRect();
              const s = getComputedStyle(box, '::after');
              const [x, y, w, h] = [s.left, s.top, s.width, s.height].map(parseFloat);
              return [left + x, top + y, w, h];
            }""",
            table,
        )
        grid = again.grid(table).bounding_box()
        assert abs(left + width - grid["x"] - grid["width"]) <= 3
        corners = {first: (left + 12, top + 12), last: (left + width - 12, top + height - 12)}
        for (row, column), corner in corners.items():
            again.click(*corner)
            chosen = again.grid(table).locator("[role=gridcell][aria-selected=true]").last
            place = f"glide-cell-{column + 1}-{row}"
            expect(chosen).to_have_attribute("id", place)


def test_chosen_cell_survives_an_edit(again: Driver) -> None:
    again.click_matrix("head_1", "scores", 2, 1)
    again.type_cell("w_q_1", 0, 0, "1")
    assert "q_baseball · k_league" in again.explanation()


def test_a_click_on_a_thumbnail_shows_its_head(driver: Driver) -> None:
    driver.set_text("the quick brown fox jumps")
    driver.click_matrix("thumbs", "attention", 1, 2, nth=1)
    assert driver.answer().startswith("head 2: quick attends to brown")
    assert driver.matrix("head_1", "attention").shape == (5, 5)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("1\t2\t3\t4\n5\t6\t7\t8", "Control+V"),  # the other way round
        (
            "\\begin{pmatrix}\n1 & 5 \\\\\n2 & 6 \\\\\n3 & 7 \\\\\n4 & 8\n\\end{pmatrix}",
            "Control+V",
        ),
        ("1 5\n2 6\n3 7\n4 8", "Shift+Insert"),
    ],
)
def test_a_pasted_table_is_read_whole_whatever_the_grid_would_make_of_it(
    again: Driver, text: str, keys: str
) -> None:
    again.paste_cell("w_q_1", 0, 0, text, keys)
    cells = [[again.read_cell("w_q_1", r, c) for c in range(2)] for r in range(4)]
    assert cells == [["1", "5"], ["2", "6"], ["3", "7"], ["4", "8"]]
    assert ("was transposed" in again.answer()) is ("\t" in text)


def test_a_pasted_table_that_does_not_fit_is_refused_whole(again: Driver) -> None:
    again.paste_cell("w_q_1", 3, 0, "1\t2\n3\t4")
    assert "W_Q head 2, row d3, column d0" in again.answer()
    assert "at most 1 × 2, got 2 × 2" in again.answer()
    assert again.read_cell("w_q_1", 3, 0) == "0.5"


def test_a_square_block_from_a_spreadsheet_offers_its_transpose(again: Driver) -> None:
    rows = ["\t".join(str(10 * r + c) for c in range(4)) for r in range(4)]
    again.paste_cell("w_o", 0, 0, "\n".join(rows))
    assert again.read_cell("w_o", 0, 1) == "1"
    again.page.get_by_role("button", name="Transpose the pasted table").click()
    again.wait_idle()
    assert again.read_cell("w_o", 0, 1) == "10"


def test_a_typed_number_is_shown_whole(driver: Driver) -> None:
    narrow = driver.grid("w_q_1").bounding_box()["width"]
    driver.type_cell("w_q_1", 0, 0, "-1.2345678901234567e-142")
    longest = 24 * 7
    assert driver.grid("w_q_1").bounding_box()["width"] >= narrow + longest / 2
