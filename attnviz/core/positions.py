"""How places are told apart: waves or a table added to the embeddings, turns, or a score bias."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import Array
from attnviz.core.errors import ScenarioError
from attnviz.core.expr import Cell, Const, Div, Expr, Func, Mul, Sub, Sum
from attnviz.core.numbers import format_number
from attnviz.core.op import Block, Equation, Explanation, Index, Names, Values, block

Wave = Literal["sin", "cos"]


@dataclass(frozen=True)
class Positions:
    """One way to tell places apart; at most one of the functions is there.

    Args:
        label, says, source: its name, a line on it, and where it is from.
        wave: (column, d_model) -> the wave that is added there, and the number of its frequency.
        learned: whether the rows of a table are added.
        pairs: number of rotary columns -> the first and the second column of every pair.
        distance: (key - query) -> what the head's slope is multiplied with.
        distance_text: the same as (text, LaTeX).
    """

    label: str
    says: str
    source: str = ""
    wave: Callable[[int, int], tuple[Wave, int]] | None = None
    learned: bool = False
    pairs: Callable[[int], tuple[NDArray[Any], NDArray[Any]]] | None = None
    distance: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    distance_text: tuple[str, str] = ("", "")

    @property
    def added(self) -> bool:
        """Whether something is added to the embeddings."""
        return self.learned or self.wave is not None


def _interleaved(column: int, width: int) -> tuple[Wave, int]:
    return ("cos" if column % 2 else "sin"), column // 2


def _concatenated(column: int, width: int) -> tuple[Wave, int]:
    half = (width + 1) // 2
    return ("sin", column) if column < half else ("cos", column - half)


POSITIONS: Mapping[str, Positions] = MappingProxyType(
    {
        "none": Positions("none", "Places are not told apart: shuffled words, shuffled rows."),
        "sinusoidal": Positions(
            "sinusoidal, interleaved",
            "Waves are added to the embeddings, sin and cos by turns.",
            "arXiv:1706.03762, section 3.5",
            wave=_interleaved,
        ),
        "sinusoidal_concat": Positions(
            "sinusoidal, concatenated",
            "Waves are added to the embeddings, all sin first and then all cos.",
            "layout as in tensor2tensor and fairseq; periods as arXiv:1706.03762 has them",
            wave=_concatenated,
        ),
        "learned": Positions(
            "learned table",
            "A row of its own for each place is added to the embeddings.",
            "arXiv:1705.03122, section 3.1",
            learned=True,
        ),
        "rope": Positions(
            "rotary, half-split",
            "Columns i and i + d/2 of queries and keys turn by an angle that grows with the place.",
            "arXiv:2104.09864; halves paired as in GPT-NeoX, arXiv:2204.06745",
            pairs=lambda dims: (np.arange(dims // 2), np.arange(dims // 2, dims)),
        ),
        "rope_interleaved": Positions(
            "rotary, interleaved",
            "Columns 2i and 2i + 1 of queries and keys turn by an angle that grows with the place.",
            "arXiv:2104.09864, section 3.4.2",
            pairs=lambda dims: (np.arange(0, dims, 2), np.arange(1, dims, 2)),
        ),
        "alibi": Positions(
            "ALiBi",
            "Slope · (j − i) is added to the score of query i and key j, each head with its slope.",
            "arXiv:2108.12409, section 3",
            distance=lambda ahead: ahead,
            distance_text=("(j − i)", "(j - i)"),
        ),
        "alibi_symmetric": Positions(
            "ALiBi, both ways",
            "−slope · |j − i| is added to the score, so that later keys are far too.",
            "the authors' form for encoders, after arXiv:2108.12409",
            distance=lambda ahead: -np.abs(ahead),
            distance_text=("(−|j − i|)", r"(-\lvert j - i\rvert)"),
        ),
    }
)


def alibi_slopes(n_heads: int) -> Array:
    """Number of heads -> (n_heads,) slopes: 2^(-8h/H) for h = 1 to H when H is a power of two.

    Otherwise those of the next smaller power of two p, followed by every second one of 2p, as
    the code to arXiv:2108.12409 has it.
    """
    power = 2 ** (n_heads.bit_length() - 1)
    slopes = 2.0 ** (-8.0 * np.arange(1, power + 1) / power)
    between = 2.0 ** (-8.0 * np.arange(1, 2 * power + 1, 2) / (2 * power))
    return np.concatenate([slopes, between[: n_heads - power]])


def slope_words(head: int, n_heads: int) -> str:
    """How the slope of a head, counted from 0, is made."""
    power = 2 ** (n_heads.bit_length() - 1)
    number, count = (head + 1, power) if head < power else (2 * (head - power) + 1, 2 * power)
    return f"2^(−8·{number}/{count})"


def rotary_dims(values: Values, source: str) -> int:
    """How many columns of an array turn: all, an odd last one left out, or as configured.

    Raises:
        ScenarioError: more columns than there are, an odd number, or not even two.
    """
    width, dims = int(values[source].shape[-1]), values.config.rope_dims
    if width < 2:
        raise ScenarioError(
            "rotary positions turn pairs of columns", where="d_k", expected="at least 2", got="1"
        )
    if dims is None:
        return width - width % 2
    if dims % 2 or dims > width:
        raise ScenarioError(
            "rotary positions turn an even number of columns, at most d_k",
            where="rope_dims",
            expected=f"an even number from 2 to {width - width % 2}",
            got=str(dims),
            hint=f"The nearest legal value is {min(dims - dims % 2, width - width % 2)}.",
        )
    return dims


@dataclass(frozen=True)
class AddPositions:
    """(token, d_model) embeddings -> the same with a row of its own added for each place."""

    source: str
    table: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return tuple(name for name in map(values.pick, (self.source, self.table)) if name)

    def active(self, values: Values) -> bool:
        return self.source in values.arrays and POSITIONS[values.config.positions].added

    def added(self, values: Values) -> Array:
        """(token, d_model): what is added."""
        n, width = values[self.source].shape
        wave = POSITIONS[values.config.positions].wave
        if wave is None:
            return np.asarray(values[self.table][:n])
        kinds, numbers = zip(*(wave(column, width) for column in range(width)), strict=True)
        periods = np.array([self._period(values, number) for number in numbers])
        angles = np.arange(n)[:, None] / periods
        return np.asarray(np.where(np.array(kinds) == "sin", np.sin(angles), np.cos(angles)))

    def _period(self, values: Values, number: int) -> float:
        width = values[self.source].shape[1]
        return float(values.config.position_base ** (2 * number / width))

    def apply(self, values: Values) -> Array:
        return np.asarray(values[self.source] + self.added(values))

    def explain(self, names: Names, index: Index) -> Explanation:
        values, (place, column) = names.values, index
        here, at = names.cell(self.source, index), names.at(self.source, index)
        wave = POSITIONS[values.config.positions].wave
        if wave is None:
            row = names.at(self.table, index)
            whole = Sum((here, names.cell(self.table, index)), ("embedding", "position"))
            return Explanation((f"{at[0]} + {row[0]}", f"{at[1]} + {row[1]}"), (whole,))
        kind, number = wave(column, values[self.source].shape[1])
        period = self._period(values, number)
        position = Func(kind, Div(Const(float(place)), Const(period)))
        exprs = tuple(
            Sum((here, term), ("embedding", "position"))
            for term in (position, Const(position.value))
        )
        symbolic = (f"{at[0]} + {kind}(place / period)", rf"{at[1]} + \{kind}(p / \lambda)")
        base, width = values.config.position_base, values[self.source].shape[1]
        note = (
            f"Place {place}, counted from 0; the period of this column is "
            f"{base:g}^(2·{number}/{width}) = {format_number(period, 4, trim=True)}."
        )
        return Explanation(symbolic, exprs, note)

    def equation(self, values: Values, head: int) -> Equation:
        start = block(values, self.source, head)
        added = Block(self.source, None, title="P", values=self.added(values))
        return Equation("sum", (start, added), sign="+")


@dataclass(frozen=True)
class Rotate:
    """(head, place, d_k) -> the same, each pair of columns turned by place · base^(-2i/d).

    As arXiv:2104.09864, equation 34; places are counted from 0.
    """

    source: str

    def inputs(self, values: Values) -> tuple[str, ...]:
        return (self.source,)

    def active(self, values: Values) -> bool:
        return self.source in values.arrays and POSITIONS[values.config.positions].pairs is not None

    def _pairs(self, values: Values) -> tuple[NDArray[Any], NDArray[Any], Array]:
        """The first columns, the second columns, and the angle from one place to the next."""
        pairs = POSITIONS[values.config.positions].pairs
        assert pairs is not None
        dims = rotary_dims(values, self.source)
        frequencies = values.config.position_base ** (-2.0 * np.arange(dims // 2) / dims)
        return (*pairs(dims), np.asarray(frequencies))

    def _tables(self, values: Values) -> tuple[Array, Array, Array]:
        """(place, d_k) cosines, (head, place, d_k) partners with their signs, (place, d_k) sines.

        Columns that do not turn have cosine 1 and sine 0.
        """
        first, second, frequencies = self._pairs(values)
        array = values[self.source]
        angles, partner = np.zeros(array.shape[1:]), np.zeros(array.shape)
        angles[:, first] = angles[:, second] = np.arange(len(angles))[:, None] * frequencies
        partner[..., first], partner[..., second] = -array[..., second], array[..., first]
        return np.cos(angles), partner, np.sin(angles)

    def apply(self, values: Values) -> Array:
        cos, partner, sin = self._tables(values)
        return np.asarray(values[self.source] * cos + partner * sin)

    def explain(self, names: Names, index: Index) -> Explanation:
        head, place, column = index
        first, second, frequencies = self._pairs(names.values)
        places = np.concatenate([first, second])
        if column not in places:
            note = "This column is not among the rotary ones: copied."
            at = names.at(self.source, index)
            return Explanation(at, (names.cell(self.source, index),), note)
        number = int(np.flatnonzero(places == column)[0]) % len(first)
        pair = tuple((head, place, int(columns[number])) for columns in (first, second))
        a, b = (names.cell(self.source, at) for at in pair)
        (at_a, latex_a), (at_b, latex_b) = (names.at(self.source, at) for at in pair)
        angle = Mul(Const(float(place)), Const(float(frequencies[number])))
        cos, sin = Func("cos", angle), Func("sin", angle)
        if column == first[number]:
            symbolic = (
                f"{at_a}·cos θ − {at_b}·sin θ",
                rf"{latex_a}\cos\theta - {latex_b}\sin\theta",
            )
        else:
            symbolic = (
                f"{at_a}·sin θ + {at_b}·cos θ",
                rf"{latex_a}\sin\theta + {latex_b}\cos\theta",
            )
        exprs = tuple(
            _turned(a, b, c, s, column == first[number])
            for c, s in ((cos, sin), (Const(cos.value), Const(sin.value)))
        )
        dims, base = 2 * len(first), names.values.config.position_base
        note = (
            f"θ = place · frequency: place {place}, counted from 0, and pair {number} turns by "
            f"{base:g}^(−2·{number}/{dims}) = "
            f"{format_number(float(frequencies[number]), 4, trim=True)} from one place to the next."
        )
        return Explanation(symbolic, exprs, note)

    def equation(self, values: Values, head: int) -> Equation:
        start = block(values, self.source, head)
        cos, partner, sin = self._tables(values)
        steps = (("cos θ", cos), ("partners", partner[start.head or 0]), ("sin θ", sin))
        blocks = (Block(self.source, start.head, title=t, values=v) for t, v in steps)
        return Equation("rotation", (start, *blocks))


def _turned(a: Cell, b: Cell, cos: Expr, sin: Expr, first: bool) -> Expr:
    if first:
        return Sub(Mul(a, cos), Mul(b, sin))
    return Sum((Mul(a, sin), Mul(b, cos)), ("first of the pair", "second of the pair"))
