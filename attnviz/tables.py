"""Arrays as tables that a person edits: to frames of text, and back from what was typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from attnviz.core.arrays import Array
from attnviz.core.errors import AttnvizError, FormatError, NumberError, ShapeError
from attnviz.core.numbers import number_text
from attnviz.parsing import Block, has_thousands, parse_block, parse_number

Cells = dict[tuple[int, int], float]


def to_frame(array: Array, rows: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """(row, column) -> a frame of texts with every digit; all labels must differ."""
    texts = [[number_text(value) for value in row] for row in array]
    return pd.DataFrame(texts, index=list(rows), columns=list(columns), dtype="str")


@dataclass(frozen=True)
class EditResult:
    """What came of an edit.

    Args:
        cells: the new numbers by (row, column).
        problems: a sentence for each cell that was refused; it keeps its old value.
        notes: a sentence for each decision that reading took.
        transposable: whether a square block was taken as it stood and might be meant otherwise.
    """

    cells: Cells = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    transposable: bool = False


def place_block(
    block: Block, shape: tuple[int, int], at: tuple[int, int], title: str, transpose: bool = False
) -> EditResult:
    """A pasted table into a table, from a cell rightwards and downwards; all of it or nothing.

    A block that fits only the other way round is transposed, with a note.

    Raises:
        ShapeError: it does not fit; the sentence names both sizes.
    """
    values, notes = block.values, [f"{title}: {note}." for note in block.notes]
    room = (shape[0] - at[0], shape[1] - at[1])

    def fits(size: tuple[int, ...]) -> bool:
        return size[0] <= room[0] and size[1] <= room[1]

    other = values.shape[::-1]
    if transpose:
        values = values.T
    elif values.shape != shape and other == shape and at == (0, 0):
        values = values.T
        notes.append(f"{title}: the pasted table is {other[1]} × {other[0]}, so it was transposed.")
    if not fits(values.shape):
        where = f"{title}, from row {at[0] + 1}, column {at[1] + 1}"
        raise ShapeError(
            "the pasted table does not fit",
            where=where,
            expected=f"at most {room[0]} × {room[1]}",
            got=f"{values.shape[0]} × {values.shape[1]}",
            hint="Nothing was changed.",
        )
    cells = {(at[0] + r, at[1] + c): float(values[r, c]) for r, c in np.ndindex(*values.shape)}
    square = values.shape == shape and shape[0] == shape[1] and shape[0] > 1
    return EditResult(cells, notes=tuple(notes), transposable=square and not transpose)


def apply_edits(
    array: Array,
    edited_rows: Mapping[int | str, Mapping[str, Any]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
) -> EditResult:
    """What a table editor reports -> new numbers, refusals and notes.

    Args:
        array: the table before the edit, (row, column).
        edited_rows: row position -> column name -> the text typed, None for a deleted cell.
        rows, columns: the labels of the table.
        title: how the table is called in a sentence.
    """
    typed = {
        (int(row), list(columns).index(str(name))): "" if text is None else str(text)
        for row, cells in edited_rows.items()
        for name, text in cells.items()
        if str(name) in columns
    }
    pasted = _pasted_block(typed, array.shape, title)
    if pasted is not None:
        return pasted
    done: Cells = {}
    problems, notes = [], []
    for (r, c), text in sorted(typed.items()):
        where = f"{title}, row {rows[r]}, column {columns[c]}"
        try:
            parsed = parse_number(text)
        except NumberError as error:
            kept = f"The old value {number_text(array[r, c])} stays."
            problems.append(f"{where}: {error.message}. {kept} {error.hint}")
        else:
            done[r, c] = parsed.value
            if parsed.note:
                notes.append(f"{where}: {parsed.note}.")
    return EditResult(done, tuple(problems), tuple(notes))


def _pasted_block(
    typed: dict[tuple[int, int], str], shape: tuple[int, ...], title: str
) -> EditResult | None:
    """A table pasted as text: in one cell, or its lines down one column."""
    columns = {c for _, c in typed}
    if len(columns) != 1 or not any(_looks_like_block(text) for text in typed.values()):
        return None
    at = min(typed)
    lines = [typed[key] for key in sorted(typed)]
    if [r for r, _ in sorted(typed)] != list(range(at[0], at[0] + len(lines))):
        return None
    try:
        block = parse_block("\n".join(lines))
        return place_block(block, (shape[0], shape[1]), at, title)
    except AttnvizError as error:
        where = "" if title in str(error) else f"{title}: "
        kept = "" if "Nothing was changed" in str(error) else " Nothing was changed."
        return EditResult(problems=(f"{where}{error}{kept}",))


def _looks_like_block(text: str) -> bool:
    """Whether a cell's text is more than one number."""
    if has_thousands(text):
        return False
    try:
        parse_number(text)
    except NumberError:
        try:
            return parse_block(text).values.size > 1
        except FormatError:
            return text.count("[") > 0
        except NumberError:
            return False
    return False
