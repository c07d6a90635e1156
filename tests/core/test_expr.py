"""The arithmetic of a cell as a tree: its value, its cells, and how it is written."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.core.expr import Cell, Const, Div, Expr, Func, Max, Mul, Sub, Sum, cells, render
from attnviz.core.numbers import format_number, number_text


def cell(value: float, key: str = "q", *index: int) -> Cell:
    return Cell(key, index, value, "label")


def four(value: float) -> str:
    return format_number(value, 4, trim=True)


def every_digit(value: float) -> str:
    return format_number(value, None)


A, B, C = cell(0.58), cell(-0.37, "k"), Const(2.0)
ROOT = Const(math.sqrt(2), "√2", r"\sqrt{2}")

WRITTEN = [
    (A, 0.58, "0.58", "0.58"),
    (B, -0.37, "−0.37", "-0.37"),
    (ROOT, math.sqrt(2), "√2", r"\sqrt{2}"),
    (Const(-math.inf, "−∞", r"-\infty"), -math.inf, "−∞", r"-\infty"),
    (Mul(A, C), 1.16, "0.58·2", r"0.58 \cdot 2"),
    (Mul(A, B), -0.2146, "0.58·(−0.37)", r"0.58 \cdot \left(-0.37\right)"),
    (Div(A, ROOT), 0.58 / math.sqrt(2), "0.58 / √2", r"\frac{0.58}{\sqrt{2}}"),
    (Sub(A, B), 0.95, "0.58 − (−0.37)", r"0.58 - \left(-0.37\right)"),
    (Sum((A, B)), 0.21, "0.58 + (−0.37)", r"0.58 + \left(-0.37\right)"),
    (Mul(Sum((A, C)), C), 5.16, "(0.58 + 2)·2", r"\left(0.58 + 2\right) \cdot 2"),
    (Sub(A, Sub(C, A)), -0.84, "0.58 − (2 − 0.58)", r"0.58 - \left(2 - 0.58\right)"),
    (Div(A, Div(C, A)), 0.58 / (2 / 0.58), "0.58 / (2 / 0.58)", r"\frac{0.58}{\frac{2}{0.58}}"),
    (Func("exp", C), math.exp(2), "e^2", "e^{2}"),
    (Func("exp", Sub(A, C)), math.exp(-1.42), "e^(0.58 − 2)", "e^{0.58 - 2}"),
    (
        Func("tanh", Div(A, C)),
        math.tanh(0.29),
        "tanh(0.58 / 2)",
        r"\tanh\left(\frac{0.58}{2}\right)",
    ),
    (Max((A, B, C)), 2.0, "max(0.58, (−0.37), 2)", r"\max\left(0.58, \left(-0.37\right), 2\right)"),
]


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: case[2])
def test_value_and_writing(case: tuple[Expr, float, str, str]) -> None:
    node, value, text, latex = case
    assert node.value == pytest.approx(value, rel=1e-15)
    assert render(node, four) == text
    got = render(node, four, "latex")
    assert re.sub(r"\\(left|right)(?=[()])", "", got) == re.sub(
        r"\\(left|right)(?=[()])", "", latex
    )
    assert got.count(r"\left") == got.count(r"\right")


leaf = st.floats(-100, 100).map(cell) | st.floats(0.1, 10).map(Const)
trees = st.recursive(
    leaf,
    lambda inner: (
        st.builds(Mul, inner, inner)
        | st.builds(Div, inner, st.floats(0.5, 9).map(Const) | st.floats(-9, -0.5).map(cell))
        | st.builds(Sub, inner, inner)
        | st.builds(Func, st.just("tanh"), inner)
        | st.builds(lambda a: Func("exp", Func("tanh", a)), inner)
        | st.builds(lambda *terms: Sum(terms), inner, inner, inner)
        | st.builds(lambda *terms: Max(terms), inner, inner)
    ),
    max_leaves=12,
)


@given(trees)
def test_the_text_read_as_arithmetic_gives_the_value(node: Expr) -> None:
    text = render(node, every_digit).replace("−", "-").replace("·", "*")
    code = re.sub(r"e\^\(", "exp(", text)
    value = eval(code, {"exp": math.exp, "tanh": math.tanh, "max": max})
    assert value == pytest.approx(node.value, rel=1e-9, abs=1e-9)


@given(trees)
def test_latex_has_the_same_brackets_open_as_closed(node: Expr) -> None:
    latex = render(node, four, "latex")
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left(") == latex.count(r"\right)")
    assert "−" not in latex
    assert "·" not in latex


@pytest.mark.parametrize("count", [12, 13, 40])
def test_a_long_sum_is_cut_to_its_largest_terms_in_their_order(count: int) -> None:
    terms = tuple(cell((-1) ** i * (i + 1), "q", i) for i in range(count))
    text, latex = render(Sum(terms), four), render(Sum(terms), four, "latex")
    if count == 12:
        assert "other" not in text
        assert text.count(" + ") == 11
        return
    rest = sum(term.value for term in terms[:-6])
    assert text.endswith(f" + [{count - 6} other terms: {four(rest)}]")
    shown = text.split(" + [")[0].split(" + ")
    assert shown == [f"({four(t.value)})" if t.value < 0 else four(t.value) for t in terms[-6:]]
    assert rf"_{{\text{{{count - 6} other terms}}}}" in latex


def test_a_long_maximum_shows_its_largest_and_that_there_are_more() -> None:
    node = Max(tuple(cell(float(i), "q", i) for i in range(20)))
    assert render(node, four) == "max(14, 15, 16, 17, 18, 19, …)"


def test_cells_come_once_each_in_reading_order() -> None:
    one, two, three = (cell(float(i), "q", i) for i in range(3))
    node = Div(Func("exp", Sub(two, Max((one, two)))), Sum((Mul(three, C), one)))
    assert cells(node) == (two, one, three)
    assert cells(C) == ()


def test_a_sum_is_exact_and_survives_infinities() -> None:
    assert Sum((Const(1e16), Const(1.0), Const(-1e16))).value == 1.0
    assert Sum((Const(-math.inf), Const(1.0))).value == -math.inf
    assert Sum((Const(1.5e308), Const(1.5e308), Const(-1.5e308))).value == math.inf


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.4071, 2, "0.41"),
        (2.5, 4, "2.5000"),
        (-0.5, 2, "−0.50"),
        (0.0, 2, "0.00"),
        (-0.0, 2, "0.00"),
        (-0.0, None, "0"),
        (0.004, 2, "0.004"),
        (-0.00473, 2, "−0.005"),
        (0.00047, 2, "0.0005"),
        (0.00004, 2, "4e−5"),
        (1.2e-13, 2, "1.2e−13"),
        (1.4e-142, 6, "1.4e−142"),
        (5e-324, 2, "4.94e−324"),
        (12345.678, 2, "12345.68"),
        (123456.789, 2, "1.23e5"),
        (1e300, 2, "1e300"),
        (math.inf, 2, "∞"),
        (-math.inf, None, "−∞"),
        (math.nan, 2, "NaN"),
        (0.1234567890123, None, "0.1234567890123"),
        (1e-300, None, "1e−300"),
        (3.0, None, "3"),
    ],
)
def test_numbers_as_they_are_shown(value: float, decimals: int | None, text: str) -> None:
    assert format_number(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5"), (2.0, "2"), (100.0, "100"), (-0.25, "−0.25"), (0.0, "0")]
)
def test_zeros_at_the_end_can_be_left_out(value: float, text: str) -> None:
    assert format_number(value, 4, trim=True) == text


@given(st.floats(-1.7e308, 1.7e308), st.integers(2, 6))
def test_a_number_that_is_not_zero_never_shows_as_zero(value: float, decimals: int) -> None:
    shown = float(format_number(value, decimals).replace("−", "-"))
    assert (shown == 0) == (value == 0)
    assert shown == 0 or (shown < 0) == (value < 0)
    assert abs(shown - value) <= max(0.5001 * 10**-decimals, abs(value) * 0.00501)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_digit_is_kept_where_it_matters(value: float) -> None:
    assert float(number_text(value)) == value
    assert float(format_number(value, None).replace("−", "-")) == value
