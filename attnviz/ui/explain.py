"""Where a number comes from: its arithmetic, and the way down to the tables."""

import re

import streamlit as st

from attnviz.core.derivation import Derivation, aligned
from attnviz.core.expr import Cell
from attnviz.core.numbers import format_number
from attnviz.core.trace import Trace
from attnviz.figures.labels import cut
from attnviz.ui import moves, state
from attnviz.ui.parts import block, escape_label, line, row, span
from attnviz.ui.session import place

MAX_BUTTONS = 8
MORE_WIDTH = 220  # px
MAX_STEPS_BACK = 3


def explanation(trace: Trace, decimals: int | None) -> None:
    """The panel for the chosen cell."""
    chain = _chain(trace, state.session().chosen)
    last = chain[-1]
    with st.container(horizontal=True, key="explain_head", vertical_alignment="center"):
        st.html(line("panel-title", "Where does this number come from?"))
        if st.button("Copy", icon=":material/content_copy:", key="copy"):
            _copy(chain, decimals)
    lines = [line("panel-cell", last.title)]
    for derivation in chain:
        lines += _lines(derivation, decimals, derivation is last)
    block(*lines, key="explain_text")
    _ways(trace, last, decimals)


def arithmetic(trace: Trace, decimals: int | None) -> list[str]:
    """The arithmetic of the chosen cell alone, as lines."""
    chosen = state.session().chosen
    return _lines(trace.explain(chosen.key, *place(chosen)), decimals, True)


def _chain(trace: Trace, cell: Cell) -> list[Derivation]:
    """For a cell of the query x key stages, the same cell of every stage up to it."""
    axes = trace.axes(cell.key)
    keys = [cell.key]
    if axes == ("head", "query", "key"):
        same = [stage.key for stage in trace.stages if stage.axes == axes]
        keys = same[: same.index(cell.key) + 1]
    return [trace.explain(key, *place(cell)) for key in keys]


def _lines(derivation: Derivation, decimals: int | None, last: bool) -> list[str]:
    *steps, result = derivation.steps(decimals)
    if not last:
        return [line("numbers", " = ".join((derivation.symbolic, *steps, result)))]
    exact = format_number(derivation.value, None)
    results = [span("result", f"= {result}")]
    if exact != result:
        results.append(span("exact", f"in full {exact}"))
    lines = [line("numbers", " = ".join((derivation.symbolic, *steps))), row("results", *results)]
    if derivation.note:
        lines.append(line("note", derivation.note))
    return lines


@st.dialog("Where does this number come from?", width="large")
def _copy(chain: list[Derivation], decimals: int | None) -> None:
    """The whole arithmetic as text and as LaTeX, each with a button that copies it."""
    shown, written = st.columns(2)
    latex = aligned(chain, decimals)
    with shown:
        st.latex(latex)
    with written:
        lines = "\n".join(derivation.text(decimals) for derivation in chain)
        st.code(lines, language=None, wrap_lines=True)
        st.code(latex, language="latex", wrap_lines=True)


def _ways(trace: Trace, derivation: Derivation, decimals: int | None) -> None:
    """Back along the way, and down to the numbers that this one is made of."""
    now = state.session()
    operands = () if derivation.given else derivation.largest_operands
    with st.container(horizontal=True, gap="xsmall", key="ways"):
        for step, cell in list(enumerate(now.trail))[-MAX_STEPS_BACK:]:
            st.button(
                f"← {escape_label(trace.cell(cell.key, cell.index).label)}",
                key=f"back_{step}",
                type="tertiary",
                help="Back to this number.",
                on_click=moves.back_to,
                args=(step,),
            )
        for number, cell in enumerate(operands[:MAX_BUTTONS]):
            st.button(
                escape_label(_named(cell, decimals)),
                key=f"operand_{number}",
                help=f"{escape_label(cell.label)}: where does this number come from?",
                on_click=moves.choose,
                args=(cell,),
                kwargs={"deeper": True},
            )
        rest = operands[MAX_BUTTONS:]
        if rest:
            key = state.show("more_operands", None)
            st.selectbox(
                "More numbers",
                range(len(rest)),
                index=None,
                placeholder=f"{len(rest)} more",
                format_func=lambda place: _named(rest[place], decimals),
                key=key,
                label_visibility="collapsed",
                width=MORE_WIDTH,
                on_change=lambda: moves.choose(rest[state.setting(key)], deeper=True),
            )


def _named(cell: Cell, decimals: int | None) -> str:
    """The cell, with words in it cut, and its number."""
    label = re.sub(r"[^\[\], ]+", lambda word: cut(word[0]), cell.label)
    return f"{label} {format_number(cell.value, decimals)}"
