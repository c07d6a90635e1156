"""Arrays as tables that a person edits: to frames of text, and back from what was typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from attnviz.core.arrays import Array
from attnviz.core.errors import AttnvizError, NumberError, ShapeError
from attnviz.core.numbers import number_text, parse_number
from attnviz.parsing import Block, parse_block

Cells = dict[tuple[int, int], float]
MAX_SENTENCES = 5  # about single cells; with more, the rest is counted


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

    A block that is the whole table the other way round is transposed, with a note.

    Args:
        block: what was pasted.
        shape: rows and columns of the table.
        at: the cell of the table where the block's first number goes.
        title: how the table is called in a sentence.
        transpose: whether rows and columns of the block are exchanged first.

    Raises:
        ShapeError: it does not fit; the sentence names both sizes.
    """
    values, notes = block.values, [f"{title}: {note}." for note in block.notes]
    if transpose:
        values = values.T
    elif values.shape != shape and values.shape[::-1] == shape and at == (0, 0):
        notes.append(f"{title}: the pasted table is {_size(values.shape)}, so it was transposed.")
        values = values.T
    room = (shape[0] - at[0], shape[1] - at[1])
    if values.shape[0] > room[0] or values.shape[1] > room[1]:
        raise ShapeError(
            f"the pasted table does not fit from row {at[0] + 1}, column {at[1] + 1} on",
            expected=f"at most {_size(room)}",
            got=_size(values.shape),
            hint="Nothing was changed.",
        )
    cells = {(at[0] + r, at[1] + c): float(values[r, c]) for r, c in np.ndindex(*values.shape)}
    if len(cells) < shape[0] * shape[1]:
        notes.append(f"{title}: {len(cells)} of {shape[0] * shape[1]} cells were filled.")
    square = values.shape == shape and shape[0] == shape[1] and shape[0] > 1
    return EditResult(cells, notes=tuple(notes), transposable=square and not transpose)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} × {shape[1]}"


def apply_edits(
    array: Array,
    edited_rows: Mapping[int | str, Mapping[str, Any]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
) -> EditResult:
    """What a table editor reports -> new numbers, refusals and notes.

    A table pasted as text into one cell, or line by line down one column (as a grid takes the
    clipboard), fills the table from there; see `place_block`.

    Args:
        array: the table before the edit, (row, column).
        edited_rows: row position -> column name -> the text typed, None for a deleted cell.
        rows, columns: the labels of the table.
        title: how the table is called in a sentence.
    """
    place = {str(name): c for c, name in enumerate(columns)}
    typed = {
        (int(row), place[str(name)]): "" if text is None else str(text)
        for row, cells in edited_rows.items()
        for name, text in cells.items()
        if str(name) in place and 0 <= int(row) < len(rows)
    }
    if _is_pasted(typed):
        at, text = min(typed), "\n".join(typed[key] for key in sorted(typed))
        try:
            return place_block(parse_block(text), (len(rows), len(columns)), at, title)
        except AttnvizError as error:
            kept = "" if isinstance(error, ShapeError) else " Nothing was changed."
            return EditResult(problems=(f"{_where(title, rows, columns, at)}: {error}{kept}",))
    done: Cells = {}
    problems, notes = [], []
    for (r, c), text in sorted(typed.items()):
        where = _where(title, rows, columns, (r, c))
        try:
            parsed = parse_number(text)
        except NumberError as error:
            old = number_text(array[r, c])
            problems.append(f"{where}: {error.message}; the old value {old} stays. {error.hint}")
        else:
            done[r, c] = parsed.value
            if parsed.note:
                notes.append(f"{where}: {parsed.note}.")
    return EditResult(
        done,
        _first(problems, f"{title}: {{}} more cells were refused and keep their old values."),
        _first(notes, f"{title}: {{}} more cells were read in this way."),
    )


def only_bits(
    result: EditResult, array: Array, rows: Sequence[str], columns: Sequence[str], title: str
) -> EditResult:
    """The same for a table of 1 (may attend) and 0 (hidden): other numbers are refused."""
    bits = {at: value for at, value in result.cells.items() if value in (0, 1)}
    problems = [
        f"{_where(title, rows, columns, at)}: {number_text(result.cells[at])} is neither 1 "
        f"(may attend) nor 0 (hidden); the old value {number_text(array[at])} stays."
        for at in sorted(result.cells.keys() - bits.keys())
    ]
    rest = f"{title}: {{}} more cells were refused and keep their old values."
    return replace(result, cells=bits, problems=result.problems + _first(problems, rest))


def _where(title: str, rows: Sequence[str], columns: Sequence[str], at: tuple[int, int]) -> str:
    return f"{title}, row {rows[at[0]]}, column {columns[at[1]]}"


def _first(sentences: list[str], rest: str) -> tuple[str, ...]:
    if len(sentences) <= MAX_SENTENCES + 1:
        return tuple(sentences)
    return (*sentences[:MAX_SENTENCES], rest.format(len(sentences) - MAX_SENTENCES))


def _is_pasted(typed: Mapping[tuple[int, int], str]) -> bool:
    """Whether cells hold a table pasted as text: in one cell, or its lines down one column."""
    if len({c for _, c in typed}) != 1:
        return False
    places = sorted(r for r, _ in typed)
    return places[-1] - places[0] + 1 == len(places) and any(
        _looks_like_block(text) for text in typed.values()
    )


def _looks_like_block(text: str) -> bool:
    """Whether a cell's text is more than one number, or a line of such a table."""
    if any(sign in text.strip(" \r\n") for sign in ("[", "\\begin{", "\t", "\n")):
        return True
    try:
        return parse_block(text).values.size > 1
    except AttnvizError:
        return False
