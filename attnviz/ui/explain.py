"""Where a number comes from: its arithmetic, and the way down to the tables."""

import streamlit as st

from attnviz.core.derivation import Derivation
from attnviz.core.expr import Cell
from attnviz.core.numbers import format_number
from attnviz.core.trace import Trace
from attnviz.ui import state
from attnviz.ui.parts import block, escape_label, line

MAX_BUTTONS = 6


def explanation(trace: Trace, decimals: int | None) -> None:
    """The panel for the chosen cell."""
    now = state.session()
    cell = now.chosen
    if cell is None:
        return
    chain = _chain(trace, cell)
    last = chain[-1]
    lines = [line("panel-title", f"Where does this number come from? {last.title}")]
    for derivation in chain:
        lines += _lines(derivation, decimals, derivation is last)
    block(*lines, key="explain_text")
    _ways_down(last, decimals)


def _chain(trace: Trace, cell: Cell) -> list[Derivation]:
    """For a cell of the query x key stages, the same cell of every stage up to it."""
    axes = trace.axes(cell.key)
    keys = [cell.key]
    if axes == ("head", "query", "key"):
        same = [stage.key for stage in trace.stages if stage.axes == axes]
        keys = same[: same.index(cell.key) + 1]
    return [trace.explain(key, *_place(cell.index)) for key in keys]


def _place(index: tuple[int, ...]) -> tuple[int | None, int, int]:
    row, col = index[-2:] if len(index) > 1 else (0, index[-1])
    return (index[0] if len(index) == 3 else None, row, col)


def _lines(derivation: Derivation, decimals: int | None, last: bool) -> list[str]:
    *steps, result = derivation.steps(decimals)
    if not last:
        return [line("numbers", " = ".join((derivation.symbolic, *steps, result)))]
    lines = [line("numbers", " = ".join((derivation.symbolic, *steps)))]
    exact = format_number(derivation.value, None)
    lines.append(line("result", f"= {result}"))
    if exact != result:
        lines.append(line("exact", f"exactly {exact}"))
    if derivation.note:
        lines.append(line("note", derivation.note))
    return lines


def _ways_down(derivation: Derivation, decimals: int | None) -> None:
    now = state.session()
    operands = () if derivation.given else derivation.operands
    shown = operands[:MAX_BUTTONS]
    with st.container(horizontal=True, gap="small", key="ways"):
        for place, cell in enumerate(now.trail):
            st.button(
                f"← {escape_label(cell.label)}",
                key=f"back_{place}",
                type="tertiary",
                on_click=state.back_to,
                args=(place,),
            )
        for place, cell in enumerate(shown):
            st.button(
                escape_label(f"{cell.label} {format_number(cell.value, 2)}"),
                key=f"operand_{place}",
                help="Where does this number come from?",
                on_click=state.choose,
                args=(cell,),
                kwargs={"deeper": True},
            )
        with st.popover("Copy", icon=":material/content_copy:"):
            st.code(derivation.text(decimals), language=None, wrap_lines=True)
            st.code(derivation.to_latex(decimals), language="latex", wrap_lines=True)
