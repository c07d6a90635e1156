"""Small pieces of the page."""

import html
import re

import streamlit as st


def escape_label(text: str) -> str:
    """Text for a label that Streamlit reads as Markdown, letter for letter."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$~:<>|^&])", r"\\\1", text)


def span(css_class: str, text: str) -> str:
    """Plain text as HTML, for a row."""
    return f'<span class="{css_class}">{html.escape(text)}</span>'


def line(css_class: str, text: str) -> str:
    """A line of plain text as HTML."""
    return f'<div class="{css_class}">{html.escape(text)}</div>'


def row(css_class: str, *spans: str) -> str:
    """A line of HTML made of what `span` gives."""
    return f'<div class="{css_class}">{"".join(spans)}</div>'


def block(*lines: str, key: str) -> None:
    """What `line` and `row` give, in a container of their own."""
    with st.container(key=key):
        st.html("".join(lines))
