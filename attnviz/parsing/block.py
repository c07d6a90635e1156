"""Text of a table to its numbers, whatever form it was copied in."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.errors import FormatError, NumberError
from attnviz.core.numbers import BLANKS, HOW_TO_TYPE, parse_number, quoted
from attnviz.parsing.brackets import bracket_rows, is_bracketed
from attnviz.parsing.latex import latex_rows
from attnviz.parsing.lines import line_rows, without_labels
from attnviz.parsing.rows import LEFT_OUT, PLACE, Row, count_text, left_out

MAX_PASTE = 2_000_000  # characters of a text that is not from a file


@dataclass(frozen=True)
class Block:
    """A table that was read, (rows, columns), and notes where reading it took decisions."""

    values: Array
    notes: tuple[str, ...] = ()


def parse_block(text: str, separator: str = "", limit: int = MAX_PASTE) -> Block:
    r"""Text of a table -> its numbers.

    Reads cells from a spreadsheet (tabs), CSV (comma or semicolon), Markdown rows, lines of
    numbers, NumPy and torch prints, Python and JSON lists, MATLAB [1 2; 3 4] and LaTeX matrices.
    A first line or column without any number is taken as labels and left out, with a note.

    Args:
        text: the table.
        separator: what stands between the numbers of a line, where that is known.
        limit: the most characters.

    Raises:
        CommaError: a comma may stand between numbers or in one.
        FormatError: rows of different lengths, or no table; the sentence names the line.
        NumberError: an item that is no number; the sentence names line and item.
    """
    if len(text) > limit:
        raise FormatError(
            "the text is too long", where=PLACE, expected=f"at most {limit:,} letters"
        )
    notes: list[str] = []
    if r"\begin{" in text:
        rows = latex_rows(text)
    elif is_bracketed(text):
        rows = bracket_rows(text.strip(BLANKS))
    else:
        rows = without_labels(line_rows(text, separator), notes)
    if not rows:
        raise FormatError("there is no table in it", where=PLACE, hint=HOW_TO_TYPE)
    if any(LEFT_OUT.search(item) for row in rows for item in row.items):
        raise left_out()
    return Block(_values(rows, notes), tuple(notes))


def _values(rows: Sequence[Row], notes: list[str]) -> Array:
    first = rows[0]
    values = np.empty((len(rows), len(first.items)))
    comma, point, note, count = "", "", "", 0
    for i, row in enumerate(rows):
        if len(row.items) != len(first.items):
            counts = (f"{r.place} has {count_text(r.items)}" for r in (row, first))
            raise FormatError(
                ", ".join(counts),
                where=PLACE,
                hint="All rows must have the same length.",
            )
        for j, item in enumerate(row.items):
            try:
                parsed = parse_number(item)
            except NumberError as error:
                where = f"{PLACE}, {row.place}, item {j + 1}"
                raise NumberError(error.message, where=where, hint=error.hint) from error
            values[i, j] = parsed.value
            point = point or (item if "." in item else "")
            if parsed.note:
                comma, note, count = comma or item, note or parsed.note, count + 1
    if comma and point:
        raise FormatError(
            f"“{quoted(point)}” has a decimal point and “{quoted(comma)}” a comma",
            where=PLACE,
            hint="Use decimal points, and no signs between thousands.",
        )
    if note:
        notes.append(note + (f" ({count - 1} more in this way)" if count > 1 else ""))
    return values
