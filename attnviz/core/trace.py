"""Every array of one computation, by name, and the arithmetic behind each of its cells."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import BoolArray, check_cell
from attnviz.core.derivation import Derivation, latex_text
from attnviz.core.errors import ScenarioError
from attnviz.core.expr import Cell
from attnviz.core.html import overview
from attnviz.core.model import HEAD_AXES
from attnviz.core.numbers import format_number
from attnviz.core.op import Index, Values
from attnviz.core.ops import Given
from attnviz.core.stages import STAGES, TABLES, Stage, Table
from attnviz.core.text import SUBSCRIPTS, unique_labels

_EXCHANGED = {"row": "column", "column": "row"}
_STAGE_BY_KEY = {stage.key: stage for stage in STAGES}


@dataclass(frozen=True, eq=False)
class Trace:
    """All arrays of one attention, read-only float64, by the keys of `STAGES` and `TABLES`.

    Args:
        values: the arrays and the configuration.
        stages: the rows of `STAGES` that this computation has, in order.
        tokens: the query tokens.
        key_tokens: the key tokens; the same for self-attention.
        origin: a sentence on where a cell of a table (key, row, column) comes from, or nothing.
        features: names of the columns of embeddings, from the first on.
        columns_first: whether words and symbols are of the transposed arrays, tokens as columns;
            the arrays themselves stay as they are.
    """

    values: Values
    stages: tuple[Stage, ...]
    tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    origin: Callable[[str, int, int], str] | None = None
    features: tuple[str, ...] = ()
    columns_first: bool = False

    def __getitem__(self, key: str) -> NDArray[Any]:
        if key not in self.values.arrays:
            raise ScenarioError(
                "this computation has no such array",
                where="trace",
                got=repr(key),
                expected="one of " + ", ".join(self.values.arrays),
            )
        return self.values.arrays[key]

    def __contains__(self, key: object) -> bool:
        return key in self.values.arrays

    def _repr_html_(self) -> str:
        """How Jupyter shows it."""
        return overview(self)

    @property
    def result(self) -> str:
        """The key of the final array: "output", or "concat" without an output projection."""
        return self.stages[-1].key

    @cached_property
    def empty_rows(self) -> BoolArray:
        """(head, query): True where a query may attend to nothing."""
        names = [s.key for s in self.stages if s.axes == ("head", "query", "key")]
        last = self[names[names.index("attention") - 1]]
        return np.asarray(np.isneginf(last).all(axis=-1))

    def info(self, key: str) -> Table:
        """The row of `STAGES` or `TABLES` for a key."""
        self[key]
        return _STAGE_BY_KEY.get(key) or TABLES[key]

    def axes(self, key: str) -> tuple[str, ...]:
        """The names of an array's axes."""
        axes, ndim = self.info(key).axes, self[key].ndim
        return axes if len(axes) == ndim else ("head", *axes)

    def has_heads(self, key: str) -> bool:
        """Whether an array has a part for each head."""
        return self.axes(key)[0] in HEAD_AXES

    def labels(self, key: str) -> tuple[tuple[str, ...], ...]:
        """For each axis the names of its places; names of one axis differ from each other."""
        return self._labels[self.values.pick(key) or key]

    @cached_property
    def _labels(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        words = unique_labels(self.tokens), unique_labels(self.key_tokens)
        n_heads, d_v = self["q"].shape[0], self["v"].shape[-1]
        return {
            key: tuple(
                axis_labels(axis, size, words, n_heads, d_v, self.features)
                for axis, size in zip(self.axes(key), array.shape, strict=True)
            )
            for key, array in self.values.arrays.items()
        }

    def index(self, key: str, head: int | None = None, row: int = 0, col: int = 0) -> Index:
        """Head, row and column -> an index into an array, whatever its axes are.

        Raises:
            ScenarioError: outside the array; the sentence gives its shape.
        """
        axes = self.axes(key)
        by_axis = dict.fromkeys(HEAD_AXES, head or 0)
        rest = [row, col][2 - sum(axis not in by_axis for axis in axes) :]
        index = tuple(by_axis[axis] if axis in by_axis else rest.pop(0) for axis in axes)
        check_cell(index, self[key].shape, key)
        return index

    def explain(self, key: str, head: int | None = None, row: int = 0, col: int = 0) -> Derivation:
        """The arithmetic behind one cell of a stage, or where a cell of a table comes from.

        Raises:
            ScenarioError: no such array or cell.
        """
        index = self.index(key, head, row, col)
        stage = next((stage for stage in self.stages if stage.key == key), None)
        op = stage.op if stage else Given(key)
        explanation = op.explain(self, index)
        if isinstance(op, Given):
            note = self.origin(key, row, col) if self.origin else ""
            explanation = replace(explanation, note=note or "Set in the table.")
        else:
            explanation = replace(explanation, note=self.in_words(explanation.note))
        return Derivation(
            stage=key,
            index=index,
            title=self.place(key, index),
            value=float(self[key][index]),
            explanation=explanation,
            given=isinstance(op, Given),
            head=self._head(key, index),
        )

    def in_words(self, text: str) -> str:
        """A sentence on rows and columns, as arrays are written here."""
        if not self.columns_first:
            return text
        return re.sub(r"\b(row|column)(?=s?\b)", lambda match: _EXCHANGED[match[0]], text)

    def place(self, key: str, index: Index) -> str:
        """A cell in words: 'Raw scores, head 1: league, baseball'."""
        info, names = self.info(key), self.labels(key)
        picked = [labels[i] for labels, i in zip(names, index, strict=True)]
        head = self._head(key, index)
        picked = picked[bool(head) :]
        return f"{info.title}{f', {head}' if head else ''}: {', '.join(picked)}"

    def _head(self, key: str, index: Index) -> str:
        return self.labels(key)[0][index[0]] if self.has_heads(key) else ""

    def sentence(
        self,
        key: str,
        head: int | None = None,
        row: int = 0,
        col: int = 0,
        decimals: int | None = 4,
    ) -> str:
        """A cell as a sentence: 'league attends to baseball with 0.4071'."""
        index = self.index(key, head, row, col)
        names = [labels[i] for labels, i in zip(self.labels(key), index, strict=True)]
        info, head_name = self.info(key), self._head(key, index)
        words = {
            "head": head_name,
            "row": names[-2] if len(names) > 1 + bool(head_name) else "",
            "col": names[-1],
            "value": format_number(float(self[key][index]), decimals),
            "title": info.title,
        }
        return re.sub(r"\{(\w+)\}", lambda match: words[match[1]], info.says)

    # How operations call the cells and rows of arrays, as (text, LaTeX).

    def cell(self, names: str, index: Index) -> Cell:
        """A cell with its number and its symbol, of the first of "a|b|c" that is there."""
        key = self.values.pick(names) or names
        symbol, _, places = self._places(key, index)
        return Cell(key, index, float(self[key][index]), f"{symbol}[{', '.join(places)}]")

    def of_head(self, names: str, index: Index) -> tuple[str, str]:
        """A cell in symbols with its head: H₁[league, d0]."""
        return self.at(names, index, str(index[0] + 1))

    def at(self, names: str, index: Index, head: str = "") -> tuple[str, str]:
        """A cell in symbols: S[league, major]."""
        symbol, latex, places = self._places(self.values.pick(names) or names, index, head)
        below = r",\,".join(map(latex_text, places))
        return f"{symbol}[{', '.join(places)}]", f"{latex}_{{{below}}}"

    def _places(self, key: str, index: Index, head: str = "") -> tuple[str, str, list[str]]:
        """The symbol of an array as text and LaTeX, and the names of a cell's row and column."""
        info = self.info(key)
        symbol, latex = info.symbol + head.translate(SUBSCRIPTS), f"{{{info.latex}}}"
        latex = f"{{{latex}_{{{head}}}}}" if head else latex
        picked = [labels[i] for labels, i in zip(self.labels(key), index, strict=True)]
        picked = picked[self.has_heads(key) :]
        if self.columns_first and len(picked) == 2:
            return f"{symbol}ᵀ", rf"{latex}^{{\top}}", picked[::-1]
        return symbol, latex, picked

    def row(self, names: str, index: Index) -> tuple[str, str]:
        """A whole row in symbols: q_league."""
        key = self.values.pick(names) or names
        info, label = self.info(key), self.labels(key)[-2][index[-2]]
        return (
            f"{info.symbol.lower()}_{label}",
            f"{{{info.latex.lower()}}}_{{{latex_text(label)}}}",
        )

    def column(self, names: str, index: Index) -> tuple[str, str]:
        """A whole column in symbols: V[:, d0]."""
        key = self.values.pick(names) or names
        info, label = self.info(key), self.labels(key)[-1][index[-1]]
        if self.columns_first:
            latex = rf"{{{info.latex}}}^{{\top}}_{{{latex_text(label)},\,:}}"
            return f"{info.symbol}ᵀ[{label}, :]", latex
        return f"{info.symbol}[:, {label}]", rf"{{{info.latex}}}_{{:,\,{latex_text(label)}}}"


def axis_labels(
    axis: str,
    size: int,
    words: tuple[tuple[str, ...], tuple[str, ...]],
    n_heads: int,
    d_v: int,
    features: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The names of the places along one axis of an array.

    Args:
        axis: its name.
        size: how many places it has.
        words: the labels of the query tokens and of the key tokens.
        n_heads: the number of query heads.
        d_v: the width of one head's output.
        features: names of the columns of embeddings, from the first on.
    """
    if axis in ("query", "token"):
        return words[0]
    if axis == "key":
        return words[1]
    if axis in HEAD_AXES:
        return tuple(_heads(i, n_heads // size) for i in range(size))
    if axis == "place":
        return tuple(f"p{i}" for i in range(size))
    if axis == "concat":
        return tuple(f"h{i // d_v + 1} d{i % d_v}" for i in range(size))
    named = features[:size] if axis == "d_model" else ()
    return unique_labels((*named, *(f"d{i}" for i in range(len(named), size))))


def _heads(place: int, count: int) -> str:
    """The query heads that share a table, of `count` each: "heads 3, 4"."""
    first, last = place * count + 1, (place + 1) * count
    if count == 1:
        return f"head {first}"
    return f"heads {first}, {last}" if count == 2 else f"heads {first} to {last}"
