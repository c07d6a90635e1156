"""Which heads are shown, and whose tables."""

import streamlit as st

from attnviz.core.heads import reading
from attnviz.core.trace import Trace
from attnviz.figures.labels import cut
from attnviz.ui import moves, state
from attnviz.ui.parts import escape_label, row, span
from attnviz.ui.session import ROOMY_HEADS, roomy

MAX_TABS, MAX_WORDS = 3, 8  # with more, they are chosen from a list
TABLES_WIDTH, HEADS_WIDTH, WORDS_WIDTH = 142, 130, 180  # px


def choose_heads(trace: Trace, *, one: bool = False) -> list[int]:
    """Let a person choose; gives the heads that are shown in full.

    Args:
        trace: the computation.
        one: whether only one head is shown at a time; all heads come back where there is room.
    """
    n_heads = len(trace["attention"])
    names = [state.ALL_HEADS, *map(state.head_name, range(n_heads))]
    all_of_them = roomy(trace)
    start = state.ALL_HEADS if all_of_them else names[1]
    if state.setting("heads") not in names or state.setting("roomy", all_of_them) != all_of_them:
        state.show("heads", start)
    state.show("roomy", all_of_them)
    state.show("usual_heads", start)
    key, now = state.once("heads", start), state.session()
    place = names.index(state.setting(key))
    if place and one and now.head != place - 1:
        now.look_at(place - 1)
    if one:
        names = names[1:]
        key = state.show("one_head", names[now.head])
    on_change = moves.turn_to_head if one else moves.whole
    if n_heads <= MAX_TABS:
        st.segmented_control(
            "Heads",
            names,
            key=key,
            label_visibility="collapsed",
            required=True,
            on_change=on_change,
        )
    else:
        st.selectbox(
            "Heads",
            names,
            key=key,
            label_visibility="collapsed",
            width=HEADS_WIDTH,
            on_change=on_change,
        )
    if one:
        return [now.head]
    if not place:
        return list(range(n_heads))
    now.look_at(place - 1)
    return [place - 1]


def choose_token(trace: Trace) -> None:
    """Let a person choose a word, whose rows are then marked everywhere and read out."""
    labels, token = trace.labels("attention")[1], state.session().token
    key = state.show("token", None if token is None else labels[token])
    if len(labels) <= MAX_WORDS:
        st.pills(
            "Word",
            labels,
            format_func=lambda label: escape_label(cut(label)),
            key=key,
            label_visibility="collapsed",
            on_change=moves.read_token,
        )
    else:
        st.selectbox(
            "Word",
            labels,
            index=None,
            placeholder="Mark a word",
            key=key,
            label_visibility="collapsed",
            width=WORDS_WIDTH,
            on_change=moves.read_token,
        )


def readings(trace: Trace, heads: list[int]) -> None:
    """The row of the chosen word, in each of the heads; of many heads in the one looked at."""
    now, decimals = state.session(), state.view().decimals
    if now.token is not None:
        shown = heads if len(heads) <= ROOMY_HEADS else [now.head]
        said = (reading(trace, head, now.token, decimals) for head in shown)
        st.html(row("readings", *(span("reading", text) for text in said)))


def choose_table_head(heads: list[int]) -> int:
    """The head whose tables are shown; with several heads a person can choose."""
    head = state.session().table_head
    if len(heads) > 1:
        names = [f"tables: {state.head_name(h)}" for h in heads]
        key = state.show("table_head", names[heads.index(head)])
        st.selectbox(
            "Tables of",
            names,
            key=key,
            label_visibility="collapsed",
            width=TABLES_WIDTH,
            on_change=lambda: moves.show_tables(heads[names.index(state.setting(key))]),
        )
    return head
