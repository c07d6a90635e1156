"""Expression trees as formulas of a spreadsheet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attnviz.core.expr import Cell, Const, Div, Expr, Func, Max, Mul, Neg, Sub, Sum

HIDDEN = "−∞"  # what stands in a cell for minus infinity; MAX and COUNT pass over texts
MAX_LENGTH = 8000  # letters of a formula; Excel takes 8,192
MAX_TERMS = 250  # of one function; Excel takes 255
_WRITTEN_OUT = 12  # products of a sum that are written one by one, so that they can be followed

Address = Callable[[str, tuple[int, ...]], str]


@dataclass(frozen=True)
class Formulas:
    """Writes trees.

    Args:
        address: key and index -> how a cell is called in a formula.
        texts: the arrays that hold `HIDDEN` somewhere.
    """

    address: Address
    texts: frozenset[str]

    def write(self, node: Expr) -> str:
        """A tree as a formula without its equals sign."""
        match node:
            case Cell(key, index):
                return self.address(key, index)
            case Const(value):
                return number(value)
            case Neg(a):
                return f"-({self.write(a)})"
            case Mul(a, b):
                return f"{self._factor(a)}*{self._factor(b)}"
            case Div(a, Sum(terms)) if (top := _largest(a, terms)) is not None:
                return self._softmax(a, terms, top)
            case Div(a, b):
                return f"{self._factor(a)}/{self._factor(b, divided=True)}"
            case Sub(a, b):
                return f"{self.write(a)}-{self._factor(b)}"
            case Func(name, a):
                return self._guarded(a, f"{name.upper()}({self.write(a)})")
            case Max(terms):
                return self._list("MAX", terms)
            case Sum(terms):
                return self._sum(terms)

    def top_k(self, row: Sequence[Cell], at: int, k: int) -> str:
        """A weight of the k largest scores of a row, which are looked for when it is computed."""
        among = self._range(row)
        least = f"LARGE({among},MIN({k},COUNT({among})))"

        def power(cell: Cell) -> str:
            score = self.write(cell)
            text = f"IF({score}>={least},EXP({score}-MAX({among})),0)"
            return f"IF(ISNUMBER({score}),{text},0)" if cell.key in self.texts else text

        powers = list(map(power, row))
        sums = [
            f"SUM({','.join(powers[i : i + MAX_TERMS])})" for i in range(0, len(row), MAX_TERMS)
        ]
        text = f"{powers[at]}/({'+'.join(sums)})"
        hides = row[at].key in self.texts
        return f"IF(ISNUMBER({self.write(row[at])}),{text},0)" if hides else text

    def _factor(self, node: Expr, divided: bool = False) -> str:
        text = self.write(node)
        simple = isinstance(node, Cell | Func | Max) or (isinstance(node, Mul) and not divided)
        if simple or (isinstance(node, Const) and not text.startswith("-")):
            return text
        return f"({text})"

    def _guarded(self, node: Expr, text: str) -> str:
        """Zero instead of the exponential of a cell that holds minus infinity."""
        while not isinstance(node, Cell):
            if not isinstance(node, Sub | Neg):
                return text
            node = node.a
        if node.key not in self.texts:
            return text
        return f"IF(ISNUMBER({self.write(node)}),{text},0)"

    def _softmax(self, above: Expr, terms: Sequence[Expr], top: Expr) -> str:
        """A power over the sum of powers, with their maximum as a formula too."""

        def power(node: Expr) -> Expr:
            assert isinstance(node, Func)
            assert isinstance(node.a, Sub)
            return Func("exp", Sub(node.a.a, top))

        return f"{self._factor(power(above))}/{self._sum([power(term) for term in terms])}"

    def _sum(self, terms: Sequence[Expr]) -> str:
        products = [t for t in terms if isinstance(t, Mul)]
        pairs = [(t.a, t.b) for t in products if isinstance(t.a, Cell) and isinstance(t.b, Cell)]
        if len(pairs) > _WRITTEN_OUT and len(pairs) == len(products):
            rest = [self._factor(t) for t in terms if not isinstance(t, Mul)]
            return "+".join([self._product([a for a, _ in pairs], [b for _, b in pairs]), *rest])
        if len(terms) <= _WRITTEN_OUT:
            return self._list("SUM", terms)
        return "+".join(
            self._list("SUM", terms[i : i + MAX_TERMS]) for i in range(0, len(terms), MAX_TERMS)
        )

    def _product(self, left: Sequence[Expr], right: Sequence[Expr]) -> str:
        """A row times a row or a column, by ranges."""
        a, b = self._range(left), self._range(right)
        return f"SUMPRODUCT({a},{b})" if _in_a_row(right) else f"SUM(MMULT({a},{b}))"

    def _range(self, cells: Sequence[Expr]) -> str:
        return f"{self.write(cells[0])}:{self.write(cells[-1]).split('!')[-1]}"

    def _list(self, name: str, terms: Sequence[Expr]) -> str:
        if name == "MAX" and _in_a_row(terms):
            return f"MAX({self._range(terms)})"
        return f"{name}({','.join(map(self.write, terms))})"


def number(value: float) -> str:
    """A number in a formula, with every digit."""
    return f'"{HIDDEN}"' if value == float("-inf") else repr(value).upper()


def _in_a_row(cells: Sequence[Expr]) -> bool:
    """Whether they are cells of one row, side by side."""
    found = [(c.key, c.index) for c in cells if isinstance(c, Cell)]
    if len(found) < max(2, len(cells)):
        return False
    key, start = found[0]
    return found == [(key, (*start[:-1], start[-1] + i)) for i in range(len(found))]


def _largest(above: Expr, terms: Sequence[Expr]) -> Expr | None:
    """In e^(s - m) / sum of e^(s_j - m) the number m as a tree: the largest s_j."""
    scores = []
    for term in (above, *terms):
        match term:
            case Func("exp", Sub(score, Const())):
                scores.append(score)
            case _:
                return None
    return Max(tuple(scores[1:]))
