"""What an operation is: it reads named arrays, computes one and explains each cell of it.

An operation reads arrays by name. A name such as "masked|biased|scaled" means the first of
these that is there, so a step that a configuration does not use leaves no gap.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from attnviz.core.arrays import Array
from attnviz.core.expr import Cell, Expr
from attnviz.core.model import Config

Index = tuple[int, ...]


@dataclass(frozen=True)
class Values:
    """The arrays computed or given so far, by name, and the configuration."""

    arrays: Mapping[str, NDArray[Any]]
    config: Config

    def pick(self, names: str) -> str | None:
        """The first of "a|b|c" that is there."""
        return next((name for name in names.split("|") if name in self.arrays), None)

    def __getitem__(self, names: str) -> NDArray[Any]:
        return self.arrays[self.pick(names) or names]


class Names(Protocol):
    """How the cells and rows of arrays are called; pairs are (text, LaTeX)."""

    @property
    def values(self) -> Values: ...

    def cell(self, names: str, index: Index) -> Cell: ...
    def at(self, names: str, index: Index) -> tuple[str, str]: ...
    def row(self, names: str, index: Index) -> tuple[str, str]: ...
    def column(self, names: str, index: Index) -> tuple[str, str]: ...
    def labels(self, names: str) -> tuple[tuple[str, ...], ...]: ...


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


class Op(Protocol):
    """One operation of the table of stages."""

    def inputs(self, values: Values) -> tuple[str, ...]:
        """The arrays it reads, the left operand first."""

    def active(self, values: Values) -> bool:
        """Whether a configuration uses it and its inputs are there."""

    def apply(self, values: Values) -> Array: ...

    def explain(self, names: Names, index: Index) -> Explanation: ...
