"""What a multi-head attention is made of: its axes, its sizes, its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.core.arrays import Array, as_floats
from attnviz.core.errors import LimitError, ShapeError

MAX_TOKENS = 512
MAX_CHARACTERS = 100_000
MAX_HEADS = 32
MAX_SIZE = 1024
MAX_CELLS = 4_194_304  # of one array: heads x tokens x tokens, or heads x d_model x d_k

AXES: Mapping[str, str] = MappingProxyType(
    {
        "head": "one picture per head",
        "kv_head": "one picture per key/value head",
        "query": "one row per query token, the token that looks",
        "key": "one column per key token, the token that is looked at",
        "token": "one row per token",
        "place": "one row per place, counted from 0",
        "d_model": "one column per dimension of the embedding",
        "d_k": "one column per dimension of queries and keys",
        "d_v": "one column per dimension of values",
        "concat": "the heads' columns side by side, head 1 first",
        "d_out": "one column per dimension of the output",
    }
)
HEAD_AXES = ("head", "kv_head")  # an array that has one of them has it first


@dataclass(frozen=True)
class Sizes:
    """The sizes of a multi-head attention; d_k, d_v and d_out are free of d_model.

    n_kv_heads None is one key/value head for each head, d_context None is d_model on the key
    side too.

    Raises:
        LimitError: a size below 1 or above its limit; the sentence gives the nearest legal one.
        ShapeError: n_kv_heads does not divide n_heads.
    """

    n_heads: int
    d_model: int
    d_k: int
    d_v: int
    d_out: int
    n_kv_heads: int | None = None
    d_context: int | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.default is None and value is None:
                continue
            check_size(item.name, value)
        if self.n_heads % self.kv_heads:
            legal = [n for n in range(1, self.n_heads + 1) if self.n_heads % n == 0]
            raise ShapeError(
                f"{self.kv_heads} key/value heads cannot be shared evenly by "
                f"{self.n_heads} query heads",
                where="n_kv_heads",
                expected="one of " + ", ".join(map(str, legal)),
            )
        tables = (
            (self.n_heads, self.d_model, self.d_k),
            (self.kv_heads, self.context_width, max(self.d_k, self.d_v)),
            (self.n_heads, self.d_v, self.d_out),
        )
        heads, rows, columns = max(tables, key=lambda shape: shape[0] * shape[1] * shape[2])
        cells = heads * rows * columns
        if cells > MAX_CELLS:
            raise LimitError(
                f"{heads} heads of {rows} x {columns} need {cells:,} cells in a table",
                where="sizes",
                expected=f"at most {MAX_CELLS:,}",
                hint="Take fewer heads or smaller sizes.",
            )

    @property
    def kv_heads(self) -> int:
        """The number of key/value heads: n_kv_heads, or one for each head."""
        return self.n_kv_heads or self.n_heads

    @property
    def context_width(self) -> int:
        """The width of embeddings on the key side: d_context, or d_model."""
        return self.d_context or self.d_model


def _nearest(value: Any, legal: Sequence[int]) -> str:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return "Type a whole number."
    if not np.isfinite(number) or isinstance(value, bool):
        return "Type a whole number."
    return f"The nearest legal value is {min(legal, key=lambda size: abs(size - number))}."


def check_size(name: str, value: Any, legal: Sequence[int] = ()) -> None:
    """Refuse a size that is no whole number within its limits, with the nearest legal one.

    `legal` are the values that go with the other sizes, where those are fewer.
    """
    limit = MAX_HEADS if name.endswith("heads") else MAX_SIZE
    legal = legal or range(1, limit + 1)
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise LimitError(
            "not a whole number",
            where=name,
            expected=f"1 to {limit}",
            got=repr(value),
            hint=_nearest(value, legal),
        )
    if not 1 <= value <= limit:
        raise LimitError(
            "out of range",
            where=name,
            expected=f"1 to {limit}",
            got=str(value),
            hint=_nearest(value, legal),
        )


@dataclass(frozen=True, eq=False)
class Params:
    """The tables of a multi-head attention, as (in, out), used as x @ w + b.

    Args:
        w_q: (n_heads, d_model, d_k).
        w_k: (n_kv_heads, d_model of the key side, d_k).
        w_v: (n_kv_heads, d_model of the key side, d_v).
        w_o: (n_heads * d_v, d_out), or None for no output projection.
        b_q: (n_heads, d_k) or None; likewise b_k, b_v with n_kv_heads and b_o (d_out,).

    Raises:
        ShapeError: shapes that do not fit together; the sentence names both.
        NumberError: a cell that is no finite number.
    """

    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array | None = None
    b_q: Array | None = None
    b_k: Array | None = None
    b_v: Array | None = None
    b_o: Array | None = None

    def __init__(
        self,
        w_q: ArrayLike,
        w_k: ArrayLike,
        w_v: ArrayLike,
        w_o: ArrayLike | None = None,
        b_q: ArrayLike | None = None,
        b_k: ArrayLike | None = None,
        b_v: ArrayLike | None = None,
        b_o: ArrayLike | None = None,
    ) -> None:
        ndims = {"w_q": 3, "w_k": 3, "w_v": 3, "w_o": 2, "b_q": 2, "b_k": 2, "b_v": 2, "b_o": 1}
        given = dict(zip(ndims, (w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o), strict=True))
        for name, table in given.items():
            array = None if table is None else as_floats(table, name, ndims[name])
            object.__setattr__(self, name, array)
        self._check()

    def _check(self) -> None:
        (heads, _, d_k), (kv_heads, d_context, _) = self.w_q.shape, self.w_k.shape
        d_v = self.w_v.shape[2]
        expected = {
            "w_k": (kv_heads, d_context, d_k),
            "w_v": (kv_heads, d_context, d_v),
            "b_q": (heads, d_k),
            "b_k": (kv_heads, d_k),
            "b_v": (kv_heads, d_v),
        }
        if self.w_o is not None:
            expected["w_o"] = (heads * d_v, self.w_o.shape[1])
            expected["b_o"] = (self.w_o.shape[1],)
        elif self.b_o is not None:
            raise ShapeError("there is no w_o that it could belong to", where="b_o")
        for name, shape in expected.items():
            table = getattr(self, name)
            if table is not None and table.shape != shape:
                raise ShapeError(
                    f"does not fit to w_q of shape {self.w_q.shape} and the other tables",
                    where=name,
                    expected=f"shape {shape}",
                    got=f"shape {table.shape}",
                )
        if heads % kv_heads:
            raise ShapeError(
                f"w_k has {kv_heads} heads, which do not divide the {heads} of w_q",
                where="w_k",
            )

    @property
    def sizes(self) -> Sizes:
        """The sizes the tables have; without w_o, d_out is the width of the concatenation."""
        heads, d_model, d_k = self.w_q.shape
        kv_heads, d_context, d_v = self.w_v.shape
        d_out = heads * d_v if self.w_o is None else self.w_o.shape[1]
        return Sizes(
            heads,
            d_model,
            d_k,
            d_v,
            d_out,
            None if kv_heads == heads else kv_heads,
            None if d_context == d_model else d_context,
        )

    def tables(self) -> dict[str, Array]:
        """The tables that are there, by name."""
        named = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: table for name, table in named.items() if table is not None}
