"""The arithmetic of many cells without words, which would take most of the time."""

from typing import Any

from numpy.typing import NDArray

from attnviz.core.expr import Cell, Expr
from attnviz.core.op import Index
from attnviz.core.stages import Stage
from attnviz.core.trace import Trace

_NOTHING = ("", "")


class Bare:
    """`Names` that call cells nothing: they are known by their arrays and places alone."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.values = trace, trace.values
        self.found: dict[str, tuple[str, NDArray[Any]]] = {}

    def cell(self, names: str, index: Index) -> Cell:
        """The first of "a|b|c" that is there, looked for once."""
        if names not in self.found:
            self.found[names] = self.values.pick(names) or names, self.values[names]
        key, array = self.found[names]
        return Cell(key, index, float(array[index]))

    def at(self, names: str, index: Index) -> tuple[str, str]:
        """No symbol."""
        return _NOTHING

    of_head = row = column = at

    def labels(self, names: str) -> tuple[tuple[str, ...], ...]:
        """The names of rows and columns, which tell the terms of a sum apart."""
        return self.trace.labels(names)


def tree(trace: Trace, stage: Stage, index: Index) -> Expr:
    """The arithmetic of one cell as a tree, without labels."""
    return stage.op.explain(Bare(trace), index).exprs[0]
