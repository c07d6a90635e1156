"""The stages one at a time: as a page, and large for the projector."""

import streamlit as st

from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.figures import LARGE, PROJECTOR, Marks, Sizes, View, equation
from attnviz.figures.labels import cut
from attnviz.ui import moves, state
from attnviz.ui.explain import arithmetic, explanation
from attnviz.ui.parts import block, chart, escape_label, line, marks, row, span
from attnviz.ui.session import ROOMY_TOKENS

COLUMNS = (2, 3)  # what happens and why, and where a number comes from
HALL_WIDTH, HALL_HEIGHT = 1872, 1080  # px that the projector's sizes are made for
HALL_PICTURE, AROUND_PX = 600, 420  # px of its picture, and of all else on the page of a step
AS_IN_HALL = 0.75  # of those sizes; below, a step on the page has letters of its own
SMALLER = 0.95  # of it; below, letters are made smaller too
STRONG = "high contrast"  # the palette for washed-out projectors
MAX_CHIPS = 12  # with more words, only those that the cell is about
KEYS = "← → step · Shift + arrows cell · H head · Space reveal a row · E arithmetic · Esc leave"


def step_by_step(trace: Trace, heads: list[int]) -> None:
    """The view of one stage."""
    now = state.session()
    stage = trace.stages[now.step]
    with st.container(horizontal=True, vertical_alignment="center", key="rail", gap="xsmall"):
        _step_buttons(trace)
        steps = range(len(trace.stages))
        st.segmented_control(
            "Step",
            steps,
            format_func=lambda step: escape_label(trace.stages[step].symbol),
            key=state.show("step", now.step),
            label_visibility="collapsed",
            required=True,
            on_change=lambda: moves.go_to(state.setting("step")),
        )
        st.html(line("note", f"step {now.step + 1} of {len(trace.stages)}"))
    words = (
        line("step-title", _title(trace, stage)),
        line("step-what", trace.in_words(stage.what)),
        line("step-why", trace.in_words(stage.why)),
    )
    view = state.view(sizes=_sizes(trace))
    _picture(trace, stage, view)
    left, right = st.columns(COLUMNS, gap="medium")
    with left:
        block(*words, key="step_words")
    with right:
        explanation(trace, view.decimals)


def _sizes(trace: Trace) -> Sizes:
    """Of a step on the page: as for a hall where a large window has room for it."""
    width, height = state.session().room
    factor = min(width / HALL_WIDTH, (height - AROUND_PX) / HALL_PICTURE)
    few = max(len(trace.tokens), len(trace.key_tokens)) <= ROOMY_TOKENS
    return PROJECTOR.scaled(min(factor, 1.0)) if few and factor >= AS_IN_HALL else LARGE


def present(trace: Trace) -> None:
    """One stage, large, and nothing else."""
    now = state.session()
    stage = trace.stages[now.step]
    block(_chips(trace), _rail(trace), key="present_top")
    scale = min(1.0, now.room[1] / HALL_HEIGHT)
    sizes = PROJECTOR if scale > SMALLER else PROJECTOR.scaled(scale)
    view = state.view(sizes=sizes, palette=STRONG)
    _picture(trace, stage, view)
    shown = arithmetic(trace, view.decimals) if state.setting("arithmetic", True) else []
    if now.revealed == 0:
        shown = []
    block(
        *shown,
        line("step-what", trace.in_words(f"{stage.what} {stage.why}")),
        line("keys", KEYS),
        key="present_foot",
    )
    with st.container(key="hidden_buttons"):
        _step_buttons(trace)
        st.button("Head", key="next_head", on_click=moves.next_head)
        st.button("Arithmetic", key="fold_arithmetic", on_click=moves.fold_arithmetic)
        st.button("Leave", key="leave", on_click=moves.present, args=(False,))


def _step_buttons(trace: Trace) -> None:
    step = state.session().step
    last = len(trace.stages) - 1
    for name, label, icon, to in (
        ("step_back", "Previous step", ":material/arrow_back:", step - 1),
        ("step_next", "Next step", ":material/arrow_forward:", step + 1),
    ):
        st.button(
            label,
            icon=icon,
            key=name,
            help=f"{label} (Left or Right key)",
            disabled=not 0 <= to <= last,
            on_click=moves.go_to,
            args=(to,),
        )
    st.button(
        "Reveal a row",
        key="reveal",
        help="Show the result row by row (Space).",
        on_click=moves.reveal,
    )


def _picture(trace: Trace, stage: Stage, view: View) -> None:
    now = state.session()
    marked = marks(trace) if now.revealed != 0 else Marks()
    with st.container(key="pictures"):
        spec = equation(
            trace,
            stage.key,
            now.head if trace.has_heads(stage.key) else None,
            view,
            marked,
            rows=now.revealed,
        )
        chart("step", spec, _title(trace, stage))


def _title(trace: Trace, stage: Stage) -> str:
    where = f", {state.head_name(state.session().head)}" if trace.has_heads(stage.key) else ""
    return f"{stage.title}{where}"


def _chips(trace: Trace) -> str:
    """The words, those of the chosen cell in their colours, and which head it is."""
    now = state.session()
    places = dict(zip(trace.axes(now.chosen.key), now.chosen.index, strict=True))
    query = places.get("query", places.get("token"))
    key = places.get("key")
    _, queries, keys = trace.labels("scores")
    crossed = trace.tokens != trace.key_tokens
    words = [(label, i == query, i == key and not crossed) for i, label in enumerate(queries)]
    if crossed:
        words += [(label, False, i == key) for i, label in enumerate(keys)]
    if len(words) > MAX_CHIPS:
        words = [word for word in words if any(word[1:])]
    chips = [
        span(f"chip{' query' * looks}{' key' * seen}", cut(label)) for label, looks, seen in words
    ]
    stage = trace.stages[now.step]
    where = state.ALL_HEADS
    if trace.has_heads(stage.key):
        where = f"{state.head_name(now.head)} of {len(trace['attention'])}"
    return row("chips", *chips, span("head", where))


def _rail(trace: Trace) -> str:
    step, stages = state.session().step, trace.stages
    past = (span("past", stage.symbol) for stage in stages[:step])
    coming = (span("coming", stage.symbol) for stage in stages[step + 1 :])
    return row("rail", *past, span("present", stages[step].title), *coming)
