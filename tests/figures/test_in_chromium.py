"""What Plotly.js makes of the figures: labels, hovers, colours and clicks in a real browser."""

import html
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from attnviz import Trace
from attnviz.figures import Marks, View, flat, head_strip, thumbnails
from attnviz.figures.labels import cut
from tests.figures.support import MARKUP, STRANGE, Spec, heatmaps, traced, words

pytestmark = pytest.mark.browser

PLACE = """([key, row, column]) => {
  const gd = document.getElementById('plot');
  const t = gd._fullData.filter((t) => t.type === 'heatmap' && t.meta[0] === key)[0];
  const x = gd._fullLayout[t.xaxis.replace('x', 'xaxis')];
  const y = gd._fullLayout[t.yaxis.replace('y', 'yaxis')];
  const box = gd.getBoundingClientRect();
  return [box.left + x._offset + x.d2p(t.x0 + column * t.dx),
    box.top + y._offset + y.d2p(t.y0 + row * t.dy)];
}"""
TEXTS = """() => [...document.querySelectorAll('#plot text')].map((e) => {
  const {x, y, width, height} = e.getBoundingClientRect();
  return [e.textContent, x + width / 2, y + height / 2];
})"""
TICKS = """() => [...document.querySelectorAll('g[class*="tick"] text')]
  .filter((e) => /^[xy]\\d*tick$/.test(e.parentNode.getAttribute('class')))
  .map((e) => [e.parentNode.getAttribute('class')[0], e.textContent])"""
DATA = """() => document.getElementById('plot')._fullData.filter((t) => t.type === 'heatmap')
  .map((t) => [t.meta[0], t.zauto, t.zmin, t.zmax, t.colorscale, t.showscale])"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1200, "height": 2400})
    page.add_init_script("window.alert = () => { throw new Error('a script ran'); }")
    page.set_content("<!doctype html><meta charset=utf-8><body></body>")
    page.add_script_tag(path=str(files("plotly") / "package_data" / "plotly.min.js"))
    yield page
    page.close()


def show(page: Page, spec: Spec) -> None:
    height = spec["layout"]["height"]
    page.evaluate(
        """async ([spec, height]) => {
          document.body.innerHTML = `<div id=plot style="width:1144px;height:${height}px"></div>`;
          await Plotly.newPlot('plot', spec.data, spec.layout, {displayModeBar: false});
          window.clicks = [];
          const gd = document.getElementById('plot');
          gd.on('plotly_click', (e) => clicks.push(
            e.points.map((p) => [p.data.meta, p.y - (p.data.y0 || 0), p.x - (p.data.x0 || 0)])));
        }""",
        [json.loads(json.dumps(spec)), height],
    )


def point_at(page: Page, key: str, row: int, column: int) -> str:
    """Point at a cell; gives the hover's text, its lines joined by a bar."""
    x, y = page.evaluate(PLACE, [key, row, column])
    page.mouse.move(5, 5)
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.wait_for_timeout(120)
    lines: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('.hoverlayer text')].map((e) =>"
        " [...e.querySelectorAll('tspan.line')].map((l) => l.textContent).join('|')"
        " || e.textContent)"
    )
    assert len(lines) == 1, lines
    return lines[0]


def said(trace: Trace, key: str, row: int, column: int, decimals: int | None = 4) -> str:
    return trace.sentence(key, 0, row, column, decimals)


@pytest.mark.parametrize("start", range(0, len(STRANGE), 3))
def test_tokens_are_shown_letter_for_letter(page: Page, start: int) -> None:
    tokens = STRANGE[start : start + 3]
    trace = traced(" ".join(tokens))
    show(page, head_strip(trace, 0, View()))
    labels = [cut(label) for label in trace.labels("scores")[1]]
    ticks = page.evaluate(TICKS)
    assert [text for letter, text in ticks if letter == "y"] == labels
    columns = [text for letter, text in ticks if letter == "x"]
    assert [text for text in columns if not text.startswith("d")][: len(labels)] == labels
    sentence, *more = point_at(page, "scores", 0, 1).split("|")
    assert sentence == said(trace, "scores", 0, 1)
    assert "·" in "".join(more)
    assert page.locator("#plot a, #plot script").count() == 0


@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
def test_hovers_that_plotly_fills_in_are_letter_for_letter_too(page: Page, tokens_as: str) -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    trace = traced(" ".join([*MARKUP, word, *words(6).split()]))
    spec = head_strip(trace, 0, View(tokens_as=tokens_as))
    assert "hovertemplate" in heatmaps(spec)["attention", 0]
    show(page, spec)
    for row, column in ((0, 1), (2, 3), (4, 5), (5, 4), (6, 8), (8, 7)):
        start, number = said(trace, "attention", row, column, None).rsplit(" ", 1)
        place = (column, row) if tokens_as == "columns" else (row, column)
        shown, filled_in = point_at(page, "attention", *place).rsplit(" ", 1)
        assert shown == start
        exact = float(number.replace("−", "-"))
        assert float(filled_in.replace("−", "-")) == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("count", [3, 20])
def test_masked_cells_say_that_they_are_minus_infinity(page: Page, count: int) -> None:
    trace = traced(words(count), causal=True)
    show(page, head_strip(trace, 0, View()))
    text = point_at(page, "masked", 0, 2).split("|")[0]
    assert text == said(trace, "masked", 0, 2, None)
    assert "−∞" in text
    visible = point_at(page, "masked", 2, 0).split("|")[0]
    assert "∞" not in visible


@pytest.mark.parametrize("count", [3, 20])
def test_ranges_and_colours_reach_plotly(page: Page, count: int) -> None:
    spec = head_strip(traced(words(count)), 0, View())
    show(page, spec)
    expected = heatmaps(spec)
    resolved: list[list[Any]] = page.evaluate(DATA)
    assert len(resolved) == len(expected)
    for key, auto, low, high, colors, bar in resolved:
        heat = expected[key, 0]
        assert (auto, bar) == (False, False)
        assert (low, high) == (heat["zmin"], heat["zmax"])
        assert colors == [list(stop) for stop in heat["colorscale"]]


def test_cells_have_the_colours_that_their_letters_were_chosen_for(page: Page) -> None:
    """A pixel of each attention cell against the palette's own interpolation."""
    from attnviz.figures.palettes import PALETTES, ground

    trace = traced()
    show(page, head_strip(trace, 0, View(cell_text=False)))
    canvas = page.evaluate(
        """async () => {
          const image = [...document.querySelectorAll('.heatmaplayer image')]
            .map((e) => e.getAttribute('xlink:href') || e.getAttribute('href'));
          return image.length;
        }"""
    )
    assert canvas == 7
    weights = trace["attention"][0]
    stops = PALETTES[View().palette].stops("attention", False)
    expected = ground(weights, 0.0, 1.0, stops)
    for row in range(3):
        for column in range(3):
            x, y = page.evaluate(PLACE, ["attention", row, column])
            clip = {"x": round(x) - 2, "y": round(y) - 2, "width": 4, "height": 4}
            shot = page.screenshot(clip=clip)  # type: ignore[arg-type]
            pixel = page.evaluate(
                """async (bytes) => {
                  const blob = new Blob([new Uint8Array(bytes)], {type: 'image/png'});
                  const bitmap = await createImageBitmap(blob);
                  const context = new OffscreenCanvas(4, 4).getContext('2d');
                  context.drawImage(bitmap, 0, 0);
                  return [...context.getImageData(1, 1, 1, 1).data].slice(0, 3);
                }""",
                list(shot),
            )
            np.testing.assert_allclose(pixel, expected[row, column], atol=3)


@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
@pytest.mark.parametrize("count", [3, 20])
def test_a_click_tells_stage_head_row_and_column(page: Page, count: int, tokens_as: str) -> None:
    trace = traced(words(count), causal=True)
    view = View(tokens_as=tokens_as)
    show(page, head_strip(trace, 1, view, Marks(token=1)))
    for key, row, column in (("q", 2, 1), ("masked", 2, 0), ("masked", 0, 2), ("attention", 1, 0)):
        place = (column, row) if tokens_as == "columns" else (row, column)
        page.mouse.move(5, 5)
        page.mouse.click(*page.evaluate(PLACE, [key, *place]))
        page.wait_for_timeout(60)
        meta = [key, 1, tokens_as == "columns"]
        assert page.evaluate("clicks.at(-1)") == [[meta, *place]]


@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
def test_on_one_pair_of_axes_all_stands_and_answers_as_on_many(page: Page, tokens_as: str) -> None:
    trace = traced("a b c", causal=True)
    spec = head_strip(trace, 1, View(width=1144, tokens_as=tokens_as), Marks(token=1))
    asked = [("q", 2, 1), ("masked", 2, 0), ("masked", 0, 2), ("attention", 1, 1)]
    if tokens_as == "columns":
        asked = [(key, column, row) for key, row, column in asked]
    seen = []
    for picture in (spec, flat(spec, 1144)):
        show(page, picture)
        hovers = [point_at(page, *cell) for cell in asked]
        page.mouse.move(5, 5)
        page.wait_for_timeout(120)
        seen.append((hovers, sorted(page.evaluate(TEXTS))))
    (hovers, texts), (same_hovers, same_texts) = seen
    assert same_hovers == hovers
    assert [text for text, *_ in same_texts] == [text for text, *_ in texts]
    for (text, *place), (_, *now) in zip(texts, same_texts, strict=True):
        assert now == pytest.approx(place, abs=1.2), text


def test_thumbnails_answer_like_the_large_picture(page: Page) -> None:
    trace = traced(words(5), n_heads=4)
    show(page, thumbnails(trace, View()))
    text = point_at(page, "attention", 1, 2)
    assert text.startswith("quick attends to brown with 0.")
    assert html.unescape(text) == text
