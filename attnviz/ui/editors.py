"""The tables that a person edits: text cells, read by our own parser."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.core.arrays import Array
from attnviz.core.expr import Cell
from attnviz.core.model import HEAD_AXES
from attnviz.core.numbers import number_text
from attnviz.core.ops import head_of
from attnviz.core.stages import ROWS
from attnviz.core.trace import Trace
from attnviz.figures import Marks, operand_inks
from attnviz.figures.labels import cut, text_width
from attnviz.figures.panel import axis_word
from attnviz.tables import to_frame
from attnviz.ui import grids, moves, state
from attnviz.ui.parts import row, span

ROW_HEIGHT = 28
HEADER_HEIGHT = 36
MAX_ROWS_SHOWN, FEW_ROWS_SHOWN = 6, 3
MORE = 0.5  # a row cut in half says that there are more
LETTER, PADDING = 7, 18  # px of a letter, a cell's sides
NAME_SIZE, NAME_LETTER, ICON = 13, 8, 30  # px of names, a letter of a header, its sign of editing
MIN_COLUMN = 46
MAX_TABLE = 620  # px; a wider table scrolls
MANY_LINES, ABREAST = 2, 3  # tables that need more lines are made small, so many side by side
BETWEEN = 8  # px
MAX_GROWTH = 1.8  # of a table where there is room
SAYS = {"mask": ", 1 may attend, 0 is hidden"}


@dataclass(frozen=True)
class Grid:
    """One table as it stands on the page.

    Args:
        table, head: which table; head is None where it has none.
        title: how it is called; axes: its rows and columns in words.
        key: of its editor.
        base: the numbers that the editor is given; now: the numbers with what was typed since.
        rows, columns: the labels.
        most: px of its width, from which on it scrolls.
        n_rows: how many rows are shown.
    """

    table: str
    head: int | None
    title: str
    axes: str
    key: str
    base: Array
    now: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    most: int = MAX_TABLE
    n_rows: int = MAX_ROWS_SHOWN

    @property
    def index_width(self) -> int:
        names = [cut(label) for label in self.rows]
        return int(max(max(len(n) * LETTER, text_width(n, NAME_SIZE)) for n in names) + PADDING)

    @property
    def height(self) -> int:
        shown = len(self.rows) if len(self.rows) <= self.n_rows else self.n_rows + MORE
        return int(HEADER_HEIGHT + shown * ROW_HEIGHT + 2)

    @property
    def widths(self) -> list[int]:
        """px of each column, by its longest number and its label; no digit is hidden."""
        longest = _longest(self.now.tobytes(), self.now.shape[1])
        return [
            int(max(MIN_COLUMN, n * LETTER + PADDING, len(cut(name)) * NAME_LETTER + ICON))
            for n, name in zip(longest, self.columns, strict=True)
        ]

    @property
    def width(self) -> int:
        """px of the whole table and of what stands over it."""
        title = len(self.title + self.axes) * LETTER
        return min(max(title, self.index_width + sum(self.widths) + 4), self.most)


@lru_cache(maxsize=64)
def _longest(numbers: bytes, n_columns: int) -> tuple[int, ...]:
    """The letters of each column's longest number."""
    columns = np.frombuffer(numbers).reshape(-1, n_columns).T
    return tuple(max(len(number_text(v)) for v in column) for column in columns)


@lru_cache(maxsize=16)
def _frame(numbers: bytes, rows: tuple[str, ...], columns: tuple[str, ...]) -> pd.DataFrame:
    """What an editor is given, which stays the same from run to run; Streamlit takes a copy."""
    array = np.frombuffer(numbers).reshape(len(rows), len(columns))
    return to_frame(array, [cut(label) for label in rows], columns)


def shown(trace: Trace, head: int) -> list[Grid]:
    """All tables of one head; small where there are many, or one that has to scroll anyway."""
    columns_first = state.setting("tokens_as") == "columns"
    tables = state.session().shown_tables()
    grids = [_grid(trace, table, head, columns_first) for table in tables]
    room = state.session().room[0]
    scroll = any(grid.width == MAX_TABLE for grid in grids)
    if not scroll and sum(grid.width for grid in grids) <= MANY_LINES * room:
        return grids
    third = room // ABREAST - BETWEEN
    return [replace(grid, most=third, n_rows=FEW_ROWS_SHOWN) for grid in grids]


def _grid(trace: Trace, table: str, head: int, columns_first: bool) -> Grid:
    info, own_head = ROWS[table], None
    title = info.symbol + ("ᵀ" if columns_first else "")
    axes = list(map(axis_word, info.axes))
    if axes[0] in HEAD_AXES:
        own_head = head_of(trace[table], head, len(trace["attention"]))
        title += f" {trace.labels(table)[0][own_head]}"
        axes = axes[1:]
    name = f"edit_{table}" + ("" if own_head is None else f"_{own_head}")
    key = grids.editor(name, table, own_head, title, columns_first)
    base = state.session().editors[key].base
    now, rows, columns = grids.part(table, own_head, columns_first)
    words = " × ".join(reversed(axes) if columns_first else axes) + SAYS.get(table, "")
    return Grid(table, own_head, title, words, key, base, now, rows, columns)


def editor_row(tables: list[Grid]) -> None:
    """The tables side by side; where they do not fit, they wrap.

    Each lies below its title by rules of style; a container of its own for each would cost time.
    """
    rules = []
    for place, grid in enumerate(tables, 1):
        px = grid.width
        back = f"margin-left: {-px - BETWEEN}px"
        size = f"flex: {px} 1 {px}px; max-width: {int(px * MAX_GROWTH)}px; {back}"
        rules += [
            f".st-key-tables > :nth-child({2 * place - 1}) {{ flex: 0 0 {px}px }}",
            f".st-key-tables > :nth-child({2 * place}) {{ {size} }}",
        ]
    if tables:
        st.html(f"<style>{' '.join(rules)}</style>")
    for grid in tables:
        _editor(grid)


def outlines(tables: list[Grid], marked: Marks) -> str:
    """The rules of style that outline the marked cells in the tables."""
    return "".join(_outline(grid, marked) for grid in tables)


def _outline(grid: Grid, marked: Marks) -> str:
    """The rule that outlines a table's part of the arithmetic, where no part of it is scrolled.

    The grid is a canvas, so the place is computed: columns share equally what they are wider
    than they need.
    """
    inks = operand_inks(marked)
    start = () if grid.head is None else (grid.head,)

    def own(cell: Cell | None) -> bool:
        return cell is not None and cell.key == grid.table and cell.index[: len(start)] == start

    cells = [cell for cell in marked.operands if own(cell)]
    if own(marked.cell):
        cells = [cell for cell in (marked.cell,) if cell]
    if not cells or len(grid.rows) > grid.n_rows or grid.width >= grid.most:
        return ""
    places = [(0, *cell.index[len(start) :])[-2:] for cell in cells]
    rows, columns = (sorted(axis) for axis in zip(*places, strict=True))
    if state.setting("tokens_as") == "columns":
        rows, columns = columns, rows
    widths, spare = grid.widths, f"(100% - {grid.index_width + sum(grid.widths) + 2}px)"

    def across(first: int, last: int) -> str:
        return f"{sum(widths[first:last])}px + {spare} * {(last - first) / len(widths):.4f}"

    first, end = columns[0], columns[-1] + 1
    return (
        f".st-key-{grid.key}::after {{ left: calc({grid.index_width + 1}px + {across(0, first)}); "
        f"width: calc({across(first, end)}); top: {HEADER_HEIGHT + rows[0] * ROW_HEIGHT}px; "
        f"height: {(rows[-1] - rows[0] + 1) * ROW_HEIGHT}px; "
        f"border-color: var(--ink-{inks.get(grid.table, 'text')}); display: block; }}"
    )


def _editor(grid: Grid) -> None:
    st.html(row("table-title", span("editable", grid.title), span("axes", grid.axes)))
    st.data_editor(
        _frame(grid.base.tobytes(), grid.rows, grid.columns),
        key=grid.key,
        width="stretch",
        height=grid.height,
        row_height=ROW_HEIGHT,
        num_rows="fixed",
        column_config={
            "_index": st.column_config.Column(width=grid.index_width, disabled=True),
            **{
                name: st.column_config.TextColumn(cut(name), width=width)
                for name, width in zip(grid.columns, grid.widths, strict=True)
            },
        },
        alt=f"Table {grid.title}, {grid.axes}",
        on_change=grids.edit_table,
        args=(grid.key,),
    )


def paste_box(tables: list[Grid]) -> None:
    """A place to paste a whole table as text, from a spreadsheet, NumPy, MATLAB or LaTeX."""
    popover = st.popover(
        "Paste a table",
        icon=":material/content_paste:",
        key="paste",
        help="Paste a whole table as text.",
        on_change="rerun",
    )
    if not popover.open:
        return
    by_table = {grid.table: grid for grid in tables}
    key = state.once("paste_table", "w_q")
    if state.setting(key) not in by_table:
        state.show(key, tables[0].table)
    with popover:
        table = st.selectbox(
            "Table", list(by_table), key=key, format_func=lambda t: by_table[t].title
        )
        grid = by_table[table]
        st.text_area(
            f"Its numbers, {len(grid.rows)} × {len(grid.columns)}",
            key=state.once("paste_text", ""),
            height=160,
            placeholder="From a spreadsheet, NumPy, Python, MATLAB or LaTeX",
        )
        for label, transpose in (("Put in", False), ("Put in transposed", True)):
            st.button(
                label,
                key=f"paste_{transpose}",
                on_click=moves.then_all,
                args=(grids.paste_table, grid.key, "paste_text", transpose),
            )
