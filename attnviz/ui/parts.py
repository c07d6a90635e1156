"""Small pieces of the page."""

import html
import re

import streamlit as st


def escape_label(text: str) -> str:
    """Text for a label that Streamlit reads as Markdown, letter for letter."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$~:<>|^&])", r"\\\1", text)


def line(css_class: str, text: str) -> str:
    """A line of plain text as HTML."""
    return f'<div class="{css_class}">{html.escape(text)}</div>'


def block(*lines: str, key: str) -> None:
    """Lines of HTML made by `line`, in a container of their own."""
    with st.container(key=key):
        st.html("".join(lines))
