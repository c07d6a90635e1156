"""The rows of a pasted text before its items are read, and the refusals all forms share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.core.errors import FormatError, NumberError
from attnviz.core.numbers import BLANKS, parse_number, quoted

PLACE = "pasted table"
LEFT_OUT = re.compile(r"\.\.\.|[…⋮⋯⋱]|\\[cdlv]?dots")
CUT_OFF = "A grid cuts off lines below its last row; “Paste a table” takes them all."


@dataclass(frozen=True)
class Row:
    """The items of one row, and how to call it in a sentence: line 3."""

    place: str
    items: list[str]


def left_out() -> FormatError:
    """The refusal of a print that was shortened."""
    return FormatError(
        "values are left out (…)",
        where=PLACE,
        hint="Print the whole table first, in NumPy with np.set_printoptions(threshold=10**9).",
    )


def besides(text: str) -> FormatError:
    """The refusal of a text beside the numbers, which may be arithmetic such as a factor."""
    if LEFT_OUT.search(text):
        return left_out()
    return FormatError(
        f"“{quoted(text)}” stands beside the numbers",
        where=PLACE,
        hint="Paste one table, and nothing else.",
    )


def count_text(items: Sequence[str]) -> str:
    """How many numbers a row has, in words."""
    return "1 number" if len(items) == 1 else f"{len(items)} numbers"


def tidy(line: str) -> str:
    """One blank where there were several, none around the stroke of a fraction."""
    return " ".join(line.strip(BLANKS).split()).replace(" /", "/").replace("/ ", "/")


def is_number(item: str) -> bool:
    """Whether a text is one number that can be read."""
    try:
        parse_number(item)
    except NumberError:
        return False
    return True
