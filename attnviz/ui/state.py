"""Where a visitor's session lives, and the commands that widgets of several modules call.

The only module that touches `st.session_state` and the address bar.
"""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

import streamlit as st

from attnviz.core import PRESETS, AttnvizError, Scenario, edit, run
from attnviz.figures import View
from attnviz.files.picture import read_picture
from attnviz.ui import address
from attnviz.ui.held import Draft
from attnviz.ui.inputs import HELD, holds, set_variant
from attnviz.ui.session import Session, heads_of, opening_cell, roomy

Change = Callable[[Scenario], edit.Change]
ALL_HEADS, HEAD = "all heads", "head "
TEXTS = {"text": edit.set_text, "context_text": edit.set_context}
ADDRESS = "address"  # where what was asked for is no change of the picture
ON_ITS_WAY = 0.6  # seconds that a new address may take to the browser


def session() -> Session:
    """This visitor's session; a new one shows what its address asks for."""
    if "attnviz" not in st.session_state:
        st.session_state["attnviz"] = Session.new()
        _open_address(st.query_params.to_dict())
    current: Session = st.session_state["attnviz"]
    return current


# The address bar: what a refresh, the back button and a link bring back.


def _open_address(parts: dict[str, str], take: bool = False) -> None:
    """Show what an address asks for; `take` makes it a change that can be undone."""
    now, opened = session(), address.read(parts)
    problem = opened.problem
    try:
        pinned = None if opened.pinned is None else (opened.pinned, run(opened.pinned))
        if opened.scenario is not None and take:
            now.take((opened.scenario, ""))
        elif opened.scenario is not None:
            now.show(opened.scenario, run(opened.scenario))
    except AttnvizError as error:
        problem, opened.scenario = f"This address cannot be opened: {error}", None
    for name, value in opened.settings.items():
        if take or value != address.SETTINGS[name][0]:
            show(name, value)
    if opened.scenario is not None:
        now.pinned = pinned
        now.linked_pinned = pinned and (pinned[0], opened.pinned_parts)
        problem = f"{problem} {_open_place(opened)}".strip()
    now.refused, now.refused_at = problem, "" if take and not opened.scenario else ADDRESS


def _open_place(opened: address.Opened) -> str:
    now = session()
    now.linked = (now.scenario, opened.parts)
    missing = address.go_to(now, opened)
    st.session_state.pop("roomy", None)
    own = heads_of(now.trace, now.chosen)
    asked = int(opened.heads) - 1 if opened.heads.isdigit() else 0
    if opened.heads == address.ALL:
        show("heads", ALL_HEADS)
    elif opened.heads or not roomy(now.trace):
        show("heads", head_name(own[0] if opened.cell and asked not in own else asked))
    else:
        st.session_state.pop("heads", None)
    return missing


def keep_address() -> None:
    """Write what has changed into the address bar; what was opened stays as it was written."""
    now = session()
    parts = address_parts()
    if now.address is not None and parts != now.shown_as:
        others = st.query_params.to_dict().items() - _own_parts().items()
        st.query_params.from_dict({**dict(others), **parts})
        now.addressed_at = monotonic()
        now.address = parts
    elif now.address is None:
        now.address = _own_parts()
    now.shown_as = parts


def address_parts(settings: Mapping[str, object] | None = None) -> dict[str, str]:
    """The address of what is shown, or of the same with other settings."""
    heads, usual = setting("heads"), setting("usual_heads")
    shown = "" if heads in (None, usual) else str(heads).removeprefix(HEAD)
    shown = address.ALL if shown == ALL_HEADS else shown
    return address.written(session(), lambda n: (settings or {}).get(n, setting(n)), shown)


def follow_address() -> None:
    """Show what the address asks for after the browser's back or forward button.

    A change that left before the last address had arrived tells an old one, which is passed over.
    """
    now, asked = session(), _own_parts()
    if now.address in (None, asked) or monotonic() - now.addressed_at < ON_ITS_WAY:
        return
    now.quiet()
    now.draft = None
    _open_address(asked, take=True)
    now.address = None  # it stays as it is


def _own_parts() -> dict[str, str]:
    return {k: v for k, v in st.query_params.to_dict().items() if k in address.OURS}


# Widgets: each shows the session; its callback reads what was chosen.


def show(key: str, value: Any) -> str:
    """Make the widget of this key show a value, and give the key."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return key


def once(key: str, value: Any) -> str:
    """The same for a setting that only the widget holds: `value` is where it starts."""
    if key not in st.session_state:
        st.session_state[key] = value
    else:
        st.session_state[key] = st.session_state[key]  # keeps it while its widget is not drawn
    return key


def setting(key: str, default: Any = None) -> Any:
    """What a widget holds."""
    return st.session_state.get(key, default)


def view(**more: Any) -> View:
    """How pictures are drawn, from the widgets and the page's theme."""
    decimals = setting("decimals", "2")
    chosen: dict[str, Any] = {
        "decimals": None if decimals == "all" else int(decimals),
        "palette": setting("palette", View.palette),
        "tokens_as": setting("tokens_as", "rows"),
        "dark": st.context.theme.type == "dark",
        "width": session().room[0],
    }
    return View(**chosen | more)


# Commands.


def change(how: Change, at: str = "") -> None:
    """Replace the scenario by what `how` makes of it, or say why not and keep the old one.

    Args:
        how: makes another scenario of the present one.
        at: the widget of the side bar that asks for it.
    """
    now = session()
    now.quiet()
    try:
        now.take(how(now.scenario))
    except AttnvizError as error:
        now.refused, now.refused_at = str(error), at


def undo() -> None:
    """Back to before the last change."""
    session().undo()


def redo() -> None:
    """Forward again."""
    session().redo()


def open_preset(name: str) -> None:
    """Begin an example anew."""
    change(lambda _: (PRESETS[name], ""))
    now = session()
    now.chosen, now.trail, now.draft = opening_cell(now.trace), (), None
    now.opened = frozenset()


def set_text(text: str, field: str = "text") -> None:
    """Take a new text of a field; a refused one stays there, with the reason."""
    now = session()
    now.quiet()
    try:
        now.take(TEXTS[field](now.scenario, text))
        if now.draft is not None and now.draft.field == field:
            now.draft = None
    except AttnvizError as error:
        now.draft, now.draft_is_last = Draft(text, error, field), True


def take_picture(key: str) -> None:
    """Take an uploaded picture; what cannot be used leaves the old one."""
    file = setting(key)
    if file is not None:
        change(lambda s: edit.set_picture(s, read_picture(file.getvalue(), file.name)))
        session().begin_anew("picture")


def text_of(field: str) -> str:
    """What a text's field shows: the text in use, or what was refused."""
    now = session()
    if now.draft is not None and now.draft.field == field:
        return now.draft.text
    return str(getattr(now.scenario, field))


def cut_text() -> None:
    """Take as much of a refused text as is allowed."""
    now = session()
    if now.draft is not None:
        limit = edit.token_limit(now.scenario)
        text = edit.first_tokens(now.draft.text, now.scenario.tokenizer, limit)
        set_text(text, now.draft.field)


def choose_variant(name: str) -> None:
    """Take what was chosen or typed for a field of `Config`."""
    key = f"variant_{name}"
    change(lambda s: set_variant(s, name, setting(key)), key)


def switch(table: str) -> None:
    """Turn a table of `OPTIONAL` on or off; one in which nothing is set is opened or closed."""
    now, on = session(), bool(setting(f"variant_{table}"))
    if table in HELD:
        now.opened = now.opened | {table} if on else now.opened - {table}
    if on or holds(now.scenario, table):
        change(lambda s: edit.switch(s, table, on), f"variant_{table}")


def pad() -> None:
    """Hide the chosen keys from every query."""
    change(lambda s: edit.set_padding(s, setting("padding")))


def cross() -> None:
    """Begin with a second text, which is the first one's at first, or leave it."""
    on = bool(setting("crossed"))
    change(lambda s: edit.set_context(s, s.text if on else None))
    now = session()
    if now.draft is not None and now.draft.field == "context_text":
        now.draft = None


def head_name(head: int) -> str:
    """What a head is called in the choice of heads."""
    return f"{HEAD}{head + 1}"


def presenting() -> bool:
    """Whether the page is laid out for a projector."""
    return bool(setting("presenting", False))
