"""Links: what is set, as an address that opens it again."""

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from attnviz.files import store
from attnviz.files.link import preview
from attnviz.ui import address, state
from attnviz.ui.parts import line

PRESENT = "Present"


def link_box() -> None:
    """A link to the page as it is shown, in the tool bar."""
    popover = st.popover(
        "Link", icon=":material/link:", key="link", help="A link to this page.", on_change="rerun"
    )
    if popover.open:
        with popover:
            view = PRESENT if state.presenting() else str(state.setting("view"))
            _link(view, state.address_parts())


def share() -> None:
    """A link to a view that is chosen."""
    st.html(line("section", "Link"))
    opens = st.segmented_control(
        "It opens",
        [*address.SETTINGS["view"][:-1], PRESENT],
        key=state.once("link_opens", "Explore"),
        required=True,
    )
    settings: dict[str, object] = {"view": "Explore", "presenting": opens == PRESENT}
    if opens != PRESENT:
        settings["view"] = str(opens)
    _link(str(opens), state.address_parts(settings))


def _link(opens: str, parts: Mapping[str, str]) -> None:
    """Say what a link opens, and show it with a button that copies it."""
    st.html(line("says", f"Opens {preview(state.session().scenario)}; {opens}"))
    base = (st.context.url or "").partition("?")[0]
    st.code(f"{base}?{urlencode(parts)}" if parts else base, language=None, wrap_lines=True)
    kept = [parts[name] for name in (address.KEPT, address.PINNED_KEPT) if name in parts]
    if kept:
        for name in kept:
            store.share(name)
        st.html(line("note", f"Too large for a link: this opens on this machine. {store.STAYS}"))
