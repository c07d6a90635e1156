"""Tables from the seed: each row by its own name, so that it does not depend on sizes."""

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.model import Sizes
from attnviz.core.stages import TABLES
from attnviz.core.text import seeded_row

POSITION_SIZE = 0.5  # of drawn positions beside embeddings of size 1


def shape_of(name: str, sizes: Sizes) -> tuple[int, ...]:
    """The shape of a table of `Params`, with the heads of w_o as an axis of their own."""
    if name == "w_o":
        return (sizes.n_heads, sizes.d_v, sizes.d_out)
    axis_sizes = {
        "head": sizes.n_heads,
        "kv_head": sizes.kv_heads,
        "d_model": sizes.context_width if name in ("w_k", "w_v") else sizes.d_model,
        "d_k": sizes.d_k,
        "d_v": sizes.d_v,
        "d_out": sizes.d_out,
    }
    return tuple(axis_sizes[axis] for axis in TABLES[name].axes)


def drawn(name: str, seed: int, sizes: Sizes) -> Array:
    """A table of `Params` in the shape that `shape_of` gives."""
    shape = shape_of(name, sizes)
    fan_in = shape[0] * shape[1] if name == "w_o" else shape[-2] if len(shape) > 1 else 1
    decimals = 2 + int(np.log10(fan_in) / 2)
    rows = [
        seeded_row(seed, name, *map(str, index), n=shape[-1]) for index in np.ndindex(shape[:-1])
    ]
    table: Array = np.round(np.stack(rows) / np.sqrt(fan_in), decimals) + 0.0
    return table.reshape(shape)


def drawn_positions(name: str, seed: int, n: int, width: int) -> Array:
    """(place, width) learned positions with two decimals."""
    rows = [seeded_row(seed, name, str(place), n=width) for place in range(n)]
    positions: Array = np.round(np.stack(rows) * POSITION_SIZE, 2) + 0.0
    return positions


def drawn_rows(name: str, seed: int, n_heads: int, tokens: tuple[str, ...], width: int) -> Array:
    """(head, token, width) queries, keys or values; equal words have equal rows."""
    rows = [
        [seeded_row(seed, name, str(head), token, n=width) for token in tokens]
        for head in range(n_heads)
    ]
    table: Array = np.round(np.array(rows), 2) + 0.0
    return table
