"""The tables that a person edits: text cells, read by our own parser."""

import html

import streamlit as st

from attnviz.core.stages import TABLES
from attnviz.core.trace import Trace
from attnviz.tables import to_frame
from attnviz.ui import state
from attnviz.ui.parts import escape_label

ROW_HEIGHT = 28
HEADER_HEIGHT = 36
MAX_ROWS_SHOWN = 6


def table_title(trace: Trace, table: str, head: int | None) -> str:
    """How a table is called in a sentence: 'W_Q head 1'."""
    symbol = trace.info(table).symbol
    return symbol if head is None else f"{symbol} head {head + 1}"


def editor_row(trace: Trace, head: int, tables: list[str]) -> None:
    """All tables of one head side by side, each with its paste box."""
    columns_first = state.setting("tokens_as") == "columns"
    widths = [_units(trace, table, columns_first) for table in tables]
    for table, column in zip(tables, st.columns(widths, gap="small"), strict=True):
        with column:
            own_head = None if trace[table].ndim == 2 else _own_head(trace, table, head)
            _editor(trace, table, own_head, columns_first)


def _own_head(trace: Trace, table: str, head: int) -> int:
    n_heads = len(trace["attention"])
    return head // (n_heads // len(trace[table]))


def _units(trace: Trace, table: str, columns_first: bool) -> float:
    labels = trace.labels(table)
    rows, columns = (labels[-1], labels[-2]) if columns_first else (labels[-2], labels[-1])
    widest = max(len(label) for label in rows)
    return max(3.4, 0.5 + min(widest, 10) * 0.16 + min(len(columns), 8))


def _editor(trace: Trace, table: str, head: int | None, columns_first: bool) -> None:
    now = state.session()
    title = table_title(trace, table, head)
    array, rows, columns = state.table_parts(now, table, head, columns_first)
    frame = to_frame(array, rows, columns)
    name = f"edit_{table}" + ("" if head is None else f"_{head}")
    revision = f"{now.revision}_{now.table_revisions.get(table, 0)}"
    key = f"{name}_{revision}"
    axes = trace.axes(table)[-2:]
    words = " × ".join("head·d_v" if axis == "concat" else axis for axis in axes)
    if columns_first:
        title += "ᵀ"
        words = " × ".join(reversed(words.split(" × ")))
    with st.container(key=f"box_{name}", gap=None):
        st.html(
            f'<div class="table-title"><b>{html.escape(title)}</b> '
            f"<span>{html.escape(words)}</span></div>"
        )
        st.data_editor(
            frame,
            key=key,
            width="stretch",
            height=HEADER_HEIGHT + min(len(rows), MAX_ROWS_SHOWN) * ROW_HEIGHT + 2,
            row_height=ROW_HEIGHT,
            num_rows="fixed",
            column_config={
                column: st.column_config.TextColumn(escape_label(column), width=46)
                for column in columns
            },
            alt=f"Table {title}, {words}",
            on_change=state.edit_table,
            args=(key, table, head, title, columns_first),
        )


def paste_box(trace: Trace, head: int, tables: list[str]) -> None:
    """A place to paste a whole table as text, from a spreadsheet, NumPy, MATLAB or LaTeX."""
    columns_first = state.setting("tokens_as") == "columns"
    names = {TABLES[t].symbol if t in TABLES else "X": t for t in tables}
    with st.popover("Paste a table", icon=":material/content_paste:"):
        symbol = st.selectbox("Table", list(names), key=state.once("paste_table", "W_Q"))
        table = names.get(symbol, tables[0])
        own_head = None if trace[table].ndim == 2 else _own_head(trace, table, head)
        title = table_title(trace, table, own_head)
        st.text_area(
            f"Numbers for {title}",
            key=state.once("paste_text", ""),
            height=160,
            placeholder="From a spreadsheet, NumPy, Python, MATLAB or LaTeX",
        )
        for label, transpose in (("Put in", False), ("Put in transposed", True)):
            st.button(
                label,
                key=f"paste_{transpose}",
                on_click=state.paste_table,
                args=("paste_text", table, own_head, title, columns_first, transpose),
            )
