"""Every difference of two scenarios is named; head summaries keep to their definition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import PRESETS, Config, Params, Scenario, run, scaled_dot_product_attention
from attnviz.core import ScenarioError, edit
from attnviz.core.compare import difference, differences
from attnviz.core.heads import reading, summaries
from attnviz.core.ready import COMPARISONS
from tests.core.support import SEEDS, assert_close, random_arrays

START = PRESETS["walkthrough"]
BARE = replace(START, params=Params(START.params.w_q, START.params.w_k, START.params.w_v))

CHANGED: dict[str, tuple[Scenario, list[str]]] = {
    "nothing": (START, []),
    "one cell": (
        edit.set_cells(START, "w_q", {(0, 1, 0): 0.25})[0],
        ["W_Q head 1, row d1, column d0: 0.8 → 0.25"],
    ),
    "three cells of two heads": (
        edit.set_cells(START, "w_v", {(0, 0, 0): 1, (0, 0, 1): 1, (1, 3, 1): 1})[0],
        ["W_V head 1: 2 of 8 cells", "W_V head 2, row d3, column d1: 0.4 → 1"],
    ),
    "a cell of X": (
        edit.set_cells(START, "x", {(2, 3): -1.0})[0],
        ["X, row baseball, column d3: 0.6 → -1"],
    ),
    "another word": (
        edit.set_text(START, "major league cricket")[0],
        ["tokens: major league baseball → major league cricket"],
    ),
    "no scaling": (edit.set_config(START, scale=1.0)[0], ["scale: 1/√d_k → 1"]),
    "another seed": (replace(START, seed=3), ["seed: 0 → 3"]),
    "another example": (replace(START, preset=""), ["example: walkthrough → none"]),
    "a second text": (
        edit.set_context(START, "a cat")[0],
        ["second text: none → a cat"],
    ),
    "a hidden cell": (
        edit.set_mask(START, {(0, 2): False})[0],
        ["mask, row major, column baseball: shown → hidden"],
    ),
    "padding": (edit.set_padding(START, [1])[0], ["padding, league: shown → hidden"]),
    "a bias that is off": (
        edit.switch(edit.switch(START, "b_o", True)[0], "b_o", False)[0],
        ["switched off: nothing → b_O", "b_O: added"],
    ),
    "a causal mask": (edit.set_config(START, causal=True)[0], ["causal mask: off → on"]),
    "no output table": (BARE, ["W_O: removed"]),
}


@pytest.mark.parametrize("name", CHANGED)
def test_every_difference_is_said(name: str) -> None:
    other, sentences = CHANGED[name]
    assert list(differences(START, other)) == sentences
    assert bool(differences(other, START)) == bool(sentences)


def test_other_sizes_are_said() -> None:
    assert "n_heads: 2 → 3" in differences(START, edit.resize(START, n_heads=3)[0])
    assert "W_O: added" in differences(BARE, START)


def test_difference_is_b_minus_a() -> None:
    a, b = run(START), run(edit.set_cells(START, "w_q", {(0, 1, 0): 0.25})[0])
    for stage in a.stages:
        assert (difference(a, b, stage.key) == b[stage.key] - a[stage.key]).all()
    assert (difference(a, b, "q")[1] == 0).all()
    assert difference(a, b, "q")[0, 0, 0] == pytest.approx((0.25 - 0.8) * 0.2)
    assert (difference(a, a, "output") == 0).all()


def test_two_hidden_scores_do_not_differ_and_give_no_nan() -> None:
    a = run(edit.set_config(START, causal=True)[0])
    b = run(edit.set_config(START, causal=True, causal_offset=1)[0])
    change = difference(a, b, "masked")
    assert not np.isnan(change).any()
    assert (change[:, 0, 2] == 0).all()
    assert (change[:, 0, 1] == np.inf).all()


@given(SEEDS, st.booleans())
def test_head_summaries_agree_with_their_definition(seed: int, causal: bool) -> None:
    arrays = random_arrays(seed, 3.0, q=(2, 3, 4), k=(2, 5, 4), v=(2, 5, 1))
    trace = scaled_dot_product_attention(**arrays, causal=causal, causal_offset=-1)
    for head, summary in enumerate(summaries(trace)):
        weights = trace["attention"][head]
        entropies = [-sum(w * np.log2(w) for w in row if w) + 0.0 for row in weights.tolist()]
        assert_close(summary.entropy_bits, entropies, rel=1e-12, abs_=1e-12)
        assert summary.largest == weights.max() == weights[summary.query, summary.key]
        distance = sum(w * abs(j - i) for (i, j), w in np.ndenumerate(weights)) / weights.sum()
        assert summary.mean_distance == pytest.approx(distance, rel=1e-12)
        assert summary.head == head


def test_heads_that_attend_to_nothing_are_summed_up_as_zeros() -> None:
    trace = run(edit.set_config(START, causal=True, causal_offset=-9)[0])
    assert trace.empty_rows.all()
    for summary in summaries(trace):
        assert summary.entropy_bits == (0.0,) * 3
        assert (summary.largest, summary.mean_distance) == (0.0, 0.0)


def test_choices_that_differ_are_all_named() -> None:
    config = Config(0.5, 2.0, True, 1, project=False)
    told = differences(START, replace(START, config=config))
    names = ["scale", "softcap", "causal mask", "causal offset", "output projection"]
    assert [sentence.split(":")[0] for sentence in told] == names


def test_a_stage_that_only_the_first_has_is_refused() -> None:
    with pytest.raises(ScenarioError, match="B, output"):
        difference(run(START), run(BARE), "output")


def test_the_weights_of_a_query_are_read_out_with_their_sum() -> None:
    trace = run(START)
    said = "head 2, league attends to: major 0.21, league 0.32, baseball 0.47; Σ = 1"
    assert reading(trace, 1, 1, 2) == said


def test_of_many_keys_the_largest_are_read_out_and_the_rest_is_counted() -> None:
    trace = run(edit.set_text(START, " ".join(f"w{i}" for i in range(30)))[0])
    parts = reading(trace, 0, 3, None).split(": ")[1].split("; Σ")[0].split(", ")
    assert len(parts) == 13
    read = [float(part.split()[-1]) for part in parts]
    weights = np.sort(trace["attention"][0, 3])[::-1]
    np.testing.assert_array_equal(read[:12], weights[:12])
    assert parts[12].startswith("18 others")
    assert sum(read) == pytest.approx(1)


@pytest.mark.parametrize("name", COMPARISONS)
def test_both_sides_of_a_ready_made_comparison_differ_by_what_it_says(name: str) -> None:
    ready = COMPARISONS[name]
    a, b = ready.a(START), ready.b(START)
    found = differences(a, b)
    assert len(found) == 1
    assert found[0].startswith({"scale": "scale", "heads": "n_heads", "repeat": "tokens"}[name])
    assert run(a)["q"].shape[-1] == run(b)["q"].shape[-1]


def test_names_and_sentences_follow_tokens_as_columns() -> None:
    trace = replace(run(START), columns_first=True)
    derivation = trace.explain("output", None, 1, 2)
    assert derivation.symbolic == "z_league · W_Oᵀ[d2, :]"
    assert [cell.label for cell in derivation.operands][:2] == [
        "Zᵀ[h1 d0, league]",
        "W_Oᵀ[d2, h1 d0]",
    ]
    assert derivation.value == run(START)["output"][1, 2]
    assert trace.in_words("a row and two columns") == "a column and two rows"
    assert trace.explain("concat", None, 1, 2).note == "Copied from row 1 of head 2."
