"""How scores become attention weights: each kind as the quotient of two tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.errors import NumberError
from attnviz.core.expr import total
from attnviz.core.op import Block, Equation, Explanation, Index, Names, Values, block
from attnviz.core.quotients import (
    ZERO,
    explain_columns,
    explain_division,
    explain_plus_one,
    explain_sigmoid,
    explain_softmax,
    explain_top_k,
    only_largest,
)

if TYPE_CHECKING:
    from attnviz.core.config import Config

Parts = dict[str, Array]


@dataclass(frozen=True)
class Normaliser:
    """How scores become attention weights.

    Args:
        label, says, source: its name, a line on it, and where it is from.
        parts: (…, query, key) scores -> tables by title; the last but one over the last gives
            the weights. The last is (…, query, 1), (…, 1, key) or of the shape of the scores.
        explain: the arithmetic of one cell.
        formula: what is computed of the scores {s}, as (text, LaTeX).
        what: the same as a sentence.
        colour: "signed" where weights may leave 0 to 1.
        sums_to_one: whether every row does, but for those that may attend to nothing.
        warning: a sentence for a screen that shows it, where the kind is a known mistake.
    """

    label: str
    says: str
    source: str
    parts: Callable[[Array, "Config"], Parts]
    explain: Callable[[Names, str, Index], Explanation]
    formula: tuple[str, str]
    what: str
    colour: Literal["signed", "attention"] = "attention"
    sums_to_one: bool = True
    warning: str = ""


# Tables, (…, query, key) each unless said otherwise.


def _exponentials(scores: Array, axis: int = -1, *, zero: bool = False) -> Parts:
    """The exponentials along an axis and their sums; `zero` counts one more score of 0.

    The largest score is taken off first, which changes nothing but keeps exp from overflowing.
    """
    top = scores.max(axis=axis, keepdims=True)
    top = np.maximum(top, 0.0) if zero else np.where(np.isneginf(top), 0.0, top)
    powers = np.exp(scores - top)
    sums = powers.sum(axis=axis, keepdims=True)
    if zero:
        return {"e^(score − m)": powers, "e^(−m) + Σ": np.exp(-top) + sums}
    return {"e^(score − m)": powers, "Σ": sums}


def _division(scores: Array, config: "Config") -> Parts:
    """Scores with hidden ones as 0, and their sums, each rounded once."""
    shown = np.where(np.isneginf(scores), 0.0, scores)
    rows = shown.reshape(-1, shown.shape[-1]).tolist()
    sums = np.array([total(row) for row in rows]).reshape(*shown.shape[:-1], 1)
    return {"scores": shown, "Σ": sums}


def _sigmoid(scores: Array, config: "Config") -> Parts:
    """1 / (1 + e^-s), for negative s as e^s / (e^s + 1), so that nothing overflows."""
    small = np.exp(-np.abs(scores))
    return {
        "e^(min(score, 0))": np.where(scores < 0, small, 1.0),
        "1 + e^(−|score|)": 1.0 + small,
    }


def _top_k(scores: Array, config: "Config") -> Parts:
    """The k largest scores of each row, ties with the last of them too; the rest is hidden."""
    kept = only_largest(scores, config.top_k)
    return {"kept scores": kept, **_exponentials(kept)}


NORMALISERS: Mapping[str, Normaliser] = MappingProxyType(
    {
        "softmax": Normaliser(
            "softmax",
            "Each score's exponential over the sum of those of its row.",
            "arXiv:1706.03762, section 3.2.1",
            lambda scores, config: _exponentials(scores),
            explain_softmax,
            ("softmax({s})", r"\operatorname{softmax}({s})"),
            "Softmax turns each row of scores into weights between 0 and 1 that sum to 1.",
        ),
        "division": Normaliser(
            "plain division",
            "Each score over the sum of its row, without exponentials.",
            "the first idea of many courses; it fails where scores are negative or sum to zero",
            _division,
            explain_division,
            ("{s} / Σ of its row", r"\frac{{s}}{\sum {s}}"),
            "Each score is divided by the sum of its row; negative scores give negative weights.",
            colour="signed",
        ),
        "softmax_plus_one": Normaliser(
            "softmax plus one",
            "Softmax with one more score of zero, so that a row may attend to little.",
            "E. Miller, Attention Is Off By One (2023)",
            lambda scores, config: _exponentials(scores, zero=True),
            explain_plus_one,
            ("softmax of 0 and {s}", r"\frac{e^{{s}}}{1+\sum e^{{s}}}"),
            "Softmax with an added score of zero: the rest of each row's weight goes to nothing.",
            sums_to_one=False,
        ),
        "sigmoid": Normaliser(
            "sigmoid",
            "Each score by itself: 1 / (1 + e^-score).",
            "arXiv:2409.04431, without its bias of -log n",
            _sigmoid,
            explain_sigmoid,
            ("sigmoid({s})", r"\sigma({s})"),
            "Each score becomes a weight between 0 and 1, whatever the others of its row are.",
            sums_to_one=False,
        ),
        "top_k": Normaliser(
            "top-k softmax",
            "Softmax of the k largest scores of each row; ties with the last of them stay too.",
            "arXiv:1912.11637, section 3",
            _top_k,
            explain_top_k,
            (
                "softmax of the k largest of {s}",
                r"\operatorname{softmax}(\operatorname{top}_k({s}))",
            ),
            "Only the k largest scores of each row are kept; softmax shares one unit among them.",
        ),
        "softmax_columns": Normaliser(
            "softmax down the columns (a mistake)",
            "Each score's exponential over the sum of its column: a common slip of the axis.",
            "the wrong axis in softmax(dim=-2)",
            lambda scores, config: _exponentials(scores, axis=-2),
            explain_columns,
            ("softmax({s}) of columns", r"\operatorname{softmax}_{\text{columns}}({s})"),
            "A mistake to look at: softmax runs down each column, over queries instead of keys.",
            sums_to_one=False,
            warning="A mistake on purpose: columns sum to 1, rows do not.",
        ),
    }
)


@dataclass(frozen=True)
class Normalise:
    """scores -> attention weights, by the configured entry of `NORMALISERS`.

    Rows without any allowed key give zeros, as torch's scaled_dot_product_attention and ONNX
    Attention do.
    """

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return tuple(name for name in (values.pick(self.source),) if name)

    def active(self, values: Values) -> bool:
        return values.pick(self.source) is not None

    def apply(self, values: Values) -> Array:
        """Raises NumberError where allowed scores have a sum that cannot be divided by."""
        scores = values[self.source]
        *_, above, below = (
            NORMALISERS[values.config.normaliser].parts(scores, values.config).values()
        )
        bad = np.broadcast_to((below == 0) | ~np.isfinite(below), scores.shape)
        bad = bad & ~np.isneginf(scores)
        if bad.any():
            head, row, _ = (int(i) + 1 for i in np.argwhere(bad)[0])
            got = float(np.broadcast_to(below, scores.shape)[head - 1, row - 1, 0])
            raise NumberError(
                "the scores of this row sum to zero, and nothing can be divided by zero"
                if got == 0
                else "the scores of this row sum to more than float64 can hold",
                where=f"Attention weights, head {head}, row {row}",
                hint="Change a number, or take softmax.",
            )
        weights: Array = above / np.where(below == 0, 1.0, below)
        return weights

    def explain(self, names: Names, index: Index) -> Explanation:
        source = names.values.pick(self.source) or self.source
        found = NORMALISERS[names.values.config.normaliser].explain(names, source, index)
        if np.isneginf(names.values[source][index[:-1]]).all():
            note = "This query may attend to nothing: zero by rule."
            return replace(found, exprs=(ZERO,), note=note)
        return found

    def equation(self, values: Values, head: int) -> Equation:
        start = block(values, self.source, head)
        scores = values[start.key][start.head]
        with np.errstate(over="ignore", under="ignore"):
            parts = NORMALISERS[values.config.normaliser].parts(scores, values.config)
        steps = [Block(start.key, start.head, title=t, values=v) for t, v in parts.items()]
        return Equation("quotient", (start, *steps))
