"""What is drawn of a matrix, before any Plotly: numbers, ranges, labels, sums."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Trace, run, scaled_dot_product_attention
from attnviz.core import edit
from attnviz.core.op import Values
from attnviz.figures import View, head_strip
from attnviz.figures.panel import Panel, head_keys, joint_keys, resolve, round_up, shared_range
from tests.figures.support import WALKTHROUGH, traced, words

VIEW = View()
COLUMNS = View(tokens_as="columns")


def panel(trace: Trace, key: str, head: int | None = 0, view: View = VIEW) -> Panel:
    return resolve(trace, [(key, head)], view)[0]


def with_array(trace: Trace, key: str, array: np.ndarray) -> Trace:
    arrays = {**trace.values.arrays, key: array}
    return replace(trace, values=Values(arrays, trace.values.config))


def test_every_stage_is_a_panel_in_the_order_of_the_computation() -> None:
    for trace in (traced(), traced(causal=True)):
        keys = [stage.key for stage in trace.stages]
        assert ["x", *head_keys(trace), *joint_keys(trace)] == keys


@pytest.mark.parametrize("key", ["q", "k", "v", "scores", "scaled", "masked", "heads"])
def test_signed_ranges_are_symmetric_and_shared_by_all_heads(key: str) -> None:
    trace = traced("major league baseball game", causal=True, n_heads=3)
    ranges = {(p.low, p.high) for p in (panel(trace, key, head) for head in range(3))}
    assert len(ranges) == 1
    low, high = ranges.pop()
    array = trace[key]
    assert low == -high
    largest = np.abs(array[np.isfinite(array)]).max()
    assert largest <= high <= largest * 1.25


@pytest.mark.parametrize(
    ("value", "end"),
    [(1.0, 1), (1.01, 1.25), (2.42, 2.5), (9.5, 10), (0.0801, 0.09), (3e-300, 3e-300)],
)
def test_ranges_end_at_round_numbers(value: float, end: float) -> None:
    assert round_up(value) == end


def test_an_edit_in_one_head_leaves_the_pictures_of_the_others() -> None:
    edited = edit.set_cells(WALKTHROUGH, "w_q", {(1, 1, 0): 0.14})[0]
    before, after = run(WALKTHROUGH), run(edited)
    assert head_strip(before, 0, VIEW) == head_strip(after, 0, VIEW)
    assert head_strip(before, 1, VIEW) != head_strip(after, 1, VIEW)


def test_attention_runs_from_0_to_1() -> None:
    trace = traced()
    assert {(p.low, p.high) for p in (panel(trace, "attention", h) for h in (0, 1))} == {(0, 1)}


def test_pale_attention_says_why() -> None:
    said = "colours run from 0 to 1"
    assert said in panel(traced(words(512), n_heads=1), "attention").extent
    assert said not in panel(traced(), "attention").extent


def test_masked_cells_have_no_part_in_a_range() -> None:
    trace = traced(causal=True)
    stage = next(stage for stage in trace.stages if stage.key == "masked")
    assert np.isneginf(trace["masked"]).any()
    assert np.isfinite(shared_range(trace, stage)).all()
    shown = panel(trace, "masked")
    np.testing.assert_array_equal(shown.masked, np.isneginf(trace["masked"][0]))
    assert "∞" not in shown.extent


@pytest.mark.parametrize("value", [0.0, 3.0, -3.0, 1e-310, 1.7e308, -1.7e308])
def test_a_constant_matrix_has_a_proper_range(value: float) -> None:
    trace = with_array(traced(), "scores", np.full((2, 3, 3), value))
    shown = panel(trace, "scores")
    assert shown.low == -shown.high < 0
    with np.errstate(over="raise"):
        assert np.isfinite(np.float64(shown.high) - np.float64(shown.low))
    assert shown.high >= min(abs(value), 8e307)


def test_nan_and_infinity_are_no_masked_cells() -> None:
    array = np.array([[[1.0, np.nan], [np.inf, -np.inf]]])
    trace = scaled_dot_product_attention(np.ones((1, 2, 1)), np.ones((1, 2, 1)), np.ones((1, 2, 1)))
    shown = panel(with_array(trace, "scores", array), "scores")
    assert shown.odd.tolist() == [[False, True], [True, False]]
    assert shown.masked.tolist() == [[False, False], [False, True]]
    assert shown.texts == [["1.00", "NaN"], ["∞", "−∞"]]


def test_all_masked_says_so() -> None:
    ones = np.ones((1, 2, 1))
    trace = scaled_dot_product_attention(ones, ones, ones, mask=np.zeros((2, 2), dtype=bool))
    assert panel(trace, "masked").extent == "all masked"


def test_numbers_are_shown_with_the_chosen_decimals_and_never_as_zero() -> None:
    tiny = with_array(traced(), "scores", np.full((2, 3, 3), 1.2e-13))
    assert panel(tiny, "scores").texts[0][0] == "1.2e−13"  # type: ignore[index]
    four = panel(traced(), "attention", 0, View(decimals=4)).texts
    assert four is not None
    assert four[1] == ["0.2381", "0.3549", "0.4071"]


def test_sums_are_those_of_the_weights() -> None:
    assert panel(traced(), "attention").sums == ("Σ = 1",) * 3
    half = with_array(traced(), "attention", traced()["attention"] / 2)
    assert panel(half, "attention").sums == ("Σ = 0.5",) * 3
    assert panel(traced(), "scores").sums == ()


def test_b09_a_row_with_nothing_to_attend_to_is_marked() -> None:
    mask = np.array([[True] * 3, [True] * 3, [False] * 3])
    trace = scaled_dot_product_attention(
        np.ones((1, 3, 1)), np.arange(3.0).reshape(1, 3, 1), np.ones((1, 3, 2)), mask=mask
    )
    assert panel(trace, "attention").sums == ("Σ = 1", "Σ = 1", "Σ = 0, nothing to attend to")


def test_titles_say_formula_name_shape_axes_and_convention() -> None:
    shown = panel(traced(), "scores")
    assert shown.title == "S = Q·Kᵀ"
    assert shown.subtitle == "raw scores 3×3"
    assert shown.axes == "query × key"
    assert shown.conventions[0] == "rows are queries, columns are keys"
    assert "÷ √2 = 1.414" in panel(traced(), "scaled").axes


def test_given_arrays_claim_no_formula() -> None:
    ones = np.ones((1, 2, 1))
    trace = scaled_dot_product_attention(ones, ones, ones)
    assert panel(trace, "q").title == "Q"
    assert panel(trace, "scores").title == "S = Q·Kᵀ"


@pytest.mark.parametrize("key", ["q", "k", "scores", "attention", "heads", "concat", "output"])
def test_tokens_as_columns_exchanges_axes_and_not_arrays(key: str) -> None:
    trace = traced("the cat the")
    rows, columns = panel(trace, key), panel(trace, key, 0, COLUMNS)
    np.testing.assert_array_equal(columns.values, rows.values.T)
    assert (columns.rows, columns.columns) == (rows.columns, rows.rows)
    assert (columns.row_axis, columns.column_axis) == (rows.column_axis, rows.row_axis)
    assert columns.title.split(" = ")[0] == rows.title.split(" = ")[0] + "ᵀ"
    assert columns.conventions[0] != rows.conventions[0]
    assert columns.hover == [list(column) for column in zip(*rows.hover or [], strict=True)]
    assert columns.transposed
    assert not rows.transposed


def test_the_widest_number_is_that_of_all_heads() -> None:
    trace = traced("major league baseball", d_k=8)
    assert panel(trace, "q", 0).widest == panel(trace, "q", 1).widest


def test_the_largest_matrices_lose_their_numbers_first() -> None:
    trace = traced("Wie geht es dir", d_k=64, d_v=64)
    shown = resolve(trace, [(key, 0) for key in head_keys(trace)], View(max_text_cells=600))
    with_numbers = {p.key for p in shown if p.texts is not None}
    assert {"scores", "scaled", "attention"} <= with_numbers < {p.key for p in shown}


def test_cells_without_numbers_keep_no_room_for_all_their_digits() -> None:
    views = [View(), View(cell_text=False, decimals=None), View(decimals=None)]
    widths = [len(resolve(traced(), [("scores", 0)], view)[0].widest) for view in views]
    assert widths[0] == widths[1] < widths[2]
