"""The operations of attention that add, multiply and rearrange."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import Array
from attnviz.core.expr import Const, Div, Expr, Func, Mul, Sum
from attnviz.core.numbers import format_number
from attnviz.core.op import Block, Equation, Explanation, Index, Names, Values, block
from attnviz.core.positions import POSITIONS, alibi_slopes, slope_words


def head_of(array: NDArray[Any], head: int, n_heads: int) -> int:
    """Which head of an array head number `head` of `n_heads` reads (grouped-query attention)."""
    return head // (n_heads // len(array))


def _spread(array: Array, n_heads: int) -> Array:
    return array if array.shape[0] == n_heads else np.repeat(array, n_heads // len(array), axis=0)


@dataclass(frozen=True)
class Given:
    """An array that was given and not computed."""

    name: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return ()

    def active(self, values: Values) -> bool:
        return False

    def apply(self, values: Values) -> Array:
        return values[self.name]

    def explain(self, names: Names, index: Index) -> Explanation:
        return Explanation(names.at(self.name, index), (names.cell(self.name, index),))

    def equation(self, values: Values, head: int) -> Equation:
        return Equation("chain", ())


@dataclass(frozen=True)
class MatMul:
    """(…, i, t) @ (…, t, j) [+ (…, j)] -> (…, i, j); with `transposed`, right is (…, j, t).

    Heads are the first axis of either side or of both; when the right side has fewer, query
    head h reads its head h // (H // Hkv), as in grouped-query attention (arXiv:2305.13245).
    """

    left: str
    right: str
    bias: str = ""
    transposed: bool = False

    def inputs(self, values: Values) -> tuple[str, ...]:
        names = (self.left, self.right, self.bias)
        return tuple(name for name in map(values.pick, names) if name)

    def active(self, values: Values) -> bool:
        return values.pick(self.left) is not None and values.pick(self.right) is not None

    def apply(self, values: Values) -> Array:
        left, right = values[self.left], values[self.right]
        if left.ndim == right.ndim == 3:
            right = _spread(right, len(left))
        result: Array = left @ (right.swapaxes(-1, -2) if self.transposed else right)
        if values.pick(self.bias):
            bias = values[self.bias]
            result = result + (bias[:, None, :] if bias.ndim == 2 else bias)
        return result

    def explain(self, names: Names, index: Index) -> Explanation:
        values = names.values
        left, right = values[self.left], values[self.right]
        *heads, i, j = index
        left_head = tuple(heads) if left.ndim == 3 else ()
        n_heads = left.shape[0] if left.ndim == 3 else right.shape[0]
        right_head = (head_of(right, heads[0], n_heads),) if right.ndim == 3 else ()

        def other(t: int) -> Index:
            return (*right_head, j, t) if self.transposed else (*right_head, t, j)

        terms: list[Expr] = [
            Mul(names.cell(self.left, (*left_head, i, t)), names.cell(self.right, other(t)))
            for t in range(left.shape[-1])
        ]
        labels = names.labels(self.left)[-1]
        a = names.row(self.left, (*left_head, i, 0))
        b = (names.row if self.transposed else names.column)(self.right, other(0))
        symbolic = (f"{a[0]} · {b[0]}", rf"{a[1]} \cdot {b[1]}")
        if values.pick(self.bias):
            at = (*right_head, j) if values[self.bias].ndim == 2 else (j,)
            terms.append(names.cell(self.bias, at))
            labels = (*labels, "bias")
            c = names.at(self.bias, at)
            symbolic = (f"{symbolic[0]} + {c[0]}", f"{symbolic[1]} + {c[1]}")
        return Explanation(symbolic, (Sum(tuple(terms), labels),))

    def equation(self, values: Values, head: int) -> Equation:
        blocks = [block(values, self.left, head), block(values, self.right, head, self.transposed)]
        bias = values.pick(self.bias)
        if bias:  # (d_out,), or (head, d) like the right side
            blocks.append(Block(bias, blocks[1].head))
        return Equation("product", tuple(blocks))


@dataclass(frozen=True)
class Scale:
    """scores -> scores / sqrt(d_k), or times a given factor (arXiv:1706.03762, eq. 1)."""

    source: str
    width: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return (self.source,)

    def active(self, values: Values) -> bool:
        return self.source in values.arrays

    def apply(self, values: Values) -> Array:
        scale = values.config.scale
        if scale is None:
            return np.asarray(values[self.source] / np.sqrt(values[self.width].shape[-1]))
        return np.asarray(values[self.source] * scale)

    def divisor(self, values: Values) -> str:
        """The divisor in use, in words: '÷ √2 = 1.414'."""
        scale = values.config.scale
        if scale is not None:
            return "not scaled" if scale == 1 else f"× {format_number(scale, 4, trim=True)}"
        d_k = values[self.width].shape[-1]
        return f"÷ √{d_k} = {format_number(float(np.sqrt(d_k)), 3, trim=True)}"

    def explain(self, names: Names, index: Index) -> Explanation:
        cell, at = names.cell(self.source, index), names.at(self.source, index)
        scale = names.values.config.scale
        if scale is not None:
            expr = Mul(cell, Const(scale))
            return Explanation((f"{at[0]} · scale", rf"{at[1]} \cdot \text{{scale}}"), (expr,))
        d_k = names.values[self.width].shape[-1]
        root = Const(float(np.sqrt(d_k)), f"√{d_k}", rf"\sqrt{{{d_k}}}")
        exprs = (Div(cell, root), Div(cell, Const(root.value)))
        return Explanation((f"{at[0]} / √d_k", rf"\frac{{{at[1]}}}{{\sqrt{{d_k}}}}"), exprs)

    def equation(self, values: Values, head: int) -> Equation:
        return Equation("chain", (block(values, self.source, head),))


@dataclass(frozen=True)
class Temper:
    """scaled scores -> the same over a temperature (arXiv:1503.02531, section 2)."""

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return (self.source,)

    def active(self, values: Values) -> bool:
        return self.source in values.arrays and values.config.temperature != 1

    def apply(self, values: Values) -> Array:
        return np.asarray(values[self.source] / values.config.temperature)

    def divisor(self, values: Values) -> str:
        """The divisor in words: '÷ T = 2'."""
        return f"÷ T = {format_number(values.config.temperature, 4, trim=True)}"

    def explain(self, names: Names, index: Index) -> Explanation:
        cell, at = names.cell(self.source, index), names.at(self.source, index)
        expr = Div(cell, Const(names.values.config.temperature))
        return Explanation((f"{at[0]} / T", rf"\frac{{{at[1]}}}{{T}}"), (expr,))

    def equation(self, values: Values, head: int) -> Equation:
        return Equation("chain", (block(values, self.source, head),))


@dataclass(frozen=True)
class SoftCap:
    """scores -> c * tanh(scores / c), before bias and mask (Gemma 2, arXiv:2408.00118)."""

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return tuple(name for name in (values.pick(self.source),) if name)

    def active(self, values: Values) -> bool:
        return values.pick(self.source) is not None and values.config.softcap is not None

    def apply(self, values: Values) -> Array:
        cap = values.config.softcap
        assert cap is not None
        capped: Array = cap * np.tanh(values[self.source] / cap)
        return capped

    def explain(self, names: Names, index: Index) -> Explanation:
        cap = Const(names.values.config.softcap or 0.0)
        at = names.at(self.source, index)
        expr = Mul(cap, Func("tanh", Div(names.cell(self.source, index), cap)))
        return Explanation((f"c·tanh({at[0]} / c)", rf"c\,\tanh\left({at[1]} / c\right)"), (expr,))

    def equation(self, values: Values, head: int) -> Equation:
        return Equation("chain", (block(values, self.source, head),))


@dataclass(frozen=True)
class AddBias:
    """scores + a bias table + what ALiBi positions add, as far as each is there.

    The table is (query, key) for all heads or (head, query, key). ALiBi (arXiv:2108.12409) adds
    the head's slope times (j - i), with queries i and keys j counted from the first of each.
    """

    source: str
    bias: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return tuple(name for name in map(values.pick, (self.source, self.bias)) if name)

    def active(self, values: Values) -> bool:
        added = self.bias in values.arrays or POSITIONS[values.config.positions].distance
        return values.pick(self.source) is not None and bool(added)

    def _sloped(self, values: Values) -> tuple[Array, Array] | None:
        """(head,) slopes and the (query, key) distances, with ALiBi."""
        distance = POSITIONS[values.config.positions].distance
        if distance is None:
            return None
        n_heads, n_queries, n_keys = values[self.source].shape
        query, key = np.ogrid[:n_queries, :n_keys]
        return alibi_slopes(n_heads), distance(key - query).astype(np.float64)

    def apply(self, values: Values) -> Array:
        result: Array = values[self.source]
        if self.bias in values.arrays:
            result = result + values[self.bias]
        sloped = self._sloped(values)
        if sloped is not None:
            result = result + sloped[0][:, None, None] * sloped[1]
        return result

    def explain(self, names: Names, index: Index) -> Explanation:
        values, at = names.values, names.at(self.source, index)
        terms: list[Expr] = [names.cell(self.source, index)]
        labels, symbolic, note = ["score"], [at], ""
        if self.bias in values.arrays:
            at_bias = index[-values[self.bias].ndim :]
            terms.append(names.cell(self.bias, at_bias))
            labels.append("bias")
            symbolic.append(names.at(self.bias, at_bias))
        sloped = self._sloped(values)
        if sloped is not None:
            slopes, distances = sloped
            words = POSITIONS[values.config.positions].distance_text
            terms.append(Mul(Const(float(slopes[index[0]])), Const(float(distances[index[1:]]))))
            labels.append("slope · distance")
            symbolic.append((f"slope·{words[0]}", rf"\text{{slope}}\cdot{words[1]}"))
            note = (
                f"The slope of head {index[0] + 1} of {len(slopes)} is "
                f"{slope_words(index[0], len(slopes))} = {format_number(slopes[index[0]], 6)}; "
                f"query i = {index[1]} and key j = {index[2]}, counted from 0."
            )
        text, latex = (" + ".join(parts) for parts in zip(*symbolic, strict=True))
        return Explanation((text, latex), (Sum(tuple(terms), tuple(labels)),), note)

    def equation(self, values: Values, head: int) -> Equation:
        blocks = [block(values, key, head) for key in self.inputs(values)]
        sloped = self._sloped(values)
        if sloped is not None:
            added = sloped[0][head] * sloped[1]
            blocks.append(Block(blocks[0].key, head, title="slope·distance", values=added))
        return Equation("sum", tuple(blocks), sign="+")


@dataclass(frozen=True)
class Concat:
    """(head, query, d_v) -> (query, head * d_v), head 1 first."""

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return (self.source,)

    def active(self, values: Values) -> bool:
        return self.source in values.arrays

    def apply(self, values: Values) -> Array:
        heads = values[self.source]
        return heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)

    def explain(self, names: Names, index: Index) -> Explanation:
        head, col = divmod(index[1], names.values[self.source].shape[2])
        origin = (head, index[0], col)
        note = f"Copied from column {col + 1} of head {head + 1}."
        symbolic = names.of_head(self.source, origin)
        cell = replace(names.cell(self.source, origin), label=symbolic[0])
        return Explanation(symbolic, (cell,), note)

    def equation(self, values: Values, head: int) -> Equation:
        heads = range(len(values[self.source]))
        return Equation("chain", tuple(block(values, self.source, h) for h in heads), sign="|")
