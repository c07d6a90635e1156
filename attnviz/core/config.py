"""How the attention is computed: every choice with its words, its bounds and its options."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np

from attnviz.core.errors import NumberError, ScenarioError
from attnviz.core.masks import ALIGNMENTS
from attnviz.core.normalise import NORMALISERS
from attnviz.core.positions import POSITIONS


class Variant(Protocol):
    """What every entry of a dictionary of variants says of itself."""

    @property
    def label(self) -> str: ...
    @property
    def says(self) -> str: ...
    @property
    def source(self) -> str: ...


@dataclass(frozen=True)
class Option:
    """A variant that needs no function: its name, a line on it, and where it is from."""

    label: str
    says: str
    source: str = ""


STARTS: Mapping[str, Option] = MappingProxyType(
    {
        "x": Option("embeddings", "Queries, keys and values are computed from embeddings."),
        "qkv": Option("Q, K and V", "Q, K and V are the tables; there are no embeddings."),
    }
)

OPTIONAL: Mapping[str, Option] = MappingProxyType(
    {
        "b_q": Option("b_Q", "Added to every query."),
        "b_k": Option("b_K", "Added to every key."),
        "b_v": Option("b_V", "Added to every value."),
        "b_o": Option("b_O", "Added to every row of the output."),
        "bias": Option("score bias", "A number added to the score of each query and key."),
        "mask": Option("mask", "Cells of a query x key table that are hidden."),
        "keep": Option("key padding", "Keys that are hidden from every query."),
    }
)

Kind = Literal["number", "whole", "switch", "option", "several"]


@dataclass(frozen=True)
class Choice:
    """What one field of `Config` may be; widgets, tables and files are drawn from it.

    Args:
        kind: a number, a whole number, a switch, one of `options`, or several of them.
        label: its name in words.
        says: one line on what it does.
        source: where it is from.
        options: the dictionary whose keys may be chosen.
        low: the smallest number; with `above` only numbers larger than it.
        none: what None stands for; empty where None is not allowed.
        endless: whether infinity means the same as None.
    """

    kind: Kind
    label: str
    says: str
    source: str = ""
    options: Mapping[str, Variant] = field(default_factory=dict)
    low: float | None = None
    above: bool = False
    none: str = ""
    endless: bool = False

    def check(self, name: str, value: object) -> Any:
        """The value as it is kept.

        Raises:
            NumberError: no finite number, not whole, or out of bounds.
            ScenarioError: no such option, or neither on nor off.
        """
        endless = self.endless and isinstance(value, float) and value == np.inf
        if endless or (value is None and self.none):
            return None
        if self.kind in ("number", "whole"):
            return self._number(name, value)
        if self.kind == "switch":
            if not isinstance(value, bool | np.bool_):
                raise ScenarioError(
                    "neither on nor off", where=name, expected="True or False", got=repr(value)
                )
            return bool(value)
        if self.kind == "option":
            return self._option(name, value)
        if isinstance(value, str) or not isinstance(value, tuple | list | set | frozenset):
            raise ScenarioError("not several names", where=name, got=repr(value))
        chosen = {self._option(name, each) for each in value}
        return tuple(option for option in self.options if option in chosen)

    def _number(self, name: str, value: object) -> float | int:
        kinds = int | float | np.integer | np.floating
        if not isinstance(value, kinds) or isinstance(value, bool) or not np.isfinite(value):
            raise NumberError("not a finite number", where=name, got=repr(value))
        if self.kind == "whole" and value != int(value):
            raise NumberError("not a whole number", where=name, got=repr(value))
        if self.low is not None and (value < self.low or (self.above and value == self.low)):
            bound = f"{'above' if self.above else 'at least'} {self.low:g}"
            raise NumberError(f"must be {bound}", where=name, got=repr(value))
        return int(value) if self.kind == "whole" else float(value)

    def _option(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise ScenarioError(
                f"unknown {self.label}",
                where=name,
                got=repr(value),
                expected=" or ".join(self.options),
            )
        return value


def _choice(default: Any, kind: Kind, label: str, says: str, **more: Any) -> Any:
    return field(default=default, metadata={"choice": Choice(kind, label, says, **more)})


@dataclass(frozen=True)
class Config:
    """How the attention is computed; `CHOICES` says what each field does and may be.

    Raises:
        NumberError: a number that is not finite, not whole or out of bounds.
        ScenarioError: a name that is no option.
    """

    scale: float | None = _choice(
        None,
        "number",
        "scale",
        "Factor on the raw scores; 1 is no scaling.",
        source="arXiv:1706.03762, equation 1",
        none="1/√d_k",
    )
    softcap: float | None = _choice(
        None,
        "number",
        "softcap",
        "c in c · tanh(score / c), which keeps every score between -c and c.",
        source="Gemma 2, arXiv:2408.00118",
        low=0,
        above=True,
        none="no cap",
        endless=True,
    )
    causal: bool = _choice(
        False, "switch", "causal mask", "No query sees keys that come later than it."
    )
    causal_offset: int = _choice(
        0, "whole", "causal offset", "By how many places more each query sees."
    )
    normaliser: str = _choice(
        "softmax",
        "option",
        "normaliser",
        "How a row of scores becomes attention weights.",
        options=NORMALISERS,
    )
    project: bool = _choice(
        True, "switch", "output projection", "The concatenated heads times W_O, where there is one."
    )
    causal_alignment: str = _choice(
        "top-left",
        "option",
        "causal alignment",
        "Which query stands beside which key, where they are not equally many.",
        options=ALIGNMENTS,
    )
    temperature: float = _choice(
        1.0,
        "number",
        "temperature",
        "Scaled scores are divided by it: above 1 evens the weights out, below 1 sharpens them.",
        source="arXiv:1503.02531, section 2",
        low=0,
        above=True,
    )
    top_k: int = _choice(
        2, "whole", "k of top-k", "How many scores of a row are kept by the top-k softmax.", low=1
    )
    positions: str = _choice(
        "none", "option", "positions", "How places are told apart.", options=POSITIONS
    )
    position_base: float = _choice(
        10000.0,
        "number",
        "base of positions",
        "The base of the waves of sinusoidal and of the turns of rotary positions.",
        source="arXiv:1706.03762, section 3.5; arXiv:2104.09864, section 3.2.2",
        low=1,
    )
    rope_dims: int | None = _choice(
        None,
        "whole",
        "rotary dimensions",
        "How many columns of queries and keys turn, an even number.",
        source="arXiv:2104.09864; in part as GPT-NeoX, arXiv:2204.06745",
        low=2,
        none="all of d_k",
    )
    start: str = _choice(
        "x", "option", "start", "What the computation starts from.", options=STARTS
    )
    off: tuple[str, ...] = _choice(
        (),
        "several",
        "switched off",
        "Tables that are kept and have no part in the computation.",
        options=OPTIONAL,
    )

    def __post_init__(self) -> None:
        for name, choice in CHOICES.items():
            object.__setattr__(self, name, choice.check(name, getattr(self, name)))


CHOICES: Mapping[str, Choice] = MappingProxyType(
    {item.name: item.metadata["choice"] for item in fields(Config)}
)
