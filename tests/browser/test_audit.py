"""Every text on the page is large enough, stands out, and covers no other."""

import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from attnviz.figures.palettes import contrast, luminance
from tests.browser.driver import Driver

SCREENS = [(1280, 800), (1440, 900), (1920, 1080)]
TEXTS = ["major league baseball", "the cat the", "Donaudampfschiffahrt <s> 2024"]


def rgb(color: str) -> np.ndarray[Any, Any]:
    return np.array([float(part) for part in re.findall(r"[\d.]+", color)[:3]])


def too_small(texts: list[dict[str, Any]]) -> list[str]:
    return [f"{t['text']}: {t['size']}" for t in texts if t["size"] < 12.99]


def too_faint(texts: list[dict[str, Any]]) -> list[str]:
    found = []
    for text in texts:
        if text["cell"]:  # on its own ground, which the palette's test covers
            continue
        ink, ground = rgb(text["color"]), rgb(text["ground"])
        seen = ink * text["opacity"] + ground * (1 - text["opacity"])
        ratio = float(contrast(luminance(seen), luminance(ground)))
        if ratio < 4.5:
            found.append(f"{text['text']}: {ratio:.2f}")
    return found


def overlapping(texts: list[dict[str, Any]]) -> list[str]:
    found = []
    for a, b in combinations(texts, 2):
        wide = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
        high = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
        if wide > 1 and high > 4:  # line boxes may touch; letters may not
            found.append(f"{a['text']} / {b['text']}")
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SCREENS, ids=[f"{w}" for w, _ in SCREENS])
def test_texts_can_be_read(
    open_app: Callable[..., Driver], width: int, height: int, dark: bool
) -> None:
    driver = open_app(width, height, dark)
    for words in TEXTS:
        driver.set_text(words)
        texts = driver.texts()
        assert len(texts) > 100
        assert too_small(texts) == []
        assert too_faint(texts) == []
        for chart in sorted({t["chart"] for t in texts if t["chart"]}):
            assert overlapping([t for t in texts if t["chart"] == chart]) == [], (words, chart)


def test_the_first_screen_needs_no_scrolling(driver: Driver) -> None:
    heights = driver.page.evaluate(
        "() => { const m = document.querySelector('[data-testid=stMain]');"
        " return [m.scrollHeight, m.clientHeight, m.scrollWidth, m.clientWidth]; }"
    )
    assert heights[0] <= heights[1] + 1
    assert heights[2] <= heights[3]
