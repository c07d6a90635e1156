"""A trace as Plotly pictures; plain dicts for the page, a Figure for notebooks."""

from typing import Any

import plotly.graph_objects as go

from attnviz.core.trace import Trace
from attnviz.figures.draw import Spec, draw
from attnviz.figures.layout import arrange
from attnviz.figures.panel import cell_count, head_keys, joint_keys, resolve
from attnviz.figures.view import LARGE, MAX_TEXT_CELLS, Marks, View

NO_MARKS = Marks()


def head_strip(trace: Trace, head: int, view: View, marks: Marks = NO_MARKS) -> Spec:
    """All stages of one head side by side, in the order of the computation."""
    panels = [resolve(trace, key, head, view) for key in head_keys(trace)]
    name = f"Head {head + 1}"
    return draw(arrange(panels, view, name), view, marks, name)


def joint_strip(trace: Trace, view: View, marks: Marks = NO_MARKS) -> Spec:
    """The stages after the heads were joined: concatenation and output."""
    panels = [resolve(trace, key, None, view) for key in joint_keys(trace)]
    return draw(arrange(panels, view), view, marks)


def thumbnails(trace: Trace, view: View, marks: Marks = NO_MARKS) -> Spec:
    """The attention of every head, small, on one shared range."""
    small = View(
        view.decimals, view.palette, False, view.tokens_as, view.dark, view.sizes, view.width
    )
    heads = range(len(trace["attention"]))
    panels = [resolve(trace, "attention", head, small) for head in heads]
    return draw(arrange(panels, small), small, marks)


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
    trace.index(key, head)
    view = view or View(**({"sizes": LARGE} | choices))
    layout = arrange([resolve(trace, key, head, view)], view)
    spec = draw(layout, view, NO_MARKS)
    spec["layout"] |= {"width": layout.width, "template": None}
    return go.Figure(spec)


__all__ = [
    "MAX_TEXT_CELLS",
    "Marks",
    "View",
    "cell_count",
    "figure",
    "head_strip",
    "joint_strip",
    "thumbnails",
]
