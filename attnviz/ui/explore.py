"""Everything at once: tables, every stage of every head, one cell's arithmetic."""

import math
from dataclasses import replace

import streamlit as st

from attnviz.core.heads import reading
from attnviz.core.trace import Trace
from attnviz.figures import (
    LARGE,
    MAX_TEXT_CELLS,
    View,
    cell_count,
    head_strip,
    input_keys,
    input_strip,
    joint_strip,
    thumbnails,
)
from attnviz.ui import editors, state
from attnviz.ui.explain import explanation
from attnviz.ui.heads import ROOMY_TOKENS, table_head
from attnviz.ui.parts import chart, line, marks

COLUMNS = (540, 584)  # what follows the heads, and where a number comes from
COLUMN_GAP = 8
LOW_ROW = 21
ABOVE_PX, AROUND_PX, STRIP_PX = 262, 111, 1144  # above the heads, around their cells, of a strip
MAX_SCALE = 1.4


def explore(trace: Trace, heads: list[int]) -> None:
    """The view that the page opens with."""
    editors.editor_row(editors.shown(trace, table_head(trace, heads)))
    pictures(trace, heads)


def pictures(trace: Trace, heads: list[int]) -> None:
    """Every stage of the shown heads, what follows them, and one cell's arithmetic."""
    view, marked = _view(trace, len(heads)), marks(trace)
    strip_view, joint_view = _with_room(view, trace, len(heads))
    with st.container(key="pictures"):
        if input_keys(trace):
            chart("inputs", input_strip(trace, strip_view, marked), "Embeddings of all heads")
        if len(heads) < len(trace["attention"]):
            chart("thumbs", thumbnails(trace, view, marked), "Attention of every head")
        for head in heads:
            strip = head_strip(trace, head, strip_view, marked)
            chart(f"head_{head}", strip, f"Head {head + 1}, all stages")
        left, right = st.columns(COLUMNS, gap="small")
        with left:
            joint = joint_strip(trace, joint_view, marked)
            chart("joint", joint, "Concatenated heads and output")
        with right:
            explanation(trace, view.decimals)
        token = state.session().token
        if token is not None:
            for head in heads:
                st.html(line("reading", reading(trace, head, token, view.decimals)))


def _view(trace: Trace, n_heads: int) -> View:
    """As large as there is room; a head that was chosen alone is large whatever the room.

    Rows of four tokens are a little lower, so that they too need no scrolling.
    """
    view = state.view(cell_text=bool(state.setting("cell_text", True)))
    n_tokens, (width, height) = len(trace.tokens), state.session().room
    if n_tokens > ROOMY_TOKENS:
        return view
    if n_heads < len(trace["attention"]):
        return replace(view, sizes=LARGE)
    needed = (n_heads + 1) * (AROUND_PX + n_tokens * view.sizes.row)
    factor = min((height - ABOVE_PX) / needed, width / STRIP_PX, MAX_SCALE)
    if factor > 1:
        return replace(view, sizes=view.sizes.scaled(factor))
    low = n_tokens == ROOMY_TOKENS
    return replace(view, sizes=replace(view.sizes, row=LOW_ROW)) if low else view


def _with_room(view: View, trace: Trace, n_heads: int) -> tuple[View, View]:
    """The views of a head and of what follows; what may carry numbers is shared among them."""
    count, joint = cell_count(trace, n_heads), cell_count(trace, 0)
    share = min(1.0, MAX_TEXT_CELLS / count)
    joint_width = int(view.width * COLUMNS[0] / sum(COLUMNS)) - COLUMN_GAP
    of_head = math.ceil((count - joint) / n_heads * share)
    return (
        replace(view, max_text_cells=of_head),
        replace(view, max_text_cells=math.ceil(joint * share), width=joint_width),
    )
