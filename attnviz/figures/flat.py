"""A picture of many matrices on one pair of axes that counts in px, which is drawn twice as fast.

Most of the time Plotly draws axes, and each annotation as slowly as several points of a scatter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from attnviz.figures.marks import moved
from attnviz.figures.view import Spec

ACROSS = {"left": "right", "center": "center"}  # an anchor, and the side on which the text is
DOWN = {"top": ("bottom", 3), "middle": ("middle", 1.5)}  # px that an annotation is lower
LEFT, LOWER = 5, 1.4  # px of a row's label from its axis, and below its middle


def flat(spec: Spec, width: int) -> Spec:
    """A figure that `draw` made -> one that looks, hovers and is clicked the same.

    A figure whose hovers are filled in from its axes, or whose labels are turned upright, stays
    as it is.
    """
    layout = spec["layout"]
    axes = {name: axis for name, axis in layout.items() if re.match(r"[xy]axis\d*$", name)}
    if any("hovertemplate" in trace for trace in spec["data"]) or any(
        axis["showticklabels"] and axis.get("tickangle") for axis in axes.values()
    ):
        return spec
    sheet = _Sheet(axes, width, layout["height"])
    words = [*sheet.ticks(), *map(sheet.note, layout["annotations"])]
    one = {"visible": False, "fixedrange": True}
    others = {name: part for name, part in layout.items() if name not in axes}
    return {
        "data": [*map(sheet.trace, spec["data"]), _together(words)],
        "layout": others
        | {
            "xaxis": one | {"range": [0, width]},
            "yaxis": one | {"range": [layout["height"], 0]},
            "shapes": list(map(sheet.shape, layout["shapes"])),
            "annotations": [],
        },
    }


@dataclass(frozen=True)
class _Word:
    """A text at a place of the picture; font: its size, colour and weight."""

    text: str
    x: float
    y: float
    position: str
    font: tuple[int, str, int]


def _together(words: list[_Word]) -> Spec:
    """All words as one trace."""
    sizes, colors, weights = zip(*(word.font for word in words), strict=True)
    return {
        "type": "scatter",
        "mode": "text",
        "x": [round(word.x, 2) for word in words],
        "y": [round(word.y, 2) for word in words],
        "text": [word.text for word in words],
        "textposition": [word.position for word in words],
        "textfont": {"size": sizes, "color": colors, "weight": weights},
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


class _Sheet:
    """Where the axes of a figure lie on a sheet of so many px."""

    def __init__(self, axes: dict[str, Spec], width: int, height: int) -> None:
        self.axes, self.width, self.height = axes, width, height
        self.lines: dict[str, tuple[float, float]] = {}
        for name, axis in axes.items():
            first, last = axis["domain"]
            begin, end = axis["range"]
            if name[0] == "y":
                first, last, begin, end = 1 - last, 1 - first, end, begin
            size = width if name[0] == "x" else height
            unit = (last - first) * size / (end - begin)
            self.lines[name.replace("axis", "")] = first * size - begin * unit, unit

    def at(self, axis: str, value: float) -> float:
        start, unit = self.lines[axis]
        return round(start + value * unit, 2)

    def trace(self, trace: Spec) -> Spec:
        x, y = trace["xaxis"], trace["yaxis"]
        kept = {name: part for name, part in trace.items() if name not in ("xaxis", "yaxis")}
        if trace["type"] == "heatmap":
            steps = {"dx": self.lines[x][1], "dy": self.lines[y][1]}
            return kept | {"x0": self.at(x, 0), "y0": self.at(y, 0)} | steps
        places = {
            name: [None if value is None else self.at(axis, value) for value in trace[name]]
            for name, axis in (("x", x), ("y", y))
        }
        return kept | places

    def shape(self, shape: Spec) -> Spec:
        path = moved(
            shape["path"],
            lambda column: f"{self.at(shape['xref'], column)}",
            lambda row: f"{self.at(shape['yref'], row)}",
        )
        return shape | {"path": path, "xref": "x", "yref": "y"}

    def note(self, note: Spec) -> _Word:
        down, lower = DOWN[note["yanchor"]]
        font = note["font"]
        return _Word(
            note["text"],
            note["x"] * self.width,
            (1 - note["y"]) * self.height + lower,
            f"{down} {ACROSS[note['xanchor']]}",
            (font["size"], font["color"], font.get("weight", 400)),
        )

    def ticks(self) -> Iterator[_Word]:
        for name, axis in self.axes.items():
            if not axis["showticklabels"]:
                continue
            own, other = name.replace("axis", ""), axis["anchor"]
            edge = self.at(other, -0.5)
            font = (axis["tickfont"]["size"], axis["tickfont"]["color"], 400)
            for value, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
                if name[0] == "x":
                    yield _Word(text, self.at(own, value), edge, "top center", font)
                else:
                    yield _Word(text, edge - LEFT, self.at(own, value) + LOWER, "middle left", font)
