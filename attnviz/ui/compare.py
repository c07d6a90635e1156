"""Two states side by side: A that was pinned, B that is at hand, and what is between them."""

import streamlit as st

from attnviz.core import PRESETS, AttnvizError, run
from attnviz.core.compare import differences
from attnviz.core.presets import GALLERY
from attnviz.core.ready import COMPARISONS
from attnviz.core.trace import Trace
from attnviz.figures import PAGE, Sizes, difference_picture
from attnviz.ui import state
from attnviz.ui.parts import chart, escape_label, line
from attnviz.ui.session import ROOMY_TOKENS

READY_WIDTH = 300  # px
MAX_LISTED = 12
ABOVE_PX, AROUND_PX, ROW_PX = 330, 140, 1000  # above the pictures, around cells, of a row
MAX_SCALE = 1.5


def compare(trace: Trace, heads: list[int]) -> None:
    """The view of two states."""
    now = state.session()
    with st.container(horizontal=True, vertical_alignment="center", key="compare", gap="small"):
        st.button("Pin this as A", key="pin", on_click=_pin)
        partner = _partner()
        if partner:
            st.button(
                escape_label(f"Compare with: {partner}"), key="partner", on_click=_pin_partner
            )
        st.selectbox(
            "Ready-made",
            list(COMPARISONS),
            index=None,
            placeholder="or a ready-made comparison",
            format_func=lambda name: COMPARISONS[name].title,
            key=state.show("ready", None),
            label_visibility="collapsed",
            width=READY_WIDTH,
            on_change=lambda: _ready(state.setting("ready")),
        )
        key = _stage(trace)
    if now.pinned is None:
        st.html(line("note", "Pin a state as A, then change something: B is what you make of it."))
        return
    pinned, before = now.pinned
    found = differences(pinned, now.scenario) or ("A and B are the same.",)
    more = len(found) - MAX_LISTED
    lines = [*found[:MAX_LISTED], *([f"and {more} more"] if more > 0 else [])]
    st.html("".join(line("difference", text) for text in lines))
    shown = heads if trace.has_heads(key) else [0]
    view = state.view(sizes=_sizes(trace, len(shown)))
    for head in shown:
        chart(
            f"compare_{head}",
            difference_picture(before, trace, key, head, view),
            f"A, B and their difference, {state.head_name(head)}",
        )


def _sizes(trace: Trace, n_pictures: int) -> Sizes:
    """As large as there is room for the pictures of few words."""
    (width, height), n_tokens = state.session().room, len(trace.tokens)
    if max(n_tokens, len(trace.key_tokens)) > ROOMY_TOKENS:
        return PAGE
    needed = n_pictures * (AROUND_PX + n_tokens * PAGE.row)
    factor = min((height - ABOVE_PX) / needed, width / ROW_PX, MAX_SCALE)
    return PAGE.scaled(max(1.0, factor))


def _partner() -> str:
    """The title of the example that is worth seeing beside this one, or nothing."""
    preset = GALLERY.get(state.session().scenario.preset)
    return GALLERY[preset.compare_with].title if preset and preset.compare_with else ""


def _stage(trace: Trace) -> str:
    stages = {stage.key: stage for stage in trace.stages}
    key = "compared"
    if state.setting(key) not in stages:
        state.show(key, "attention")
    return str(
        st.segmented_control(
            "Stage",
            list(stages),
            format_func=lambda name: stages[name].symbol,
            key=key,
            label_visibility="collapsed",
            required=True,
        )
    )


def _pin() -> None:
    """Keep the present state as A, to compare with."""
    now = state.session()
    now.pinned = (now.scenario, now.trace)


def _pin_partner() -> None:
    """Compare with the example that is worth seeing beside this one, as it opens, as A."""
    now = state.session()
    partner = PRESETS[GALLERY[now.scenario.preset].compare_with]
    now.quiet()
    now.pinned = (partner, run(partner))


def _ready(name: str) -> None:
    """Set both sides of a ready-made comparison; what is shown is B.

    One after another they begin with the same scenario, so that none shows what another changed.
    """
    now, ready = state.session(), COMPARISONS[name]
    start = now.scenario
    if now.ready is not None and start.same(now.ready[1]):
        start = now.ready[0]
    now.quiet()
    try:
        a, b = ready.a(start), ready.b(start)
        pinned = (a, run(a))
        now.take((b, ready.says))
        now.pinned, now.ready = pinned, (start, b)
    except AttnvizError as error:
        now.refused = str(error)
