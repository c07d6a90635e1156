"""One matrix, resolved: everything that is drawn of it, before any Plotly."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.arrays import Array, BoolArray
from attnviz.core.numbers import format_number
from attnviz.core.ops import head_of
from attnviz.core.stages import Stage
from attnviz.core.trace import Trace
from attnviz.figures.labels import escape
from attnviz.figures.view import View

MAX_ARITHMETIC = 400  # cells of one matrix that carry their arithmetic in the hover
MAX_SENTENCES = 4096  # cells of one matrix that carry a sentence in the hover


@dataclass(frozen=True)
class Panel:
    """A matrix as it is drawn; rows and columns are those of the picture.

    Args:
        key, head: which array of the trace; head is its own first index, or None.
        transposed: whether the picture shows the array with rows and columns exchanged.
        values: the numbers.
        rows, columns: the labels; row_axis, column_axis: the names of their axes.
        title: the formula; subtitle: name and shape; axes: the axes in words, and details.
        low, high: the ends of the colour range, shared by all heads.
        colour: "signed" or "attention".
        texts: the numbers as shown, None where they are left out.
        hover: a text for each cell, None where the matrix is too large for it.
        sums: for attention, the sum of each query's weights, as shown.
    """

    key: str
    head: int | None
    transposed: bool
    values: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_axis: str
    column_axis: str
    title: str
    subtitle: str
    axes: str
    low: float
    high: float
    colour: str
    texts: list[list[str]] | None
    hover: list[list[str]] | None
    sums: tuple[str, ...]
    extent: str

    @property
    def hidden(self) -> BoolArray:
        """Where a cell is masked, minus infinity."""
        return np.asarray(np.isneginf(self.values))


def head_keys(trace: Trace) -> list[str]:
    """The stages that every head has, in order."""
    return [s.key for s in trace.stages if s.axes[0] in ("head", "kv_head")]


def joint_keys(trace: Trace) -> list[str]:
    """The stages after the heads were joined, in order."""
    return [s.key for s in trace.stages if s.axes[0] == "query"]


def cell_count(trace: Trace, n_heads: int) -> int:
    """How many cells a page with so many heads shows."""
    per_head = sum(int(trace[key][0].size) for key in head_keys(trace))
    return n_heads * per_head + sum(int(trace[key].size) for key in joint_keys(trace))


def shared_range(trace: Trace, stage: Stage) -> tuple[float, float]:
    """The colour range of a stage over all heads; masked cells have no part in it."""
    if stage.colour == "attention":
        return 0.0, 1.0
    array = trace[stage.key]
    finite = array[np.isfinite(array)]
    limit = float(np.abs(finite).max()) if finite.size else 0.0
    return (-limit, limit) if limit else (-1.0, 1.0)


def resolve(trace: Trace, key: str, head: int | None, view: View) -> Panel:
    """One matrix of a trace -> what is drawn of it.

    Args:
        trace: the computation.
        key: a stage.
        head: the query head, None for stages without heads.
        view: how it is shown.
    """
    stage = next(stage for stage in trace.stages if stage.key == key)
    array, axes, labels = trace[key], trace.axes(key), trace.labels(key)
    own_head = None
    if axes[0] in ("head", "kv_head"):
        own_head = head_of(array, head or 0, len(trace["attention"]))
        array = array[own_head]
    rows, columns, row_axis, column_axis = labels[-2], labels[-1], axes[-2], axes[-1]
    hover = _hover(trace, key, own_head, array.shape, view)
    formula = stage.formula_columns if view.transposed else stage.formula
    symbol = stage.symbol + ("ᵀ" if view.transposed else "")
    sums: tuple[str, ...] = ()
    if stage.colour == "attention":
        sums = tuple(
            format_number(float(total), view.decimals, trim=True) for total in array.sum(axis=-1)
        )
    finite = array[np.isfinite(array)]
    ends = [format_number(float(end), view.decimals) for end in (finite.min(), finite.max())]
    if view.transposed:
        array, rows, columns = array.T, columns, rows
        row_axis, column_axis = column_axis, row_axis
        hover = None if hover is None else [list(column) for column in zip(*hover, strict=True)]
    texts = None
    if view.cell_text:
        texts = [[format_number(float(v), view.decimals) for v in row] for row in array]
    low, high = shared_range(trace, stage)
    detail = stage.detail(trace.values)
    axes_words = f"{_word(row_axis)} × {_word(column_axis)}"
    return Panel(
        key=key,
        head=own_head,
        transposed=view.transposed,
        values=array,
        rows=rows,
        columns=columns,
        row_axis=row_axis,
        column_axis=column_axis,
        title=symbol
        if formula[0] in ("", symbol)
        else f"{symbol} = {formula[0].replace(' · ', '·')}",
        subtitle=f"{stage.title.lower()} {len(rows)}×{len(columns)}",
        axes=f"{axes_words}, {detail}" if detail else axes_words,
        low=low,
        high=high,
        colour=stage.colour,
        texts=texts,
        hover=hover,
        sums=sums,
        extent=" … ".join(ends) if finite.size else "all masked",
    )


def _word(axis: str) -> str:
    return "head·d_v" if axis == "concat" else axis


def _hover(
    trace: Trace, key: str, head: int | None, shape: tuple[int, ...], view: View
) -> list[list[str]] | None:
    size = shape[0] * shape[1]
    if size > MAX_SENTENCES:
        return None

    def text(row: int, col: int) -> str:
        sentence = escape(trace.sentence(key, head, row, col, None))
        if size > MAX_ARITHMETIC:
            return sentence
        derivation = trace.explain(key, head, row, col)
        if derivation.given:
            return sentence
        steps = derivation.steps(max(view.decimals or 4, 2), limit=6)
        return f"{sentence}<br>{escape(' = '.join(steps))}"

    return [[text(row, col) for col in range(shape[1])] for row in range(shape[0])]
