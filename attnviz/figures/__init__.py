"""A trace as Plotly pictures; plain dicts for the page, a Figure for notebooks."""

from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from attnviz.core.trace import Trace
from attnviz.figures.bars import ranking_bars
from attnviz.figures.differences import difference_picture
from attnviz.figures.draw import draw
from attnviz.figures.equations import equation
from attnviz.figures.flat import flat
from attnviz.figures.flows import flow
from attnviz.figures.layout import arrange
from attnviz.figures.marks import bold, operand_inks, outlined
from attnviz.figures.overlay import picture_overlay
from attnviz.figures.panel import cell_count, head_keys, input_keys, joint_keys, resolve
from attnviz.figures.thumbs import arrange_small
from attnviz.figures.view import (
    LARGE,
    MAX_TEXT_CELLS,
    NO_MARKS,
    PAGE,
    PROJECTOR,
    Marks,
    Sizes,
    Spec,
    View,
)

ALL_HEADS = "All heads"
INPUTS = "Inputs"


class Drawn(BaseFigure):  # type: ignore[misc]  # Plotly has no types
    """A picture that needs no check: Streamlit spends half of a run on checking plain dicts."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def to_dict(self) -> Spec:
        return self._spec


def input_strip(trace: Trace, view: View, marks: Marks = NO_MARKS) -> Spec:
    """What all heads read: embeddings with and without positions, see `input_keys`."""
    panels = resolve(trace, [(key, None) for key in input_keys(trace)], view)
    return draw(trace, arrange(panels, view, (INPUTS,)), view, marks)


def head_strip(trace: Trace, head: int, view: View, marks: Marks = NO_MARKS) -> Spec:
    """All stages of one head side by side, in the order of the computation."""
    panels = resolve(trace, [(key, head) for key in head_keys(trace)], view)
    return draw(trace, arrange(panels, view, (_head_name(head),)), view, marks)


def joint_strip(trace: Trace, view: View, marks: Marks = NO_MARKS) -> Spec:
    """The stages after the heads were joined: concatenation and output."""
    panels = resolve(trace, [(key, None) for key in joint_keys(trace)], view)
    return draw(trace, arrange(panels, view, (ALL_HEADS,)), view, marks)


def thumbnails(trace: Trace, view: View, marks: Marks = NO_MARKS) -> Spec:
    """The attention of every head, small, on one shared range."""
    heads = range(len(trace["attention"]))
    panels = resolve(trace, [("attention", head) for head in heads], view, small=True)
    first = panels[0]
    small = [
        replace(panel, title=_head_name(head), subtitle="", axes="", extent="")
        for head, panel in zip(heads, panels, strict=True)
    ]
    ends = f"{first.low:g} … {first.high:g}"
    caption = (first.subtitle.rsplit(" ", 1)[0].capitalize(), *first.axes.split(", "), ends)
    return draw(trace, arrange_small(small, view, caption), view, marks)


def stage_picture(
    trace: Trace,
    key: str,
    head: int | None,
    view: View,
    marks: Marks = NO_MARKS,
    *,
    snug: bool = False,
) -> Spec:
    """One stage alone, as large as `view` says; `snug` makes it no wider than it needs.

    Raises:
        ScenarioError: the trace has no such array or head.
    """
    trace.index(key, head)
    panels = resolve(trace, [(key, head)], view)
    caption = _head_name(head or 0) if panels[0].head is not None else ALL_HEADS
    layout = arrange(panels, view, (caption,), snug=snug)
    spec = draw(trace, layout, view, marks)
    spec["layout"]["width"] = layout.width if snug else None
    return spec


def figure(
    trace: Trace, key: str, head: int | None = None, view: View | None = None, **choices: Any
) -> go.Figure:
    """One stage as a Plotly figure, for notebooks.

    Args:
        trace: the computation.
        key: a stage of it.
        head: which head, from 0; 0 where the stage has heads and none is given.
        view: how it is shown.
        choices: fields of `View` instead, such as decimals=4 or dark=True.

    Raises:
        ScenarioError: the trace has no such stage or head.
    """
    view = view or View(**({"sizes": LARGE} | choices))
    drawn = go.Figure(stage_picture(trace, key, head, view, snug=True))
    return drawn.update_layout(template={})  # not the default one, which would recolour it


def _head_name(head: int) -> str:
    return f"Head {head + 1}"


__all__ = [
    "LARGE",
    "MAX_TEXT_CELLS",
    "PAGE",
    "PROJECTOR",
    "Drawn",
    "Marks",
    "Sizes",
    "Spec",
    "View",
    "bold",
    "cell_count",
    "difference_picture",
    "equation",
    "figure",
    "flat",
    "flow",
    "head_strip",
    "input_keys",
    "input_strip",
    "joint_strip",
    "operand_inks",
    "outlined",
    "picture_overlay",
    "ranking_bars",
    "stage_picture",
    "thumbnails",
]
