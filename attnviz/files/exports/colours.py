"""Colours of cells in files: signed numbers around zero, attention from 0 to 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LOW, _MIDDLE, _HIGH = (33, 102, 172), (247, 247, 247), (178, 88, 6)  # blue, white, orange
_FULL = (8, 69, 148)  # attention of 1


def colours(values: NDArray[Any], attention: bool) -> NDArray[Any]:
    """An array -> the same shape with (red, green, blue) as a last axis; NaN and ±inf white.

    Signed numbers share one range, symmetric around zero; the signs are told apart by blue and
    orange, which colour-blind readers can tell apart too.
    """
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    size = 1.0 if attention else max(float(np.abs(finite).max(initial=0.0)), 1e-300)
    share = np.clip(np.abs(finite) / size, 0.0, 1.0)[..., None]
    ends = np.where(finite[..., None] < 0, np.array(_LOW), np.array(_FULL if attention else _HIGH))
    return np.asarray(np.rint(np.array(_MIDDLE) + share * (ends - np.array(_MIDDLE))), np.int64)


def css(rgb: NDArray[Any]) -> str:
    """Background and the colour of the text on it, black or white by luminance."""
    red, green, blue = (int(c) for c in rgb)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 140
    return f"background:#{red:02x}{green:02x}{blue:02x};color:{'#000' if light else '#fff'}"
