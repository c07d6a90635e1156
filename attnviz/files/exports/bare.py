"""The arithmetic of many cells without words, which would take most of the time."""

from attnviz.core.expr import Cell, Expr
from attnviz.core.op import Index
from attnviz.core.stages import Stage
from attnviz.core.trace import Trace

_NOTHING = ("", "")


class _Bare:
    """Names of nothing: cells are known by their arrays and places alone."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.values = trace, trace.values

    def cell(self, names: str, index: Index) -> Cell:
        key = self.values.pick(names) or names
        return Cell(key, index, float(self.values.arrays[key][index]))

    def at(self, names: str, index: Index) -> tuple[str, str]:
        return _NOTHING

    of_head = row = column = at

    def labels(self, names: str) -> tuple[tuple[str, ...], ...]:
        return self.trace.labels(names)


def tree(trace: Trace, stage: Stage, index: Index) -> Expr:
    """The arithmetic of one cell as a tree, without labels."""
    return stage.op.explain(_Bare(trace), index).exprs[0]
