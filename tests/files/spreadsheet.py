"""A small reader of spreadsheets that computes their formulas, for the tests."""

import io
import math
import re
from collections.abc import Iterator
from typing import Any

import openpyxl
from openpyxl.utils import range_boundaries

_PART = re.compile(
    r"""(?P<text>"[^"]*")|'(?P<sheet>[^']*)'!(?P<cells>[A-Z]+\d+(?::[A-Z]+\d+)?)"""
    r"""|(?P<name>[A-Z]+)\(|(?P<number>\d+\.?\d*(?:E[+-]?\d+)?)|(?P<sign>>=|[-+*/(),])"""
)


class Text(str):
    """A text in a cell, with which nothing can be computed."""

    def _wrong(self, *others: Any) -> "Text":
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _wrong  # type: ignore
    __truediv__ = __rtruediv__ = __neg__ = _wrong

    def __ge__(self, other: object) -> bool:
        return True  # every text is more than any number


class Total(float):
    """A sum, by which nothing can be divided where it is 0."""

    def __rtruediv__(self, other: Any) -> Any:
        return Text("#DIV/0!") if self == 0 else other / float(self)


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


def _numbers(*values: Any) -> list[float]:
    """Functions of lists pass over texts."""
    return [v for v in _flat(values) if not isinstance(v, Text)]


def _of_number(function: Any) -> Any:
    return lambda x: x if isinstance(x, Text) else function(x)


FUNCTIONS = {
    "SUM": lambda *v: Total(math.fsum(_numbers(*v))),
    "MAX": lambda *v: max(_numbers(*v), default=0),
    "MIN": lambda *v: min(_numbers(*v), default=0),
    "COUNT": lambda *v: len(_numbers(*v)),
    "LARGE": lambda v, k: sorted(_numbers(v))[-k] if 0 < k <= len(_numbers(v)) else Text("#NUM!"),
    "SUMPRODUCT": lambda a, b: math.fsum(
        x * y for x, y in zip(_flat(a), _flat(b), strict=True) if Text not in (type(x), type(y))
    ),
    "MMULT": lambda a, b: [[math.fsum(x * y[0] for x, y in zip(a[0], b, strict=True))]],
    "IF": lambda asked, yes, no: yes if asked else no,
    "AND": lambda *v: all(_flat(v)),
    "ISNUMBER": lambda v: not isinstance(v, Text | bool),
    **{name.upper(): _of_number(getattr(math, name)) for name in ("exp", "tanh", "sin", "cos")},
}


class Book:
    """A workbook whose cells are computed when they are asked for, whatever was stored."""

    def __init__(self, data: bytes) -> None:
        self.book = openpyxl.load_workbook(io.BytesIO(data))
        self.stored = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
        self.known: dict[tuple[str, int, int], Any] = {}
        self.formulas = 0

    def cell(self, sheet: str, row: int, column: int) -> Any:
        at = (sheet, row, column)
        if at not in self.known:
            cell = self.book[sheet].cell(row, column)
            value = cell.value
            if cell.data_type == "f":
                self.formulas += 1
                value = self._computed(value[1:])
            self.known[at] = Text(value) if isinstance(value, str) else value
        return self.known[at]

    def _range(self, sheet: str, cells: str) -> Any:
        left, top, right, bottom = range_boundaries(cells)
        assert None not in (left, top, right, bottom)
        rows = [
            [self.cell(sheet, r, c) for c in range(int(left or 0), int(right or 0) + 1)]
            for r in range(int(top or 0), int(bottom or 0) + 1)
        ]
        return rows if ":" in cells else rows[0][0]

    def _computed(self, formula: str) -> Any:
        """Parts of a formula -> Python made of nothing but these parts, then evaluated."""
        python, at, values = [], 0, []
        while at < len(formula):
            part = _PART.match(formula, at)
            assert part, formula[at:]
            at = part.end()
            if part["name"]:
                python.append(f"FUNCTIONS[{part['name']!r}](")
            elif part["sheet"]:
                values.append(self._range(part["sheet"], part["cells"]))
                python.append(f"values[{len(values) - 1}]")
            elif part["text"]:
                values.append(Text(part["text"][1:-1]))
                python.append(f"values[{len(values) - 1}]")
            else:
                python.append(part[0])
        return eval("".join(python), {"FUNCTIONS": FUNCTIONS, "values": values})
