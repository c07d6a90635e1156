"""In a real browser no letters of an equation, a flow or a comparison cross or are cut off."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from attnviz import Trace, run
from attnviz.core import edit
from attnviz.figures import LARGE, PROJECTOR, View, difference_picture, equation, flow
from tests.figures.support import STRANGE, Spec, scenario, traced, words
from tests.figures.test_equation_pictures import biased

pytestmark = pytest.mark.browser

TEXTS = """() => [...document.querySelectorAll('#plot text')]
  .filter((e) => e.textContent.trim() && !e.closest('.hoverlayer'))
  .map((e) => {
    const box = e.getBoundingClientRect();
    return [e.textContent, box.left, box.top, box.right, box.bottom,
            parseFloat(getComputedStyle(e).fontSize)];
  })"""
DRAW = """async ([spec, width]) => {
  const height = spec.layout.height;
  document.body.innerHTML =
    `<div id=plot style="width:${width}px;height:${height}px"></div>`;
  await Plotly.newPlot('plot', spec.data, spec.layout, {displayModeBar: false});
}"""
HALL = View(width=1840, sizes=PROJECTOR, palette="high contrast")
VIEWS = {"page": View(), "large": View(sizes=LARGE, dark=True), "hall": HALL}
TRACES = {
    "walkthrough": traced(),
    "causal": traced(causal=True),
    "biased": biased(),
    "8": traced(words(8)),
    "12": traced(words(12)),
    "20": traced(words(20)),
    "strange": traced(" ".join(STRANGE)),
    "long": traced("strawberry blackberry watermelon elderberry"),
    "one": traced("word"),
    "256 wide": traced("", d_model=256),
    "12 heads": traced("", n_heads=12),
}
SLACK = 3.5  # px of the leading around letters that may cross


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1900, "height": 1300})
    page.set_content("<!doctype html><meta charset=utf-8><body style='margin:0'></body>")
    page.add_script_tag(path=str(files("plotly") / "package_data" / "plotly.min.js"))
    yield page
    page.close()


def audit(page: Page, spec: Spec, view: View) -> list[Any]:
    """Everything that is wrong with the letters of a picture."""
    page.evaluate(DRAW, [json.loads(json.dumps(spec)), view.width])
    texts = page.evaluate(TEXTS)
    assert len(texts) >= 4
    least, height = (20 if view.sizes is PROJECTOR else 13), spec["layout"]["height"]
    wrong = [("small", text) for text in texts if text[5] < least]
    for text in texts:
        _, left, top, right, bottom, _ = text
        if left < -SLACK or top < -SLACK or right > view.width + SLACK or bottom > height + SLACK:
            wrong.append(("cut", text))
    for a, b in combinations(texts, 2):
        wide = min(a[3], b[3]) - max(a[1], b[1])
        high = min(a[4], b[4]) - max(a[2], b[2])
        lines = 0.22 * max(a[5], b[5])  # a text's box is higher than its letters
        if wide > SLACK and high > SLACK + lines:
            wrong.append(("crossing", a, b))
    return wrong


@pytest.mark.parametrize(
    ("kind", "tokens_as"), [("page", "columns"), ("large", "rows"), ("hall", "rows")]
)
@pytest.mark.parametrize("name", [name for name in TRACES if name != "walkthrough"])
def test_equations(page: Page, name: str, kind: str, tokens_as: str) -> None:
    trace, view = TRACES[name], replace(VIEWS[kind], tokens_as=tokens_as)
    for stage in trace.stages:
        assert audit(page, equation(trace, stage.key, 0, view), view) == [], stage.key


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("name", TRACES)
def test_flows(page: Page, name: str, kind: str) -> None:
    trace, view = TRACES[name], VIEWS[kind]
    heads = list(range(len(trace["attention"])))
    assert audit(page, flow(trace, heads, view, token=0), view) == []


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("name", ["walkthrough", "8", "20", "strange", "long", "one"])
def test_differences(page: Page, name: str, kind: str) -> None:
    trace, view = TRACES[name], VIEWS[kind]
    others: list[Trace] = [trace, run(edit.set_text(scenario(), "major league cricket")[0])]
    for other in others:
        for stage in trace.stages:
            spec = difference_picture(trace, other, stage.key, 0, view)
            assert audit(page, spec, view) == [], stage.key


def point_at(page: Page, x: float, y: float) -> str:
    page.mouse.move(5, 5)
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.wait_for_timeout(120)
    said: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('.hoverlayer text')].map((e) => e.textContent)"
    )
    return said[0] if said else ""


def test_pointing_at_lines_and_tokens(page: Page) -> None:
    trace, view = TRACES["walkthrough"], View()
    spec = flow(trace, [0], view)
    page.evaluate(DRAW, [spec, view.width])
    points, left = spec["data"][-3], spec["data"][-2]
    for place in (0, 40, 77):
        said = point_at(page, points["x"][place], points["y"][place])
        assert said.startswith("head 1: ")
        assert " attends to " in said
    assert "major attends most to" in point_at(page, left["x"][0] - 25, left["y"][0])


def test_pointing_at_cells_still_hidden_says_nothing(page: Page) -> None:
    trace, view = TRACES["walkthrough"], View()
    spec = equation(trace, "scores", 0, view, rows=1)
    page.evaluate(DRAW, [spec, view.width])
    heat = next(t for t in spec["data"] if t.get("meta", [""])[0] == "scores")
    x = spec["layout"][f"xaxis{heat['xaxis'][1:]}"]["domain"]
    bottom, top = spec["layout"][f"yaxis{heat['yaxis'][1:]}"]["domain"]
    middle = sum(x) / 2 * view.width

    def height(row: int) -> float:
        share = (row + 0.5) / 3
        return float(1 - (top + share * (bottom - top))) * float(spec["layout"]["height"])

    assert "query meets" in point_at(page, middle, height(0))
    assert point_at(page, middle, height(2)) == ""


def test_a_difference_fills_in_what_a_and_b_are(page: Page) -> None:
    a, b = TRACES["20"], traced(words(20), causal=True)
    spec = difference_picture(a, b, "attention", 0, View())
    page.evaluate(DRAW, [spec, 1040])
    domain = spec["layout"]["xaxis3"]["domain"]
    bottom, top = spec["layout"]["yaxis"]["domain"]
    height = spec["layout"]["height"]
    x = (domain[0] + (domain[1] - domain[0]) * 0.5 / 20) * 1040
    said = point_at(page, x, (1 - top + (top - bottom) * 2.5 / 20) * height)
    assert said.startswith("brown₃, the₁: A 0.")
    assert ", B 0." in said
    assert "B − A " in said
