"""Small pieces of the page."""

import html
import re
from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.core.trace import Trace
from attnviz.figures import Drawn, Marks, Spec, bold, outlined
from attnviz.figures.palettes import inks
from attnviz.ui import state
from attnviz.ui.session import place

CLEAR = "rgba(0, 0, 0, 0)"
PLOT_CONFIG = {"displayModeBar": False}
CAMERA: dict[str, dict[str, str | int]] = {
    "PNG": {"format": "png", "scale": 2},
    "SVG": {"format": "svg"},
}


def chart(name: str, spec: Spec, alt: str, *, camera: bool = False) -> None:
    """One Plotly chart under its key; with a camera, which the browser needs no help for."""
    config: dict[str, Any] = PLOT_CONFIG
    if camera or state.setting("cameras"):
        options = {**CAMERA[state.setting("camera", "PNG")], "filename": f"attnviz-{name}"}
        config = {
            "displayModeBar": True if camera else "hover",
            "displaylogo": False,
            "modeBarButtons": [["toImage"]],
            "toImageButtonOptions": options,
        }
        ink = inks(state.view().dark)
        looks = {"bgcolor": CLEAR, "color": ink.muted, "activecolor": ink.text}
        spec = {**spec, "layout": {**spec["layout"], "modebar": looks}}
    with st.container(key=f"chart_{name}"):
        st.plotly_chart(Drawn(spec), theme=None, config=config, key=f"plot_{name}", alt=alt)


def marks(trace: Trace) -> Marks:
    """The chosen cell with the numbers that it is made of, and the chosen token."""
    now = state.session()
    derivation = trace.explain(now.chosen.key, *place(now.chosen))
    operands = () if derivation.given else derivation.operands
    return Marks(cell=now.chosen, operands=operands, token=now.token)


def marked(trace: Trace) -> dict[str, Any]:
    """The same for the browser to mark in pictures that are drawn without it."""
    found = marks(trace)
    return {
        "outlines": outlined(trace, found),
        "axes": {stage.key: trace.axes(stage.key)[-2:] for stage in trace.stages},
        "bold": {axis: sorted(places) for axis, places in bold(trace, found).items()},
        "width": state.view().sizes.outline,
    }


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


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Plain texts as an HTML table, the first of each row as its name."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

    body = "".join(f"<tr>{cells('th', one[:1])}{cells('td', one[1:])}</tr>" for one in rows)
    return f'<table class="numbers-table"><tr>{cells("th", header)}</tr>{body}</table>'


def block(*lines: str, key: str) -> None:
    """What `line` and `row` give, in a container of their own."""
    with st.container(key=key):
        st.html("".join(lines))
