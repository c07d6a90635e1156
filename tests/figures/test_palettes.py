"""Colours: readable letters on every cell, and a meaning that nobody has to guess."""

import numpy as np
import pytest

from attnviz.figures.palettes import (
    PALETTES,
    contrast,
    ground,
    inks,
    luminance,
    rgb,
    text_colors,
)

KINDS = ("signed", "attention")
# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colors: np.ndarray) -> np.ndarray:
    parts = colors / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def as_lab(light: np.ndarray) -> np.ndarray:
    """Linear RGB -> OKLab, in which a distance of 0.02 is about what one can just tell apart."""
    to_lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    to_lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return np.cbrt(np.clip(light, 0, 1) @ to_lms.T) @ to_lab.T


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PALETTES)
class TestEveryPalette:
    def test_letters_stand_out_on_every_cell(self, name: str, kind: str, dark: bool) -> None:
        low, high = (-1.0, 1.0) if kind == "signed" else (0.0, 1.0)
        values = np.linspace(low, high, 2001)
        stops = PALETTES[name].stops(kind, dark)
        inks_used = text_colors(values, low, high, stops)
        light = luminance(ground(values, low, high, stops))
        letters = np.where(inks_used == "#000", 0.0, 1.0)
        assert set(inks_used) <= {"#000", "#fff"}
        assert contrast(light, letters).min() >= 4.5

    def test_low_values_fade_into_the_page(self, name: str, kind: str, dark: bool) -> None:
        stops = PALETTES[name].stops(kind, dark)
        lowest = stops[len(stops) // 2] if kind == "signed" else stops[0]
        page = luminance(rgb(inks(dark).page))
        assert contrast(luminance(rgb(lowest)), page) < 1.25

    def test_stronger_values_stand_out_more(self, name: str, kind: str, dark: bool) -> None:
        stops = PALETTES[name].stops(kind, dark)
        page = luminance(rgb(inks(dark).page))
        values = np.linspace(0.0, 1.0, 101)
        for sign in (1, -1) if kind == "signed" else (1,):
            low = -1.0 if kind == "signed" else 0.0
            against = contrast(luminance(ground(sign * values, low, 1.0, stops)), page)
            assert (np.diff(against) > -1e-9).all()

    def test_can_be_told_apart_without_seeing_all_colours(
        self, name: str, kind: str, dark: bool
    ) -> None:
        stops = PALETTES[name].stops(kind, dark)
        low = -1.0 if kind == "signed" else 0.0
        pairs = [(0.9, -0.9), (0.5, -0.5)] if kind == "signed" else [(0.25, 0.75), (0.5, 1.0)]
        for matrix in BLINDNESS.values():
            for pair in pairs:
                seen = linear(ground(np.array(pair), low, 1.0, stops)) @ np.array(matrix).T
                one, other = as_lab(seen)
                assert np.linalg.norm(one - other) > 0.06


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_and_outlines_stand_out_on_the_page(dark: bool) -> None:
    ink = inks(dark)
    page = luminance(rgb(ink.page))
    for name in ("text", "muted", "query", "key", "value", "editable", "computed", "answer"):
        assert contrast(luminance(rgb(getattr(ink, name))), page) >= 4.5, name
    assert contrast(luminance(rgb(ink.changed)), page) >= 3


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_letters_on_masked_cells_stand_out_from_ground_and_hatching(dark: bool) -> None:
    ink = inks(dark)
    for ground_color in (ink.masked, ink.hatch):
        assert contrast(luminance(rgb(ink.text)), luminance(rgb(ground_color))) >= 4.5
    assert ink.masked not in {s for p in PALETTES.values() for s in p.stops("signed", dark)}


def test_the_roles_of_tokens_differ_from_each_other() -> None:
    for dark in (False, True):
        ink = inks(dark)
        assert len({ink.query, ink.key, ink.value, ink.changed, ink.text}) == 5


def test_a_range_as_wide_as_float64_has_its_colours() -> None:
    stops = PALETTES["greys"].stops("signed", False)
    most = np.finfo(np.float64).max
    colors = ground(np.array([-most, 0.0, most]), -most, most, stops)
    np.testing.assert_allclose(colors, [rgb(stops[0]), rgb(stops[3]), rgb(stops[-1])])
