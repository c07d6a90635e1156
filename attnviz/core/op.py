"""What an operation is: it reads named arrays, computes one and explains each cell of it.

An operation reads arrays by name. A name such as "masked|biased|scaled" means the first of
these that is there, so a step that a configuration does not use leaves no gap.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from numpy.typing import NDArray

from attnviz.core.arrays import Array
from attnviz.core.expr import Cell, Expr

if TYPE_CHECKING:  # the choices name the variants, which are made of what is defined here
    from attnviz.core.config import Config

Index = tuple[int, ...]


@dataclass(frozen=True)
class Values:
    """The arrays computed or given so far, by name, and the configuration."""

    arrays: Mapping[str, NDArray[Any]]
    config: "Config"

    def pick(self, names: str) -> str | None:
        """The first of "a|b|c" that is there."""
        return next((name for name in names.split("|") if name in self.arrays), None)

    def __getitem__(self, names: str) -> NDArray[Any]:
        return self.arrays[self.pick(names) or names]


class Names(Protocol):
    """How the cells and rows of arrays are called; pairs are (text, LaTeX)."""

    @property
    def values(self) -> Values: ...

    def cell(self, names: str, index: Index) -> Cell:
        """A cell with its number."""

    def at(self, names: str, index: Index) -> tuple[str, str]:
        """A cell in symbols."""

    def of_head(self, names: str, index: Index) -> tuple[str, str]:
        """A cell in symbols, with its head."""

    def row(self, names: str, index: Index) -> tuple[str, str]:
        """The whole row of a cell in symbols."""

    def column(self, names: str, index: Index) -> tuple[str, str]:
        """The whole column of a cell in symbols."""

    def labels(self, names: str) -> tuple[tuple[str, ...], ...]:
        """For each axis the names of its places."""


@dataclass(frozen=True)
class Explanation:
    """The arithmetic behind one cell.

    Args:
        symbolic: what is computed, in symbols: (text, LaTeX).
        exprs: the same numbers in one or more steps; each evaluates to the cell.
        note: a sentence where symbols do not suffice.
    """

    symbolic: tuple[str, str]
    exprs: tuple[Expr, ...]
    note: str = ""


@dataclass(frozen=True)
class Block:
    """One matrix of an equation.

    Args:
        key: the array it shows; for a step in between, the array whose labels it has.
        head: which head of it, None where it has no heads.
        transposed: whether it enters with rows and columns exchanged.
        title: what a step in between is called, as text; empty for an array of the trace.
        values: the numbers of a step in between, (row, column), (row, 1) or (1, column).
    """

    key: str
    head: int | None
    transposed: bool = False
    title: str = ""
    values: Array | None = None


@dataclass(frozen=True)
class Equation:
    """How a stage is made for one head.

    Args:
        kind: "product": the first block times the second one, with a bias as a third;
            "sum": the blocks added up; "quotient": the last but one over the last, cell by
            cell; "rotation": the first times the second plus the third times the fourth, cell
            by cell; "chain": the blocks one after the other lead to the result.
        blocks: the matrices, without the result.
        sign: what stands between the blocks of a chain; an arrow where each leads to the next.
    """

    kind: Literal["product", "sum", "quotient", "rotation", "chain"]
    blocks: tuple[Block, ...]
    sign: str = "→"


class Op(Protocol):
    """One operation of the table of stages."""

    def inputs(self, values: Values) -> tuple[str, ...]:
        """The arrays it reads, the left operand first."""

    def active(self, values: Values) -> bool:
        """Whether a configuration uses it and its inputs are there."""

    def apply(self, values: Values) -> Array:
        """The whole array, float64; heads are its first axis."""

    def explain(self, names: Names, index: Index) -> Explanation:
        """The arithmetic of one cell; every one of its trees evaluates to the cell."""

    def equation(self, values: Values, head: int) -> Equation:
        """The matrices that it puts together for one query head, from 0."""


def block(values: Values, names: str, head: int, transposed: bool = False) -> Block:
    """An array of the trace as a block; with heads, the one that query head `head` reads."""
    key = values.pick(names) or names
    array = values[key]
    if array.ndim < 3:
        return Block(key, None, transposed)
    n_heads = max(len(a) for a in values.arrays.values() if a.ndim == 3)
    return Block(key, head // (n_heads // len(array)), transposed)
