"""How many digits an expression needs, so that whoever computes it by hand gets what is written."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from attnviz.core.expr import (
    MANY_TERMS,
    Cell,
    Const,
    Expr,
    Func,
    Max,
    Sum,
    Syntax,
    largest,
    parts,
    render,
    total,
)
from attnviz.core.numbers import format_number

MORE = 4  # digits at most
ALMOST_ONE = 1 - 1e-12, 1 + 1e-12


@lru_cache(maxsize=8192)
def shown(value: float, decimals: int | None) -> str:
    """A number of an expression as it is written: without zeros at its end."""
    return format_number(value, decimals, trim=True)


@lru_cache(maxsize=8192)
def _read(value: float, decimals: int) -> float:
    """The number that a reader sees."""
    return float(shown(value, decimals).replace("−", "-").replace("∞", "inf"))


def enough(
    node: Expr,
    decimals: int | None,
    limit: int = MANY_TERMS,
    then: int | None = None,
    result: float | None = None,
) -> int | None:
    """Digits after the point with which to write the numbers of an expression.

    Rounded numbers seldom give the rounded result: 0.584 + 0.874 + 1 = 2.458, but 0.58 + 0.87 + 1
    is 2.45. So many digits are added that what is written comes out right when it is rounded to
    `decimals`, and so does each sum of plain numbers in it; at most `MORE`. A number never has
    fewer digits than in the next step.

    Args:
        node: the expression.
        decimals: digits after the point of its result; None shows every digit.
        limit: the number of terms above which a sum is cut to its largest terms.
        then: the digits of the next step, in which functions are written out; None without one.
        result: what it is to come out as, its own value by default; where terms cancel, another
            order of adding may give other last digits.
    """
    if decimals is None:
        return None
    checked = [(node, node.value if result is None else result, decimals)]
    checked += [(part, part.value, decimals) for part in _found(node, _is_sum_of_numbers)]
    if then is not None:
        functions = _found(node, lambda part: isinstance(part, Func))
        checked += [(part, part.value, then) for part in functions]
    for digits in range(then or decimals, decimals + MORE):
        if all(_same(_seen(part, digits, limit), value, to) for part, value, to in checked):
            return digits
    return decimals + MORE


def _same(seen: float, value: float, decimals: int) -> bool:
    """Whether two numbers are written alike, and not by the luck of a tie."""
    result = shown(value, decimals)
    return seen == value or all(shown(seen * by, decimals) == result for by in ALMOST_ONE)


def lines(
    exprs: Sequence[Expr],
    decimals: int | None,
    syntax: Syntax = "text",
    limit: int = MANY_TERMS,
    result: float | None = None,
) -> list[str]:
    """Steps that follow each other to a result, with their numbers, each with `enough` digits.

    A lone number is no step.
    """
    written: list[str] = []
    digits = None
    for expr in reversed([expr for expr in exprs if not isinstance(expr, Cell | Const)]):
        digits = enough(expr, decimals, limit, digits, result)
        written.append(render(expr, partial(shown, decimals=digits), syntax, limit))
    return written[::-1]


def _is_sum_of_numbers(node: Expr) -> bool:
    """Whether a reader adds its terms up as they stand."""
    return isinstance(node, Sum) and all(isinstance(term, Cell | Const) for term in node.terms)


def _found(node: Expr, wanted: Callable[[Expr], bool]) -> list[Expr]:
    """The nodes below a node that are wanted."""
    found: list[Expr] = []
    for part in parts(node):
        found += [part] if wanted(part) else []
        found += _found(part, wanted)
    return found


def _seen(node: Expr, digits: int, limit: int) -> float:
    """What an expression comes to from its numbers as they are written."""
    match node:
        case Cell(value=value):
            return _read(value, digits)
        case Const(value, text, _):
            return value if text else _read(value, digits)
        case Sum(terms):
            places, rest = largest(node, limit)
            values = [_seen(terms[place], digits, limit) for place in places]
            return total(values if rest is None else [*values, _read(rest, digits)])
    read = tuple(Const(_seen(part, digits, limit)) for part in parts(node))
    try:
        match node:
            case Func(name, _):
                return Func(name, *read).value
            case Max():
                return Max(read).value
            case _:
                return float(type(node)(*read).value)
    except OverflowError:
        return math.inf
