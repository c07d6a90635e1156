"""A layout of panels -> one Plotly figure as a plain dict.

Streamlit draws every picture twice, the second time with copies of the same values. What spares
the second drawing: no template (Plotly.js takes a copy of one for a change), `meta` as a list,
and a `datarevision` that stays the same (a new picture is a new chart on the page).
"""

import base64
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.trace import Trace
from attnviz.figures.labels import cut, escape
from attnviz.figures.marks import bold, hatching, outlines
from attnviz.figures.palettes import PALETTES, Inks, colorscale, inks, text_colors
from attnviz.figures.panel import EXACT_CELLS
from attnviz.figures.places import Layout, Placed
from attnviz.figures.view import Marks, Spec, View
from attnviz.figures.words import around, caption

FONT = '"Source Sans", "Segoe UI", Arial, sans-serif'
MAX_LISTED = 100  # cells up to which numbers are written out; more are packed as binary


def draw(trace: Trace, layout: Layout, view: View, marks: Marks) -> Spec:
    """Everything of one picture; each heatmap's `meta` is its (key, head, transposed).

    Args:
        trace: the computation.
        layout: what stands where.
        view: how it is shown.
        marks: what is outlined.
    """
    ink = inks(view.dark)
    strong = bold(trace, marks)
    data: list[Spec] = []
    axes: dict[str, Spec] = {}
    shapes: list[Spec] = []
    notes = caption(layout, view, ink)
    rows = ""
    for place, placed in enumerate(layout.placed):
        number = "" if place == 0 else str(place + 1)
        rows = rows if placed.same_rows else f"y{number}"
        drawer = _Drawer(placed, layout, view, ink, f"x{number}", rows)
        drawer.row_axis = _row_axis(layout.placed[place:])
        axes |= drawer.axes(strong)
        data += drawer.traces(axes)
        notes += around(placed, layout, view, ink)
        marked = outlines(trace, placed.panel, marks, view.sizes, ink)
        shapes += [shape | {"xref": drawer.x, "yref": drawer.y} for shape in marked]
    return {
        "data": data,
        "layout": paper(view, layout.height)
        | {"datarevision": 0, **axes, "shapes": shapes, "annotations": notes},
    }


def paper(view: View, height: int) -> Spec:
    """What the layouts of all pictures have: a clear ground, letters, no tools."""
    ink = inks(view.dark)
    letters = {"family": FONT, "color": ink.text}
    return {
        "width": None,
        "height": height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": letters | {"size": view.sizes.label},
        "hoverlabel": {
            "bgcolor": ink.page,
            "bordercolor": ink.muted,
            "align": "left",
            "font": letters | {"size": max(15, view.sizes.detail)},
        },
        "showlegend": False,
        "dragmode": False,
    }


def _row_axis(placed: Sequence[Placed]) -> str:
    """The axis whose names stand at the first of these panels, for all on its rows."""
    axes = [placed[0].panel.row_axis]
    axes += [p.panel.row_axis for p in takewhile(lambda p: p.same_rows, placed[1:])]
    return "query" if "query" in axes else axes[0]


class _Drawer:
    """Draws one panel on its own columns, and on rows that a line of panels may share."""

    def __init__(
        self, placed: Placed, layout: Layout, view: View, ink: Inks, x: str, y: str
    ) -> None:
        self.placed, self.layout, self.view, self.ink = placed, layout, view, ink
        self.panel, self.x, self.y = placed.panel, x, y
        self.row_axis = placed.panel.row_axis

    # Axes.

    def axes(self, strong: dict[str, set[int]]) -> dict[str, Spec]:
        placed, panel, layout = self.placed, self.panel, self.layout
        left, right = placed.left / layout.width, (placed.left + placed.width) / layout.width
        top = 1 - placed.top / layout.height
        bottom = 1 - (placed.top + placed.height) / layout.height
        x = self._axis(panel.columns, panel.column_axis, placed.every[1], strong) | {
            "domain": [round(left, 4), round(right, 4)],
            "range": [-0.5, len(panel.columns) - 0.5],
            "anchor": self.y,
            "side": "top",
            "showticklabels": placed.column_labels,
            "tickangle": -90 if placed.upright else 0,
        }
        if placed.same_rows:
            return {_long(self.x): x}
        y = self._axis(panel.rows, self.row_axis, placed.every[0], strong) | {
            "domain": [round(max(0.0, bottom), 4), round(min(1.0, top), 4)],
            "range": [len(panel.rows) - 0.5, -0.5],
            "anchor": self.x,
            "showticklabels": placed.row_labels,
            "ticklabelstandoff": 4,
        }
        return {_long(self.x): x, _long(self.y): y}

    def _axis(
        self, labels: tuple[str, ...], axis: str, every: int, strong: dict[str, set[int]]
    ) -> Spec:
        ink = self.ink
        color = {"query": ink.query, "token": ink.query, "key": ink.key}.get(axis, ink.muted)
        marked = strong.get(axis, set())
        free = (p for p in range(0, len(labels), every) if all(abs(p - m) >= every for m in marked))
        places = sorted({*free, *(place for place in marked if place < len(labels))})
        texts = (escape(cut(labels[place])) for place in places)
        return {
            "tickmode": "array",
            "tickvals": places,
            "ticktext": [
                f"<b>{text}</b>" if place in marked else text
                for place, text in zip(places, texts, strict=True)
            ],
            "tickfont": {"size": self.view.sizes.label, "color": color},
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
            "fixedrange": True,
            "automargin": False,
        }

    def _whole_names(self, axes: dict[str, Spec]) -> tuple[str, str]:
        """Axes on which each place has its whole name, for Plotly to fill into a hover.

        Where the names that are seen are shorter or fewer, a second axis lies over the first.
        """
        names = []
        for name, labels in ((self.x, self.panel.columns), (self.y, self.panel.rows)):
            seen = axes[_long(name)]
            whole = [escape(label) for label in labels]
            full = seen | {"tickvals": list(range(len(labels))), "ticktext": whole}
            if seen["ticktext"] != whole:
                full["showticklabels"] = False
                over = _over(name)
                if not seen["showticklabels"]:
                    axes[_long(name)] = full
                else:
                    axes[_long(over)] = full | {"overlaying": name}
                    name = over
            names.append(name)
        return names[0], names[1]

    # Cells.

    def traces(self, axes: dict[str, Spec]) -> list[Spec]:
        placed, panel, ink = self.placed, self.panel, self.ink
        stops = PALETTES[self.view.palette].stops(panel.colour, self.view.dark)
        gap = 1 if min(placed.cell_width, placed.cell_height) > 8 else 0
        hidden = panel.masked | panel.odd
        heat: Spec = {
            "type": "heatmap",
            "z": _numbers(np.where(hidden, np.nan, panel.values)),
            "zmin": panel.low,
            "zmax": panel.high,
            "colorscale": colorscale(stops),
            "showscale": False,
            "xgap": gap,
            "ygap": gap,
            "meta": [panel.key, panel.head, panel.transposed],
            "xaxis": self.x,
            "yaxis": self.y,
        }
        if panel.hover is not None:
            layers = [heat | {"hoverinfo": "text", "hovertext": panel.hover}]
        else:
            layers = self._with_template(heat, axes)
        still = {"hoverinfo": "skip", "xaxis": layers[-1]["xaxis"], "yaxis": layers[-1]["yaxis"]}
        for cells, shape in ((panel.masked, "/"), (panel.odd, "x")):
            hatched = hatching(cells, ink, shape)
            if hatched is not None:
                layers.append(hatched | still)
        if self.view.cell_text and panel.texts is not None and placed.text_size is not None:
            layers.append(self._cell_texts(stops, panel.texts, placed.text_size) | still)
        return layers

    def _with_template(self, heat: Spec, axes: dict[str, Spec]) -> list[Spec]:
        """A heatmap whose hovers Plotly fills in, and one of the masked cells with theirs."""
        panel, grey = self.panel, self.ink.masked
        x, y = self._whole_names(axes)
        layers: list[Spec] = []
        if (x, y) != (self.x, self.y):  # axes are drawn only where something lies on them
            blank = {"type": "scatter", "mode": "none", "x": [None], "y": [None]}
            layers.append(blank | {"hoverinfo": "skip", "xaxis": self.x, "yaxis": self.y})
        heat = heat | {"xaxis": x, "yaxis": y, "hoverongaps": False}
        layers.append(heat | {"hovertemplate": panel.template})
        if panel.masked.any():
            place = {"z": _numbers(np.where(panel.masked, 0.0, np.nan)), "zmin": -1, "zmax": 1}
            shown = {"colorscale": [[0, grey], [1, grey]], "hovertemplate": panel.masked_template}
            layers.append(heat | place | shown)
        return layers

    def _cell_texts(self, stops: tuple[str, ...], texts: list[list[str]], size: int) -> Spec:
        panel = self.panel
        hidden = panel.masked | panel.odd
        colors = text_colors(panel.values, panel.low, panel.high, stops)
        colors = np.where(hidden, self.ink.text, colors)
        rows, columns = np.indices(panel.values.shape)
        one = np.unique(colors)
        return {
            "type": "scatter",
            "mode": "text",
            "x": columns.ravel().tolist(),
            "y": rows.ravel().tolist(),
            "text": [text for row in texts for text in row],
            "textfont": {
                "size": size,
                "color": str(one[0]) if len(one) == 1 else colors.ravel().tolist(),
            },
        }


def _long(axis: str) -> str:
    """ "x4" -> "xaxis4"."""
    return f"{axis[0]}axis{axis[1:]}"


def _over(axis: str) -> str:
    """The axis that lies over an axis: "x4" -> "x1004"."""
    return f"{axis[0]}{1000 + int(axis[1:] or 1)}"


def _numbers(values: Array) -> Any:
    """Few numbers as they are, more as packed float64; large arrays as float32 for the eye only."""
    if values.size <= MAX_LISTED:
        return [[None if np.isnan(v) else float(v) for v in row] for row in values]
    dtype = "f8" if values.size <= EXACT_CELLS else "f4"
    data = base64.b64encode(np.ascontiguousarray(values, dtype=f"<{dtype}").tobytes())
    return {"dtype": dtype, "bdata": data.decode(), "shape": ", ".join(map(str, values.shape))}
