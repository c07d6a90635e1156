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
from attnviz.files.link import preview
from attnviz.ui import editors, grids, moves, state
from attnviz.ui.address import SETTINGS, UNSEEN
from attnviz.ui.compare import compare
from attnviz.ui.explore import explore
from attnviz.ui.glance import glance
from attnviz.ui.heads import choose_heads, choose_table_head, choose_token, readings
from attnviz.ui.parts import line, marked, marks, row, span
from attnviz.ui.session import Session, place
from attnviz.ui.share import link_box
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
_visit = st.components.v2.component(
    "attnviz_visit", js=(HERE / "visit.js").read_text(encoding="utf-8")
)


def page() -> None:
    """Everything a visitor sees."""
    state.follow_address()
    sidebar()
    now = state.session()
    st.set_page_config(page_title=f"{preview(now.scenario)} – attnviz")
    now.side_shows = now.side()
    main()
    _visit(key="visit", data={"visit": now.visit}, on_back_change=lambda: None)
    _settle()


@cache
def _settle() -> None:
    """Spare what the imports made from being searched for garbage.

    Streamlit searches all objects after every run, which took longer than the run itself.
    """
    gc.collect()
    gc.freeze()


def main() -> None:
    """All but the side bar, in parts that are drawn anew only where they change."""
    with st.container(key="page"):
        tools()
        body()


@st.fragment(key=moves.TOOLS)
def tools() -> None:
    """The looks of the page; views, heads and buttons, unless it is laid out for a projector."""
    now, hall = state.session(), state.presenting()
    if now.side_shows != now.side():  # undo and reset reach the side bar too
        st.rerun()
    with st.container(horizontal=True, key="toolbar", vertical_alignment="center", gap="xsmall"):
        st.html(f"<style>{variables()}{CSS}{PROJECTOR_CSS if hall else ''}</style>")
        if not hall:
            _tools(seen())
    now.tools_show = moves.in_tools()


def _tools(trace: Trace) -> None:
    now = state.session()
    view = st.segmented_control(
        "View",
        list(VIEWS),
        key=state.once("view", EXPLORE),
        label_visibility="collapsed",
        required=True,
        on_change=moves.whole,
    )
    draw = VIEWS[str(view)]
    now.shown_heads = choose_heads(trace, one=draw is step_by_step)
    if draw in WITH_TABLES:
        head = choose_table_head(now.shown_heads)
        editors.paste_box(editors.shown(trace, head))
    history_buttons()


@st.fragment(key=moves.BODY)
def body() -> None:
    """The tables, and all that comes of them."""
    now, hall = state.session(), state.presenting()
    if now.side_shows != now.side() or now.tools_show != moves.in_tools():
        st.rerun()
    trace, tables = seen(), []
    answer = st.container(horizontal=True, key="answer", vertical_alignment="center", gap="xsmall")
    with st.container(horizontal=True, gap="xsmall", key="tables"):
        if not hall and VIEWS[state.setting("view")] in WITH_TABLES:
            tables = editors.shown(trace, now.table_head)
            editors.editor_row(tables)
    now.body_shows = moves.in_body()
    shown(trace, now.shown_heads, tables, answer)


def seen() -> Trace:
    """The computation, in the words of the way in which tokens are laid out."""
    return replace(state.session().trace, columns_first=state.view().transposed)


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
    if now.body_shows != moves.in_body() or now.tools_show != moves.in_tools():
        st.rerun()
    for name in UNSEEN:
        state.once(name, SETTINGS[name][0])
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
            outlines = editors.outlines(tables, marks(trace)) if explores else ""
            last_good = "var(--ink-changed)" if _last_good(now) else "transparent"
            st.html(f"<style>:root {{ --last-good: {last_good}; }} {outlines}</style>")
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


def variables() -> str:
    """The inks of the pictures as CSS variables, so that a colour is written down once."""
    ink = vars(inks(state.view().dark))
    return ":root {" + "".join(f"--ink-{name}: {color};" for name, color in ink.items()) + "}"


def _last_good(now: Session) -> str:
    """What the picture shows while there is a problem, unless it came with the address."""
    return f" {LAST_GOOD}" if now.problem and now.refused_at != state.ADDRESS else ""


def history_buttons() -> None:
    """Undo, redo, reset, link, present."""
    now = state.session()
    for label, icon, stack, keys, command in (
        ("Undo", ":material/undo:", now.past or now.waiting, "Ctrl+Z", state.undo),
        ("Redo", ":material/redo:", now.future, "Ctrl+Shift+Z", state.redo),
    ):
        st.button(
            label,
            icon=icon,
            disabled=not stack,
            on_click=moves.then_all,
            args=(command,),
            key=label.lower(),
            help=f"{label} ({keys})",
        )
    st.button(
        "Reset",
        icon=":material/restart_alt:",
        key="reset",
        help="Reset: back to the example as it opens; undo brings your state back.",
        on_click=moves.then_all,
        args=(state.open_preset, now.scenario.preset),
    )
    link_box()
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
        said = line(f"answer {kind}", f"{now.problem}{_last_good(now)}")
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
