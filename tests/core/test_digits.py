"""Whoever computes a written line by hand gets the number that is written behind it."""

import math
import re

import numpy as np
import pytest

from attnviz import PRESETS, run
from attnviz.core.digits import MORE, enough, lines, shown
from attnviz.core.expr import Cell, Const, Div, Func, Mul, Sub, Sum
from attnviz.core.numbers import format_number

WALKTHROUGH = run(PRESETS["walkthrough"])


def computed(text: str) -> float:
    """A line as a pocket calculator has it."""
    code = text.replace("·", "*").replace("−", "-")
    code = re.sub(r"e\^(\(?)", lambda m: "exp(" if m[1] else "exp", code)
    code = re.sub(r"exp(-?[\d.]+)", r"exp(\1)", code)
    code = re.sub(r"√([\d.]+)", r"sqrt(\1)", code)
    return float(eval(code, {"exp": math.exp, "sqrt": math.sqrt, "tanh": math.tanh}))


@pytest.mark.parametrize("decimals", [2, 3, 4, 6])
def test_every_line_of_the_walkthrough_can_be_computed_by_hand(decimals: int) -> None:
    for stage in WALKTHROUGH.stages:
        for place in np.ndindex(WALKTHROUGH[stage.key].shape):
            head, row, column = place if len(place) == 3 else (None, *place)
            found = WALKTHROUGH.explain(stage.key, head, row, column)
            *lines, result = found.steps(decimals)
            for line in lines:
                assert format_number(computed(line), decimals) == result, line


def test_a_sum_comes_to_what_is_written_for_it() -> None:
    terms = tuple(Const(value) for value in (0.5836, 0.8744, 1.0))
    quotient = Div(Const(1.0), Sum(terms))
    steps = lines([quotient, Div(Const(1.0), Const(Sum(terms).value))], 2)
    assert steps == ["1 / (0.584 + 0.874 + 1)", "1 / 2.46"]


@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_every_power_comes_to_what_the_next_step_has_for_it(decimals: int) -> None:
    for place in np.ndindex(WALKTHROUGH["attention"].shape):
        first, second, *_ = WALKTHROUGH.explain("attention", *place).steps(decimals)
        powers = [computed(power) for power in re.findall(r"e\^\([^)]*\)", first)]
        written = [float(number) for number in re.findall(r"[\d.]+", second)]
        for power, number in zip(powers, written, strict=True):
            digits = len(repr(number).split(".")[1]) if number != 1 else 0
            assert shown(power, digits) == shown(number, digits), (first, second)


def test_a_number_never_has_fewer_digits_than_in_the_next_step() -> None:
    score = Cell("scores", (0,), 1.5167)
    root = Const(2**0.5, "√2", r"\sqrt{2}")
    assert lines([Div(score, root), Div(score, Const(2**0.5))], 2) == [
        "1.517 / √2",
        "1.517 / 1.414",
    ]


def test_no_more_digits_than_needed() -> None:
    score = Sum((Mul(Cell("q", (0,), 0.75), Cell("k", (0,), 0.5512)), Const(1.0)))
    assert enough(score, 2) == 2
    assert lines([score], 2) == ["0.75·0.55 + 1"]
    assert enough(score, None) is None


def test_what_cannot_come_out_ends_with_a_few_digits_more() -> None:
    tiny = Sub(Const(1.0), Const(1.0 - 1e-12))
    assert enough(tiny, 2) == 2 + MORE
    assert enough(Func("exp", Const(709.7826)), 2) is not None  # beyond float64 when rounded up


def test_terms_that_cancel_come_out_as_the_cell_does() -> None:
    """The cell is 0.07499999999999968, its terms in the order of the page give 0.075."""
    derivation = run(PRESETS["picture"]).explain("q", 1, 15, 6)
    numbers, result = derivation.steps(2)
    assert result == "0.07"
    assert numbers.endswith("+ [42 other terms: 1.275]")  # with 1.28 it would be 0.08
