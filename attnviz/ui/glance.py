"""All heads at a glance: lines between the words, and a few numbers for each head."""

import streamlit as st

from attnviz.core.heads import CAUTION, reading, summaries
from attnviz.core.numbers import format_number
from attnviz.core.trace import Trace
from attnviz.figures import flow
from attnviz.ui import state
from attnviz.ui.parts import chart, line, table

MAX_ENTROPIES = 8  # queries whose entropy is written one by one
COLUMNS = (3, 2)


def glance(trace: Trace, heads: list[int]) -> None:
    """The view of the heads."""
    token = state.session().token
    left, right = st.columns(COLUMNS, gap="medium")
    with left:
        chart("flow", flow(trace, heads, state.view(), token=token), "Attention as lines")
    with right:
        st.html(line("note", CAUTION) + _summary_table(trace))
        if token is not None:
            for head in heads:
                st.html(line("reading", reading(trace, head, token, state.view().decimals)))


def _summary_table(trace: Trace) -> str:
    labels, decimals = trace.labels("attention"), state.view().decimals

    def number(value: float) -> str:
        return format_number(value, decimals)

    few = len(labels[1]) <= MAX_ENTROPIES
    header = ["", *(labels[1] if few else ()), "mean", "largest weight", "mean distance"]
    rows = [
        [
            labels[0][summary.head],
            *(map(number, summary.entropy_bits) if few else ()),
            number(sum(summary.entropy_bits) / len(summary.entropy_bits)),
            f"{number(summary.largest)}, {labels[1][summary.query]} → {labels[2][summary.key]}",
            number(summary.mean_distance),
        ]
        for summary in summaries(trace)
    ]
    return line("table-title", "Entropy of each query in bits") + table(header, rows)
