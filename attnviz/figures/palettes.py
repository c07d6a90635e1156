"""Colours by meaning: signed values diverge around zero, attention rises from 0 to 1."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import Array

Stops = tuple[str, ...]


@dataclass(frozen=True)
class Palette:
    """Colour stops from the lowest to the highest value, for light and for dark pages.

    Args:
        signed: from most negative over zero to most positive.
        attention: from 0 to 1.
        signed_dark, attention_dark: the same on a dark page.
    """

    signed: Stops
    attention: Stops
    signed_dark: Stops
    attention_dark: Stops

    def stops(self, colour: str, dark: bool) -> Stops:
        """The stops for a stage's kind of colour."""
        name = colour + ("_dark" if dark else "")
        stops: Stops = getattr(self, name)
        return stops


PALETTES: dict[str, Palette] = {
    "purple and orange": Palette(
        signed=("#8a3b00", "#e0862f", "#f6d9b3", "#fbfaf8", "#d6d0ea", "#8e7cc3", "#3d1a78"),
        attention=("#f7fbfe", "#cfe3f3", "#86bbdf", "#3d8cc4", "#1460a0", "#08356b"),
        signed_dark=("#ffb163", "#c9762a", "#6b431f", "#1d2029", "#3d3567", "#7c6bd0", "#c3b5ff"),
        attention_dark=("#1a2230", "#1d3f5e", "#266d9f", "#3f9bd3", "#86c8f0", "#d3efff"),
    ),
    "red and blue": Palette(
        signed=("#7f0f1d", "#d6604d", "#f8cdb8", "#faf9f8", "#c2dcec", "#4f97c7", "#0b3f7c"),
        attention=("#f8fbf4", "#d6ecc9", "#92cf9b", "#41a86a", "#137a45", "#00441b"),
        signed_dark=("#ff9e8a", "#cf5d4b", "#6a2f2a", "#1d2029", "#23466b", "#4a93cf", "#a9d8ff"),
        attention_dark=("#18251e", "#1d4a30", "#2b7d4d", "#4bb174", "#96dca9", "#dcf8dd"),
    ),
    "high contrast": Palette(
        signed=("#5c2000", "#c25a00", "#ffc27a", "#ffffff", "#b5bcff", "#4650d6", "#12127a"),
        attention=("#ffffff", "#bcd9ee", "#5fa5d8", "#1d6fb3", "#0a3f77", "#001a3d"),
        signed_dark=("#ffcf8f", "#f08a1d", "#7a3f00", "#11141c", "#2b2f96", "#7f8cff", "#dfe3ff"),
        attention_dark=("#11141c", "#0b3050", "#125f9c", "#2f97e0", "#8acbff", "#ffffff"),
    ),
    "greys": Palette(
        signed=("#7a3b00", "#c58543", "#ecd8c2", "#fafafa", "#cfd1d6", "#858a94", "#24272e"),
        attention=("#fbfbfb", "#dcdee2", "#aeb2ba", "#7b808a", "#4a4f59", "#1c1f26"),
        signed_dark=("#ffb66b", "#b9772f", "#5d4126", "#1d2029", "#474b57", "#8f95a3", "#eceef3"),
        attention_dark=("#1d2029", "#343843", "#575c69", "#838997", "#b5bac5", "#f0f2f6"),
    ),
}
DEFAULT_PALETTE = "purple and orange"


@dataclass(frozen=True)
class Inks:
    """The colours of everything that is not a cell.

    Args:
        text, muted: letters; muted still has a contrast of 4.5 to the page.
        query, key, value: the roles of tokens, in labels and outlines.
        editable, computed, answer: what a number is: set, computed, the chosen result.
        masked, hatch: the ground of a masked cell and the lines on it.
        page: the page behind it all.
        changed: what an edit changed on the page, and what was refused.
    """

    text: str
    muted: str
    query: str
    key: str
    value: str
    editable: str
    computed: str
    answer: str
    masked: str
    hatch: str
    page: str
    changed: str


LIGHT = Inks(
    text="#1b2030",
    muted="#565d70",
    query="#00664b",
    key="#a0165a",
    value="#1f4fa3",
    editable="#8a5200",
    computed="#4b3a94",
    answer="#00664b",
    masked="#e4e6ec",
    hatch="#b4b9c6",
    page="#ffffff",
    changed="#d97706",
)
DARK = Inks(
    text="#eceef5",
    muted="#a5adc0",
    query="#63d8ac",
    key="#ff93c4",
    value="#8db8ff",
    editable="#ffc46b",
    computed="#b9a9ff",
    answer="#63d8ac",
    masked="#2b303d",
    hatch="#4a5164",
    page="#11141c",
    changed="#fbbf24",
)


def inks(dark: bool) -> Inks:
    """The inks of a light or a dark page."""
    return DARK if dark else LIGHT


def rgb(color: str) -> Array:
    """ "#rrggbb" -> (3,) from 0 to 255."""
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.float64)


def colorscale(stops: Stops) -> list[list[object]]:
    """The stops, evenly spaced, as Plotly takes them."""
    return [[round(i / (len(stops) - 1), 4), color] for i, color in enumerate(stops)]


def luminance(colors: Array) -> Array:
    """(…, 3) sRGB from 0 to 255 -> relative luminance (WCAG 2.2)."""
    parts = colors / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def contrast(a: Array, b: Array) -> Array:
    """Contrast ratio of two luminances, 1 to 21 (WCAG 2.2)."""
    return np.asarray((np.maximum(a, b) + 0.05) / (np.minimum(a, b) + 0.05))


def ground(values: Array, low: float, high: float, stops: Stops) -> Array:
    """Values -> the (…, 3) colours of their cells."""
    table = np.stack([rgb(color) for color in stops])
    span = high / 2 - low / 2  # halves, since the span of two float64 may be none
    place = np.clip((values / 2 - low / 2) / span, 0, 1) * (len(stops) - 1)
    at = np.arange(len(stops))
    return np.stack([np.interp(place, at, table[:, i]) for i in range(3)], axis=-1)


def text_colors(values: Array, low: float, high: float, stops: Stops) -> NDArray[np.str_]:
    """Black or white for the letters on each cell, whichever stands out more."""
    light = luminance(ground(values, low, high, stops))
    black_is_better = contrast(light, np.zeros(())) >= contrast(light, np.ones(()))
    return np.where(black_is_better, "#000", "#fff")
