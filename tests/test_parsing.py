"""Numbers and tables as people type and paste them."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnviz.core import AttnvizError, FormatError, NumberError
from attnviz.core.numbers import format_number, number_text
from attnviz.parsing import parse_block, parse_number

FINITE = st.floats(allow_nan=False, allow_infinity=False)
MATRIX = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(2, 5)),
    elements=st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6),
)


@given(FINITE)
def test_every_number_written_out_reads_back(x: float) -> None:
    assert parse_number(number_text(x)).value == x


@given(FINITE, st.integers(2, 6))
def test_a_number_that_is_not_zero_never_shows_as_zero(x: float, decimals: int) -> None:
    shown = format_number(x, decimals)
    assert (x == 0) == (not set(shown) & set("123456789"))


@pytest.mark.parametrize(
    ("x", "decimals", "shown"),
    [
        (1.2e-13, 2, "1.2e−13"),
        (1.4e-142, 2, "1.4e−142"),
        (-0.0, 2, "0.00"),
        (-0.001, 2, "−1e−3"),
        (0.5, 2, "0.50"),
        (123456789.0, 2, "1.23e8"),
        (123456.78, 6, "1.234568e5"),
        (99999.999, 2, "1e5"),
        (float("-inf"), 2, "−∞"),
        (0.1, None, "0.1"),
    ],
)
def test_shown_numbers(x: float, decimals: int | None, shown: str) -> None:
    assert format_number(x, decimals) == shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (".07", 0.07),
        ("1e-3", 1e-3),
        ("−0.125", -0.125),
        ("–0.5", -0.5),
        ("0.1234567890123", 0.1234567890123),
        ("1/3", 1 / 3),
        ("-2/7", -2 / 7),
        ("7.", 7.0),
        ("+3", 3.0),
        (" 4\u00a0", 4.0),
        ("1E+5", 1e5),
        ("1.2e−13", 1.2e-13),
    ],
)
def test_b20_read(text: str, value: float) -> None:
    assert parse_number(text).value == value
    assert parse_number(text).note == ""


@pytest.mark.parametrize(
    ("text", "value"), [("1,5", 1.5), ("-0,25", -0.25), ("1,5e3", 1500.0), ("1,234", 1.234)]
)
def test_b20_decimal_comma_is_read_and_said(text: str, value: float) -> None:
    parsed = parse_number(text)
    assert parsed.value == value
    assert number_text(value) in parsed.note


@pytest.mark.parametrize(
    "text",
    [
        "abc",
        "1abc",
        "1.2.3",
        "1,234,567",
        "1,234.5",
        "1_000",
        "0x10",
        "True",
        "inf",
        "-inf",
        "nan",
        "Infinity",
        "∞",
        "1e999",
        "1e-400",
        "1/0",
        "1//2",
        "--",
        "1e",
        "1e5.5",
        "e5",
        "٣",
        "½",
        "$5",
        "5%",
        "(5)",
    ],
)
def test_b11_b20_refused(text: str) -> None:
    with pytest.raises(NumberError, match="“") as refusal:
        parse_number(text)
    assert text in str(refusal.value)
    assert refusal.value.hint


@pytest.mark.parametrize("text", ["", "  ", "\u00a0"])
def test_empty_is_refused_as_empty(text: str) -> None:
    with pytest.raises(NumberError, match="empty"):
        parse_number(text)


@given(st.text())
def test_any_text_is_a_number_or_a_sentence(text: str) -> None:
    for read in (parse_number, parse_block):
        with contextlib.suppress(AttnvizError):
            read(text)


def numpy_print(a: np.ndarray) -> str:
    with np.printoptions(threshold=10**9, floatmode="unique", precision=17):
        return str(a)


WRITERS = {
    "numpy print": numpy_print,
    "numpy repr": lambda a: f"array({a.tolist()}, dtype=float64)".replace("], [", "],\n       ["),
    "numpy call": lambda a: f"w = np.array({a.tolist()})",
    "torch": lambda a: f"tensor({a.tolist()}, dtype=torch.float64, requires_grad=True)",
    "json": lambda a: json.dumps(a.tolist(), indent=1),
    "csv": lambda a: "\n".join(",".join(map(repr, row)) for row in a.tolist()),
    "tsv": lambda a: "\r\n".join("\t".join(map(repr, row)) for row in a.tolist()),
    "semicolons": lambda a: "\n".join(
        ";".join(repr(x).replace(".", ",") for x in row) for row in a.tolist()
    ),
    "blanks": lambda a: "\n".join("  ".join(map(repr, row)) for row in a.tolist()),
    "matlab": lambda a: f"A = [{'; '.join(' '.join(map(repr, row)) for row in a.tolist())}];",
    "latex": lambda a: (
        r"\begin{bmatrix}"
        + r" \\ ".join(" & ".join(map(repr, row)) for row in a.tolist())
        + r"\end{bmatrix}"
    ),
    "markdown": lambda a: "\n".join("| " + " | ".join(map(repr, r)) + " |" for r in a.tolist()),
}


@pytest.mark.parametrize("form", WRITERS)
@given(a=MATRIX)
def test_every_form_of_table_reads_back(form: str, a: np.ndarray) -> None:
    np.testing.assert_array_equal(parse_block(WRITERS[form](a)).values, a)


@pytest.mark.parametrize(
    "text",
    [
        "1 ,2\n3 ,4",
        "[[1 ,2],[3 ,4]]",
        "[[1, 2], [3, 4]]",
        "((1, 2), (3, 4))",
        '"1","2.0"\n"3","4.0"',
        "\ufeff1 2\n3 4",
        "1, 2\n3, 4",
        "[1 2; 3 4]",
    ],
)
def test_commas_with_blanks_separate(text: str) -> None:
    block = parse_block(text)
    np.testing.assert_array_equal(block.values, [[1, 2], [3, 4]])
    assert block.notes == ()


def test_labels_are_left_out_and_said() -> None:
    block = parse_block("\td0\td1\na\t1\t2\nb\t3\t4")
    np.testing.assert_array_equal(block.values, [[1, 2], [3, 4]])
    assert len(block.notes) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 2\n3", "row 2 has 1 numbers, row 1 has 2"),
        ("[[1, 2], [3, x]]", "row 2, item 2"),
        ("[[1, 2, ..., 3]]", "left out"),
        ("[[1, 2], [3", "brackets"),
        ("[[[1, 2]]]", "three levels"),
        ("", "no table"),
        ("[[1, inf]]", "row 1, item 2"),
        ("inf\t2\ninf\t3", "row 1, item 1"),
        ("[[nan, 2.], [nan, 3.]]", "row 1, item 1"),
        ("1e999 2", "row 1, item 1"),
        ("nan nan\n1 2", "row 1, item 1"),
        ("1,234.5\t2", "row 1, item 1"),
        ("50%\t2", "row 1, item 1"),
        ("0x10 1", "row 1, item 1"),
        ("\t2\t3", "row 1, item 1"),
        (",1,2", "row 1, item 1"),
        ("1,5\n2,5", "decimal commas or separators"),
        ("0,5, 1,5", "decimal commas or separators"),
        ("[[1, 2], [3, 4]]\n[[5, 6], [7, 8]]", "several tables"),
    ],
)
def test_bad_tables_name_the_place(text: str, words: str) -> None:
    with pytest.raises((FormatError, NumberError)) as refusal:
        parse_block(text)
    assert words in str(refusal.value)
