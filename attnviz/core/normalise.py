"""How a row of scores becomes a row of attention weights."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.expr import Const, Div, Func, Max, Sub, Sum
from attnviz.core.numbers import format_number
from attnviz.core.op import Block, Equation, Explanation, Index, Names, Values, block


@dataclass(frozen=True)
class Normaliser:
    """How a row of scores becomes attention weights.

    Args:
        apply: (…, key) scores -> (…, key) weights.
        explain: the arithmetic of one cell.
        between: (query, key) scores -> the matrices in between, by title.
        source: where it is from.
    """

    apply: Callable[[Array], Array]
    explain: Callable[[Names, str, Index], Explanation]
    between: Callable[[Array], dict[str, Array]]
    source: str


def softmax(scores: Array) -> Array:
    """(…, key) -> (…, key): each row's exponentials over their sum; a row of -inf gives zeros.

    The row maximum is taken off first, which changes nothing but keeps exp from overflowing.
    Rows without any allowed key give zeros, as torch's scaled_dot_product_attention and ONNX
    Attention do.
    """
    powers, total = _softmax_parts(scores).values()
    weights: Array = powers / np.where(total == 0.0, 1.0, total)
    return weights


def _softmax_parts(scores: Array) -> dict[str, Array]:
    """(…, key) -> the exponentials (…, key) and their sums (…, 1), by title."""
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0.0, top))
    return {"e^(score − m)": powers, "Σ": powers.sum(axis=-1, keepdims=True)}


def _explain_softmax(names: Names, source: str, index: Index) -> Explanation:
    row, labels = names.values[source][index[:-1]], names.labels(source)[-1]
    here = names.cell(source, index)
    symbolic = _softmax_symbols(names, source, index)
    if np.isneginf(row).all():
        zero = Const(0.0, "0", "0")
        return Explanation(symbolic, (zero,), "This query may attend to nothing: zero by rule.")
    all_cells = tuple(names.cell(source, (*index[:-1], j)) for j in range(len(row)))
    top = Max(all_cells)
    m = Const(top.value)
    powers = tuple(Func("exp", Sub(cell, m)) for cell in all_cells)
    power = Func("exp", Sub(here, m))
    done = tuple(Const(term.value) for term in powers)
    exprs = (
        Div(power, Sum(powers, labels)),
        Div(Const(power.value), Sum(done, labels)),
        Div(Const(power.value), Const(Sum(done).value)),
    )
    note = (
        f"m = {format_number(m.value, 4, trim=True)} is the largest score of the row. It is taken "
        "off first, which leaves the quotient as it is."
    )
    return Explanation(symbolic, exprs, note)


def _softmax_symbols(names: Names, source: str, index: Index) -> tuple[str, str]:
    (row, row_latex), (at, at_latex) = names.row(source, index), names.at(source, index)
    return (
        f"e^({at} − m) / Σ e^({row} − m)",
        rf"\frac{{e^{{{at_latex}-m}}}}{{\sum e^{{{row_latex}-m}}}}",
    )


NORMALISERS: dict[str, Normaliser] = {
    "softmax": Normaliser(
        softmax, _explain_softmax, _softmax_parts, "arXiv:1706.03762, section 3.2.1"
    ),
}


@dataclass(frozen=True)
class Normalise:
    """scores -> attention weights, by the configured entry of `NORMALISERS`."""

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return tuple(name for name in (values.pick(self.source),) if name)

    def active(self, values: Values) -> bool:
        return values.pick(self.source) is not None

    def apply(self, values: Values) -> Array:
        return NORMALISERS[values.config.normaliser].apply(values[self.source])

    def explain(self, names: Names, index: Index) -> Explanation:
        source = names.values.pick(self.source) or self.source
        return NORMALISERS[names.values.config.normaliser].explain(names, source, index)

    def equation(self, values: Values, head: int) -> Equation:
        start = block(values, self.source, head)
        scores = values[start.key][start.head]
        between = NORMALISERS[values.config.normaliser].between(scores)
        steps = [Block(start.key, start.head, title=t, values=v) for t, v in between.items()]
        return Equation("chain", (start, *steps))
