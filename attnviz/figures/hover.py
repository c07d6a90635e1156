"""What a cell says when it is pointed at: a sentence, and in small pictures its arithmetic."""

import re
from typing import Any

from numpy.typing import NDArray

from attnviz.core.digits import lines
from attnviz.core.expr import Cell
from attnviz.core.numbers import format_number
from attnviz.core.op import Index
from attnviz.core.ops import Given
from attnviz.core.stages import Stage
from attnviz.core.trace import Trace
from attnviz.figures.labels import escape, wrapped

MAX_STEPS = 2  # the last ones; the whole way is written where the cell is explained
MAX_STEP = 44  # letters; a longer step is left out where another follows
MAX_TERMS = 6  # of a sum; longer ones show their largest
MIN_DECIMALS = 4
Rows = list[list[str]]


class _Unnamed:
    """Calls cells nothing, which spares writing names that a hover does not show."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.values = trace, trace.values
        self.arrays: dict[str, NDArray[Any]] = {}

    def cell(self, names: str, index: Index) -> Cell:
        if names not in self.arrays:
            self.arrays[names] = self.values[names]
        return Cell(names, index, float(self.arrays[names][index]))

    def at(self, names: str, index: Index) -> tuple[str, str]:
        return "", ""

    of_head = row = column = at

    def labels(self, names: str) -> tuple[tuple[str, ...], ...]:
        return self.trace.labels(names)


def texts(
    trace: Trace, stage: Stage, head: int | None, shape: tuple[int, ...], decimals: int | None
) -> Rows:
    """(rows, columns) -> for each cell a sentence with its number, and the arithmetic of it."""
    names = _Unnamed(trace)
    shown = None if decimals is None else max(decimals, MIN_DECIMALS)

    def text(row: int, column: int) -> str:
        if isinstance(stage.op, Given):
            return wrapped(trace.sentence(stage.key, head, row, column, None))
        sentence = wrapped(trace.sentence(stage.key, head, row, column, shown))
        index = (row, column) if head is None else (head, row, column)
        exprs = stage.op.explain(names, index).exprs[-MAX_STEPS:]
        steps = lines(exprs, shown, limit=MAX_TERMS)
        short = [step for step in steps[:-1] if len(step) <= MAX_STEP] + steps[-1:]
        return f"{sentence}<br>= {wrapped(' = '.join(short))}" if short else sentence

    return [[text(row, column) for column in range(shape[1])] for row in range(shape[0])]


def template(
    stage: Stage, head: str, number: str | None, transposed: bool, value: float = 0.0
) -> str:
    """The same sentence for all cells of a large picture; Plotly fills in names and number.

    Args:
        stage: what is shown.
        head: the head in words.
        number: how Plotly writes the number, or None to write `value` instead.
        transposed: whether columns are the rows of the array.
        value: a number that all cells have.
    """
    said = f"%{{z:{number}}}" if number else format_number(value, None)
    row, column = ("%{x}", "%{y}") if transposed else ("%{y}", "%{x}")
    words = {"head": escape(head), "row": row, "col": column, "value": said}
    words["title"] = escape(stage.title)
    parts = re.split(r"\{(\w+)\}", stage.says)
    text = "".join(words[part] if i % 2 else escape(part) for i, part in enumerate(parts))
    return f"{text}<extra></extra>"
