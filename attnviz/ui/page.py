"""The page, from top to bottom in the order of the computation."""

from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.core import edit
from attnviz.core.trace import Trace
from attnviz.figures import (
    MAX_TEXT_CELLS,
    Marks,
    View,
    cell_count,
    head_strip,
    joint_strip,
    thumbnails,
)
from attnviz.figures.palettes import inks
from attnviz.ui import state
from attnviz.ui.editors import editor_row, paste_box
from attnviz.ui.explain import explanation
from attnviz.ui.parts import block, line
from attnviz.ui.sidebar import sidebar

HERE = Path(__file__).parent
CSS = (HERE / "style.css").read_text(encoding="utf-8")
ALL = "all heads"
ROOMY_HEADS, ROOMY_TOKENS = 2, 4  # up to here all heads are shown in full
MAX_TABS = 8
PLOT_CONFIG = {"displayModeBar": False}

_bridge = st.components.v2.component(
    "attnviz_bridge", js=(HERE / "bridge.js").read_text(encoding="utf-8")
)


def page() -> None:
    """Everything a visitor sees."""
    st.html(f"<style>{_variables()}{CSS}</style>")
    sidebar()
    now = state.session()
    trace = now.trace
    tables = [key for key in edit.EDITABLE if key in trace]
    heads = toolbar(trace, tables)
    answer_line(trace)
    editor_row(trace, table_head(trace, heads), tables)
    view = _view(trace, len(heads))
    marks = _marks(trace)
    if len(heads) < len(trace["attention"]):
        chart("thumbs", thumbnails(trace, view, marks), "Attention of every head")
    for head in heads:
        chart(f"head_{head}", head_strip(trace, head, view, marks), f"Head {head + 1}, all stages")
    left, right = st.columns([540, 584], gap="small")
    with left:
        half = View(**(vars(view) | {"width": 500}))
        chart("joint", joint_strip(trace, half, marks), "Concatenated heads and output")
    with right:
        explanation(trace, view.decimals)
    _bridge(key="bridge", on_cell_change=_clicked)


def _variables() -> str:
    """The inks of the pictures as CSS variables, so that a colour is written down once."""
    ink = vars(inks(state.view().dark))
    return ":root {" + "".join(f"--ink-{name}: {color};" for name, color in ink.items()) + "}"


def toolbar(trace: Trace, tables: list[str]) -> list[int]:
    """Which heads are shown; paste, undo, redo, reset. Gives the heads that are shown."""
    now = state.session()
    with st.container(horizontal=True, key="toolbar", vertical_alignment="center", gap="small"):
        heads = _choose_heads(trace)
        st.space("stretch")
        paste_box(trace, table_head(trace, heads), tables)
        for label, icon, stack, command in (
            ("Undo", ":material/undo:", now.past, state.undo),
            ("Redo", ":material/redo:", now.future, state.redo),
        ):
            st.button(label, icon=icon, disabled=not stack, on_click=command, key=label.lower())
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            key="reset",
            help="Back to the example as it opens.",
            on_click=state.open_preset,
            args=(now.scenario.preset,),
        )
    return heads


def _choose_heads(trace: Trace) -> list[int]:
    n_heads = len(trace["attention"])
    names = [ALL, *(f"head {head + 1}" for head in range(n_heads))]
    roomy = n_heads <= ROOMY_HEADS and len(trace.tokens) <= ROOMY_TOKENS
    start = ALL if roomy else names[1]
    if state.setting("heads") not in names or state.setting("roomy") != roomy:
        state.show("heads", start)
        state.show("roomy", roomy)
    key = state.once("heads", start)
    if n_heads <= MAX_TABS:
        chosen = st.segmented_control(
            "Heads", names, key=key, label_visibility="collapsed", required=True
        )
    else:
        chosen = st.selectbox("Heads", names, key=key, label_visibility="collapsed", width=160)
    place = names.index(str(chosen))
    return [place - 1] if place else list(range(n_heads))


def table_head(trace: Trace, heads: list[int]) -> int:
    """The head whose tables are shown: the one that is large, or that of the chosen cell."""
    return heads[0] if len(heads) == 1 else focus_head(trace)


def focus_head(trace: Trace) -> int:
    """The head whose tables are shown: that of the chosen cell."""
    chosen = state.session().chosen
    if chosen is not None and trace.axes(chosen.key)[0] in ("head", "kv_head"):
        return chosen.index[0]
    return 0


def answer_line(trace: Trace) -> None:
    """The one line that never scrolls away: what was refused, or the chosen cell in words."""
    now = state.session()
    if now.problem:
        kind = "hint" if now.hint else "problem"
        kept = "The picture shows the last good state."
        block(line(f"answer {kind}", f"{now.problem} {kept}"), key="answer")
        return
    lines = []
    if now.chosen is not None:
        cell = now.chosen
        row, col = cell.index[-2:] if len(cell.index) > 1 else (0, cell.index[-1])
        head = cell.index[0] if len(cell.index) == 3 else None
        sentence = trace.sentence(cell.key, head, row, col, state.view().decimals)
        where = f"head {head + 1}: " if head is not None else ""
        lines.append(line("answer", where + sentence))
    for note in now.notes:
        lines.append(line("answer note", note))
    block(*lines, key="answer")
    if now.transposable is not None:
        st.button(
            "Transpose the pasted table",
            key="transpose",
            on_click=state.transpose_table,
            args=now.transposable,
        )


def chart(name: str, spec: dict[str, Any], alt: str) -> None:
    """One Plotly chart under its key."""
    with st.container(key=f"chart_{name}"):
        st.plotly_chart(spec, theme=None, config=PLOT_CONFIG, key=f"plot_{name}", alt=alt)


def _view(trace: Trace, n_heads: int) -> View:
    wanted = bool(state.setting("cell_text", True))
    fits = cell_count(trace, n_heads) <= MAX_TEXT_CELLS
    return state.view(cell_text=wanted and fits)


def _marks(trace: Trace) -> Marks:
    cell = state.session().chosen
    changed = state.changed_cells()
    if cell is None:
        return Marks(changed=changed)
    row, col = cell.index[-2:] if len(cell.index) > 1 else (0, cell.index[-1])
    head = cell.index[0] if len(cell.index) == 3 else None
    derivation = trace.explain(cell.key, head, row, col)
    operands = () if derivation.given else derivation.operands
    return Marks(cell=cell, operands=operands, changed=changed)


def _clicked() -> None:
    event = state.setting("bridge", {}).get("cell")
    if event:
        state.clicked(str(event["key"]), tuple(int(i) for i in event["index"]))
