"""All heads at a glance: lines between the words, and a few numbers for each head."""

from dataclasses import replace
from math import isnan
from statistics import mean

import streamlit as st

from attnviz.core.heads import CAUTION, SHARES, summaries
from attnviz.core.normalise import NORMALISERS
from attnviz.core.numbers import format_number
from attnviz.core.trace import Trace
from attnviz.figures import PAGE, flow
from attnviz.figures.labels import cut
from attnviz.ui import state
from attnviz.ui.heads import MAX_WORDS
from attnviz.ui.parts import chart, line, table

MAX_ENTROPIES = 24  # queries whose entropy is written one by one
COLUMNS, GAP = (1, 1), 16
PLAIN_PX, MAX_SCALE = 1000, 1.5  # width from which on few words are larger, and how much


def glance(trace: Trace, heads: list[int]) -> None:
    """The view of the heads."""
    left, right = st.columns(COLUMNS, gap="medium")
    with left:
        view = state.view()
        if max(len(trace.tokens), len(trace.key_tokens)) <= MAX_WORDS:
            view = replace(view, sizes=PAGE.scaled(min(max(1.0, view.width / PLAIN_PX), MAX_SCALE)))
        view = replace(view, width=int(view.width * COLUMNS[0] / sum(COLUMNS)) - GAP)
        chart("flow", flow(trace, heads, view, token=state.session().token), "Attention as lines")
    with right:
        st.html(line("note", CAUTION) + _summary_table(trace))


def _summary_table(trace: Trace) -> str:
    labels, decimals = trace.labels("attention"), state.view().decimals

    def number(value: float) -> str:
        return "–" if isnan(value) else format_number(value, decimals)

    few = len(labels[1]) <= MAX_ENTROPIES
    header = ["", *(map(cut, labels[1]) if few else ("mean",)), "largest weight", "distance"]
    rows = [
        [
            labels[0][summary.head],
            *map(number, summary.entropy_bits if few else (mean(summary.entropy_bits),)),
            f"{number(summary.largest)}, "
            f"{cut(labels[1][summary.query])} → {cut(labels[2][summary.key])}",
            number(summary.mean_distance),
        ]
        for summary in summaries(trace)
    ]
    entropies = "Entropy of each query" if few else "Mean entropy of the queries"
    what = f"{entropies} in bits, the largest weight, the mean distance in places"
    if not NORMALISERS[trace.values.config.normaliser].sums_to_one:
        what += f". {SHARES}"
    return line("note", what) + f'<div class="scrolled">{table(header, rows)}</div>'
