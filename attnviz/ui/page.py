"""The page: what stands at its top, and the view that is open."""

import gc
from dataclasses import replace
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.core.normalise import NORMALISERS
from attnviz.core.trace import Trace
from attnviz.figures.palettes import inks
from attnviz.ui import editors, grids, moves, state
from attnviz.ui.address import SETTINGS
from attnviz.ui.compare import compare
from attnviz.ui.explore import explore
from attnviz.ui.glance import glance
from attnviz.ui.heads import choose_heads, choose_table_head, choose_token, readings
from attnviz.ui.parts import line, marked, marks, row, span
from attnviz.ui.session import place
from attnviz.ui.sidebar import sidebar
from attnviz.ui.steps import present, step_by_step
from attnviz.ui.take import take_away

HERE = Path(__file__).parent
CSS, PROJECTOR_CSS = (
    (HERE / name).read_text(encoding="utf-8") for name in ("style.css", "projector.css")
)
LAST_GOOD = "The picture shows the last good state."
VIEWS = dict(
    zip(SETTINGS["view"], (explore, step_by_step, compare, glance, take_away), strict=True)
)
WITH_TABLES = (explore, compare)
EXPLORE = next(iter(VIEWS))

_bridge = st.components.v2.component(
    "attnviz_bridge",
    js="\n".join(
        (HERE / name).read_text(encoding="utf-8") for name in ("outlines.js", "bridge.js")
    ),
)


def page() -> None:
    """Everything a visitor sees."""
    state.follow_address()
    sidebar()
    now = state.session()
    now.side_shows = now.side()
    main()
    _settle()


@cache
def _settle() -> None:
    """Spare what the imports made from being searched for garbage.

    Streamlit searches all objects after every run, which took longer than the run itself.
    """
    gc.collect()
    gc.freeze()


@st.fragment(key=moves.WHOLE)
def main() -> None:
    """All but the side bar, which an edit or a click need not draw anew."""
    now = state.session()
    if now.side_shows != now.side():  # undo and reset reach the side bar too
        st.rerun()
    trace = replace(now.trace, columns_first=state.view().transposed)
    heads: list[int] = []
    tables: list[editors.Grid] = []
    hall = state.presenting()
    with st.container(key="hall" if hall else "page"):
        with st.container(
            horizontal=True, key="toolbar", vertical_alignment="center", gap="xsmall"
        ):
            style(PROJECTOR_CSS if hall else "")
            if not hall:
                heads, tables = tools(trace)
        answer = st.container(
            horizontal=True, key="answer", vertical_alignment="center", gap="xsmall"
        )
        with st.container(horizontal=True, gap="xsmall", key="tables"):
            editors.editor_row(tables)
        now.frame_shows = moves.frame()
        shown(trace, heads, tables, answer)


@st.fragment
def shown(
    trace: Trace, heads: list[int], tables: list[editors.Grid], answer: DeltaGenerator
) -> None:
    """What a click or a step changes: the answer line, the pictures, the arithmetic.

    Args:
        trace: the computation.
        heads: those that are shown.
        tables: those that stand above.
        answer: where the answer line stands, above the tables.
    """
    now, hall = state.session(), state.presenting()
    if now.frame_shows != moves.frame():
        st.rerun()
    explores = state.setting("view") == EXPLORE and not hall
    if hall:
        present(trace)
    else:
        with answer:
            answer_line(trace)
            readings(trace, heads)
            warning = NORMALISERS[trace.values.config.normaliser].warning
            if warning:
                st.html(line("warning", warning))
            if explores:
                editors.outline(tables, marks(trace))
        VIEWS[state.setting("view")](trace, heads)
    _bridge(
        key="bridge",
        data={
            "chosen": {"key": now.chosen.key, "index": list(now.chosen.index)},
            "room": now.room,
            "marked": marked(trace) if explores else None,
        },
        on_cell_change=moves.clicked,
        on_room_change=moves.measured,
        on_paste_change=grids.pasted,
    )
    state.keep_address()


def tools(trace: Trace) -> tuple[list[int], list[editors.Grid]]:
    """Views, heads and buttons; gives the heads and the tables that are shown."""
    view = st.segmented_control(
        "View",
        list(VIEWS),
        key=state.once("view", EXPLORE),
        label_visibility="collapsed",
        required=True,
    )
    draw = VIEWS[str(view)]
    heads, tables = choose_heads(trace, one=draw is step_by_step), []
    if draw in WITH_TABLES:
        tables = editors.shown(trace, choose_table_head(trace, heads))
        editors.paste_box(tables)
    history_buttons()
    return heads, tables


def style(more: str = "") -> None:
    """The looks of the page."""
    st.html(f"<style>{variables()}{CSS}{more}</style>")


def variables() -> str:
    """The inks of the pictures as CSS variables, so that a colour is written down once."""
    now = state.session()
    ink = vars(inks(state.view().dark))
    colors = {**ink, "last-good": ink["changed"] if now.problem else "transparent"}
    return ":root {" + "".join(f"--ink-{name}: {color};" for name, color in colors.items()) + "}"


def history_buttons() -> None:
    """Undo, redo, reset, present."""
    now = state.session()
    for label, icon, stack, keys, command in (
        ("Undo", ":material/undo:", now.past or now.waiting, "Ctrl+Z", state.undo),
        ("Redo", ":material/redo:", now.future, "Ctrl+Shift+Z", state.redo),
    ):
        st.button(
            label,
            icon=icon,
            disabled=not stack,
            on_click=command,
            key=label.lower(),
            help=f"{label} ({keys})",
        )
    st.button(
        "Reset",
        icon=":material/restart_alt:",
        key="reset",
        help="Reset: back to the example as it opens; undo brings your state back.",
        on_click=state.open_preset,
        args=(now.scenario.preset,),
    )
    st.button(
        "Present",
        key="present",
        help="One step at a time, large, for the projector; Esc leaves.",
        on_click=moves.present,
        args=(True,),
    )


def answer_line(trace: Trace) -> None:
    """The one line that never scrolls away: what was refused, or the chosen cell in words."""
    now = state.session()
    if now.problem:
        kind = "hint" if now.hint else "problem"
        said = line(f"answer {kind}", f"{now.problem} {LAST_GOOD}")
    else:
        head, *_ = place(now.chosen)
        where = "" if head is None else f"{trace.labels(now.chosen.key)[0][head]}: "
        sentence = trace.sentence(now.chosen.key, *place(now.chosen), state.view().decimals)
        notes = [span("note", note) for note in now.notes]
        said = row("answer", span("said", where + sentence), *notes)
    st.html(said)
    if now.transposable is not None:
        st.button(
            "Transpose the pasted table",
            key="transpose",
            on_click=grids.transpose_table,
            args=now.transposable,
        )
    choose_token(trace)
