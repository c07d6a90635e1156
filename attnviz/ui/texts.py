"""The fields that texts are typed into."""

import streamlit as st

from attnviz.core import edit
from attnviz.ui import state


def text_field(label: str, field: str) -> None:
    """One text of the scenario; where it is too long its beginning can be taken."""
    st.text_area(
        label,
        key=state.show(field, state.text_of(field)),
        height=72,
        placeholder="Type a sentence",
        help="Enter takes the text, Shift+Enter begins a new line.",
        on_change=lambda: state.set_text(state.setting(field), field),
    )
    now = state.session()
    if now.draft is not None and now.draft.field == field and now.draft.too_long:
        limit = edit.token_limit(now.scenario)
        st.button(f"Use the first {limit} tokens", key="cut", on_click=state.cut_text)
