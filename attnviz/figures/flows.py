"""Attention as lines between tokens: query left, key right, as wide as the weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.numbers import format_number
from attnviz.core.trace import Trace
from attnviz.figures.draw import paper
from attnviz.figures.fit import is_hall
from attnviz.figures.labels import cut, escape, text_width, wrapped
from attnviz.figures.palettes import inks
from attnviz.figures.panel import NOTHING
from attnviz.figures.view import Spec, View
from attnviz.figures.words import note

MAX_LINES = 2000
KINDS = 12  # of lines, by their weight; each kind has one width
WIDEST = 12.0  # px of a weight of 1
THINNEST = 0.8
PALE = 0.08
MAX_HEIGHT = 1100  # px of all rows on a page
HALL_HEIGHT = 420
NEAREST = 4  # keys and queries that a token's hover lists
MAX_HEADS = 8  # heads that it lists
DECIMALS = 4
# Okabe and Ito's colours for all kinds of colour vision, dark or light enough for the page.
HEAD_COLORS = {
    False: ("#0072b2", "#d55e00", "#008762", "#b5568f", "#8a6100", "#444b5a"),
    True: ("#56b4e9", "#ff8a3d", "#2fc79a", "#e59ac4", "#f0c040", "#c9ced9"),
}
DASHES = ("solid", "10px,5px", "3px,4px")  # for heads that share a colour


@dataclass(frozen=True)
class _Line:
    head: int
    query: int
    key: int
    weight: float


def flow(trace: Trace, heads: Sequence[int], view: View, *, token: int | None = None) -> Spec:
    """Attention of some heads as lines; at most `MAX_LINES` of them, the strongest.

    Args:
        trace: the computation.
        heads: which heads, from 0.
        view: letters and colours.
        token: the place of a query whose lines stand out.

    Raises:
        ScenarioError: no such head or query.
    """
    for head in heads:
        trace.index("attention", head, token or 0)
    lines, left_out = _strongest(trace["attention"], heads, token)
    return _Flow(trace, heads, view, token).spec(lines, left_out)


def _strongest(
    weights: Array, heads: Sequence[int], token: int | None
) -> tuple[list[_Line], list[float]]:
    """(head, query, key) weights -> the lines to draw, the weakest first, and the others' weights.

    The chosen query's lines come last, so that they are drawn on the others and left out last.
    """
    chosen = weights[list(heads)]
    head, query, key = np.nonzero(chosen > 0)
    size = chosen[head, query, key]
    order = np.lexsort((size, query == token))
    kept, rest = order[-MAX_LINES:], order[:-MAX_LINES]
    lines = [
        _Line(heads[head[i]], int(query[i]), int(key[i]), float(size[i])) for i in kept.tolist()
    ]
    return lines, size[rest].tolist()


class _Flow:
    """Draws on one pair of axes that run in px from the upper left."""

    def __init__(self, trace: Trace, heads: Sequence[int], view: View, token: int | None) -> None:
        self.trace, self.heads, self.view, self.token = trace, heads, view, token
        self.sizes, self.ink = view.sizes, inks(view.dark)
        self.names, self.queries, self.keys = trace.labels("attention")
        sizes, rows = self.sizes, max(len(self.queries), len(self.keys))
        hall = is_hall(sizes)
        pitch = min(sizes.label * 4, max(sizes.label * 1.3, HALL_HEIGHT * 0.7 / rows))
        self.pitch = min(pitch, (HALL_HEIGHT if hall else MAX_HEIGHT) / rows)
        self.every = max(1, -int(-sizes.label * 1.1 // self.pitch))
        left, right = (
            max(text_width(cut(label), sizes.label) for label in labels) * 1.08 + 12
            for labels in (self.queries, self.keys)
        )
        across = min(view.width - left - right, max(40 * sizes.label, rows * self.pitch * 3))
        aside = (view.width - left - right - across) / 2 if hall else 0.0
        self.left, self.right = aside + left, aside + left + max(across, 40.0)
        self.legend, self.heading = self._legend()
        self.top = self.heading + sizes.detail * 1.5 + max(0.0, sizes.label * 0.7 - self.pitch / 2)
        self.bottom = self.top + rows * self.pitch

    def _y(self, place: int) -> float:
        return self.top + (place + 0.5) * self.pitch

    def _shift(self, head: int) -> float:
        """How far a head's lines stand from the middle, so that heads are seen side by side."""
        count = len(self.heads)
        step = min(WIDEST * 0.5, self.pitch * 0.6 / count)
        return (list(self.heads).index(head) - (count - 1) / 2) * step

    def _style(self, head: int) -> Spec:
        colors = HEAD_COLORS[self.view.dark]
        dash = DASHES[head // len(colors) % len(DASHES)]
        return {"color": colors[head % len(colors)], "dash": dash}

    def spec(self, lines: list[_Line], left_out: list[float]) -> Spec:
        """The whole picture."""
        sizes, ink, width = self.sizes, self.ink, self.view.width
        said = ["The wider a line, the larger the weight."]
        if left_out:
            most = format_number(max(left_out), DECIMALS)
            said.append(
                f"The {len(left_out):,} weakest lines are left out; "
                f"the largest of their weights is {most}."
            )
        height = int(self.bottom + 8 + len(said) * sizes.detail * 1.4)
        notes = [*self.legend, *self._headings()]
        for place, text in enumerate(said):
            y = self.bottom + 6 + place * sizes.detail * 1.4
            notes.append((text, self.left, y, sizes.detail, ink.muted, "left"))
        data = [*self._lines(lines), self._points(lines)]
        data += [self._tokens("query"), self._tokens("key")]
        hidden = {"visible": False, "fixedrange": True}
        return {
            "data": data,
            "layout": paper(self.view, height)
            | {
                "hovermode": "closest",
                "template": {"data": {}, "layout": {}},
                "xaxis": hidden | {"range": [0, width]},
                "yaxis": hidden | {"range": [height, 0]},
                "shapes": [
                    shape | {"y0": 1 - shape["y0"] / height, "y1": 1 - shape["y1"] / height}
                    for shape in self._swatches()
                ],
                "annotations": [
                    note(escape(text), x / width, 1 - y / height, size, color) | {"xanchor": anchor}
                    for text, x, y, size, color, anchor in notes
                ],
            },
        }

    # What is written above.

    def _legend(self) -> tuple[list[tuple[Any, ...]], float]:
        """The names of the heads in as many lines as they need, and where those end."""
        sizes, swatch = self.sizes, self.sizes.label * 2
        notes: list[tuple[Any, ...]] = []
        self.swatches: list[tuple[int, float, float]] = []
        x, y = self.left, 2.0
        for head in self.heads:
            text = self.names[head]
            wide = swatch + 6 + text_width(text, sizes.label) + 18
            if x > self.left and x + wide > self.view.width:
                x, y = self.left, y + sizes.label * 1.5
            self.swatches.append((head, x, y + sizes.label * 0.7))
            notes.append((text, x + swatch + 6, y, sizes.label, self.ink.text, "left"))
            x += wide
        return notes, y + sizes.label * 1.5

    def _swatches(self) -> list[Spec]:
        width, length = self.view.width, self.sizes.label * 2
        place = {"type": "line", "xref": "paper", "yref": "paper"}
        return [
            place
            | {"x0": x / width, "x1": (x + length) / width, "y0": y, "y1": y}
            | {"line": self._style(head) | {"width": 5}}
            for head, x, y in self.swatches
        ]

    def _headings(self) -> list[tuple[Any, ...]]:
        ink, size = self.ink, self.sizes.detail
        y = self.heading
        return [
            ("query", self.left, y, size, ink.query, "right"),
            ("key", self.right, y, size, ink.key, "left"),
        ]

    # Lines.

    def _lines(self, lines: list[_Line]) -> list[Spec]:
        """The lines, one trace for each head and width; those of other queries first, and pale."""
        kinds: dict[tuple[bool, int, int], list[_Line]] = {}
        for line in lines:
            full = self.token in (None, line.query)
            kind = min(int(line.weight * KINDS), KINDS - 1)
            kinds.setdefault((full, kind, line.head), []).append(line)
        traces = []
        for (full, kind, head), same in sorted(kinds.items()):
            y: list[float | None] = []
            for line in same:
                y += [round(end, 2) for end in self._ends(line)] + [None]
            share = (kind + 0.5) / KINDS
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [self.left, self.right, None] * len(same),
                    "y": y,
                    "line": self._style(head) | {"width": max(THINNEST, WIDEST * share)},
                    "opacity": 0.4 + 0.5 * share if full else PALE,
                    "hoverinfo": "skip",
                }
            )
        return traces

    def _ends(self, line: _Line) -> list[float]:
        shift = self._shift(line.head)
        return [self._y(line.query) + shift, self._y(line.key) + shift]

    def _points(self, lines: list[_Line]) -> Spec:
        """Points along the lines that are not seen, for their sentences to be pointed at."""
        count = max(2, min(13, 3000 // max(1, len(lines))))
        x: list[float] = []
        y: list[float] = []
        said: list[str] = []
        for line in lines:
            sentence = self.trace.sentence("attention", line.head, line.query, line.key, DECIMALS)
            start, end = self._ends(line)
            for step in range(count):
                share = 0.12 + 0.76 * (step + 0.5) / count
                x.append(round(self.left + share * (self.right - self.left), 1))
                y.append(round(start + share * (end - start), 1))
            said += [wrapped(f"{self.names[line.head]}: {sentence}")] * count
        return {
            "type": "scatter",
            "mode": "markers",
            "x": x,
            "y": y,
            "marker": {"size": 10, "opacity": 0},
            "hovertext": said,
            "hoverinfo": "text",
        }

    # Tokens.

    def _tokens(self, side: str) -> Spec:
        """The tokens of one side, each with its name and, along it, its sentences."""
        left = side == "query"
        labels, color = (self.queries, self.ink.query) if left else (self.keys, self.ink.key)
        x: list[float] = []
        y: list[float] = []
        texts: list[str] = []
        said: list[str] = []
        sizes: list[int] = []
        for place, label in enumerate(labels):
            bold = left and place == self.token
            text = escape(cut(label))
            seen = bold or place % self.every == 0
            reach = text_width(cut(label), self.sizes.label) + 8 if seen else 8.0
            points = [0.0, *np.arange(18.0, reach, 36.0).tolist()]
            x += [self.left - at if left else self.right + at for at in points]
            y += [self._y(place)] * len(points)
            texts += [f"<b>{text}</b>" if bold else text if seen else ""]
            texts += [""] * (len(points) - 1)
            sizes += [7] + [0] * (len(points) - 1)
            said += ["<br>".join(self._said(place, left))] * len(points)
        return {
            "type": "scatter",
            "mode": "markers+text",
            "x": x,
            "y": y,
            "text": texts,
            "textposition": "middle left" if left else "middle right",
            "textfont": {"color": color, "size": self.sizes.label},
            "marker": {"size": sizes, "color": color, "opacity": 1, "line": {"width": 0}},
            "hovertext": said,
            "hoverinfo": "text",
            "cliponaxis": False,
        }

    def _said(self, place: int, query: bool) -> list[str]:
        """What a token attends to most, or by which it is attended to most, head by head."""
        said = []
        for head in self.heads[:MAX_HEADS]:
            weights = self.trace["attention"][head]
            own, others = (
                (weights[place], self.keys) if query else (weights[:, place], self.queries)
            )
            name = (self.queries if query else self.keys)[place]
            most = [
                f"{others[other]} ({format_number(float(own[other]), DECIMALS)})"
                for other in np.argsort(-own, kind="stable")[:NEAREST].tolist()
                if own[other] > 0
            ]
            verb = "attends most to" if query else "is attended to most by"
            text = f"{name} {verb} {', '.join(most)}"
            if not most:
                text = f"{name} has {NOTHING}" if query else f"{name} is attended to by no query"
            said.append(wrapped(f"{self.names[head]}: {text}"))
        if len(self.heads) > MAX_HEADS:
            said.append(f"and {len(self.heads) - MAX_HEADS} more heads")
        return said
