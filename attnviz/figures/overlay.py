"""A picture with what one query gives to each of its patches laid over it."""

import base64
import struct
import zlib

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.numbers import format_number
from attnviz.core.picture import over_picture, place_of
from attnviz.core.trace import Trace
from attnviz.figures.draw import paper
from attnviz.figures.labels import cut, escape, wrapped
from attnviz.figures.palettes import PALETTES, Inks, Stops, inks, rgb
from attnviz.figures.view import Spec, View
from attnviz.figures.words import note

CLEAREST, DENSEST = 0.15, 0.75  # how opaque the colours of 0 and of the largest weight are
MAX_SIDE = 320  # px of a picture on the page
STRIP, STEPS = 10, 12  # px of the height of the strip of colours, and its steps
FOOT = 3  # lines below the picture
GREY = (0.2126, 0.7152, 0.0722)  # how bright red, green and blue look (WCAG 2.2)


def picture_overlay(
    trace: Trace,
    image: Array,
    query: int,
    head: int | None,
    view: View,
    grid: tuple[int, int] | None = None,
) -> Spec:
    """The picture in grey, and over each patch a colour for what the query gives to it.

    Colours run from 0 to the largest weight that the query gives to a patch in any head, so that
    heads can be compared. Patches that are no keys carry no colour; keys that are no patches,
    such as CLS, are written below. The query's own patch is outlined.

    Args:
        trace: the computation.
        image: (H, W) or (H, W, 3) brightness from 0 to 1.
        query: which row, from 0.
        head: which head, from 0; None for the picture itself, in its own colours.
        view: letters and colours.
        grid: the rows and columns of patches, where the last ones may lack among the keys.

    Raises:
        ScenarioError: no such query or head, or no key is a patch.
    """
    trace.index("attention", head, query)
    over = over_picture(trace, query, grid=grid)
    rows, cols = over.shape[1:]
    name, sizes, ink = trace.labels("attention")[1][query], view.sizes, inks(view.dark)
    above, line = sizes.title * 1.4 + sizes.detail * 1.5, sizes.detail * 1.35
    width, height = _side(image, view.width)
    full = int(above + height + STRIP + 8 + FOOT * line + 4)
    drawn = image if head is None or image.ndim == 2 else image @ np.array(GREY)
    place = {"xref": "paper", "yref": "paper"}

    def words(text: str, y: float, size: int, color: str, weight: int = 400) -> Spec:
        shown = note(escape(text), 0, 1 - y / full, size, color)
        return shown | {"xanchor": "left", "font": shown["font"] | {"weight": weight}}

    data: list[Spec] = [{"type": "scatter", "mode": "none", "x": [None], "y": [None]}]
    shapes = [*_lines(rows, cols, ink), *_outline(place_of(trace.tokens[query]), ink)]
    title, detail, below = "The picture", f"{rows} × {cols} patches", [f"outlined: {cut(name)}"]
    if place_of(trace.tokens[query]) is None:
        below = [f"{cut(name)} is no patch"]
    if head is not None:
        high = float(np.nanmax(over, initial=0.0)) or 1.0
        shades = _shades(PALETTES[view.palette].stops("attention", view.dark))
        data = [_colours(over[head], high, shades, _said(trace, head, query, rows, cols))]
        for step in range(STEPS):
            ends = {"x0": step * width / STEPS, "x1": (step + 1) * width / STEPS}
            top = above + height + 4
            shapes.append(
                place
                | {"type": "rect", "line": {"width": 0}}
                | {"fillcolor": shades[step * (len(shades) - 1) // (STEPS - 1)]}
                | {side: x / view.width for side, x in ends.items()}
                | {"y0": 1 - top / full, "y1": 1 - (top + STRIP) / full}
            )
        title, detail = f"Head {head + 1}", f"what {cut(name)} attends to"
        below = [f"colours: 0 … {format_number(high, view.decimals)}"]
        below += _beside(trace, head, query, view.decimals)
        if (over[head] < 0).any():
            below.append("below 0 as 0")
    notes = [
        words(title, 0, sizes.title, ink.text, 700),
        words(detail, sizes.title * 1.4, sizes.detail, ink.muted),
    ]
    for at, text in enumerate(below[:FOOT]):
        y = above + height + STRIP + 6 + at * line
        notes.append(words(text, y, sizes.detail, ink.muted))
    axis = {"visible": False, "fixedrange": True, "constrain": "domain"}
    return {
        "data": data,
        "layout": paper(view, full)
        | {
            "template": {"data": {}, "layout": {}},
            "xaxis": axis
            | {"range": [-0.5, cols - 0.5], "domain": [0, width / view.width]}
            | {"constraintoward": "left"},
            "yaxis": axis
            | {"range": [rows - 0.5, -0.5], "constraintoward": "top"}
            | {"domain": [1 - (above + height) / full, 1 - above / full]}
            | {"scaleanchor": "x", "scaleratio": (height / rows) / (width / cols)},
            "images": [
                {"source": _png(drawn), "xref": "x", "yref": "y", "layer": "below"}
                | {"x": -0.5, "y": -0.5, "sizex": cols, "sizey": rows, "sizing": "stretch"}
            ],
            "shapes": shapes,
            "annotations": notes,
        },
    }


def _side(image: Array, width: int) -> tuple[float, float]:
    """Width and height in px of a picture that has so much room."""
    tall, wide = image.shape[:2]
    scale = min(MAX_SIDE, width) / max(tall, wide)
    return wide * scale, tall * scale


def _shades(stops: Stops) -> list[str]:
    """The colours of a palette, the more opaque the larger the weight."""
    alphas = np.linspace(CLEAREST, DENSEST, len(stops))
    return [
        f"rgba({', '.join(f'{part:.0f}' for part in rgb(stop))}, {alpha:.2f})"
        for stop, alpha in zip(stops, alphas, strict=True)
    ]


def _colours(weights: Array, high: float, shades: list[str], said: list[list[str]]) -> Spec:
    """A heatmap without `meta`: its cells are no cells of an array, and no click asks for them."""
    return {
        "type": "heatmap",
        "z": [[None if np.isnan(v) else float(v) for v in row] for row in weights],
        "zmin": 0,
        "zmax": high,
        "colorscale": [[round(i / (len(shades) - 1), 4), c] for i, c in enumerate(shades)],
        "showscale": False,
        "hoverongaps": False,
        "hoverinfo": "text",
        "hovertext": said,
    }


def _said(trace: Trace, head: int, query: int, rows: int, cols: int) -> list[list[str]]:
    """For each patch the sentence of its weight, of each where it is a key several times."""
    said = [[""] * cols for _ in range(rows)]
    for key, token in enumerate(trace.key_tokens):
        at = place_of(token)
        if at is not None:
            text = wrapped(trace.sentence("attention", head, query, key, None))
            said[at[0]][at[1]] = "<br>".join(filter(None, (said[at[0]][at[1]], text)))
    return said


def _beside(trace: Trace, head: int, query: int, decimals: int | None) -> list[str]:
    """The weights of keys that are no patch."""
    names, weights = trace.labels("attention")[2], trace["attention"][head, query]
    others = [key for key, token in enumerate(trace.key_tokens) if place_of(token) is None]
    if len(others) == 1:
        return [f"{cut(names[others[0]])}: {format_number(float(weights[others[0]]), decimals)}"]
    total = format_number(float(weights[others].sum()), decimals)
    return [f"{len(others)} other keys: {total}"] if others else []


def _lines(rows: int, cols: int, ink: Inks) -> list[Spec]:
    """The lines between the patches."""
    line = {"type": "line", "line": {"color": ink.page, "width": 1}}
    ends = {"x0": -0.5, "x1": cols - 0.5, "y0": -0.5, "y1": rows - 0.5}
    across = [{**ends, "y0": row - 0.5, "y1": row - 0.5} for row in range(1, rows)]
    down = [{**ends, "x0": col - 0.5, "x1": col - 0.5} for col in range(1, cols)]
    return [line | {"xref": "x", "yref": "y"} | each for each in across + down]


def _outline(at: tuple[int, int] | None, ink: Inks) -> list[Spec]:
    """The line around the query's own patch, and a halo that sets it off from every colour."""
    if at is None:
        return []
    (row, col), inset = at, 0.46  # inside of the patch: at the rim Plotly cuts a line in half
    box = {"x0": col - inset, "x1": col + inset, "y0": row - inset, "y1": row + inset}
    shape = {"type": "rect", "xref": "x", "yref": "y", **box}
    lines = ((ink.page, 6, "halo"), (ink.query, 3, "query"))
    return [shape | {"line": {"color": c, "width": w}, "name": name} for c, w, name in lines]


def _png(image: Array) -> str:
    """(H, W) or (H, W, 3) from 0 to 1 -> a PNG as an address of its own."""
    pixels = np.round(image * 255).astype(np.uint8)
    tall, wide = pixels.shape[:2]
    rows = np.concatenate([np.zeros((tall, 1), np.uint8), pixels.reshape(tall, -1)], axis=1)
    header = struct.pack(">IIBBBBB", wide, tall, 8, 2 if image.ndim == 3 else 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    data = b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"
