"""Equations and what is laid out like them: the best layout that has room, and its picture."""

from dataclasses import replace

from attnviz.core.trace import Trace
from attnviz.figures.blocks import Parts
from attnviz.figures.chain import chain
from attnviz.figures.draw import draw
from attnviz.figures.fit import choices
from attnviz.figures.labels import escape
from attnviz.figures.marks import moved
from attnviz.figures.palettes import Inks, inks
from attnviz.figures.places import Layout, Placed, place_of
from attnviz.figures.scheme import product
from attnviz.figures.sheet import Arranged, Word
from attnviz.figures.view import Marks, Spec, View
from attnviz.figures.words import note


def arranged(trace: Trace, parts: Parts, view: View) -> Arranged:
    """The best of the ways to draw the cells that has room, first with larger labels."""
    tokens = max(len(trace.tokens), len(trace.key_tokens))
    arrange = product if parts.kind == "product" else chain
    small = replace(view.sizes, label=view.sizes.small_cell)
    for cells in choices(parts, view, tokens):
        for sizes in (view.sizes, small):
            found = arrange(parts, view, sizes, cells, False)
            if found is not None:
                return found
    found = arrange(parts, view, small, cells, True)
    assert found is not None
    return found


def painted(trace: Trace, arranged: Arranged, view: View, marks: Marks) -> Spec:
    """What was arranged as a picture; steps in between have no `meta`: no click asks for them."""
    layout = Layout(arranged.placed, (), int(arranged.width), arranged.height)
    spec = draw(trace, layout, replace(view, sizes=arranged.sizes), marks)
    ink = inks(view.dark)
    spec["layout"]["annotations"] += [
        _annotation(word, layout, ink) for word in arranged.words if word.text
    ]
    for name, axis in spec["layout"].items():
        if name.startswith("xaxis"):
            axis["ticklabelstandoff"] = 3  # no outline crosses a name
    for part in spec["data"]:
        if place_of(part.get("xaxis", "x")) in arranged.steps:
            part.pop("meta", None)
    spec["layout"]["shapes"] = [
        whole(shape, arranged.placed[place_of(shape["xref"])], layout)
        for shape in spec["layout"]["shapes"]
    ]
    return spec


def whole(shape: Spec, placed: Placed, layout: Layout) -> Spec:
    """A shape on a panel's axes -> the same on the picture, where Plotly cuts no line in half."""

    def x(column: float) -> str:
        return f"{(placed.left + (column + 0.5) * placed.cell_width) / layout.width:.5f}"

    def y(row: float) -> str:
        return f"{1 - (placed.top + (row + 0.5) * placed.cell_height) / layout.height:.5f}"

    return shape | {"path": moved(shape["path"], x, y), "xref": "paper", "yref": "paper"}


def _annotation(word: Word, layout: Layout, ink: Inks) -> Spec:
    color = ink.text if word.title else ink.muted
    x, y = word.x / layout.width, 1 - word.y / layout.height
    shown = note(escape(word.text), x, y, word.size, color)
    font = shown["font"] | {"weight": 700 if word.title else 400}
    return shown | {"font": font, "xanchor": "center" if word.center else "left"}
