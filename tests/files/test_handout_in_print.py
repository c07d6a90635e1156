"""Handouts on paper: nothing stands beyond the page."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from attnviz import PRESETS, run
from attnviz.files.exports import export

PAPER = 794 - 2 * 45  # px of an A4 page between its margins
BEYOND = """(width) => [...document.querySelectorAll("td, th")].filter((cell) => {
  const {right, left} = cell.getBoundingClientRect();
  const cut = cell.matches("td") && cell.scrollWidth > cell.clientWidth + 1;
  return right > width + 1 || left < -1 || cut;
}).map((cell) => cell.textContent)"""


@pytest.mark.parametrize("name", ["walkthrough", "search", "two heads", "picture", "four heads"])
def test_every_number_of_a_handout_is_on_the_paper(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "handout.html"
    path.write_bytes(export("handout", run(PRESETS[name])))
    page = browser.new_page()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.goto(path.as_uri())
    assert page.locator("td").count() > 50
    assert page.evaluate(BEYOND, PAPER) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    printed = page.pdf(prefer_css_page_size=True)
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", printed)) < 100
    page.close()
