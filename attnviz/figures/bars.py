"""The keys of one query in the order of their weights, as bars."""

from typing import Any

from attnviz.core.heads import ranking
from attnviz.core.numbers import format_number
from attnviz.core.trace import Trace
from attnviz.figures.draw import paper
from attnviz.figures.labels import cut, escape, text_width, wrapped
from attnviz.figures.palettes import inks
from attnviz.figures.panel import NOTHING
from attnviz.figures.view import Spec, View
from attnviz.figures.words import note

MAX_BARS = 12
LETTERS = 28  # of a key; there is room for a title
LABELS_SHARE = 0.45  # of the width, at most
GAP = 8
MAX_LENGTH = 480  # px of the longest bar


def ranking_bars(trace: Trace, query: int, head: int, view: View) -> Spec:
    """What one query gives to each key, the best first; of many keys the first `MAX_BARS`.

    Bars begin at 0 and the longest fills the room, which its number says; a negative weight
    (there are normalisers that give them) goes to the left.

    Args:
        trace: the computation.
        query, head: which row of which head, from 0.
        view: letters and colours.

    Raises:
        ScenarioError: no such query or head.
    """
    ranked = ranking(trace, query, head)
    shown, rest = ranked[:MAX_BARS], ranked[MAX_BARS:]
    heads, queries, keys = trace.labels("attention")
    sizes, ink = view.sizes, inks(view.dark)
    names = [_fitting(name, sizes.label, view.width * LABELS_SHARE) for name, _ in shown]
    numbers = [format_number(weight, view.decimals) for _, weight in shown]
    left = max(text_width(name, sizes.label) for name in names) * 1.08 + GAP
    beside = max(text_width(number, sizes.label) for number in numbers) * 1.08 + GAP
    low, high = min(0.0, *(w for _, w in shown)), max(0.0, *(w for _, w in shown))
    room = min(MAX_LENGTH, max(40.0, view.width - left - beside))
    scale = room / ((high - low) or 1.0)
    zero = left - low * scale
    top = sizes.title * 1.5 + sizes.detail * 1.5
    pitch = sizes.label * 1.7
    middles = [top + (place + 0.5) * pitch for place in range(len(shown))]
    said = [
        wrapped(f"{place + 1}. {trace.sentence('attention', head, query, keys.index(name), None)}")
        for place, (name, _) in enumerate(shown)
    ]
    foot = _foot(rest, trace, head, query, view.decimals)
    height = int(top + len(shown) * pitch + (sizes.detail * 1.6 if foot else 0) + 6)
    ends = [max(zero, zero + weight * scale) for _, weight in shown]
    words = [
        (f"Ranking by {cut(queries[query], LETTERS)}", 0.0, 0.0, sizes.title, ink.text, "left"),
        (
            f"weights of {heads[head]}, best first",
            0.0,
            sizes.title * 1.5,
            sizes.detail,
            ink.muted,
            "left",
        ),
        *((foot, 0.0, height - sizes.detail * 1.5, sizes.detail, ink.muted, "left"),) * bool(foot),
    ]
    annotations = [
        note(escape(text), x / view.width, 1 - y / height, size, color) | {"xanchor": anchor}
        for text, x, y, size, color, anchor in words
    ]
    annotations[0]["font"]["weight"] = 700
    for y, name, number, end in zip(middles, names, numbers, ends, strict=True):
        for text, x, color, anchor in (
            (name, left - GAP, ink.key, "right"),
            (number, end + GAP / 2, ink.text, "left"),
        ):
            annotations.append(
                note(escape(text), x / view.width, 1 - y / height, sizes.label, color)
                | {"xanchor": anchor, "yanchor": "middle"}
            )
    bar: Spec = {"type": "bar", "orientation": "h", "y": middles}
    data: list[Any] = [
        bar
        | {
            "base": zero,
            "x": [weight * scale for _, weight in shown],
            "width": pitch * 0.7,
            "marker": {"color": ink.value, "line": {"width": 0}},
            "hoverinfo": "skip",
        },
        bar  # not seen, as wide as the row, so that short bars can be pointed at
        | {
            "base": 0,
            "x": [view.width] * len(shown),
            "width": pitch,
            "marker": {"color": "rgba(0,0,0,0)", "line": {"width": 0}},
            "hovertext": said,
            "hoverinfo": "text",
            "textposition": "none",
        },
    ]
    hidden = {"visible": False, "fixedrange": True}
    layout = paper(view, height) | {
        "template": {"data": {}, "layout": {}},
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": hidden | {"range": [0, view.width]},
        "yaxis": hidden | {"range": [height, 0]},
        "annotations": annotations,
        "shapes": [_zero_line(zero / view.width, top, middles[-1] + pitch / 2, height, ink.muted)],
    }
    return {"data": data, "layout": layout}


def _fitting(name: str, size: int, width: float) -> str:
    """A name cut in the middle until it fits."""
    letters = LETTERS
    while letters > 4 and text_width(cut(name, letters), size) * 1.08 > width:
        letters -= 1
    return cut(name, letters)


def _foot(
    rest: tuple[tuple[str, float], ...], trace: Trace, head: int, query: int, decimals: int | None
) -> str:
    """What is not seen in the bars."""
    if trace.empty_rows[head, query]:
        return NOTHING
    if not rest:
        return ""
    most = format_number(max(weight for _, weight in rest), decimals)
    return f"and {len(rest)} more keys, none above {most}"


def _zero_line(x: float, top: float, bottom: float, height: int, color: str) -> Spec:
    ends = {"x0": x, "x1": x, "y0": 1 - top / height, "y1": 1 - bottom / height}
    place = {"type": "line", "xref": "paper", "yref": "paper"}
    return place | ends | {"line": {"color": color, "width": 1}}
