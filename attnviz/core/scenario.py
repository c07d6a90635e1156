"""Everything a person can set, as one immutable value."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from attnviz.core.arrays import Array, BoolArray, as_floats, check_cell, frozen
from attnviz.core.config import Config
from attnviz.core.draw import drawn_positions
from attnviz.core.errors import ScenarioError, ShapeError, TextError
from attnviz.core.model import Params, Sizes
from attnviz.core.picture import as_picture
from attnviz.core.positions import POSITIONS
from attnviz.core.text import embedding_row, tokenize

_DEFAULT = Config()
Cells = Mapping[tuple[int, int], float]

# Tables that are made anew and hold a person's cells apart: table -> the field that holds them.
EDITS: Mapping[str, str] = MappingProxyType(
    {
        "x": "x_edits",
        "context": "context_edits",
        "positions": "position_edits",
        "context_positions": "context_position_edits",
        "bias": "bias_edits",
    }
)


@dataclass(frozen=True, eq=False)
class Scenario:
    """Everything a person can set; one immutable value.

    Cells are (row, column) -> value, counted from 0; a token or key is meant by its place.

    Args:
        text: what was typed.
        params: the tables.
        tokenizer: an entry of `attnviz.core.text.TOKENIZERS`.
        seed: where embeddings of unnamed words and newly filled cells come from.
        config: the choices of `Config`.
        lexicon: words with an embedding of their own (the example's).
        x_edits: cells of X that a person has set.
        preset: the name of the example this began as.
        context_text: a second text that gives keys and values; None for self-attention.
        context_edits: cells of the second text's embeddings that a person has set.
        position_edits, context_position_edits: cells of learned positions that a person has set.
        padding: keys that are hidden from every query.
        hidden: (query, key) cells of the mask that are hidden.
        bias_edits: (query, key) -> what is added to the score; other cells add 0.
        qkv: "q", "k" and "v", the tables with `Config.start` "qkv"; kept while it is "x".
        features: names of the columns of embeddings, from the first on.
        image: (height, width) or (height, width, 3), from 0 to 1: the picture whose patches the
            tokens are; see `attnviz.core.picture`.
    """

    text: str
    params: Params
    tokenizer: str = "words"
    seed: int = 0
    config: Config = _DEFAULT
    lexicon: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    x_edits: Cells = field(default_factory=dict)
    preset: str = ""
    context_text: str | None = None
    context_edits: Cells = field(default_factory=dict)
    position_edits: Cells = field(default_factory=dict)
    context_position_edits: Cells = field(default_factory=dict)
    padding: frozenset[int] = frozenset()
    hidden: frozenset[tuple[int, int]] = frozenset()
    bias_edits: Cells = field(default_factory=dict)
    qkv: Mapping[str, Array] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    image: Array | None = None

    def __post_init__(self) -> None:
        for name in ("lexicon", *EDITS.values()):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for name in ("padding", "hidden"):
            object.__setattr__(self, name, frozenset(getattr(self, name)))
        qkv = {name: as_floats(table, name, 3) for name, table in self.qkv.items()}
        object.__setattr__(self, "qkv", MappingProxyType(qkv))
        object.__setattr__(self, "features", tuple(self.features))
        if self.image is not None:
            object.__setattr__(self, "image", as_picture(self.image))

    def __reduce__(self) -> tuple[Any, ...]:
        """As plain values, so that a scenario can be copied and pickled."""
        values = [getattr(self, item.name) for item in fields(self)]
        plain = [dict(v) if isinstance(v, MappingProxyType) else v for v in values]
        return (Scenario, tuple(plain))

    @property
    def sizes(self) -> Sizes:
        """Those of the tables."""
        return self.params.sizes

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the text, which give the queries."""
        return tokenize(self.text, self.tokenizer)

    @cached_property
    def key_tokens(self) -> tuple[str, ...]:
        """The tokens that are attended to: those of the second text, where there is one."""
        if self.context_text is None:
            return self.tokens
        return tokenize(self.context_text, self.tokenizer)

    @cached_property
    def x(self) -> Array:
        """(token, d_model): the embeddings, a person's edits included."""
        return self._embeddings(self.tokens, self.sizes.d_model, "x", "text")

    @cached_property
    def context(self) -> Array:
        """(key, d_context): the embeddings of the second text, a person's edits included."""
        width = self.sizes.context_width
        return self._embeddings(self.key_tokens, width, "context", "second text")

    def _embeddings(self, tokens: tuple[str, ...], width: int, table: str, where: str) -> Array:
        if not tokens:
            raise TextError("there are no tokens yet", where=where, hint="Type a word.")
        rows = np.stack([self.embedding(token, width) for token in tokens])
        return self._edited(rows, table)

    def embedding(self, token: str, width: int) -> Array:
        """Token -> (width,): the example's vector, continued from the seed where too short."""
        row = embedding_row(token, self.seed, width)
        known = self.lexicon.get(token, ())[:width]
        row[: len(known)] = known
        return row

    @cached_property
    def positions(self) -> Array:
        """(place, d_model): learned positions, one row for each token."""
        return self._positions("positions", len(self.tokens), self.sizes.d_model)

    @cached_property
    def context_positions(self) -> Array:
        """(place, d_context): learned positions of the second text."""
        n, width = len(self.key_tokens), self.sizes.context_width
        return self._positions("context_positions", n, width)

    def _positions(self, table: str, n: int, width: int) -> Array:
        return self._edited(drawn_positions(table, self.seed, n, width), table, places=True)

    @cached_property
    def bias(self) -> Array:
        """(query, key): what is added to the scores."""
        return self._edited(np.zeros((len(self.tokens), len(self.key_tokens))), "bias")

    @cached_property
    def mask(self) -> BoolArray:
        """(query, key): True where the query may attend to the key."""
        mask = np.ones((len(self.tokens), len(self.key_tokens)), np.bool_)
        for cell in self.hidden:
            check_cell(cell, mask.shape, "mask")
            mask[cell] = False
        frozen(mask)
        return mask

    @cached_property
    def keep(self) -> BoolArray:
        """(key,): False where the key is padding."""
        keep = np.ones(len(self.key_tokens), np.bool_)
        for key in self.padding:
            check_cell((key,), keep.shape, "key padding")
            keep[key] = False
        frozen(keep)
        return keep

    def _edited(self, table: Array, name: str, *, places: bool = False) -> Array:
        """A table with a person's cells; cells for places beyond the text wait for it to grow."""
        for cell, value in getattr(self, EDITS[name]).items():
            if places and cell[0] >= len(table):
                continue
            check_cell(cell, table.shape, name)
            table[cell] = value
        return as_floats(table, name, table.ndim)

    def tables(self) -> dict[str, Array]:
        """Every table of numbers that can be edited, by name, whether it is in use or not."""
        found = {"x": self.x, **self.params.tables()}
        if self.context_text is not None:
            found["context"] = self.context
        if POSITIONS[self.config.positions].learned:
            found["positions"] = self.positions
            if self.context_text is not None:
                found["context_positions"] = self.context_positions
        return {**found, **self.qkv, "bias": self.bias}

    def inputs(self) -> dict[str, Any]:
        """The arrays that the computation begins with, by name.

        Raises:
            ScenarioError, ShapeError: Q, K and V are to be the tables, and are not there or do
                not fit to the texts and sizes.
        """
        tables = self.tables()
        if self.config.start == "qkv":
            self._check_qkv()
            wanted = ["q", "k", "v", "w_o", "b_o"]
        else:
            wanted = [name for name in tables if name not in ("q", "k", "v", "bias")]
        arrays: dict[str, Any] = {name: tables[name] for name in wanted if name in tables}
        for name, used in (
            ("bias", self.bias.any()),
            ("mask", self.hidden),
            ("keep", self.padding),
        ):
            if used:
                arrays[name] = getattr(self, name)
        return arrays

    def _check_qkv(self) -> None:
        sizes, n_keys = self.sizes, len(self.key_tokens)
        shapes = {
            "q": (sizes.n_heads, len(self.tokens), sizes.d_k),
            "k": (sizes.kv_heads, n_keys, sizes.d_k),
            "v": (sizes.kv_heads, n_keys, sizes.d_v),
        }
        for name, shape in shapes.items():
            if name not in self.qkv:
                raise ScenarioError("there is no such table to start from", where=name.upper())
            if self.qkv[name].shape != shape:
                raise ShapeError(
                    "does not fit to the texts and the sizes",
                    where=name.upper(),
                    expected=f"shape {shape}",
                    got=f"shape {self.qkv[name].shape}",
                )

    def same(self, other: "Scenario") -> bool:
        """Whether two scenarios give the same numbers everywhere and say so in the same words."""
        return all(
            _same(getattr(self, item.name), getattr(other, item.name)) for item in fields(self)
        )


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Params) and isinstance(b, Params):
        return _same(a.tables(), b.tables())
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return bool(a == b)
