"""Matrices as coloured HTML tables, for notebooks and handouts."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.numbers import format_number

if TYPE_CHECKING:
    from attnviz.core.op import Index
    from attnviz.core.trace import Trace

MAX_SHOWN = 1_000  # cells of one array in a notebook
_LOW, _MIDDLE, _HIGH = (33, 102, 172), (247, 247, 247), (178, 88, 6)  # blue, white, orange
_FULL = (8, 69, 148)  # attention of 1
_DECIMALS = 4
_HATCHED = "repeating-linear-gradient(45deg,#ddd 0 4px,#fff 4px 8px)"

Attributes = Callable[["Index"], str]


def colours(values: NDArray[Any], attention: bool) -> NDArray[Any]:
    """An array -> the same shape with (red, green, blue) as a last axis; infinities white.

    Signed numbers share one range, symmetric around zero; the signs are told apart by blue and
    orange, which colour-blind readers can tell apart too. Attention runs from 0 to 1.
    """
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    size = 1.0 if attention else max(float(np.abs(finite).max(initial=0.0)), 1e-300)
    share = np.clip(np.abs(finite) / size, 0.0, 1.0)[..., None]
    ends = np.where(finite[..., None] < 0, np.array(_LOW), np.array(_FULL if attention else _HIGH))
    return np.asarray(np.rint(np.array(_MIDDLE) + share * (ends - np.array(_MIDDLE))), np.int64)


def _style(rgb: NDArray[Any]) -> str:
    """Background and the colour of the text on it, black or white by luminance."""
    red, green, blue = (int(c) for c in rgb)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 140
    return f"background:#{red:02x}{green:02x}{blue:02x};color:{'#000' if light else '#fff'}"


def tables(trace: "Trace", key: str, attributes: Attributes = lambda index: "") -> str:
    """One array as HTML tables side by side, one for each head, with names of rows and columns.

    Args:
        trace: the arrays.
        key: which of them.
        attributes: what a cell's tag has besides its colours.
    """
    array, colour = trace[key], getattr(trace.info(key), "colour", "signed")
    paint = colours(array, colour == "attention")
    heads = range(len(array)) if array.ndim == 3 else [None]
    return "".join(_table(trace, key, head, paint, attributes) for head in heads)


def _table(trace: "Trace", key: str, head: int | None, paint: Any, attributes: Attributes) -> str:
    array, labels = trace[key], trace.labels(key)
    start: tuple[int, ...] = () if head is None else (head,)
    flat = array.ndim == len(start) + 1
    caption = "" if head is None else f"<caption>{escape(labels[0][head])}</caption>"
    top = "".join(f'<th scope="col"><bdi>{escape(name)}</bdi></th>' for name in labels[-1])
    lines = [f"<table>{caption}<tr><th></th>{top}</tr>"]
    for i, row in enumerate(("",) if flat else labels[-2]):
        at = start if flat else (*start, i)
        cells = "".join(
            _cell(array[(*at, j)], paint[(*at, j)], attributes((*at, j)))
            for j in range(array.shape[-1])
        )
        lines.append(f'<tr><th scope="row"><bdi>{escape(row)}</bdi></th>{cells}</tr>')
    return "".join([*lines, "</table>"])


def _cell(value: Any, rgb: NDArray[Any], more: str) -> str:
    if isinstance(value, np.bool_):
        return f"<td{more}>{'may attend' if value else 'hidden'}</td>"
    style = f"background:{_HATCHED};color:#000" if np.isneginf(value) else _style(rgb)
    return f'<td style="{style}"{more}>{escape(format_number(float(value), _DECIMALS))}</td>'


def overview(trace: "Trace") -> str:
    """What a notebook shows of a trace: attention, the result, and what else there is."""
    parts = []
    for key in dict.fromkeys(("attention", trace.result)):
        info, array = trace.info(key), trace[key]
        shape = " × ".join(map(str, array.shape))
        parts.append(f"<p><b>{escape(info.title)}</b> trace[{key!r}], {shape}</p>")
        if array.size <= MAX_SHOWN:
            parts.append(
                f'<div style="display:flex;flex-wrap:wrap;gap:1em">{tables(trace, key)}</div>'
            )
        else:
            parts.append(f"<p>Above {MAX_SHOWN:,} cells: see attnviz.figure(trace, {key!r}).</p>")
    names = ", ".join(trace.values.arrays)
    return f"<div>{''.join(parts)}<p>Arrays: {escape(names)}</p></div>"
