"""What is written around the matrices of a picture: names, axes, ranges, sums."""

from attnviz.figures.labels import escape, text_width
from attnviz.figures.palettes import Inks
from attnviz.figures.panel import NOTHING
from attnviz.figures.places import Layout, Placed, sums_width
from attnviz.figures.view import Sizes, Spec, View


def note(text: str, x: float, y: float, size: int, color: str) -> Spec:
    """Words as they are, escaped before, at fractions of the picture from its lower left."""
    return {
        "text": text,
        "x": round(x, 4),
        "y": round(y, 4),
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "top",
        "showarrow": False,
        "borderpad": 0,
        "font": {"size": size, "color": color},
    }


def _title(text: str, x: float, y: float, size: int, color: str) -> Spec:
    written = note(escape(text), x, y, size, color)
    return written | {"font": written["font"] | {"weight": 700}}


def caption(layout: Layout, view: View, ink: Inks) -> list[Spec]:
    """The name of the picture and what it says of itself, at its upper left."""
    if not layout.caption:
        return []
    name, *more = layout.caption
    top = layout.placed[0].title_top
    below = 1 - (top + view.sizes.title * 1.35) / layout.height
    notes = [_title(name, 0, 1 - top / layout.height, view.sizes.title, ink.text)]
    if more:
        text = "<br>".join(map(escape, more))
        notes.append(note(text, 0, below, view.sizes.detail, ink.muted) | {"align": "left"})
    return [words | {"xanchor": "left"} for words in notes]


def around(placed: Placed, layout: Layout, view: View, ink: Inks) -> list[Spec]:
    """The words around one panel."""
    panel, sizes = placed.panel, view.sizes
    middle = (placed.left + placed.width / 2) / layout.width

    def at(px: float) -> float:
        return 1 - px / layout.height

    notes = []
    if panel.title:
        top = at(placed.title_top)
        notes.append(_title(panel.title, middle, top, sizes.title, ink.text))
    details = "<br>".join(escape(text) for text in (panel.subtitle, placed.axes) if text)
    if details:
        below = at(placed.title_top + sizes.title * 1.35)
        notes.append(note(details, middle, below, sizes.detail, ink.muted))
    foot = placed.top + placed.height + 2
    extent = panel.extent
    if panel.sums and extent:
        sums = _sums(placed, layout, sizes, ink)
        notes += sums
        if not sums:
            extent += f" · {_in_words(panel.sums, panel.transposed)}"
        elif panel.transposed:
            foot += sizes.detail * 1.35
    if extent:
        notes.append(note(escape(extent), middle, at(foot), sizes.detail, ink.muted))
    return notes


def _sums(placed: Placed, layout: Layout, sizes: Sizes, ink: Inks) -> list[Spec]:
    """The sum of each query's weights, at the right of its row or under its column."""
    panel = placed.panel
    widest = max(text_width(total, sizes.detail) for total in panel.sums)
    beside = sums_width(panel, placed.cell_height, sizes)
    if widest > (placed.cell_width if panel.transposed else beside):
        return []
    right, foot = placed.left + placed.width + 4, placed.top + placed.height + 2
    notes = []
    for place, total in enumerate(panel.sums):
        x, y = right, placed.top + (place + 0.5) * placed.cell_height
        anchors = {"xanchor": "left", "yanchor": "middle"}
        if panel.transposed:
            x, y = placed.left + (place + 0.5) * placed.cell_width, foot
            anchors = {}
        x, y = x / layout.width, 1 - y / layout.height
        notes.append(note(total, x, y, sizes.detail, ink.muted) | anchors)
    return notes


def _in_words(sums: tuple[str, ...], transposed: bool) -> str:
    """What many sums come to, in few words."""
    kinds = sorted({total.split(",")[0].removeprefix("Σ = ") for total in sums}, key=float)
    ends = kinds[0] if len(kinds) == 1 else f"{kinds[0]} … {kinds[-1]}"
    words = f"{'columns' if transposed else 'rows'} sum to {ends}"
    empty = sum(NOTHING in total for total in sums)
    return f"{words}, {empty} with {NOTHING}" if empty else words
