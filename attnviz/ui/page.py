"""The page, from top to bottom in the order of the computation."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.core.expr import Cell
from attnviz.core.normalise import NORMALISERS
from attnviz.core.trace import Trace
from attnviz.figures import (
    MAX_TEXT_CELLS,
    Drawn,
    Marks,
    View,
    cell_count,
    head_strip,
    input_keys,
    input_strip,
    joint_strip,
    thumbnails,
)
from attnviz.figures.palettes import inks
from attnviz.ui import editors, state
from attnviz.ui.explain import explanation
from attnviz.ui.heads import ROOMY_TOKENS, choose_heads, table_head
from attnviz.ui.parts import line, row, span
from attnviz.ui.session import place
from attnviz.ui.sidebar import sidebar

HERE = Path(__file__).parent
CSS = (HERE / "style.css").read_text(encoding="utf-8")
PLOT_CONFIG = {"displayModeBar": False}
COLUMNS = (540, 584)  # what follows the heads, and where a number comes from
COLUMN_GAP = 8
LOW_ROW = 21
LAST_GOOD = "The picture shows the last good state."

_bridge = st.components.v2.component(
    "attnviz_bridge", js=(HERE / "bridge.js").read_text(encoding="utf-8")
)


def page() -> None:
    """Everything a visitor sees."""
    sidebar()
    now = state.session()
    now.side_shows = now.side()
    main()


@st.fragment
def main() -> None:
    """All but the side bar, which an edit or a click need not draw anew."""
    now = state.session()
    if now.side_shows != now.side():  # undo and reset reach the side bar too
        st.rerun()
    trace = now.trace
    with st.container(horizontal=True, key="toolbar", vertical_alignment="center", gap="small"):
        heads = choose_heads(trace)
        grids = editors.grids(trace, table_head(trace, heads))
        legend()
        editors.paste_box(grids)
        history_buttons()
    st.html(f"<style>{variables()}{CSS}{editors.style(grids)}</style>")
    answer_line(trace)
    editors.editor_row(grids)
    pictures(trace, heads)
    _bridge(
        key="bridge",
        data={
            "chosen": {"key": now.chosen.key, "index": list(now.chosen.index)},
            "width": now.width,
        },
        on_cell_change=state.clicked,
        on_width_change=state.widened,
        on_paste_change=state.pasted,
    )


def variables() -> str:
    """The inks of the pictures as CSS variables, so that a colour is written down once."""
    now = state.session()
    ink = vars(inks(state.view().dark))
    colors = {**ink, "last-good": ink["changed"] if now.problem else "transparent"}
    return ":root {" + "".join(f"--ink-{name}: {color};" for name, color in colors.items()) + "}"


def legend() -> None:
    """What the colours of words mean."""
    st.html(
        row(
            "legend",
            span("query", "query: looks"),
            span("key", "key: is looked at"),
            span("editable", "table: yours to edit"),
        )
    )


def history_buttons() -> None:
    """Undo, redo, reset."""
    now = state.session()
    for label, icon, stack, keys, command in (
        ("Undo", ":material/undo:", now.past, "Ctrl+Z", state.undo),
        ("Redo", ":material/redo:", now.future, "Ctrl+Shift+Z", state.redo),
    ):
        st.button(
            label, icon=icon, disabled=not stack, on_click=command, key=label.lower(), help=keys
        )
    st.button(
        "Reset",
        icon=":material/restart_alt:",
        key="reset",
        help="Back to the example as it opens; undo brings your state back.",
        on_click=state.open_preset,
        args=(now.scenario.preset,),
    )


def answer_line(trace: Trace) -> None:
    """The one line that never scrolls away: what was refused, or the chosen cell in words."""
    now = state.session()
    if now.problem:
        kind = "hint" if now.hint else "problem"
        said = line(f"answer {kind}", f"{now.problem} {LAST_GOOD}")
    else:
        head, *_ = place(now.chosen)
        where = "" if head is None else f"head {head + 1}: "
        sentence = trace.sentence(now.chosen.key, *place(now.chosen), state.view().decimals)
        notes = [span("note", note) for note in now.notes]
        said = row("answer", span("said", where + sentence), *notes)
    with st.container(key="answer"):
        st.html(said)
        if now.transposable is not None:
            st.button(
                "Transpose the pasted table",
                key="transpose",
                on_click=state.transpose_table,
                args=now.transposable,
            )


def pictures(trace: Trace, heads: list[int]) -> None:
    """Every stage of the shown heads, what follows them, and one cell's arithmetic."""
    view, marks = _view(trace), _marks(trace, state.session().chosen)
    strip_view, joint_view = _with_room(view, trace, len(heads))
    warning = NORMALISERS[trace.values.config.normaliser].warning
    if warning:
        st.html(line("warning", warning))
    with st.container(key="pictures"):
        if input_keys(trace):
            chart("inputs", input_strip(trace, strip_view, marks), "Embeddings of all heads")
        if len(heads) < len(trace["attention"]):
            chart("thumbs", thumbnails(trace, view, marks), "Attention of every head")
        for head in heads:
            strip = head_strip(trace, head, strip_view, marks)
            chart(f"head_{head}", strip, f"Head {head + 1}, all stages")
        left, right = st.columns(COLUMNS, gap="small")
        with left:
            joint = joint_strip(trace, joint_view, marks)
            chart("joint", joint, "Concatenated heads and output")
        with right:
            explanation(trace, view.decimals)


def chart(name: str, spec: dict[str, Any], alt: str) -> None:
    """One Plotly chart under its key."""
    with st.container(key=f"chart_{name}"):
        st.plotly_chart(Drawn(spec), theme=None, config=PLOT_CONFIG, key=f"plot_{name}", alt=alt)


def _view(trace: Trace) -> View:
    """Rows of four tokens are a little lower, so that they too need no scrolling."""
    view = state.view(cell_text=bool(state.setting("cell_text", True)))
    if len(trace.tokens) != ROOMY_TOKENS:
        return view
    return replace(view, sizes=replace(view.sizes, row=LOW_ROW))


def _with_room(view: View, trace: Trace, n_heads: int) -> tuple[View, View]:
    """The views of a head and of what follows; what may carry numbers is shared among them."""
    count, joint = cell_count(trace, n_heads), cell_count(trace, 0)
    share = min(1.0, MAX_TEXT_CELLS / count)
    joint_width = int(view.width * COLUMNS[0] / sum(COLUMNS)) - COLUMN_GAP
    of_head = math.ceil((count - joint) / n_heads * share)
    return (
        replace(view, max_text_cells=of_head),
        replace(view, max_text_cells=math.ceil(joint * share), width=joint_width),
    )


def _marks(trace: Trace, cell: Cell) -> Marks:
    derivation = trace.explain(cell.key, *place(cell))
    operands = () if derivation.given else derivation.operands
    return Marks(cell=cell, operands=operands)
