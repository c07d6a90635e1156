"""The matrices of a stage's equation as panels: stages, tables, biases and steps in between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.numbers import format_number
from attnviz.core.op import Block, Equation
from attnviz.core.ops import Given
from attnviz.core.stages import Stage
from attnviz.core.text import SUBSCRIPTS
from attnviz.core.trace import Trace
from attnviz.figures import hover
from attnviz.figures.labels import escape, wrapped
from attnviz.figures.panel import MAX_HOVER_CELLS, Panel, ends, resolve, shared_range, widest
from attnviz.figures.view import View


@dataclass(frozen=True)
class Parts:
    """An equation as panels, in the order in which they are read.

    Args:
        kind: how they are put together, see `Equation`; a row only stands side by side.
        operands: the panels without the result; of a product left, right and perhaps a bias.
        result: the stage itself.
        steps: for each operand whether it is a step in between, and no array of the trace.
        sign: what stands between the operands of a chain.
        formula: what stands above: the equation in symbols.
        said: what stands below: the shapes, what rows and columns are.
    """

    kind: Literal["product", "sum", "quotient", "rotation", "chain", "row"]
    operands: tuple[Panel, ...]
    result: Panel
    steps: tuple[bool, ...]
    sign: str
    formula: str
    said: tuple[str, ...]


def parts(trace: Trace, key: str, head: int | None, view: View) -> Parts:
    """A stage and what it is made of; the numbers in the cells are still to be written.

    Raises:
        ScenarioError: the trace has no such stage or head.
    """
    trace.index("attention", head)
    stage = next((stage for stage in trace.stages if stage.key == key), None)
    made = stage.op.equation(trace.values, head or 0) if stage else Equation("chain", ())
    heads = len(trace[key]) if trace[key].ndim == 3 else 1
    cells = trace[key].size // heads + sum(_own(trace, block).size for block in made.blocks)
    view = replace(view, max_text_cells=0)  # which are large enough is decided later
    said = cells <= MAX_HOVER_CELLS
    blocks = made.blocks
    if made.kind == "product" and view.transposed:
        blocks = (blocks[1], blocks[0], *blocks[2:])  # (L R)ᵀ = Rᵀ Lᵀ
    result = resolve(trace, [(key, head)], view, small=not said)[0]
    assert stage is not None
    numbered = made.sign == "|"
    operands = tuple(
        _panel(trace, result, block, view, said=said, numbered=numbered) for block in blocks
    )
    symbol = stage.symbol + ("ᵀ" if view.transposed else "")
    formula = (stage.formula_columns if view.transposed else stage.formula)[0]
    if made.kind == "product":  # what stands in one line has one name there
        left, right, *bias = operands
        left = replace(left, row_axis=result.row_axis)
        operands = (left, replace(right, column_axis=result.column_axis), *bias)
    formula = f"{symbol} = {formula}" if operands else ""
    return Parts(
        kind=made.kind,
        operands=operands,
        result=replace(result, title=symbol, widest=widest(trace[key], view.decimals)),
        steps=tuple(block.values is not None for block in blocks),
        sign=made.sign,
        formula=formula,
        said=(_shapes(made, operands, result), result.conventions[0]),
    )


def _shapes(made: Equation, operands: Sequence[Panel], result: Panel) -> str:
    """The equation with shapes for symbols: (3×2)·(2×3) = 3×3."""
    shapes = [shape(panel) for panel in operands]
    if made.kind == "product":
        left, right, *bias = (f"({text})" for text in shapes)
        return " + ".join([f"{left}·{right}", *bias]) + f" = {shape(result)}"
    if len(shapes) > 4:
        shapes[1:-1] = ["…"]
    sign = "over" if made.sign == "|" and result.transposed else made.sign
    text = f" {sign} ".join(shapes)
    equals = "→" if made.sign == "→" else "="
    return f"{text} {equals} {shape(result)}" if shapes else shape(result)


def written(panel: Panel, view: View) -> Panel:
    """The panel with its numbers in its cells."""
    texts = [[format_number(float(v), view.decimals) for v in row] for row in panel.values]
    return replace(panel, texts=texts)


def shape(panel: Panel) -> str:
    """The shape as it is seen: 3×2."""
    return f"{len(panel.rows)}×{len(panel.columns)}"


def _own(trace: Trace, block: Block) -> Array:
    """The numbers of a block as they are kept: (row, column), or (column,) of a bias."""
    if block.values is not None:
        return block.values
    array = trace[block.key]
    return array if block.head is None else array[block.head]


def _panel(
    trace: Trace, result: Panel, block: Block, view: View, *, said: bool, numbered: bool
) -> Panel:
    """One block; `said` writes out its hovers, `numbered` gives its symbol the head's number."""
    turned = block.transposed != view.transposed
    view = replace(view, tokens_as="columns" if turned else "rows")
    info = trace.info(block.key)
    number = ""
    if numbered and block.head is not None:
        number = str(block.head + 1).translate(SUBSCRIPTS)
    title = info.symbol + number + ("ᵀ" if turned else "")
    if block.values is not None:
        return _step(trace, result, block, view, said)
    if not isinstance(info, Stage):
        return replace(_table(trace, block, view, said), title=title)
    heads = len(trace["attention"])
    query_head = None if block.head is None else block.head * (heads // len(trace[block.key]))
    panel = resolve(trace, [(block.key, query_head)], view, small=not said)[0]
    return replace(panel, title=title, sums=(), widest=widest(trace[block.key], view.decimals))


def _table(trace: Trace, block: Block, view: View, said: bool) -> Panel:
    """A table that is set; a bias becomes one row, which counts for all rows."""
    info, key, head = trace.info(block.key), block.key, block.head
    values, labels, axes = _own(trace, block), trace.labels(key), trace.axes(key)
    if head is not None:
        labels, axes = labels[1:], axes[1:]
    place = () if head is None else (head,)
    stage = Stage(**vars(info), op=Given(key))
    name = "" if head is None else trace.labels(key)[0][head]
    template = hover.template(stage, name, ".15~g", view.transposed)
    masked = hover.template(stage, name, None, view.transposed, -np.inf)
    if values.ndim == 1:
        values = values[None, :]
        symbol = f"+ {info.symbol}{'ᵀ' if view.transposed else ''}"
        labels, axes = ((symbol,), *labels), ("", *axes)
        column = "%{y}" if view.transposed else "%{x}"
        where = escape(f"{info.title}{name and ', '}{name}")
        template = f"{where}: {column} is %{{z:.15~g}}<extra></extra>"

    def sentence(row: int, column: int) -> str:
        value = format_number(float(values[row, column]), None)
        if axes[0] == "":
            return f"{trace.place(key, (*place, column))} is {value}"
        return trace.sentence(key, head, row, column, None)

    texts = _sentences(values, sentence) if said else None
    low, high = shared_range(trace, stage)
    panel = _plain(values, labels, axes, view, texts)
    return replace(
        panel,
        key=key,
        head=head,
        subtitle=f"{info.title.lower()} {shape(panel)}",
        low=low,
        high=high,
        template=template,
        masked_template=masked,
        widest=widest(trace[key], view.decimals),
    )


def _step(trace: Trace, result: Panel, block: Block, view: View, said: bool) -> Panel:
    """A step in between; it is outlined as the cells of the stage that it leads to."""
    values = block.values
    assert values is not None
    labels, axes = trace.labels(block.key)[-2:], trace.axes(block.key)[-2:]
    if values.shape[1] == 1:
        labels, axes = (labels[0], (" ",)), (axes[0], "")

    def sentence(row: int, column: int) -> str:
        names = [block.title, labels[0][row], labels[1][column]]
        value = format_number(float(values[row, column]), None)
        return f"{', '.join(name for name in names if name.strip())}: {value}"

    row, column = ("%{x}", "%{y}") if view.transposed else ("%{y}", "%{x}")
    top, bottom = float(values.max()), float(values.min())
    panel = _plain(values, labels, axes, view, _sentences(values, sentence) if said else None)
    return replace(
        panel,
        key=result.key,
        head=result.head,
        title=block.title,
        subtitle=shape(panel),
        low=0.0 if bottom >= 0 else -max(top, -bottom),
        high=max(top, -bottom) or 1.0,
        colour="attention" if bottom >= 0 else "signed",
        template=f"{escape(block.title)}, {row}, {column}: %{{z:.15~g}}<extra></extra>",
        masked_template=f"{escape(block.title)}, {row}, {column}: −∞<extra></extra>",
        widest=widest(values, view.decimals),
    )


def _plain(
    values: Array,
    labels: Sequence[tuple[str, ...]],
    axes: Sequence[str],
    view: View,
    said: hover.Rows | None,
) -> Panel:
    """(row, column) numbers with their names -> a panel, transposed as the view says."""
    (rows, columns), (row_axis, column_axis) = labels, axes
    if view.transposed:
        values, rows, columns = values.T, columns, rows
        row_axis, column_axis = column_axis, row_axis
        said = None if said is None else [list(column) for column in zip(*said, strict=True)]
    return Panel(
        key="",
        head=None,
        transposed=view.transposed,
        values=values,
        rows=rows,
        columns=columns,
        row_axis=row_axis,
        column_axis=column_axis,
        title="",
        subtitle="",
        axes="",
        conventions=("", ""),
        low=-1.0,
        high=1.0,
        colour="signed",
        texts=None,
        widest="",
        hover=said,
        template="",
        masked_template="",
        sums=(),
        extent=ends(values, view.decimals),
    )


def _sentences(values: Array, sentence: Callable[[int, int], str]) -> hover.Rows:
    rows, columns = values.shape
    return [[wrapped(sentence(row, column)) for column in range(columns)] for row in range(rows)]
