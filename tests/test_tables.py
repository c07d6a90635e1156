"""Tables as they are edited."""

import numpy as np
import pytest

from attnviz.core import ShapeError
from attnviz.parsing import parse_block
from attnviz.tables import apply_edits, place_block, to_frame

TABLE = np.array([[0.5, 0.25], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
ROWS, COLUMNS = ("d0", "d1", "d2", "d3"), ("d0", "d1")


def edited(edits: dict[int | str, dict[str, object]]):
    return apply_edits(TABLE, edits, ROWS, COLUMNS, "W_Q head 1")


def test_a_frame_has_every_digit_as_text() -> None:
    frame = to_frame(np.array([[0.1 + 0.2, 1e-300]]), ("a",), COLUMNS)
    assert frame.iloc[0].tolist() == ["0.30000000000000004", "1e-300"]
    assert list(frame.index) == ["a"]


def test_edits_are_numbers_by_place() -> None:
    assert edited({"1": {"d1": ".07"}, 3: {"d0": "1/4"}}).cells == {(1, 1): 0.07, (3, 0): 0.25}


def test_refusals_name_table_row_and_column_and_keep_the_rest() -> None:
    result = edited({0: {"d0": "abc", "d1": "3"}})
    assert result.cells == {(0, 1): 3.0}
    assert len(result.problems) == 1
    for word in ("W_Q head 1", "row d0", "column d0", "abc", "0.5 stays"):
        assert word in result.problems[0]


@pytest.mark.parametrize("gone", [None, "", "  "])
def test_b21_a_deleted_cell_keeps_its_value(gone: str | None) -> None:
    result = edited({1: {"d0": gone}})
    assert result.cells == {}
    assert "1 stays" in result.problems[0]


def test_decimal_comma_is_noted() -> None:
    result = edited({0: {"d0": "1,5"}})
    assert result.cells == {(0, 0): 1.5}
    assert "1.5" in result.notes[0]


@pytest.mark.parametrize(
    "edits",
    [
        {1: {"d0": "[[7, 8], [9, 10]]"}},
        {1: {"d0": "[[7 8]"}, 2: {"d0": " [9 10]]"}},
        {1: {"d0": "7, 8"}, 2: {"d0": "9, 10"}},
        {1: {"d0": "7 8; 9 10"}},
    ],
)
def test_a_table_pasted_as_text_fills_rightwards_and_downwards(
    edits: dict[int | str, dict[str, object]],
) -> None:
    expected = {(1, 0): 7.0, (1, 1): 8.0, (2, 0): 9.0, (2, 1): 10.0}
    assert edited(edits).cells == expected


@pytest.mark.parametrize("text", ["1 000", "1,234,567", "abc def", "[5"])
def test_what_is_no_table_is_refused_as_a_cell(text: str) -> None:
    result = edited({0: {"d0": text}})
    assert result.cells == {}
    assert result.problems


def test_a_table_printed_the_other_way_round_is_recognised() -> None:
    result = place_block(parse_block("1 2 3 4\n5 6 7 8"), (4, 2), (0, 0), "W_Q")
    assert result.cells[3, 0] == 4.0
    assert result.cells[3, 1] == 8.0
    assert "transposed" in result.notes[0]


def test_a_square_table_offers_to_be_transposed() -> None:
    block = parse_block("1 2\n3 4")
    assert place_block(block, (2, 2), (0, 0), "W").transposable
    assert place_block(block, (2, 2), (0, 0), "W", transpose=True).cells[0, 1] == 3.0


def test_a_table_that_does_not_fit_changes_nothing() -> None:
    with pytest.raises(ShapeError, match=r"at most 1 × 2.*2 × 2.*Nothing was changed"):
        place_block(parse_block("1 2\n3 4"), (4, 2), (3, 0), "W")
    result = edited({3: {"d0": "[[1, 2], [3, 4]]"}})
    assert result.cells == {}
    assert "Nothing was changed" in result.problems[0]
