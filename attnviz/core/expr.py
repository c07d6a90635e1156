"""The arithmetic of one cell as data: a small tree that can be evaluated and written out.

Every node has a `value`, evaluated from its parts alone, so a tree that reads wrong numbers
gives a wrong value. `render` writes a tree as plain text or as LaTeX.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

MANY_TERMS = 12  # of a sum; longer ones are cut to their largest terms
Syntax = Literal["text", "latex"]
Format = Callable[[float], str]


@dataclass(frozen=True)
class Cell:
    """One cell of a named array of the trace: a number that came from somewhere else."""

    key: str
    index: tuple[int, ...]
    value: float
    label: str = ""


@dataclass(frozen=True)
class Const:
    """A number that comes from no array; `text` and `latex` say how it is written."""

    value: float
    text: str = ""
    latex: str = ""


@dataclass(frozen=True)
class Mul:
    a: "Expr"
    b: "Expr"

    @property
    def value(self) -> float:
        return self.a.value * self.b.value


@dataclass(frozen=True)
class Div:
    a: "Expr"
    b: "Expr"

    @property
    def value(self) -> float:
        return self.a.value / self.b.value


@dataclass(frozen=True)
class Sub:
    a: "Expr"
    b: "Expr"

    @property
    def value(self) -> float:
        return self.a.value - self.b.value


@dataclass(frozen=True)
class Neg:
    """A number with the other sign."""

    a: "Expr"

    @property
    def value(self) -> float:
        return -self.a.value


@dataclass(frozen=True)
class Func:
    """A function of one number; exp is written as a power of e."""

    name: Literal["exp", "tanh", "sin", "cos"]
    a: "Expr"

    @property
    def value(self) -> float:
        return _FUNCTIONS[self.name](self.a.value)


_FUNCTIONS = {"exp": math.exp, "tanh": math.tanh, "sin": math.sin, "cos": math.cos}


def total(values: Iterable[float]) -> float:
    """The sum, rounded once; an infinity where it grows beyond float64."""
    values = list(values)
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # partial sums beyond float64, or infinities
        return sum(values)


@dataclass(frozen=True)
class Max:
    terms: tuple["Expr", ...]

    @property
    def value(self) -> float:
        return max(term.value for term in self.terms)


@dataclass(frozen=True)
class Sum:
    """A sum; `names` says what each term stands for, in the same order."""

    terms: tuple["Expr", ...]
    names: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        return total(term.value for term in self.terms)


Expr = Cell | Const | Neg | Mul | Div | Sub | Func | Max | Sum


def parts(node: Expr) -> tuple[Expr, ...]:
    """The direct parts of a node, left to right."""
    match node:
        case Cell() | Const():
            return ()
        case Neg(a) | Func(_, a):
            return (a,)
        case Mul(a, b) | Div(a, b) | Sub(a, b):
            return (a, b)
        case Max(terms) | Sum(terms):
            return terms


def cells(node: Expr) -> tuple[Cell, ...]:
    """Every cell in a tree, each once, in reading order."""

    def walk(node: Expr) -> Iterator[Cell]:
        if isinstance(node, Cell):
            yield node
        for part in parts(node):
            yield from walk(part)

    return tuple({(cell.key, cell.index): cell for cell in walk(node)}.values())


def largest(node: Sum | Max, limit: int) -> tuple[list[int], float | None]:
    """Which terms to write: all, or the largest by size and what the rest sums to."""
    count = len(node.terms)
    if count <= limit:
        return list(range(count)), None
    by_size = sorted(range(count), key=lambda i: -abs(node.terms[i].value))
    shown = sorted(by_size[: limit // 2])
    rest = set(range(count)).difference(shown)
    return shown, Sum(tuple(node.terms[i] for i in sorted(rest))).value


def render(node: Expr, fmt: Format, syntax: Syntax = "text", limit: int = MANY_TERMS) -> str:
    """Write a tree with its numbers.

    Args:
        node: the tree.
        fmt: how a number is written.
        syntax: plain text or LaTeX.
        limit: the number of terms above which a sum is cut to its largest terms.
    """
    latex = syntax == "latex"

    def number(value: float) -> str:
        text = fmt(value)
        return text.replace("−", "-").replace("∞", r"\infty ") if latex else text

    def inner(node: Expr, wrap_sums: bool) -> str:
        text = write(node)
        negative = isinstance(node, Cell | Const) and text.startswith(("-", "−"))
        many = isinstance(node, Sum) and len(node.terms) > 1
        compound = many or isinstance(node, Sub) or (not latex and isinstance(node, Div))
        if negative or (wrap_sums and compound):
            return rf"\left({text}\right)" if latex else f"({text})"
        return text

    def list_of(node: Sum | Max, joiner: str) -> str:
        shown, rest = largest(node, limit)
        text = joiner.join(inner(node.terms[i], False) for i in shown)
        if rest is None:
            return text
        more = len(node.terms) - len(shown)
        if isinstance(node, Max):
            return text + (r",\ \ldots" if latex else ", …")
        if latex:
            return rf"{text} + \underbrace{{{number(rest)}}}_{{\text{{{more} other terms}}}}"
        return f"{text} + [{more} other terms: {number(rest)}]"

    def write(node: Expr) -> str:
        match node:
            case Cell(value=value):
                return number(value)
            case Const(value, text, tex):
                return (tex if latex else text) or number(value)
            case Mul(a, b):
                sign = r" \cdot " if latex else "·"
                return f"{inner(a, True)}{sign}{inner(b, True)}"
            case Div(a, b):
                if latex:
                    return rf"\frac{{{write(a)}}}{{{write(b)}}}"
                return f"{inner(a, True)} / {inner(b, True)}"
            case Sub(a, b):
                return f"{write(a)} {'-' if latex else '−'} {inner(b, True)}"
            case Neg(a):
                return f"{'-' if latex else '−'}{inner(a, True)}"
            case Func("exp", a):
                if latex:
                    return rf"e^{{{write(a)}}}"
                return f"e^{write(a)}" if isinstance(a, Cell | Const) else f"e^({write(a)})"
            case Func(name, a):
                return rf"\{name}\left({write(a)}\right)" if latex else f"{name}({write(a)})"
            case Max():
                text = list_of(node, ", ")
                return rf"\max\left({text}\right)" if latex else f"max({text})"
            case Sum():
                return list_of(node, " + ")

    return write(node)
