"""What is typed or pasted into a table: every digit kept, or refused by table, row and column."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from attnviz.core.arrays import Array
from attnviz.core.errors import ShapeError
from attnviz.core.numbers import number_text
from attnviz.parsing import parse_block
from attnviz.tables import EditResult, apply_edits, place_block, to_frame

steady = settings(derandomize=True, database=None, deadline=None, max_examples=60)
ROWS = ("major", "league", "baseball", "the₄")
COLUMNS = ("d0", "d1", "d2")
OLD = np.full((4, 3), 0.5)


def edit(edited: Mapping[int | str, Mapping[str, Any]], old: Array = OLD) -> EditResult:
    rows = ROWS[: len(old)]
    columns = tuple(f"d{i}" for i in range(old.shape[1]))
    return apply_edits(old, edited, rows, columns, "W_Q head 1")


def down(*lines: str, at: int = 0, column: str = "d0") -> dict[int | str, dict[str, str]]:
    """Lines as a grid takes them from the clipboard: one below the other."""
    return {at + i: {column: line} for i, line in enumerate(lines)}


def filled(result: EditResult, shape: tuple[int, int] = (4, 3)) -> list[list[float | None]]:
    return [[result.cells.get((r, c)) for c in range(shape[1])] for r in range(shape[0])]


# Frames.


@steady
@given(npst.arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_a_frame_keeps_every_digit(array: Array) -> None:
    frame = to_frame(array, ROWS[:3], COLUMNS[:2])
    assert list(frame.index) == list(ROWS[:3])
    assert list(frame.columns) == list(COLUMNS[:2])
    assert all(isinstance(text, str) for text in frame.to_numpy().ravel())
    edited: dict[int | str, dict[str, str]] = {
        i: dict(zip(COLUMNS[:2], row, strict=True)) for i, row in enumerate(frame.to_numpy())
    }
    result = apply_edits(array, edited, ROWS[:3], COLUMNS[:2], "X")
    assert not result.problems
    assert not result.notes
    np.testing.assert_array_equal(filled(result, (3, 2)), array)


# Single cells.


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        (".07", 0.07),
        ("1e-3", 0.001),
        ("−0.125", -0.125),
        ("0.1234567890123", 0.1234567890123),
        ("1/3", 1 / 3),
    ],
)
def test_b20_typed_numbers_are_taken(typed: str, value: float) -> None:
    assert edit({1: {"d2": typed}}) == EditResult({(1, 2): value})


def test_b20_a_decimal_comma_is_taken_with_a_note() -> None:
    result = edit({"1": {"d2": "1,5"}})
    assert result.cells == {(1, 2): 1.5}
    assert result.problems == ()
    assert result.notes == (
        "W_Q head 1, row league, column d2: “1,5” was read with a decimal comma, as 1.5.",
    )


@pytest.mark.parametrize("typed", ["abc", "1abc", "1e999", "1,234,567", "1 000", "a b", "x&y|z"])
def test_b20_what_is_no_number_is_refused_and_the_old_value_kept(typed: str) -> None:
    result = edit({1: {"d2": typed, "d0": "2"}})
    assert result.cells == {(1, 0): 2}
    (problem,) = result.problems
    assert problem.startswith(f"W_Q head 1, row league, column d2: “{typed}” is ")
    assert "; the old value 0.5 stays. " in problem


@pytest.mark.parametrize("typed", ["inf", "-Infinity", "∞", "1e400", "nan"])
def test_b11_an_infinity_is_refused_with_the_cell_named(typed: str) -> None:
    result = edit({3: {"d1": typed}})
    assert result.cells == {}
    assert result.problems[0].startswith(f"W_Q head 1, row the₄, column d1: “{typed}” is ")
    assert "the old value 0.5 stays" in result.problems[0]


@pytest.mark.parametrize("typed", [None, "", "  "])
def test_b21_a_deleted_cell_is_refused(typed: str | None) -> None:
    assert edit({0: {"d0": typed}}) == EditResult(
        problems=(
            "W_Q head 1, row major, column d0: an empty cell is no number; "
            "the old value 0.5 stays. Type 0 for zero.",
        )
    )


def test_rows_and_columns_come_as_numbers_or_as_text() -> None:
    result = apply_edits(OLD, {"2": {"1": "7"}, 3: {"0": 8.5}}, ROWS, ["0", "1", "2"], "X")
    assert result == EditResult({(2, 1): 7, (3, 0): 8.5})


def test_places_outside_of_the_table_are_passed_over() -> None:
    assert edit({9: {"d0": "1"}, -1: {"d0": "1"}, 0: {"d9": "1"}}) == EditResult()
    assert edit({}) == EditResult()
    assert edit({0: {}}) == EditResult()


def test_cells_pasted_side_by_side_are_taken_one_by_one() -> None:
    result = edit({1: {"d0": "1", "d1": "x"}, 2: {"d0": "3,5", "d1": "4"}})
    assert result.cells == {(1, 0): 1, (2, 0): 3.5, (2, 1): 4}
    assert len(result.problems) == len(result.notes) == 1
    assert "row league, column d1: “x”" in result.problems[0]


def test_a_column_of_decimal_commas_is_no_table() -> None:
    result = edit(down("1,5", "2,25", "3"))
    assert result.cells == {(0, 0): 1.5, (1, 0): 2.25, (2, 0): 3}
    assert len(result.notes) == 2


def test_cells_apart_from_each_other_are_no_lines_of_a_table() -> None:
    result = edit({0: {"d0": "1 2"}, 2: {"d0": "3 4"}})
    assert result.cells == {}
    assert ["row major" in result.problems[0], "row baseball" in result.problems[1]] == [True] * 2


def test_many_sentences_are_counted() -> None:
    result = edit({r: dict.fromkeys(COLUMNS, "x") for r in range(4)})
    assert len(result.problems) == 6
    assert result.problems[-1] == "W_Q head 1: 7 more cells were refused and keep their old values."
    result = edit({r: dict.fromkeys(COLUMNS, "1,5") for r in range(2)})
    assert len(result.notes) == 6
    assert result.notes[-1].startswith("W_Q head 1, row league, column d2: ")


# Tables pasted as text.


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2], [3, 4]]",
        "[1 2; 3 4]",
        "1 2\n3 4",
        "1\t2\n3\t4",
        "1.0,2\n3,4",
        "1 2; 3 4",
        r"\begin{bmatrix}1 & 2 \\ 3 & 4\end{bmatrix}",
        "| 1 | 2 |\n| 3 | 4 |",
    ],
)
def test_a_table_in_one_cell_fills_rightwards_and_downwards(text: str) -> None:
    result = edit({1: {"d1": text}})
    assert result.problems == ()
    assert result.cells == {(1, 1): 1, (1, 2): 2, (2, 1): 3, (2, 2): 4}


@pytest.mark.parametrize(
    "lines",
    [
        ["[[1. 2.]", " [3. 4.]]"],
        ["array([[1., 2.],", "       [3., 4.]])"],
        ["[[1, 2],", " [3, 4]]"],
        ["A = [1 2", "3 4];"],
        ["1 2", "3 4"],
        ["1.0,2", "3,4.0"],
        ["1, 2,", "3, 4,"],
        ["| 1 | 2 |", "| 3 | 4 |"],
        [r"\begin{bmatrix}", r"1 & 2 \\", r"3 & 4 \\", r"\end{bmatrix}"],
        ["d0 d1", "1 2", "3 4"],
        ["[", "[1, 2],", "[3, 4]]"],
    ],
)
def test_lines_down_one_column_are_one_table(lines: list[str]) -> None:
    result = edit(down(*lines, column="d1"))
    assert result.problems == ()
    assert result.cells == {(0, 1): 1, (0, 2): 2, (1, 1): 3, (1, 2): 4}


def test_a_line_of_numbers_in_one_cell_fills_the_row() -> None:
    for text in ("1 2 3", "1, 2, 3", "1,2,3", "[1 2 3]", "1;2;3"):
        assert edit({2: {"d0": text}}).cells == {(2, 0): 1, (2, 1): 2, (2, 2): 3}, text


def test_a_table_that_does_not_fit_changes_nothing_and_names_both_sizes() -> None:
    assert edit({1: {"d2": "[[1, 2], [3, 4]]"}}) == EditResult(
        problems=(
            "W_Q head 1, row league, column d2: the pasted table does not fit from row 2, column 3 "
            "on (expected at most 3 × 1, got 2 × 2). Nothing was changed.",
        )
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["[[1. 2.]", " [3. x]]"], "row 2, item 2: “x” is not a number"),
        (["[[1. 2.]", " [3. inf]]"], "row 2, item 2: “inf” is not a finite number"),
        (["1 2", "3"], "line 2 has 1 number, line 1 has 2 numbers"),
        (["[[1. 2.]", " [3. 4.]"], "brackets do not match"),
        ([r"\begin{bmatrix}", r"1 & 2 \\"], "the end of the matrix is missing"),
        (["[[1. 2. ... 3.]", " ..."], "brackets do not match"),
    ],
)
def test_a_table_with_something_wrong_changes_nothing(lines: list[str], said: str) -> None:
    result = edit(down(*lines, at=1))
    assert result.cells == {}
    (problem,) = result.problems
    assert problem.startswith("W_Q head 1, row league, column d0: pasted table")
    assert said in problem
    assert problem.endswith(" Nothing was changed.")


def test_a_table_the_other_way_round_is_transposed_with_a_note() -> None:
    result = edit({0: {"d0": "[[1,2,3,4],[5,6,7,8],[9,10,11,12]]"}})
    assert filled(result) == [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]]
    assert result.notes == ("W_Q head 1: the pasted table is 3 × 4, so it was transposed.",)
    assert not result.transposable


def test_the_other_way_round_is_refused_where_it_is_not_the_whole_table() -> None:
    assert not edit({1: {"d0": "[[1,2,3,4],[5,6,7,8],[9,10,11,12]]"}}).cells
    assert not edit({0: {"d0": "[1 2 3 4]"}}).cells


def test_a_square_table_is_taken_as_it_stands_and_may_be_transposed() -> None:
    old = np.zeros((2, 2))
    result = edit({0: {"d0": "[[1, 2], [3, 4]]"}}, old)
    assert filled(result, (2, 2)) == [[1, 2], [3, 4]]
    assert result.transposable
    assert not edit({0: {"d0": "[[1], [3]]"}}, old).transposable
    assert not edit({0: {"d0": "[[1, 2], [3, 4]]"}}).transposable
    assert not edit({0: {"d0": "[[1]]"}}, np.zeros((1, 1))).transposable


def test_notes_of_a_pasted_table_name_the_table() -> None:
    result = edit(down("a b", "1,5 2,5", "3 4,5"))
    assert result.notes == (
        "W_Q head 1: the first line was taken as column names.",
        "W_Q head 1: “1,5” was read with a decimal comma, as 1.5 (2 more in this way).",
        "W_Q head 1: 4 of 12 cells were filled.",
    )


# A whole table in a field of its own.


def test_a_block_is_placed_as_it_is_or_transposed_on_demand() -> None:
    block = parse_block("1 2\n3 4")
    assert filled(place_block(block, (2, 2), (0, 0), "X"), (2, 2)) == [[1, 2], [3, 4]]
    turned = place_block(block, (2, 2), (0, 0), "X", transpose=True)
    assert filled(turned, (2, 2)) == [[1, 3], [2, 4]]
    assert not turned.transposable
    wide = parse_block("[[1, 2, 3], [4, 5, 6]]")
    turned = place_block(wide, (3, 2), (0, 0), "X", transpose=True)
    assert filled(turned, (3, 2)) == [[1, 4], [2, 5], [3, 6]]
    assert turned.notes == ()


def test_a_block_that_does_not_fit_is_refused_by_both_sizes() -> None:
    block = parse_block("[[1, 2, 3], [4, 5, 6]]")
    for transpose, got in ((False, "2 × 3"), (True, "3 × 2")):
        with pytest.raises(ShapeError, match=f"at most 2 × 1, got {got}"):
            place_block(block, (3, 2), (1, 1), "X", transpose)


@steady
@given(st.data())
def test_a_block_goes_exactly_where_it_is_put(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    at = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    size = tuple(data.draw(st.integers(1, n - start)) for n, start in zip(shape, at, strict=True))
    block = data.draw(npst.arrays(np.float64, size, elements=st.integers(-9, 9).map(float)))
    result = place_block(parse_block(repr(block.tolist())), shape, (at[0], at[1]), "X")
    new = np.zeros(shape)
    for index, value in result.cells.items():
        new[index] = value
    expected = np.zeros(shape)
    expected[at[0] : at[0] + size[0], at[1] : at[1] + size[1]] = block
    np.testing.assert_array_equal(new, expected)
    assert len(result.cells) == block.size


TYPED = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.floats().map(number_text),
    st.text(alphabet="0123456789.,;[] -eE/\n\t|&…", max_size=12),
)


@settings(steady, max_examples=400)
@given(
    st.dictionaries(
        st.integers(0, 3), st.dictionaries(st.sampled_from(COLUMNS), TYPED, max_size=3), max_size=4
    )
)
def test_whatever_is_typed_gives_numbers_or_sentences(
    edited: dict[int | str, dict[str, Any]],
) -> None:
    result = edit(edited)
    assert all(np.isfinite(value) for value in result.cells.values())
    assert all(0 <= r < 4 and 0 <= c < 3 for r, c in result.cells)
    if any(edited.values()):
        assert result.cells or result.problems
    for sentence in (*result.problems, *result.notes):
        assert sentence.startswith("W_Q head 1")
        assert "\n" not in sentence
        assert sentence.endswith(".") or re.search(r"[0-9\]]\.?$", sentence)
