"""How each head spreads its attention: a few numbers, and the keys in their order."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.numbers import format_number
from attnviz.core.trace import Trace

MAX_READ = 12  # keys of one query that are read out
CAUTION = (
    "Attention weights show where this head reads from, not why, nor how much a word matters "
    "for the result: values, the output projection and later layers decide that too."
)
SHARES = (
    "The weights of a query need not sum to 1 here, so its entropy is that of their shares in "
    "the sum; negative weights have none."
)


@dataclass(frozen=True)
class HeadSummary:
    """How one head attends.

    Args:
        head: its number, from 0.
        entropy_bits: for each query the entropy of its weights in bits; 0 is one key alone,
            log2(keys) is all keys alike (Shannon 1948). Where weights do not sum to 1, of their
            shares in the sum; NaN where one is negative, which is no share.
        largest: the largest weight.
        query, key: where it stands.
        mean_distance: the mean of |key place - query place|, weighted by attention.
    """

    head: int
    entropy_bits: tuple[float, ...]
    largest: float
    query: int
    key: int
    mean_distance: float


def summaries(trace: Trace) -> tuple[HeadSummary, ...]:
    """(head, query, key) attention weights -> one summary for each head."""
    return tuple(_summary(head, weights) for head, weights in enumerate(trace["attention"]))


def ranking(trace: Trace, query: int = 0, head: int = 0) -> tuple[tuple[str, float], ...]:
    """(head, query, key) attention weights -> (key, weight), the largest first.

    Keys of equal weight stay in their order; a word that occurs twice carries its position.

    Raises:
        ScenarioError: no such query or head.
    """
    trace.index("attention", head, query)
    weights, keys = trace["attention"][head, query], trace.labels("attention")[2]
    return tuple((keys[j], float(weights[j])) for j in np.argsort(-weights, kind="stable"))


def _summary(head: int, weights: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> HeadSummary:
    sums = weights.sum(axis=-1, keepdims=True)
    shares = np.divide(weights, sums, out=np.zeros_like(weights), where=sums != 0)
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1) + 0.0
    entropy[(weights < 0).any(axis=-1)] = np.nan
    query, key = (int(i) for i in np.unravel_index(weights.argmax(), weights.shape))
    places = np.abs(np.arange(weights.shape[1])[None, :] - np.arange(weights.shape[0])[:, None])
    total = weights.sum()
    return HeadSummary(
        head,
        tuple(float(e) for e in entropy),
        float(weights[query, key]),
        query,
        key,
        float((weights * places).sum() / total) if total else 0.0,
    )


def reading(trace: Trace, head: int, query: int, decimals: int | None = 4) -> str:
    """The weights of one query as a sentence, with their sum; of many keys the largest."""
    weights, labels = trace["attention"][head, query], trace.labels("attention")
    read = tuple(zip(labels[2], weights.tolist(), strict=True))
    if len(read) > MAX_READ:
        read = ranking(trace, query, head)[:MAX_READ]
    parts = [f"{key} {format_number(weight, decimals)}" for key, weight in read]
    rest = len(weights) - len(read)
    if rest:
        others = float(weights.sum()) - sum(weight for _, weight in read)
        parts.append(f"{rest} others {format_number(others, decimals)}")
    total = format_number(float(weights.sum()), decimals, trim=True)
    return f"{labels[0][head]}, {labels[1][query]} attends to: {', '.join(parts)}; Σ = {total}"
