"""The core against the plainest NumPy: a loop over heads that keeps nothing but its result."""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import attnviz

Array = np.ndarray[Any, Any]
ROUNDS = 15
ROUND_SECONDS = 0.02
SIZES = (  # tokens, heads, d_model, d_k = d_v
    (3, 2, 4, 2),
    (16, 4, 64, 16),
    (128, 8, 256, 32),
    (512, 12, 256, 64),
)


def plain(x: Array, params: attnviz.Params) -> Array:
    """(T, d_model) -> (T, d_out)."""
    heads = []
    for w_q, w_k, w_v in zip(params.w_q, params.w_k, params.w_v, strict=True):
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        scores = q @ k.T / np.sqrt(q.shape[1])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v)
    assert params.w_o is not None
    return np.concatenate(heads, axis=1) @ params.w_o


def milliseconds(call: Callable[[], object]) -> Iterator[float]:
    """The time of one call, as often as asked: the mean of as many as fill a round."""
    while True:
        count, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < ROUND_SECONDS:
            call()
            count += 1
        yield spent / count * 1000


def compare() -> Iterator[tuple[str, float, float]]:
    """For each size: its name, the core's time and the plain loop's, in milliseconds."""
    for tokens, n_heads, d_model, d_k in SIZES:
        rng = np.random.RandomState(0)
        x = rng.standard_normal((tokens, d_model))
        w_q, w_k, w_v = rng.standard_normal((3, n_heads, d_model, d_k)) / d_model**0.5
        w_o = rng.standard_normal((n_heads * d_k, d_model))
        params = attnviz.Params(w_q, w_k, w_v, w_o)
        np.testing.assert_allclose(
            attnviz.multi_head_attention(x, params)["output"], plain(x, params), atol=1e-9
        )
        ours = milliseconds(partial(attnviz.multi_head_attention, x, params))
        loop = milliseconds(partial(plain, x, params))
        pairs = [(next(ours), next(loop)) for _ in range(ROUNDS)]
        core, numpy = (statistics.median(times) for times in zip(*pairs, strict=True))
        yield f"{tokens} tokens, {n_heads} heads, d_model {d_model}", core, numpy
