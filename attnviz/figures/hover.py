"""What a cell says when it is pointed at: a sentence, and in small pictures its arithmetic."""

import re

from attnviz.core.bare import Bare
from attnviz.core.digits import lines
from attnviz.core.numbers import format_number
from attnviz.core.ops import Given
from attnviz.core.stages import Stage
from attnviz.core.trace import Trace
from attnviz.figures.labels import escape, wrapped

MAX_STEPS = 2  # the last ones; the whole way is written where the cell is explained
MAX_STEP = 44  # letters; a longer step is left out where another follows
MAX_TERMS = 6  # of a sum; longer ones show their largest
MIN_DECIMALS = 4
Rows = list[list[str]]


def texts(
    trace: Trace, stage: Stage, head: int | None, shape: tuple[int, ...], decimals: int | None
) -> Rows:
    """(rows, columns) -> for each cell a sentence with its number, and the arithmetic of it."""
    names = Bare(trace)
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
