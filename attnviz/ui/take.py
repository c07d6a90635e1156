"""Take away: files of what is shown, links, saved states, and tables from elsewhere."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from attnviz.core import AttnvizError
from attnviz.core.compare import difference
from attnviz.core.trace import Trace
from attnviz.figures import head_strip, input_keys, input_strip, joint_strip
from attnviz.files import scenario_json, to_json
from attnviz.files.exports import FORMATS_OUT, check, export
from attnviz.files.exports.table import write_difference
from attnviz.ui import state, uploads
from attnviz.ui.importer import import_tables
from attnviz.ui.parts import CAMERA, chart, line
from attnviz.ui.share import share

COLUMNS = (1, 1)
BUTTON_WIDTH = 150  # px
GAP = 24
SAVED = "attnviz-scenario.json"
MEGABYTE = 2**20  # as Streamlit counts


def take_away(trace: Trace, heads: list[int]) -> None:
    """The view of files and links."""
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        key = _stage(trace)
        for name in FORMATS_OUT:
            _download(name, trace, key)
        _difference(trace, key)
        _picture(trace, key, heads)
    with right:
        _save_and_open()
        share()
        import_tables()


def _stage(trace: Trace) -> str:
    st.html(line("section", "Files of what is shown"))
    keys = list(trace.values.arrays)
    key = state.once("taken", trace.result)
    if state.setting(key) not in keys:
        state.show(key, trace.result)
    return str(
        st.selectbox(
            "One stage or table, for the CSV and the picture",
            keys,
            format_func=lambda name: f"{trace.info(name).title} ({trace.info(name).symbol})",
            key=key,
        )
    )


def _download(name: str, trace: Trace, key: str) -> None:
    entry = FORMATS_OUT[name]
    stem = f"attnviz-{key}" if entry.one_stage else "attnviz"
    _offer(
        entry.label,
        partial(export, name, trace, state.session().scenario, key),
        entry.says,
        key=f"take_{name}",
        file_name=f"{stem}{'-torch' if name == 'torch' else ''}{entry.suffix}",
        mime=entry.mime,
        refused=_refused(check, name, trace),
    )


def _difference(trace: Trace, key: str) -> None:
    """B − A of the stage, where a state is pinned to compare with."""
    pinned = state.session().pinned
    if pinned is not None:
        _offer(
            "CSV of B − A",
            partial(write_difference, pinned[1], trace, key),
            "The stage minus that of A, the state pinned in Compare, in the form of the CSV.",
            key="take_b_a",
            file_name=f"attnviz-{key}-b-a.csv",
            mime="text/csv",
            refused=_refused(difference, pinned[1], trace, key),
        )


def _offer(
    label: str,
    data: Callable[[], bytes],
    says: str,
    *,
    key: str,
    file_name: str,
    mime: str,
    refused: str,
) -> None:
    """A button that gives a file, and what is in it or why there is none."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"row_{key}"):
        st.download_button(
            label,
            data,
            file_name=file_name,
            mime=mime,
            key=key,
            on_click="ignore",
            disabled=bool(refused),
            width=BUTTON_WIDTH,
        )
        st.html(line("refused" if refused else "says", refused or says))


def _refused(check: Callable[..., object], *what: object) -> str:
    """The sentence with which a check refuses something, empty where it does not."""
    try:
        check(*what)
    except AttnvizError as error:
        return str(error)
    return ""


def _picture(trace: Trace, key: str, heads: list[int]) -> None:
    """The strip that shows the stage, with a camera that saves it."""
    st.html(line("section", "Pictures"))
    st.segmented_control(
        "The camera saves",
        list(CAMERA),
        key="camera",
        required=True,
    )
    st.toggle(
        "A camera on every picture of every view",
        key="cameras",
        help="It shows at the picture's upper right corner while you point at it.",
    )
    view = state.view(width=state.session().room[0] // 2 - GAP)
    head = heads[0] if len(heads) == 1 else state.session().head
    if trace.has_heads(key):
        spec, name = head_strip(trace, head, view), f"head_{head}"
    elif key in input_keys(trace):
        spec, name = input_strip(trace, view), "inputs"
    else:
        spec, name = joint_strip(trace, view), "joint"
    chart(name, spec, f"The picture that shows {trace.info(key).title}", camera=True)


def _save_and_open() -> None:
    now = state.session()
    st.html(line("section", "Save and open"))
    _offer(
        "Save",
        partial(to_json, now.scenario),
        "All that is set, readable; opened again it gives the same digits.",
        key="save",
        file_name=SAVED,
        mime="application/json",
        refused=_refused(scenario_json.check_savable, now.scenario),
    )
    st.file_uploader(
        "Open a saved file",
        max_upload_size=scenario_json.MAX_BYTES // MEGABYTE,
        key=f"open_{now.uploads}",
        on_change=uploads.open_file,
        args=(f"open_{now.uploads}",),
    )
