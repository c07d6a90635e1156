"""Numbers and tables as people type and paste them: read in full, or refused with a sentence."""

import csv
import io
import json
import math
import re
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from attnviz.core.arrays import Array
from attnviz.core.errors import AttnvizError, FormatError, NumberError
from attnviz.core.numbers import (
    format_number,
    has_thousands,
    number_text,
    parse_number,
)
from attnviz.parsing import parse_block
from attnviz.parsing.block import MAX_PASTE

steady = settings(derandomize=True, database=None, deadline=None, max_examples=60)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def matrices(rows: int = 1, columns: int = 1) -> st.SearchStrategy[Array]:
    """Tables of at least this size: any float64, or round numbers as people type them."""
    plain = st.one_of(st.integers(-999, 999), st.decimals(-99, 99, places=2)).map(float)
    return npst.arrays(
        np.float64,
        st.tuples(st.integers(rows, 6), st.integers(columns, 6)),
        elements=st.one_of(NUMBERS, plain),
    )


def values(text: str) -> list[list[float]]:
    read: list[list[float]] = parse_block(text).values.tolist()
    return read


def refusal(text: str) -> str:
    with pytest.raises((FormatError, NumberError)) as caught:
        parse_block(text)
    return str(caught.value)


def outcome(read: Callable[[str], Array], text: str) -> Array | str:
    """What a reader makes of a text: numbers, or the sentence of its refusal."""
    try:
        return read(text)
    except AttnvizError as error:
        return str(error)


# One number.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(".07", 0.07, id="B20-point-first"),
        pytest.param("1e-3", 0.001, id="B20-exponent"),
        pytest.param("−0.125", -0.125, id="B20-typographic-minus"),
        pytest.param("0.1234567890123", 0.1234567890123, id="B20-every-digit"),
        ("0.1234567890123456789", 0.1234567890123456789),
        ("7.", 7.0),
        ("+3", 3.0),
        ("1E+5", 1e5),
        ("1.2e−13", 1.2e-13),
        ("–2", -2.0),
        ("‑2", -2.0),
        ("－2", -2.0),
        ("  0.5\t", 0.5),
        ("\u00a00.5\u202f", 0.5),
        ("\ufeff0.5\u200b", 0.5),
        ("0.5\r\n", 0.5),
        ("0", 0.0),
        ("0e999", 0.0),
        ("1/3", 1 / 3),
        ("-2/7", -2 / 7),
        ("−2 / 7", -2 / 7),
        ("1⁄4", 0.25),
        ("1/-4", -0.25),
        ("0.1/0.3", 1 / 3),
        ("0/5", 0.0),
        ("9" * 400 + "/" + "9" * 400, 1.0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
    ],
)
def test_numbers_as_people_type_them(text: str, value: float) -> None:
    parsed = parse_number(text)
    assert parsed.value == value
    assert parsed.note == ""


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        pytest.param("1,5", 1.5, "1.5", id="B20-decimal-comma"),
        ("1,5e3", 1500.0, "1500"),
        ("-,5", -0.5, "-0.5"),
        ("−1,25", -1.25, "-1.25"),
        ("1,234", 1.234, "1.234"),
        ("7,", 7.0, "7"),
    ],
)
def test_a_comma_is_a_decimal_comma_and_said_so(text: str, value: float, said: str) -> None:
    parsed = parse_number(text)
    assert parsed.value == value
    assert parsed.note == f"“{text}” was read with a decimal comma, as {said}"


@pytest.mark.parametrize(
    ("text", "what", "todo"),
    [
        pytest.param("abc", "“abc” is not a number", "Type a number", id="B20-letters"),
        ("1abc", "is not a number", "Type a number"),
        ("", "an empty cell is no number", "Type 0 for zero"),
        (" \u00a0\n", "an empty cell is no number", "Type 0 for zero"),
        ("1.2.3", "is not a number", "Type a number"),
        ("1,2,3", "is not a number", "Type a number"),
        ("1,234,567", "is not a number", "between thousands"),
        ("1,234.5", "is not a number", "between thousands"),
        ("1.234,5", "is not a number", "between thousands"),
        ("1 000", "is not a number", "between thousands"),
        ("1\u202f000", "is not a number", "between thousands"),
        ("1'000", "is not a number", "between thousands"),
        ("1_000", "is not a number", "between thousands"),
        pytest.param("inf", "is not a finite number", "Type a number", id="B11-inf"),
        pytest.param("-Infinity", "is not a finite number", "Type a number", id="B11-word"),
        pytest.param("−∞", "is not a finite number", "Type a number", id="B11-sign"),
        pytest.param("1e999", "larger than float64 can hold", "Type a number", id="B11-overflow"),
        ("nan", "is not a finite number", "Type a number"),
        ("None", "is not a finite number", "Type a number"),
        ("1" * 400 + "/1", "larger than float64 can hold", "Type a number"),
        ("1e-400", "float64 makes it zero", "Type 0 if zero is meant"),
        ("1/" + "1" * 400, "float64 makes it zero", "Type 0 if zero is meant"),
        ("1" * 3000, "too long for a number", "Type a number"),
        ("1/0", "divides by zero", "Type a number"),
        ("1/0.0", "divides by zero", "Type a number"),
        ("1/3/4", "is not a number", "Type a number"),
        ("0x10", "is not a number", "Type a number"),
        ("True", "is not a number", "Type a number"),
        ("1+1", "is not a number", "Type a number"),
        ("--1", "is not a number", "Type a number"),
        ("- 1", "is not a number", "Type a number"),
        ("50%", "is not a number", "Type a number"),
        ("½", "is not a number", "Type a number"),
        ("1//2", "is not a number", "Type a number"),
        ("1e", "is not a number", "Type a number"),
        ("1e5.5", "is not a number", "Type a number"),
        ("$5", "is not a number", "Type a number"),
        ("(5)", "is not a number", "Type a number"),
        ("10²", "is not a number", "Type a number"),
        (".", "is not a number", "Type a number"),
        ("-", "is not a number", "Type a number"),
        ("e5", "is not a number", "Type a number"),
        ("１２", "is not a number", "Use the digits 0 to 9"),
        ("٣", "is not a number", "Use the digits 0 to 9"),
        ("1\u200b5", "“1⟨U+200B⟩5” is not a number", "Type a number"),
        ("x" * 500, "x…” is not a number", "Type a number"),
    ],
)
def test_what_is_no_number_is_refused_with_a_sentence(text: str, what: str, todo: str) -> None:
    with pytest.raises(NumberError) as caught:
        parse_number(text)
    assert what in caught.value.message
    assert todo in caught.value.hint
    assert len(str(caught.value)) < 200


@steady
@given(NUMBERS)
def test_a_number_reads_back_as_the_same_float64(value: float) -> None:
    for text in (number_text(value), format_number(value, None), f"{value:.1100f}", repr(value)):
        parsed = parse_number(text)
        assert parsed.value == value
        assert parsed.note == ""
    back = parse_number(number_text(value)).value
    assert math.copysign(1, back) == math.copysign(1, value)


@steady
@given(NUMBERS)
def test_a_decimal_comma_reads_as_a_point(value: float) -> None:
    text = number_text(value).replace(".", ",")
    parsed = parse_number(text)
    assert parsed.value == value
    assert bool(parsed.note) == ("," in text)


@steady
@given(st.integers(-(10**30), 10**30), st.integers(1, 10**30))
def test_a_fraction_is_the_nearest_float64(above: int, below: int) -> None:
    assert parse_number(f"{above}/{below}").value == above / below


# How numbers are shown.


@steady
@given(st.floats(-1.7e308, 1.7e308), st.integers(2, 6))
def test_a_number_never_shows_as_zero_nor_as_another_number(value: float, decimals: int) -> None:
    shown = format_number(value, decimals)
    assert "-" not in shown
    back = parse_number(shown).value
    assert (back == 0) == (value == 0)
    assert back * value >= 0
    assert abs(back - value) <= max(0.5001 * 10.0**-decimals, abs(value) * 0.00501)
    assert len(shown) <= 9 + decimals


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (99999.994, "99999.99"),
        (99999.996, "1e5"),
        (-123456.0, "−1.23e5"),
        (-0.00001, "−1e−5"),
        (1.4e-142, "1.4e−142"),
    ],
)
def test_numbers_that_do_not_fit_a_cell_get_an_exponent(value: float, text: str) -> None:
    assert format_number(value, 2) == text


# Tables: every writer's text reads back in full.


def _lines(array: Array, between: str, before: str = "", after: str = "") -> list[str]:
    return [before + between.join(map(number_text, row)) + after for row in array]


def _csv(array: Array) -> str:
    file = io.StringIO()
    csv.writer(file).writerows(array.tolist())
    return file.getvalue()


def _latex(environment: str, spec: str = "") -> Callable[[Array], str]:
    def write(array: Array) -> str:
        rows = " \\\\\n".join(_lines(array, " & "))
        return f"\\begin{{{environment}}}{spec}\n{rows}\n\\end{{{environment}}}"

    return write


def _numpy(write: Callable[[Array], str]) -> Callable[[Array], str]:
    def text(array: Array) -> str:
        with np.printoptions(floatmode="unique", threshold=10**6):
            return write(array)

    return text


WRITERS: dict[str, Callable[[Array], str]] = {
    "NumPy repr": _numpy(repr),
    "NumPy repr, float32 named": _numpy(lambda a: repr(a)[:-1] + ", dtype=float32)"),
    "NumPy print": _numpy(str),
    "NumPy print, row by row": _numpy(lambda a: "\n".join(map(str, a))),
    "NumPy code": _numpy(lambda a: f"W_Q = np.{a!r}\n"),
    "NumPy scalars in lists": lambda a: repr([list(row) for row in a]),
    "torch": _numpy(lambda a: f"tensor({a}, device='cuda:0', grad_fn=<MmBackward0>)"),
    "torch parameter": _numpy(
        lambda a: f"Parameter containing:\ntensor({a},\n       requires_grad=True)"
    ),
    "Python": lambda a: repr(a.tolist()),
    "JSON": lambda a: json.dumps(a.tolist()),
    "JSON, compact": lambda a: json.dumps(a.tolist(), separators=(",", ":")),
    "JSON, indented": lambda a: json.dumps(a.tolist(), indent=2),
    "MATLAB": lambda a: "[" + "; ".join(_lines(a, " ")) + "]",
    "MATLAB, commas": lambda a: "A = [" + ";".join(_lines(a, ", ")) + "];",
    "MATLAB, lines": lambda a: "A = [\n" + "\n".join(_lines(a, " ", "  ")) + "\n];",
    "MATLAB, going on": lambda a: "[" + "; ...\n ".join(_lines(a, " ")) + "]",
    "LaTeX bmatrix": _latex("bmatrix"),
    "LaTeX pmatrix": lambda a: f"$W = {_latex('pmatrix')(a)}$.",
    "LaTeX bmatrix*": _latex("bmatrix*", "[r]"),
    "LaTeX array": lambda a: f"\\left[{_latex('array', '{@{}rr@{}}')(a)}\\right]",
    "LaTeX tabular": _latex("tabular", "{c|c}"),
    "TSV": lambda a: "\n".join(_lines(a, "\t")),
    "TSV, Windows": lambda a: "\r\n".join(_lines(a, "\t")) + "\r\n",
    "Markdown": lambda a: "\n".join(_lines(a, " | ", "| ", " |")),
    "Markdown with header": lambda a: "\n".join(
        ["|" + " d |" * a.shape[1], "|" + "---|" * a.shape[1], *_lines(a, "|", "|", "|")]
    ),
    "typographic minus": lambda a: "\n".join(_lines(a, "\t")).replace("-", "−"),
}
# A single line of these may be read in two ways: 1,5 and 100 200.
SEVERAL_ROWS: dict[str, Callable[[Array], str]] = {
    "CSV": _csv,
    "MATLAB, shown": lambda a: "\nA =\n\n" + "\n".join(_lines(a, "   ", "   ")) + "\n\n",
    "CSV, quoted": lambda a: "\n".join(_lines(a, '","', '"', '"')),
    "blanks": lambda a: "\n".join(_lines(a, "  ", "  ")),
    "decimal commas": lambda a: "\n".join(_lines(a, ";")).replace(".", ","),
    "decimal commas and tabs": lambda a: "\n".join(_lines(a, "\t")).replace(".", ","),
    "comma and blank": lambda a: "\n".join(_lines(a, ", ")),
}


@pytest.mark.parametrize("form", WRITERS)
@steady
@given(array=matrices())
def test_every_form_reads_back_in_full(form: str, array: Array) -> None:
    np.testing.assert_array_equal(parse_block(WRITERS[form](array)).values, array)


@pytest.mark.parametrize("form", SEVERAL_ROWS)
@steady
@given(array=matrices(2, 2))
def test_lines_read_back_in_full(form: str, array: Array) -> None:
    np.testing.assert_array_equal(parse_block(SEVERAL_ROWS[form](array)).values, array)


def test_what_matlab_prints_above_its_numbers() -> None:
    scaled = "A =\n\n   1.0e+03 *\n\n    0.0010    1.2340\n   -2.0000         0\n"
    assert values(scaled) == [[1.0, 1234.0], [-2000.0, 0.0]]
    assert values("  1.0e-05 *\n   0.3 0.1\n 0.7 0.2\n")[0] == [0.3e-05, 0.1e-05]
    parts = "A =\n\n  Columns 1 through 2\n\n    1  2\n    3  4\n\n  Column 3\n\n   5\n   6\n"
    with pytest.raises(FormatError, match="printed in parts, “Columns 1 through 2”"):
        parse_block(parts)


@steady
@given(matrices(2, 2))
def test_pandas_csv_and_print_lose_their_labels_only(array: Array) -> None:
    frame = pd.DataFrame(array, columns=[f"d{i}" for i in range(array.shape[1])])
    for text in (frame.to_csv(), frame.to_csv(index=False), frame.to_csv(sep="\t")):
        np.testing.assert_array_equal(parse_block(text).values, array)
    printed = frame.to_string(float_format=number_text)
    np.testing.assert_array_equal(parse_block(printed).values, array)


@steady
@given(npst.arrays(np.float64, st.integers(1, 60), elements=NUMBERS))
def test_a_printed_vector_is_one_row_however_it_is_wrapped(vector: Array) -> None:
    with np.printoptions(floatmode="unique"):
        assert values(repr(vector)) == [vector.tolist()]
    assert values(json.dumps(vector.tolist(), indent=1)) == [vector.tolist()]


@pytest.mark.parametrize("count", [2, 12, 24, 40, 41])
def test_a_long_printed_vector_is_one_row_and_a_matrix_in_lines_is_not(count: int) -> None:
    vector = np.linspace(-100, 1, count)
    with np.printoptions(floatmode="unique"):
        assert values(str(vector)) == [vector.tolist()]
    lines = "\n ".join(_lines(vector.reshape(2, -1) if count % 2 == 0 else vector[:, None], " "))
    assert len(values(f"W = [{lines}]")) == (2 if count % 2 == 0 else count)


# Tables: single forms.


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("[1 2; 3, 4]", [[1, 2], [3, 4]]),
        ("[[1.  2. ]\n [3.5 4. ]]", [[1, 2], [3.5, 4]]),
        ("1 2\n3 4", [[1, 2], [3, 4]]),
        ("1.0,2\n3,4", [[1, 2], [3, 4]]),
        ("1 ,2\n3 ,4", [[1, 2], [3, 4]]),
        ("1, 2\n3, 4", [[1, 2], [3, 4]]),
        ("[[1 ,2],[3 ,4]]", [[1, 2], [3, 4]]),
        ("1 2; 3 4", [[1, 2], [3, 4]]),
        ("1.5 2; 3 4;", [[1.5, 2], [3, 4]]),
        ("((1, 2), (3, 4))", [[1, 2], [3, 4]]),
        ("w = ((1, 2),\n     (3, 4))", [[1, 2], [3, 4]]),
        ("\ufeff1 2\n3 4", [[1, 2], [3, 4]]),
        ("1,5;2\n3;4,5", [[1.5, 2], [3, 4.5]]),
        ("1,5 2,5\n3 4", [[1.5, 2.5], [3, 4]]),
        ("1/3 0.5\n1 / 4 2", [[1 / 3, 0.5], [0.25, 2]]),
        ("[1/3, 2 / 3]", [[1 / 3, 2 / 3]]),
        ("7", [[7]]),
        ("[7]", [[7]]),
        ("1.5,2\n", [[1.5, 2]]),
        ("1.0,2,\n3,4,", [[1, 2], [3, 4]]),
        ("[1, 2],\n[3, 4],", [[1, 2], [3, 4]]),
        ('[["1", "2.5"]]', [[1, 2.5]]),
        ("Array([[1., 2.]], dtype=float32)", [[1, 2]]),
        ("array([[1., 2.]], device=device(type='cuda', index=0))", [[1, 2]]),
        ("[tensor(1.), tensor(2.)]", [[1, 2]]),
        ("| 1 | 2 |\n| 3 | 4 |", [[1, 2], [3, 4]]),
        ("1 | 2\n3 | 4", [[1, 2], [3, 4]]),
        ("1 2\n\n3 4\n", [[1, 2], [3, 4]]),
        (" 1 2\n10 3", [[1, 2], [10, 3]]),
        (r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}", [[1, 2], [3, 4]]),
        (
            r"\begin{pmatrix}\frac{1}{4}&-\frac{1}{2}\\[2pt] - 3&\tfrac{-3}{4}\\\end{pmatrix}",
            [[0.25, -0.5], [-3, -0.75]],
        ),
        (r"\begin{bmatrix}1{,}5 & -2\end{bmatrix}", [[1.5, -2]]),
        (r"\begin{matrix}1.2 \times 10^{-3} & 4\cdot10^{2}\end{matrix}", [[0.0012, 400]]),
        (
            "\\begin{equation*}\n\\mathbf{W}_Q^{(1)} = \\begin{bmatrix}\n1 & \\phantom{-}2 \\\\"
            "\n\\hline\n3 & 4 \\\\\n\\end{bmatrix}.\n\\end{equation*}",
            [[1, 2], [3, 4]],
        ),
    ],
)
def test_tables_as_people_paste_them(text: str, table: list[list[float]]) -> None:
    assert values(text) == table


@pytest.mark.parametrize(
    ("text", "table", "left_out"),
    [
        ("a\tb\n1\t2", [[1, 2]], "line"),
        ("major\t1\t2\nleague\t3\t4", [[1, 2], [3, 4]], "column"),
        ("\td0\td1\nmajor\t1\t2", [[1, 2]], "line, column"),
        ("token,d0,d1\nmajor,1,2\nleague,3,4", [[1, 2], [3, 4]], "line, column"),
        ("major 1 2\nleague 3 4", [[1, 2], [3, 4]], "column"),
        ("[CLS]\t1\n[SEP]\t2", [[1], [2]], "column"),
        ("“the”\t1\n日本語\t2\n<s>\t3", [[1], [2], [3]], "column"),
        ("##ing\t1\n,\t2", [[1], [2]], "column"),
        ('"a, b",1,2\n"c",3,4', [[1, 2], [3, 4]], "column"),
        ('"two\nlines"\t1\nb\t2', [[1], [2]], "column"),
        ("head 1,0.5\nhead 2,0.25", [[0.5], [0.25]], "column"),
        ("W_Q\n1 2 3\n4 5 6", [[1, 2, 3], [4, 5, 6]], "line"),
        ("   d0  d1\n0   1   2\n1   3   4", [[1, 2], [3, 4]], "line, column"),
        (",0,1\n0,1.5,2\n1,3,4", [[1.5, 2], [3, 4]], "line, column"),
        (",0\nthe,1.5\n", [[1.5]], "line, column"),
        ("\t0\t1\tn\n0\t1\t2\t3\n".replace("\tn", "\t2"), [[1, 2, 3]], "line, column"),
        ("     0  1\n0  1.5  2\n1    3  4", [[1.5, 2], [3, 4]], "line, column"),
        ("  d0  d1\n1  2", [[1, 2]], "line"),
        ("| | d0 |\n|:--|--:|\n| a | 1 |", [[1]], "line, column"),
    ],
)
def test_names_beside_the_numbers_are_left_out_with_a_note(
    text: str, table: list[list[float]], left_out: str
) -> None:
    block = parse_block(text)
    assert block.values.tolist() == table
    assert ", ".join(re.findall("the first (line|column)", " ".join(block.notes))) == left_out


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("1,5\t2,5\n3\t4,5", "“1,5” was read with a decimal comma, as 1.5 (2 more in this way)"),
        ("1,234\t2", "“1,234” was read with a decimal comma, as 1.234"),
        ("100,200,300\n1,2,3", ""),
        ("1.5,2\n3,4", ""),
        ("1 2\n3 4", ""),
    ],
)
def test_a_decision_on_commas_is_noted(text: str, note: str) -> None:
    assert parse_block(text).notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no table"),
        (" \n\t\n", "no table"),
        ("[]", "no table"),
        ("[[], []]", "no table"),
        ("abc", "line 1, item 1: “abc” is not a number"),
        ("1 2\n3", "line 2 has 1 number, line 1 has 2 numbers"),
        ("1\t2\n\n3\t4\t5", "line 3 has 3 numbers, line 1 has 2 numbers"),
        ("a b\n1 2\n3", "line 3 has 1 number, line 2 has 2 numbers"),
        ("[[1, 2], [3]]", "row 2 has 1 number, row 1 has 2 numbers"),
        (r"\begin{bmatrix}1 & 2 \\ 3\end{bmatrix}", "row 2 has 1 number"),
        ("1\t2\n\t4", "line 2, item 1: an empty cell is no number"),
        ("\t2\n3\t4", "line 1, item 1: an empty cell is no number"),
        ("1\t2\n\t\n3\t4", "line 2, item 1: an empty cell is no number"),
        ("1\n\n3", "line 2, item 1: an empty cell is no number"),
        ("1.0,2\n,\n3,4", "line 2, item 1: an empty cell is no number"),
        ("1,2,,\n3,4,,", "line 1, item 3: an empty cell is no number"),
        (",0,2\n1,2,3", "line 1, item 1: an empty cell is no number"),
        (",0,1", "line 1, item 1: an empty cell is no number"),
        (",1,2", "line 1, item 1: an empty cell is no number"),
        ("1\t2\n-\t-\n3\t4", "line 2, item 1: “-” is not a number"),
        ("| 1 | 2 |\n| - | - |\n| 3 | 4 |", "line 2, item 1: “-” is not a number"),
        ("[1,,2]", "row 1, item 2: an empty cell"),
        pytest.param("[[inf, nan], [1, 2]]", "“inf” is not a finite number", id="B11-list"),
        pytest.param("inf\tnan\n1\t2", "“inf” is not a finite number", id="B11-cells"),
        pytest.param("[[1., -inf]]", "row 1, item 2: “-inf” is not a finite", id="B11-print"),
        ("1abc\t2\n3\t4", "“1abc” is not a number"),
        ("#N/A\t#REF!\n1\t2", "“#N/A” is not a number"),
        ("[[a, b], [1, 2]]", "“a” is not a number"),
        ("[[1. 2. ... 8. 9.]\n ...\n [1. 2. ... 8. 9.]]", "threshold"),
        ("[1, 2, ..., 9]", "values are left out"),
        ("1 2 … 9", "values are left out"),
        (r"\begin{bmatrix}1 & \cdots & 2\end{bmatrix}", "values are left out"),
        ("[[1, 2], [3, 4]", "brackets do not match (expected 3 closing, got 2). A grid cuts off"),
        ("1, 2], [3, 4]]", "brackets do not match"),
        ("[[[1, 2], [3, 4]]]", "three levels"),
        ("[[1, 2]]\n[[3, 4]]", "several tables"),
        ("[1 2; 3 4];\n[5 6; 7 8];", "semicolon"),
        ("(1, 2)", "item 1"),
        ("[[1, 2], [3, 4]].T", "“.T” stands beside the numbers"),
        ("np.array([[1, 2], [3, 4]]) * 2", "“) * 2” stands beside the numbers"),
        ("2 * [1 2; 3 4]", "“2 *” stands beside the numbers"),
        ("[1 2; 3 4]'", "“'” stands beside the numbers"),
        ("[[1, 2], 3]", "stands beside the numbers"),
        ("[[1; 2], [3; 4]]", "row 1 has a semicolon in it"),
        ("[1 - 2]", "“-” is not a number"),
        ("[np.sqrt(2), 1]", "“np.sqrt(2)” is not a number"),
        ("[1 2; 3 4']", "“4'” is not a number"),
        ("[1,2 3]", "row 1 has both commas and blanks"),
        (r"2 \begin{bmatrix}1\end{bmatrix}", "“2” stands beside the numbers"),
        (r"\begin{bmatrix}1\end{bmatrix}^T", "“^T” stands beside the numbers"),
        (r"\begin{bmatrix}1\end{bmatrix}\begin{bmatrix}2\end{bmatrix}", "more than one matrix"),
        (r"\begin{bmatrix}1 & 2 \\ 3 & 4", "the end of the matrix is missing"),
        (r"\begin{cases}1 & 2\end{cases}", "no matrix in it"),
        (r"\begin{bmatrix}2\frac{1}{2}\end{bmatrix}", "is not a number"),
        (r"\begin{bmatrix}\frac{1}{2}3\end{bmatrix}", "is not a number"),
        (r"\begin{bmatrix}1\,000\end{bmatrix}", "between thousands"),
        (r"\begin{bmatrix}1 & \sqrt{2}\end{bmatrix}", "item 2"),
        ("0,5, 0,25", "line 1: the commas in “0,5, 0,25” may be decimal commas"),
        ("major 1,5\nleague 2,5", "may be decimal commas or separators"),
        ("1,5\n2,5", "the commas in “1,5” may be decimal commas or separators"),
        ("1,5\n2\n3,5", "may be decimal commas or separators"),
        ("1,5", "may be decimal commas or separators"),
        ("100,200,300\n400,500,600", "may be decimal commas or separators"),
        ("1,234\t0.5", "“0.5” has a decimal point and “1,234” a comma"),
        ("1,234,567", "may be decimal commas or separators"),
        ("1 000", "may be one number or several"),
        ("1 000\t2", "between thousands"),
        ('"1\t2\n"3\t4', "line 1 has a quote without its other half"),
        ('"\t1\t2\n"\t3\t4', "line 1 has a quote without its other half"),
        ('1\t2\n"\t3\t4', "line 2 has a quote without its other half"),
        ("__import__('os').system('true')", "is not a number"),
        ("[__import__('os').getpid()]", "is not a number"),
    ],
)
def test_what_is_no_clear_table_is_refused(text: str, said: str) -> None:
    sentence = refusal(text)
    assert said in sentence
    assert sentence.startswith("pasted table")


def test_a_text_beyond_the_limit_is_refused() -> None:
    assert "too long" in refusal("1 " * MAX_PASTE)


@pytest.mark.parametrize(
    "text",
    [
        " " * 300_000 + "x",
        "1" + " " * 300_000 + "x",
        "array([1], a=" + " " * 300_000,
        "[" * 300_000,
        "[" + "1 " * 100_000 + "]x",
        "\\begin{array}" + " " * 300_000,
        "\\begin{array}{" + "{" * 100_000,
        "\\begin{bmatrix}" * 20_000,
        '"' * 300_001,
        "1," * 150_000,
        "1 000" * 60_000,
        "A" * 300_000 + "=",
        "[" + "\\phantom{" * 30_000 + "]",
        "/" * 300_000,
        "-" * 300_000 + "|",
    ],
    ids=range(15),
)
def test_reading_takes_no_more_than_a_moment(text: str) -> None:
    """Were the time to grow with the square of the length, this would take a minute."""
    start = time.process_time()
    result = outcome(lambda t: parse_block(t).values, text)
    assert not isinstance(result, str) or len(result) < 300
    assert time.process_time() - start < 5


# Anything at all.

PIECES = st.sampled_from(
    [
        *"0123456789.,;:[](){}&|/\\\"'-−+eE_ \t\n=…∞½",
        *("\r\n", "...", "1.5", "1,5", "nan", "inf", "A = ", "the", "d0", "---", "[[", "]]"),
        *("array(", "tensor(", ", dtype=float32)", "np.float64("),
        *(r"\begin{bmatrix}", r"\end{bmatrix}", r"\begin{array}{cc}", r"\\", r"\frac{1}{3}"),
    ]
)
ANYTHING = st.one_of(st.text(), st.lists(PIECES).map("".join))


@settings(steady, max_examples=1500)
@given(ANYTHING)
def test_any_text_gives_finite_numbers_or_one_sentence(text: str) -> None:
    for read in (lambda t: np.array([[parse_number(t).value]]), lambda t: parse_block(t).values):
        result = outcome(read, text)
        if isinstance(result, str):
            assert "\n" not in result
            assert 10 < len(result) < 300
        else:
            assert result.ndim == 2
            assert result.size > 0
            assert np.isfinite(result).all()
    has_thousands(text)


@settings(steady, max_examples=1500)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "-"]),
            st.sampled_from(["1", "2.5", "34", "567", ".8"]),
            st.sampled_from([" ", "  ", ",", ", ", "\n", "\n", "\t", ";", "; ", "] [", "],\n["]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["{}", "[{}]", "[[{}]]", "array([{}])", " {}\n", "{},"]),
)
def test_no_digit_is_lost_or_made_up(parts: list[tuple[str, str, str]], around: str) -> None:
    text = around.format("".join(map("".join, parts)))
    result = outcome(lambda t: parse_block(t).values, text)
    if isinstance(result, str):
        return
    digits = "".join(number_text(value) for value in result.ravel())
    assert re.sub("[^1-9]", "", digits) == re.sub("[^1-9]", "", text)


@pytest.mark.parametrize(
    ("number", "decimals", "text"),
    [
        (1.775, 2, "1.78"),  # float64 holds 1.77499999999999991
        (6 * 0.225 + 0.425, 2, "1.78"),  # and this 1.77500000000000013
        (0.8 + 0.005, 2, "0.81"),
        (-1.775, 2, "−1.78"),
        (0.125, 2, "0.13"),
        (1.77499999, 2, "1.77"),
        (2.0, 2, "2.00"),
        (1.5e-5, 2, "1.5e−5"),
        (sys.float_info.max, 2, "1.8e308"),
    ],
)
def test_a_half_is_rounded_as_by_hand(number: float, decimals: int, text: str) -> None:
    assert format_number(number, decimals) == text
