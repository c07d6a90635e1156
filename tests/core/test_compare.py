"""What differs between two scenarios, and the few numbers that describe a head."""

import math

import numpy as np
import pytest

from attnviz import PRESETS, run, scaled_dot_product_attention
from attnviz.core import ScenarioError, edit
from attnviz.core.compare import difference, differences
from attnviz.core.heads import summaries

START = PRESETS["walkthrough"]


def test_the_same_scenario_has_no_differences() -> None:
    assert differences(START, START) == ()


def test_a_width_that_follows_from_the_heads_is_no_difference_of_its_own() -> None:
    start = PRESETS["search"]
    one, two = (edit.resize(start, n_heads=count, n_kv_heads=None)[0] for count in (1, 2))
    assert one.sizes.d_out != two.sizes.d_out
    assert differences(one, two) == ("n_heads: 1 → 2",)


def test_differences_name_table_head_and_count() -> None:
    cells = {(0, 0, 0): 1.0, (0, 1, 0): 5.0, (0, 2, 1): 7.0}
    other, _ = edit.set_cells(START, "w_q", cells)
    assert differences(START, other) == ("W_Q head 1: 3 of 8 cells",)


def test_a_single_cell_is_named_with_both_values() -> None:
    other, _ = edit.set_cells(START, "x", {(1, 2): -0.25})
    assert differences(START, other) == ("X, row league, column d2: 0 → -0.25",)


def test_differences_name_choices_words_and_sizes() -> None:
    other, _ = edit.set_config(START, scale=1.0)
    assert differences(START, other) == ("scale: 1/√d_k → 1",)
    other, _ = edit.set_text(START, "major league cat")
    assert differences(START, other) == ("tokens: major league baseball → major league cat",)
    other, _ = edit.resize(START, d_k=3)
    assert "d_k: 2 → 3" in differences(START, other)


def test_difference_is_b_minus_a() -> None:
    other, _ = edit.set_config(START, scale=1.0)
    a, b = run(START), run(other)
    np.testing.assert_array_equal(difference(a, b, "scaled"), b["scaled"] - a["scaled"])


def test_difference_of_hidden_cells_is_zero() -> None:
    other, _ = edit.set_config(START, causal=True)
    both = run(other)
    assert not difference(both, both, "masked").any()


def test_other_shapes_and_absent_stages_are_refused() -> None:
    wider, _ = edit.resize(START, d_k=4)
    with pytest.raises(ScenarioError, match=r"3 × 2 as in A.*3 × 4 in B"):
        difference(run(START), run(wider), "q")
    other, _ = edit.set_text(START, "game major league baseball")
    with pytest.raises(ScenarioError, match="Raw scores"):
        difference(run(START), run(other), "scores")
    causal, _ = edit.set_config(START, causal=True)
    with pytest.raises(ScenarioError, match="A, masked"):
        difference(run(START), run(causal), "masked")


@pytest.mark.parametrize("text", ["major league baseball cat dog", "major league", "major x y z"])
def test_the_words_that_both_begin_with_are_compared(text: str) -> None:
    a, b = run(START), run(edit.set_text(START, text)[0])
    count = {"major league": 2, "major x y z": 1}.get(text, 3)
    for key in ("q", "k", "scores", "attention", "heads", "concat", "output"):
        change = difference(a, b, key)
        part = tuple(
            slice(count) if axis in ("query", "key", "token") else slice(None)
            for axis in a.axes(key)
        )
        np.testing.assert_array_equal(change, b[key][part] - a[key][part])


def test_summaries_of_even_and_of_single_minded_attention() -> None:
    zeros = np.zeros((1, 4, 2))
    even = summaries(scaled_dot_product_attention(zeros, zeros, zeros))[0]
    assert even.entropy_bits == pytest.approx([2.0] * 4)
    assert even.largest == pytest.approx(0.25)
    assert even.mean_distance == pytest.approx(1.25)
    q = np.eye(4)[None] * 2000
    own = summaries(scaled_dot_product_attention(q, q, q))[0]
    assert own.entropy_bits == (0.0,) * 4
    assert (own.largest, own.query, own.key, own.mean_distance) == (1.0, 0, 0, 0.0)


def test_summary_of_a_row_that_attends_to_nothing() -> None:
    zeros = np.zeros((1, 2, 2))
    trace = scaled_dot_product_attention(zeros, zeros, zeros, mask=[[False, False], [True, True]])
    summary = summaries(trace)[0]
    assert summary.entropy_bits == pytest.approx([0.0, 1.0])
    assert not math.isnan(summary.mean_distance)


def test_entropies_of_weights_that_do_not_sum_to_one_are_those_of_their_shares() -> None:
    start = PRESETS["walkthrough"]
    halves = run(edit.set_config(start, normaliser="sigmoid")[0])
    for summary, weights in zip(summaries(halves), halves["attention"], strict=True):
        shares = weights / weights.sum(axis=-1, keepdims=True)
        assert summary.entropy_bits == pytest.approx(-(shares * np.log2(shares)).sum(axis=-1))
    minus = edit.set_config(start, normaliser="division")[0]
    minus = edit.set_cells(minus, "w_k", {(0, 2, 0): -9.0})[0]
    trace = run(minus)
    negative = (trace["attention"] < 0).any(axis=-1)
    assert negative.any()
    for summary, rows in zip(summaries(trace), negative, strict=True):
        assert [math.isnan(bits) for bits in summary.entropy_bits] == rows.tolist()
