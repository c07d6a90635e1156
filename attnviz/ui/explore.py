"""Everything at once: tables, every stage of every head, one cell's arithmetic."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.core.errors import ScenarioError
from attnviz.core.picture import grid_of
from attnviz.core.trace import Trace
from attnviz.figures import (
    LARGE,
    MAX_TEXT_CELLS,
    PAGE,
    Marks,
    Spec,
    View,
    cell_count,
    flat,
    head_strip,
    input_keys,
    input_strip,
    joint_strip,
    picture_overlay,
    ranking_bars,
    thumbnails,
)
from attnviz.ui import state
from attnviz.ui.explain import explanation
from attnviz.ui.parts import chart, line
from attnviz.ui.session import ROOMY_TOKENS

COLUMNS = (540, 584)  # what follows the heads, and where a number comes from
COLUMN_GAP = 8
LOW_ROW = 20
ABOVE_PX, AROUND_PX, STRIP_PX = 262, 111, 1144  # above the heads, around their cells, of a strip
READ_PX = 27  # of the line with the chosen word's row
MAX_SCALE = 1.4
MAX_OVERLAYS = 4  # heads whose pictures are shown side by side
MIN_SHARE = 120  # px


def explore(trace: Trace, heads: list[int]) -> None:
    """Every stage of the shown heads, what follows them, and one cell's arithmetic.

    The chosen cell and its operands are outlined by the browser, see `parts.marked`, so that a
    click paints no picture anew.
    """
    view, now = _view(trace, len(heads)), state.session()
    strip_view, joint_view = _with_room(view, trace, len(heads))
    before, now.pictures = now.pictures, {}

    def strip(name: str, alt: str, of: View, draw: Callable[[View, Marks], Spec]) -> None:
        shows = (now.trace, of, now.token)
        shown, picture = before.get(name, (None, {}))
        if shown != shows:
            picture = flat(draw(of, Marks(token=now.token)), of.width)
        now.pictures[name] = shows, picture
        chart(name, picture, alt)

    with st.container(key="pictures"):
        if input_keys(trace):
            strip("inputs", "Embeddings of all heads", strip_view, partial(input_strip, trace))
        if len(heads) < len(trace["attention"]):
            strip("thumbs", "Attention of every head", view, partial(thumbnails, trace))
        _over_picture(trace, heads, view)
        for head in heads:
            alt = f"{state.head_name(head).capitalize()}, all stages"
            strip(f"head_{head}", alt, strip_view, partial(head_strip, trace, head))
        _rankings(trace, heads, view)
        left, right = st.columns(COLUMNS, gap="small")
        with left:
            alt = "Concatenated heads and output"
            strip("joint", alt, joint_view, partial(joint_strip, trace))
        with right:
            explanation(trace, view.decimals)


def _rankings(trace: Trace, heads: list[int], view: View) -> None:
    """The keys of a second text in the order in which one query weighs them."""
    now = state.session()
    if now.scenario.context_text is None:
        return
    of_one = replace(view, width=_share(view, len(heads)))
    for column, head in zip(st.columns(len(heads), gap="small"), heads, strict=True):
        with column:
            bars = ranking_bars(trace, now.query, head, of_one)
            chart(f"ranking_{head}", bars, f"Keys by their weight, {state.head_name(head)}")


def _over_picture(trace: Trace, heads: list[int], view: View) -> None:
    """The picture that the patches are of, and what one query attends to laid over it."""
    scenario, query, n_heads = state.session().scenario, state.session().query, len(trace["q"])
    if scenario.image is None:
        return
    shown = [None, *(range(n_heads) if n_heads <= MAX_OVERLAYS else heads[:MAX_OVERLAYS])]
    of_one = replace(view, sizes=PAGE, width=_share(view, len(shown)))
    grid = grid_of(scenario.lexicon)
    try:
        pictures = [
            picture_overlay(trace, scenario.image, query, head, of_one, grid) for head in shown
        ]
    except ScenarioError as error:
        st.html(line("note", f"Nothing can be laid over the picture. {error}"))
        return
    columns = st.columns(len(shown), gap="small")
    for column, head, spec in zip(columns, shown, pictures, strict=True):
        what = "The picture"
        if head is not None:
            what = f"Attention over the picture, {state.head_name(head)}"
        with column:
            chart("picture" if head is None else f"picture_{head}", spec, what)


def _share(view: View, count: int) -> int:
    """The width of one of several columns."""
    return max(MIN_SHARE, (view.width - COLUMN_GAP * 2 * (count - 1)) // count)


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
    height -= READ_PX * (state.session().token is not None)
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
