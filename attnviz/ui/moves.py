"""What a person looks at: cells, steps, heads, words; nothing is computed anew."""

from collections.abc import Callable

import streamlit as st

from attnviz.core.expr import Cell
from attnviz.ui import state
from attnviz.ui.session import heads_of, opening_cell

TOOLS, BODY = "tools", "body"  # the fragments of the page; within the body is what a move changes
MIN_WIDTH, MAX_WIDTH = 600, 1900  # px that pictures are laid out for; beyond, they stretch
MIN_HEIGHT, MAX_HEIGHT = 400, 4000


def in_tools() -> tuple[object, ...]:
    """What the tool bar shows; while it stays, the rest of the page is drawn without it."""
    return state.session().tools(*map(state.setting, ("presenting", "view", "heads")))


def in_body() -> tuple[object, ...]:
    """What the tables show; while it stays, a move draws only what stands around them."""
    return (state.session().tables(), *in_tools())


def whole() -> None:
    """At the end of a callback: draw all but the side bar anew."""
    st.rerun([TOOLS, BODY])


def then_all(command: Callable[..., None], *args: object) -> None:
    """A callback of the tool bar: follow a command, and draw all but the side bar anew."""
    command(*args)
    whole()


def spread() -> None:
    """At the end of a callback of the body: draw the parts anew that it changes."""
    now = state.session()
    if now.tools_show != in_tools():
        whole()
    if now.body_shows != in_body():
        st.rerun(BODY)


def choose(cell: Cell, *, deeper: bool = False) -> None:
    """Open the arithmetic of a cell, and show its head where one is shown alone."""
    state.session().choose(cell, deeper=deeper)
    _show_own_head()


def _show_own_head() -> None:
    now, shown = state.session(), state.setting("heads")
    own = heads_of(now.trace, now.chosen)
    if shown not in (None, state.ALL_HEADS, *map(state.head_name, own)):  # None: not drawn
        state.show("heads", state.head_name(own[0]))
    spread()


def clicked() -> None:
    """Open the arithmetic of the cell that was clicked, or reached by arrow keys."""
    event = state.setting("bridge", {}).get("cell")
    if event:
        choose(Cell(str(event["key"]), tuple(int(i) for i in event["index"]), 0.0))


def measured() -> None:
    """Take the room that the browser has for the pictures."""
    room = state.setting("bridge", {}).get("room")
    if room:
        width, height = map(int, room)
        state.session().room = (
            min(max(width, MIN_WIDTH), MAX_WIDTH),
            min(max(height, MIN_HEIGHT), MAX_HEIGHT),
        )
        spread()


def show_tables(head: int) -> None:
    """Show the tables of a head, with a cell of it."""
    now = state.session()
    now.choose(opening_cell(now.trace, head))
    whole()


def back_to(step: int) -> None:
    """Back along the way to an earlier cell."""
    state.session().back_to(step)
    _show_own_head()


def present(on: bool) -> None:
    """Lay the page out for a projector, or leave that; the chosen cell stays."""
    state.show("presenting", on)
    spread()


def go_to(step: int) -> None:
    """Open a step."""
    state.session().go_to(step)


def next_head() -> None:
    """Open the same place of the next head."""
    now = state.session()
    now.go_to(now.step, now.head + 1)
    spread()


def turn_to_head() -> None:
    """Open the same place of the head that was chosen."""
    now, name = state.session(), state.setting("one_head")
    now.go_to(now.step, int(name.removeprefix(state.HEAD)) - 1)
    if state.setting("heads") != state.ALL_HEADS:
        state.show("heads", name)
    whole()


def reveal() -> None:
    """Show one row more of the step's result."""
    state.session().reveal()


def fold_arithmetic() -> None:
    """Show or hide the arithmetic while presenting."""
    state.show("arithmetic", not state.setting("arithmetic", True))


def read_token() -> None:
    """Mark the rows of the token that was chosen, or of none."""
    now = state.session()
    labels, chosen = now.trace.labels("attention")[1], state.setting("token")
    now.token = labels.index(chosen) if chosen in labels else None
