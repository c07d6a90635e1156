"""The arithmetic behind one cell, ready to be read, copied and followed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from attnviz.core.digits import lines
from attnviz.core.expr import (
    MANY_TERMS,
    Cell,
    Const,
    Div,
    Expr,
    Func,
    Mul,
    Sub,
    Sum,
    Syntax,
    cells,
    render,
)
from attnviz.core.numbers import format_number
from attnviz.core.op import Explanation, Index

_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{char: "\\" + char for char in "{}$&#_%"},
}


def latex_text(text: str) -> str:
    r"""Any text as \text{...} that shows it letter for letter."""
    return r"\text{" + "".join(_LATEX_ESCAPES.get(char, char) for char in text) + "}"


@dataclass(frozen=True)
class Term:
    """One term of a sum or quotient: what it is called, its two parts, what they give."""

    label: str
    a: float
    b: float
    product: float


@dataclass(frozen=True)
class Derivation:
    """Where one number comes from.

    Args:
        stage: the key of the array.
        index: the cell in it.
        title: the cell in words.
        value: the very number in the array.
        explanation: the arithmetic, as trees.
        given: whether the number was set and not computed.
        head: which head it belongs to, in words; empty where heads have no part.
    """

    stage: str
    index: Index
    title: str
    value: float
    explanation: Explanation
    given: bool = False
    head: str = ""

    @property
    def symbolic(self) -> str:
        """What is computed, in symbols."""
        return self.explanation.symbolic[0]

    @property
    def note(self) -> str:
        """A sentence where symbols do not suffice."""
        return self.explanation.note

    @property
    def expr(self) -> Expr:
        """The arithmetic as a tree."""
        return self.explanation.exprs[0]

    @cached_property
    def total(self) -> float:
        """The tree evaluated from its operands alone; it equals the cell."""
        return self.expr.value

    @cached_property
    def operands(self) -> tuple[Cell, ...]:
        """Every cell that the number is made of, each once."""
        return cells(self.expr)

    @cached_property
    def largest_operands(self) -> tuple[Cell, ...]:
        """The same, those of a sum's largest terms first where it has many."""
        if not isinstance(self.expr, Sum) or len(self.expr.terms) <= MANY_TERMS:
            return self.operands
        by_size = sorted(self.expr.terms, key=lambda term: -abs(term.value))
        return cells(Sum(tuple(by_size)))

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the sum; for softmax the row's exponentials (score, maximum, power)."""
        node = self.expr
        if isinstance(node, Div) and isinstance(node.b, Sum):
            node = node.b
        if isinstance(node, Sub):
            taken = _term("", node.b)
            return (_term("", node.a), Term("", taken.a, -taken.b, -taken.product))
        if not isinstance(node, Sum):
            return (_term("", node),)
        names = node.names or ("",) * len(node.terms)
        return tuple(_term(name, term) for name, term in zip(names, node.terms, strict=True))

    def steps(
        self, decimals: int | None = 4, syntax: Syntax = "text", limit: int = MANY_TERMS
    ) -> tuple[str, ...]:
        """The arithmetic with its numbers, step by step; the last step is the result."""
        written = lines(self.explanation.exprs, decimals, syntax, limit, self.value)
        result = render(Const(self.value), lambda v: format_number(v, decimals), syntax)
        return (*dict.fromkeys(written), result)

    def text(self, decimals: int | None = 4, limit: int = MANY_TERMS) -> str:
        """One line that can be copied: symbols = numbers = result."""
        line = " = ".join((self.symbolic, *self.steps(decimals, "text", limit)))
        return f"{line} ({self.head})" if self.head else line

    def to_latex(self, decimals: int | None = 4, limit: int = MANY_TERMS) -> str:
        """The same as LaTeX."""
        return " = ".join((self.explanation.symbolic[1], *self.steps(decimals, "latex", limit)))

    @property
    def latex(self) -> str:
        """The same as LaTeX with four decimals."""
        return self.to_latex()


def aligned(derivations: Sequence[Derivation], decimals: int | None = 4) -> str:
    """Derivations one under the other as LaTeX, a line for each step."""
    rows = []
    for derivation in derivations:
        steps = derivation.steps(decimals, "latex")
        rows.append(f"{derivation.explanation.symbolic[1]} &= {steps[0]}")
        rows += [f"&= {step}" for step in steps[1:]]
    lines = " \\\\\n".join(rows)
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def _term(label: str, node: Expr) -> Term:
    match node:
        case Mul(a, b) | Div(a, b) | Func(_, Sub(a, b)):
            return Term(label, a.value, b.value, node.value)
        case _:
            return Term(label, node.value, 1.0, node.value)
