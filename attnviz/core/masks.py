"""Which query may attend to which key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import Array, BoolArray
from attnviz.core.errors import ShapeError
from attnviz.core.expr import Const
from attnviz.core.op import Equation, Explanation, Index, Names, Values, block

T = TypeVar("T", np.bool_, np.float64)
MaskOf = Callable[[Values, tuple[int, ...]], BoolArray | None]


@dataclass(frozen=True)
class Alignment:
    """Which query stands beside which key in the causal mask.

    Args:
        label, says, source: its name, a line on it, and where it is from.
        offset: (number of queries, number of keys) -> how many keys more the first query sees.
    """

    label: str
    says: str
    source: str
    offset: Callable[[int, int], int]


ALIGNMENTS: Mapping[str, Alignment] = MappingProxyType(
    {
        "top-left": Alignment(
            "top left",
            "The first query stands beside the first key.",
            "torch, scaled_dot_product_attention with is_causal",
            lambda n_queries, n_keys: 0,
        ),
        "bottom-right": Alignment(
            "bottom right",
            "The last query stands beside the last key, as when earlier keys are kept.",
            "FlashAttention since version 2.1; torch, causal_lower_right",
            lambda n_queries, n_keys: n_keys - n_queries,
        ),
    }
)


@dataclass(frozen=True)
class MaskKind:
    """One reason why keys are hidden.

    Args:
        label, says, source: its name, a line on it, and where it is from.
        allowed: the allowed cells, (key,), (query, key) or (head, query, key), or None where it
            is not used. All kinds that are used must allow a cell.
        why: why a cell is hidden, as the beginning of a sentence.
    """

    label: str
    says: str
    source: str
    allowed: MaskOf
    why: str


def causal_shift(values: Values, shape: tuple[int, ...]) -> int:
    """By how much: key j is hidden from query i where j > i + shift."""
    config = values.config
    return ALIGNMENTS[config.causal_alignment].offset(*shape[-2:]) + config.causal_offset


def _causal(values: Values, shape: tuple[int, ...]) -> BoolArray | None:
    if not values.config.causal:
        return None
    query, key = np.ogrid[: shape[-2], : shape[-1]]
    allowed: BoolArray = key <= query + causal_shift(values, shape)
    return allowed


MASKS: Mapping[str, MaskKind] = MappingProxyType(
    {
        "causal": MaskKind(
            "causal",
            "No query sees keys that come later than it.",
            "arXiv:1706.03762, section 3.2.3",
            _causal,
            "the causal mask hides keys that come later than the query",
        ),
        "keep": MaskKind(
            "key padding",
            "Chosen keys are hidden from every query, as the filling of shorter texts is.",
            "torch, MultiheadAttention, key_padding_mask (there True hides)",
            lambda values, shape: values.arrays.get("keep"),
            "this key is padding, hidden from every query",
        ),
        "mask": MaskKind(
            "table",
            "Chosen cells of a query x key table are hidden.",
            "torch, scaled_dot_product_attention, attn_mask (True may attend)",
            lambda values, shape: values.arrays.get("mask"),
            "the mask table hides this key from this query",
        ),
    }
)


@dataclass(frozen=True)
class Mask:
    """scores -> the same, -inf where a query may not attend to a key."""

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return tuple(name for name in map(values.pick, (self.source, "keep", "mask")) if name)

    def active(self, values: Values) -> bool:
        source = values.pick(self.source)
        return source is not None and bool(self._allowed(values, values[source].shape))

    def _allowed(self, values: Values, shape: tuple[int, ...]) -> dict[str, BoolArray]:
        masks = {name: kind.allowed(values, shape) for name, kind in MASKS.items()}
        return {name: mask for name, mask in masks.items() if mask is not None}

    def apply(self, values: Values) -> Array:
        masked: Array = np.array(values[self.source])
        for allowed in self._allowed(values, masked.shape).values():
            masked[np.broadcast_to(~allowed, masked.shape)] = -np.inf
        return masked

    def explain(self, names: Names, index: Index) -> Explanation:
        at = names.at(self.source, index)
        masks = self._allowed(names.values, names.values[self.source].shape)
        hidden = [MASKS[name].why for name, mask in masks.items() if not mask[index[-mask.ndim :]]]
        if not hidden:
            note = "This query may attend to this key, so the score stays."
            return Explanation(at, (names.cell(self.source, index),), note)
        note = f"{'; '.join(hidden).capitalize()}: its weight becomes 0."
        return Explanation(("−∞ (masked)", r"-\infty"), (Const(-np.inf, "−∞", r"-\infty"),), note)

    def equation(self, values: Values, head: int) -> Equation:
        return Equation("chain", (block(values, self.source, head),))


def fitted(name: str, table: NDArray[T], scores: tuple[int, int, int]) -> NDArray[T]:
    """A mask or bias, (query, key) or (head, query, key) -> the same with its full axes.

    An axis of length 1 stands for all heads, queries or keys, as NumPy, torch and ONNX have it;
    a table for all heads becomes (query, key).

    Raises:
        ShapeError: naming both shapes.
    """
    axes = scores[-table.ndim :]
    if any(got not in (1, axis) for got, axis in zip(table.shape, axes, strict=True)):
        raise ShapeError(
            "does not fit to the scores",
            where=name,
            expected=f"shape {scores[1:]} or {scores}, or 1 in place of any of these",
            got=f"shape {table.shape}",
        )
    shared = table[0] if table.ndim == len(scores) and len(table) == 1 else table
    full = np.broadcast_to(shared, scores[-shared.ndim :]).copy()
    full.setflags(write=False)
    return full
