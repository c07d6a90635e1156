"""A layout of panels -> one Plotly figure as a plain dict, without a template."""

from typing import Any

import numpy as np

from attnviz.core.arrays import Array, BoolArray
from attnviz.core.expr import Cell
from attnviz.figures.labels import cut, escape
from attnviz.figures.layout import Layout, Placed, header
from attnviz.figures.palettes import PALETTES, Inks, colorscale, inks, text_colors
from attnviz.figures.view import Marks, View

Spec = dict[str, Any]
FONT = '"Source Sans", "Source Sans Pro", "Segoe UI", "Helvetica Neue", Arial, sans-serif'


def draw(layout: Layout, view: View, marks: Marks, caption: str = "") -> Spec:
    """Everything of one picture; each heatmap's `meta` says which matrix it shows."""
    ink = inks(view.dark)
    data: list[Spec] = []
    shapes: list[Spec] = []
    annotations: list[Spec] = []
    spec: Spec = {
        "width": None,
        "height": layout.height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": view.sizes.label, "color": ink.text},
        "hoverlabel": {
            "bgcolor": ink.page,
            "bordercolor": ink.muted,
            "align": "left",
            "font": {"family": FONT, "size": max(15, view.sizes.detail), "color": ink.text},
        },
        "showlegend": False,
        "dragmode": False,
        "template": _constants(view, ink),
        "shapes": shapes,
        "annotations": annotations,
    }
    if caption:
        first = layout.placed[0]
        bold = {"font": {"size": view.sizes.title, "color": ink.text}}
        y = 1 - (first.top - view.sizes.label * 1.45 - header(view.sizes)) / layout.height
        annotations.append(_note(f"<b>{escape(caption)}</b>", 0, y) | {"xanchor": "left"} | bold)
    for number, placed in enumerate(layout.placed, start=1):
        suffix = "" if number == 1 else str(number)
        data += _traces(placed, view, ink, suffix)
        spec |= _axes(placed, layout, view, ink, suffix)
        annotations += _titles(placed, layout, view, ink)
        shapes += _outlines(placed, view, marks, ink, suffix)
    return {"data": data, "layout": spec}


def _constants(view: View, ink: Inks) -> Spec:
    """What all axes, notes and traces share, said once."""
    axis: Spec = {
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "fixedrange": True,
        "automargin": False,
        "tickmode": "array",
        "tickfont": {"size": view.sizes.label, "color": ink.muted},
    }
    note: Spec = {
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "top",
        "showarrow": False,
        "borderpad": 0,
        "font": {"size": view.sizes.detail, "color": ink.muted},
    }
    return {
        "layout": {
            "xaxis": axis | {"side": "top"},
            "yaxis": axis | {"ticklabelstandoff": 4},
            "annotationdefaults": note,
        },
        "data": {
            "heatmap": [{"showscale": False, "hoverinfo": "text"}],
            "scatter": [{"mode": "text", "hoverinfo": "skip"}],
        },
    }


def _traces(placed: Placed, view: View, ink: Inks, suffix: str) -> list[Spec]:
    panel = placed.panel
    stops = PALETTES[view.palette].stops(panel.colour, view.dark)
    hidden = panel.hidden
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    meta = {"key": panel.key, "head": panel.head, "transposed": panel.transposed}
    gap = 1 if min(placed.cell_width, placed.cell_height) > 8 else 0
    heat: Spec = {
        "type": "heatmap",
        "z": _numbers(np.where(hidden, np.nan, panel.values)),
        "zmin": panel.low,
        "zmax": panel.high,
        "colorscale": colorscale(stops),
        "xgap": gap,
        "ygap": gap,
        "meta": meta,
        **axes,
    }
    if panel.hover is not None:
        heat["hovertext"] = panel.hover
    else:
        names = (_axis_word(panel.row_axis), _axis_word(panel.column_axis))
        heat |= {
            "x0": 1,
            "y0": 1,
            "hovertemplate": f"{names[0]} %{{y}}, {names[1]} %{{x}}: %{{z:.6g}}<extra></extra>",
        }
    traces = [heat]
    if hidden.any():
        grey = [[0, ink.masked], [1, ink.masked]]
        mask = heat | {"z": _numbers(np.where(hidden, 0.0, np.nan)), "colorscale": grey}
        traces.append(mask | {"zmin": -1, "zmax": 1})
    if panel.texts is not None and placed.text_size is not None:
        traces.append(_cell_texts(placed, stops, ink, axes))
    return traces


def _axis_word(axis: str) -> str:
    return "dimension" if axis.startswith("d_") or axis == "concat" else axis


def _numbers(values: Array) -> Any:
    """Small arrays as exact numbers, large ones as float32, which only a picture may use."""
    if values.size > 1000:
        return values.astype(np.float32)
    return [[None if np.isnan(v) else float(v) for v in row] for row in values]


def _cell_texts(placed: Placed, stops: tuple[str, ...], ink: Inks, axes: Spec) -> Spec:
    panel = placed.panel
    finite = np.where(panel.hidden, 0.0, panel.values)
    colors = np.where(panel.hidden, ink.text, text_colors(finite, panel.low, panel.high, stops))
    rows, columns = np.indices(panel.values.shape)
    assert panel.texts is not None
    one = np.unique(colors)
    return {
        "type": "scatter",
        "x": columns.ravel().tolist(),
        "y": rows.ravel().tolist(),
        "text": [text for row in panel.texts for text in row],
        "textfont": {
            "size": placed.text_size,
            "color": str(one[0]) if len(one) == 1 else colors.ravel().tolist(),
        },
        **axes,
    }


def _axes(placed: Placed, layout: Layout, view: View, ink: Inks, suffix: str) -> Spec:
    panel = placed.panel
    origin = 1 if panel.hover is None else 0
    left, right = placed.left / layout.width, (placed.left + placed.width) / layout.width
    top = 1 - placed.top / layout.height
    bottom = 1 - (placed.top + placed.height) / layout.height

    def ticks(labels: tuple[str, ...], axis: str, every: int) -> Spec:
        color = {"query": ink.query, "token": ink.query, "key": ink.key}.get(axis)
        return {
            "tickvals": [i + origin for i in range(0, len(labels), every)],
            "ticktext": [escape(cut(label)) for label in labels[::every]],
            **({"tickfont": {"color": color}} if color else {}),
        }

    def span(count: int) -> tuple[float, float]:
        return origin - 0.5, origin + count - 0.5

    low, high = span(len(panel.columns))
    first, last = span(len(panel.rows))
    x = ticks(panel.columns, panel.column_axis, placed.every[1])
    y = ticks(panel.rows, panel.row_axis, placed.every[0])
    x |= {
        "domain": [round(left, 5), round(right, 5)],
        "range": [low, high],
        "anchor": f"y{suffix}",
        "tickangle": -90 if placed.upright else 0,
    }
    y |= {
        "domain": [round(max(0.0, bottom), 5), round(min(1.0, top), 5)],
        "range": [last, first],
        "anchor": f"x{suffix}",
        "showticklabels": placed.row_labels,
    }
    return {f"xaxis{suffix}": x, f"yaxis{suffix}": y}


def _note(text: str, x: float, y: float) -> Spec:
    return {"text": text, "x": round(x, 5), "y": round(y, 5)}


def _titles(placed: Placed, layout: Layout, view: View, ink: Inks) -> list[Spec]:
    panel, sizes = placed.panel, view.sizes
    middle = (placed.left + placed.width / 2) / layout.width
    labels = sizes.label * 1.45
    if placed.upright:
        labels = 10 + max(len(cut(label)) for label in panel.columns) * sizes.label * 0.56
    top = placed.top - labels - header(sizes)

    def at(px: float) -> float:
        return 1 - px / layout.height

    bold = {"font": {"size": sizes.title, "color": ink.text}}
    title = _note(f"<b>{escape(panel.title)}</b>", middle, at(top)) | bold
    details = f"{escape(panel.subtitle)}<br>{escape(panel.axes)}"
    below = at(top + sizes.title * 1.35)
    notes = [title, _note(details, middle, below)]
    foot = at(placed.top + placed.height + 2)
    notes.append(_note(escape(panel.extent), middle, foot))
    for place, total in enumerate(panel.sums):
        if panel.transposed or placed.cell_height < sizes.detail:
            break
        y = at(placed.top + (place + 0.5) * placed.cell_height)
        x = (placed.left + placed.width + 4) / layout.width
        notes.append(_note(f"Σ {total}", x, y) | {"xanchor": "left", "yanchor": "middle"})
    return notes


def _outlines(placed: Placed, view: View, marks: Marks, ink: Inks, suffix: str) -> list[Spec]:
    panel = placed.panel
    shape = panel.values.T.shape if panel.transposed else panel.values.shape
    origin = 1 if panel.hover is None else 0

    def outline(chosen: BoolArray, color: str, width: float, name: str) -> Spec:
        boxes = _boxes(chosen.T if panel.transposed else chosen, origin)
        return {
            "type": "path",
            "path": boxes,
            "xref": f"x{suffix}",
            "yref": f"y{suffix}",
            "line": {"color": color, "width": width},
            "name": name,
            "layer": "above",
        }

    def mine(cells: tuple[Cell, ...]) -> BoolArray:
        chosen = np.zeros(shape, dtype=np.bool_)
        for cell in cells:
            if cell.key == panel.key and (len(cell.index) == 2 or cell.index[0] == panel.head):
                chosen[cell.index[-2:]] = True
        return chosen

    drawn: list[Spec] = []
    changed = marks.changed.get(panel.key)
    if changed is not None:
        part = changed[panel.head] if panel.head is not None else changed
        if part.any():
            drawn.append(outline(part, ink.changed, view.sizes.outline, "changed"))
    keys = list(dict.fromkeys(cell.key for cell in marks.operands))
    for place, color in zip(keys, (ink.query, ink.key, ink.value), strict=False):
        chosen = mine(tuple(cell for cell in marks.operands if cell.key == place))
        if chosen.any():
            drawn.append(outline(chosen, color, view.sizes.outline, "operand"))
    if marks.cell is not None and mine((marks.cell,)).any():
        drawn.append(outline(mine((marks.cell,)), ink.text, view.sizes.outline + 1, "chosen"))
    if marks.token is not None:
        chosen = np.zeros(shape, dtype=np.bool_)
        if "key" not in panel.row_axis and marks.token < shape[0]:
            chosen[marks.token] = True
            drawn.append(outline(chosen, ink.query, 1.5, "token"))
    return drawn


def _boxes(chosen: BoolArray, origin: int) -> str:
    """Chosen cells -> an SVG path around each run of neighbours in a row, or the whole block."""
    rows, columns = np.nonzero(chosen)
    block = chosen[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    spans: list[tuple[int, int, int, int]] = []
    if block.all():
        spans = [(rows.min(), rows.max(), columns.min(), columns.max())]
    else:
        for row in np.unique(rows):
            places = columns[rows == row]
            for run in np.split(places, np.nonzero(np.diff(places) > 1)[0] + 1):
                spans.append((row, row, run[0], run[-1]))
    half = 0.5 - origin
    return " ".join(
        f"M{left - half},{top - half}H{right + 1 - half}V{bottom + 1 - half}H{left - half}Z"
        for top, bottom, left, right in spans
    )
