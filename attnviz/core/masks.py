"""Which query may attend to which key."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.core.arrays import Array, BoolArray
from attnviz.core.errors import ShapeError
from attnviz.core.expr import Const
from attnviz.core.op import Equation, Explanation, Index, Names, Values, block

MaskOf = Callable[[Values, tuple[int, ...]], BoolArray | None]


def _causal(values: Values, shape: tuple[int, ...]) -> BoolArray | None:
    if not values.config.causal:
        return None
    query, key = np.ogrid[: shape[-2], : shape[-1]]
    allowed: BoolArray = key <= query + values.config.causal_offset
    return allowed


def _custom(values: Values, shape: tuple[int, ...]) -> BoolArray | None:
    return values.arrays.get("mask")


# Each gives the allowed cells, (query, key) or (head, query, key), or None where it is not used.
# All that are used must allow a cell. The text says why a cell is hidden.
MASKS: dict[str, tuple[MaskOf, str]] = {
    "causal": (_causal, "the causal mask hides keys that come later than the query"),
    "mask": (_custom, "the mask table hides this key from this query"),
}


@dataclass(frozen=True)
class Mask:
    """scores -> the same, -inf where a query may not attend to a key."""

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return tuple(name for name in map(values.pick, (self.source, "mask")) if name)

    def active(self, values: Values) -> bool:
        source = values.pick(self.source)
        return source is not None and bool(self._allowed(values, values[source].shape))

    def _allowed(self, values: Values, shape: tuple[int, ...]) -> dict[str, BoolArray]:
        masks = {name: mask(values, shape) for name, (mask, _) in MASKS.items()}
        return {name: mask for name, mask in masks.items() if mask is not None}

    def apply(self, values: Values) -> Array:
        masked: Array = np.array(values[self.source])
        for allowed in self._allowed(values, masked.shape).values():
            masked[np.broadcast_to(~allowed, masked.shape)] = -np.inf
        return masked

    def explain(self, names: Names, index: Index) -> Explanation:
        at = names.at(self.source, index)
        masks = self._allowed(names.values, names.values[self.source].shape)
        hidden = [MASKS[name][1] for name, mask in masks.items() if not mask[index[-mask.ndim :]]]
        if not hidden:
            note = "This query may attend to this key, so the score stays."
            return Explanation(at, (names.cell(self.source, index),), note)
        note = f"{'; '.join(hidden).capitalize()}: its weight becomes 0."
        return Explanation(("−∞ (masked)", r"-\infty"), (Const(-np.inf, "−∞", r"-\infty"),), note)

    def equation(self, values: Values, head: int) -> Equation:
        return Equation("chain", (block(values, self.source, head),))


def check_broadcast(name: str, shape: tuple[int, ...], scores: tuple[int, int, int]) -> None:
    """Refuse a mask or bias that is not (query, key) nor (head, query, key).

    Raises:
        ShapeError: naming both shapes.
    """
    if shape not in (scores, scores[1:]):
        raise ShapeError(
            "does not fit to the scores",
            where=name,
            expected=f"shape {scores[1:]} or {scores}",
            got=f"shape {shape}",
        )
