"""Scenarios with every variant: what is computed, what leaves no trace, what is told apart."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import PRESETS, Config, Params, Scenario, Trace, multi_head_attention, run
from attnviz.core import (
    CHOICES,
    NumberError,
    ScenarioError,
    ShapeError,
    TextError,
    edit,
)
from attnviz.core.compare import differences
from attnviz.core.config import OPTIONAL, STARTS
from attnviz.core.idle import idle
from attnviz.core.masks import ALIGNMENTS, MASKS
from attnviz.core.normalise import NORMALISERS
from attnviz.core.numbers import number_text
from attnviz.core.positions import POSITIONS
from tests import oracle
from tests.core.support import assert_close, assert_stages, random_params

START = PRESETS["walkthrough"]
CLOSE = {"rel": 1e-9, "abs_": 1e-12}


def full() -> Scenario:
    """A scenario in which every field of `Scenario` has something of its own to say."""
    scenario = replace(START, params=random_params(1, d_k=2, d_out=4, biases="qkvo"))
    scenario = edit.set_text(scenario, "major hello")[0]
    scenario = edit.set_context(scenario, "the cat sat league")[0]
    scenario = edit.resize(scenario, d_context=3)[0]
    scenario = edit.set_config(scenario, positions="learned", top_k=3)[0]
    for table in ("x", "context", "positions", "context_positions", "bias"):
        scenario = edit.set_cells(scenario, table, {(1, 2): 2.5})[0]
    scenario = edit.set_padding(scenario, [3])[0]
    scenario = edit.set_mask(scenario, {(0, 1): False})[0]
    scenario = edit.start_from_qkv(scenario)[0]
    scenario = replace(scenario, features=("size", "age"), image=np.full((2, 3), 0.5))
    return edit.start_from_qkv(scenario, False)[0]


def nudged(table: np.ndarray) -> np.ndarray:
    other = np.array(table)
    other.flat[0] += 0.5
    return other


CHANGED: dict[str, Callable[[Scenario], Any]] = {
    "text": lambda s: "major bye",
    "params": lambda s: Params(**(s.params.tables() | {"b_o": nudged(s.params.b_o)})),
    "tokenizer": lambda s: "words and punctuation",
    "seed": lambda s: 7,
    "config": lambda s: replace(s.config, temperature=2.0),
    "lexicon": lambda s: {**s.lexicon, "hello": (9.0, 9.0, 9.0, 9.0)},
    "x_edits": lambda s: {(1, 2): 2.75},
    "preset": lambda s: "another",
    "context_text": lambda s: "the cat sat down",
    "context_edits": lambda s: {(1, 2): -2.5},
    "position_edits": lambda s: {},
    "context_position_edits": lambda s: {(1, 2): 2.5, (3, 0): 9.0},
    "padding": lambda s: {2},
    "hidden": lambda s: {(0, 1), (1, 1)},
    "bias_edits": lambda s: {(1, 2): 2.5, (0, 0): 1e-300},
    "qkv": lambda s: {**s.qkv, "v": nudged(s.qkv["v"])},
    "features": lambda s: ("size", "weight"),
    "image": lambda s: nudged(s.image),
}


@pytest.mark.parametrize("name", [item.name for item in fields(Scenario)])
def test_same_and_differences_see_every_field(name: str) -> None:
    base = full()
    if name == "tokenizer":  # which must cut differently
        base = replace(base, text="major hello!", x_edits={}, hidden=(), bias_edits={}, qkv={})
    other = replace(base, **{name: CHANGED[name](base)})
    for one, two in ((base, other), (other, base)):
        assert not one.same(two)
        if name == "text":  # q then has rows of words that are gone; only words are compared
            two = replace(two, qkv={})
        assert differences(one, two)
    again = full() if name != "tokenizer" else base
    assert base.same(again)
    assert differences(base, again) == ()


OTHER_CONFIG: dict[str, Any] = {
    "scale": 0.5,
    "softcap": 3.0,
    "causal": True,
    "causal_offset": 1,
    "normaliser": "sigmoid",
    "project": False,
    "causal_alignment": "bottom-right",
    "temperature": 2.0,
    "top_k": 1,
    "positions": "alibi",
    "position_base": 100.0,
    "rope_dims": 2,
    "start": "qkv",
    "off": ("b_q",),
}


@pytest.mark.parametrize("name", [item.name for item in fields(Config)])
def test_every_choice_is_described_compared_and_bounded(name: str) -> None:
    choice = CHOICES[name]
    assert choice.label
    assert choice.says.endswith(".")
    assert choice.check(name, getattr(Config(), name)) == getattr(Config(), name)
    other = replace(START, config=Config(**{name: OTHER_CONFIG[name]}))
    assert not START.same(other)
    assert any(told.startswith(f"{choice.label}: ") for told in differences(START, other))
    wrong = {"number": "a", "whole": 1.5, "switch": 1, "option": "entmax", "several": ("w_q",)}
    with pytest.raises((NumberError, ScenarioError)) as refused:
        Config(**{name: wrong[choice.kind]})
    assert refused.value.where == name
    if choice.low is not None:
        below = choice.low if choice.above else choice.low - 1
        with pytest.raises(NumberError, match="must be"):
            Config(**{name: below})


@pytest.mark.parametrize("variants", [NORMALISERS, POSITIONS, MASKS, ALIGNMENTS, STARTS, OPTIONAL])
def test_every_variant_says_what_it_is(variants: dict[str, Any]) -> None:
    labels = [variant.label for variant in variants.values()]
    assert len(set(labels)) == len(labels)
    for name, variant in variants.items():
        assert variant.label
        assert variant.says.endswith(".")
        assert "\n" not in variant.says
        free = variants in (STARTS, OPTIONAL) or name in ("none",)
        assert free or variant.source


def test_several_names_are_kept_once_and_in_a_steady_order() -> None:
    assert Config(off=["mask", "b_q", "mask"]).off == ("b_q", "mask")
    with pytest.raises(ScenarioError, match="off"):
        Config(off="mask")


def test_numbers_of_other_types_become_plain_ones() -> None:
    config = Config(scale=np.float32(0.5), causal_offset=np.int64(2), causal=np.bool_(True))
    assert config == Config(scale=0.5, causal_offset=2, causal=True)
    assert [type(v) for v in (config.scale, config.causal_offset, config.causal)] == [
        float,
        int,
        bool,
    ]


# What a configuration does not use is not there.

EXTRA = {
    "x_positioned",
    "context_positioned",
    "q_rotated",
    "k_rotated",
    "tempered",
    "capped",
    "biased",
    "masked",
}
USED: dict[str, tuple[dict[str, Any], set[str]]] = {
    "nothing": ({}, set()),
    "temperature": ({"temperature": 0.5}, {"tempered"}),
    "softcap": ({"softcap": 1.0}, {"capped"}),
    "causal": ({"causal": True}, {"masked"}),
    **{
        name: ({"positions": name}, {"x_positioned"})
        for name in ("sinusoidal", "sinusoidal_concat", "learned")
    },
    **{
        name: ({"positions": name}, {"q_rotated", "k_rotated"})
        for name in ("rope", "rope_interleaved")
    },
    **{name: ({"positions": name}, {"biased"}) for name in ("alibi", "alibi_symmetric")},
    **{name: ({"normaliser": name}, set()) for name in NORMALISERS},
}


@pytest.mark.parametrize("name", USED)
def test_a_variant_that_is_off_leaves_no_stage(name: str) -> None:
    choices, stages = USED[name]
    trace = run(edit.set_config(START, **choices)[0])
    assert {stage.key for stage in trace.stages} & EXTRA == stages


def test_every_position_is_among_these() -> None:
    assert USED.keys() >= POSITIONS.keys() - {"none"}


@pytest.mark.parametrize("table", ["bias", "mask", "keep"])
def test_a_table_of_scores_is_there_once_something_is_set_and_gone_with_it(table: str) -> None:
    assert table not in run(START)
    stage = "biased" if table == "bias" else "masked"
    change = {
        "bias": lambda s, on: edit.set_cells(s, "bias", {(1, 0): 2.0 * on})[0],
        "mask": lambda s, on: edit.set_mask(s, {(1, 0): not on})[0],
        "keep": lambda s, on: edit.set_padding(s, [0] * on)[0],
    }[table]
    there = change(START, True)
    assert {table, stage} <= run(there).values.arrays.keys()
    assert change(there, False).same(START)
    off = run(edit.switch(there, table, False)[0])
    assert table not in off
    assert stage not in off
    assert edit.switch(edit.switch(there, table, False)[0], table, True)[0].same(there)


# The second text.


def test_cross_attention_to_the_same_text_is_self_attention() -> None:
    crossed, note = edit.set_context(START, START.text)
    assert note == ""
    alone, two = run(START), run(crossed)
    for stage in alone.stages:
        assert (alone[stage.key] == two[stage.key]).all()
    assert edit.set_context(crossed, None)[0].same(START)


def test_a_second_text_gives_keys_and_values_of_its_own_width() -> None:
    scenario, _ = edit.set_context(START, "the cat sat on it")
    scenario, note = edit.resize(scenario, d_context=7)
    assert "d_context" in note
    assert "W_K keeps 16 of 16" in note
    trace = run(scenario)
    assert trace.tokens == START.tokens
    assert trace.key_tokens == ("the", "cat", "sat", "on", "it")
    assert trace["context"].shape == (5, 7)
    assert trace["attention"].shape == (2, 3, 5)
    assert trace["output"].shape == (3, 4)
    expected = multi_head_attention(START.x, scenario.params, context=scenario.context)
    assert (trace["output"] == expected["output"]).all()
    back, note = edit.set_context(scenario, None)
    assert "d_context" in note
    assert back.same(START)


def test_the_width_of_the_second_text_stays_when_that_of_the_first_changes() -> None:
    scenario, _ = edit.set_context(START, "a b")
    wide, note = edit.resize(scenario, d_model=6)
    assert wide.sizes.context_width == 4
    assert wide.sizes.d_model == 6
    assert wide.params.w_k is not None
    assert (wide.params.w_k == START.params.w_k).all()
    assert "W_K" not in note
    assert edit.resize(wide, d_model=4)[0].same(scenario)
    both, note = edit.resize(wide, d_context=None)
    assert both.sizes.context_width == 6
    assert "d_context 4 → 6" in note


def test_the_same_word_has_the_same_embedding_in_both_texts() -> None:
    scenario, _ = edit.set_context(START, "cat league")
    assert (scenario.context[1] == START.x[1]).all()
    assert "example" in run(scenario).explain("context", row=1, col=0).note
    assert "seed" in run(scenario).explain("context", row=0, col=0).note
    typed, _ = edit.set_cells(scenario, "context", {(0, 0): 3.0})
    assert "Typed" in run(typed).explain("context", row=0, col=0).note


def test_a_width_of_the_key_side_needs_a_second_text() -> None:
    with pytest.raises(ScenarioError, match="second text"):
        edit.resize(START, d_context=6)
    with pytest.raises(ShapeError, match=r"\(2, 6, 3\)"):
        run(replace(START, params=random_params(1, d_context=6)))
    same, note = edit.resize(START, d_context=4)
    assert same.same(START)
    assert note == ""


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_second_text_is_refused(text: str) -> None:
    with pytest.raises(TextError, match=r"second text.*Type a word"):
        edit.set_context(START, text)
    with pytest.raises(TextError, match="second text"):
        run(replace(START, context_text=text))


def test_both_texts_are_cut_by_the_same_tokenizer() -> None:
    scenario, _ = edit.set_context(START, "it's")
    scenario, _ = edit.set_tokenizer(scenario, "words and punctuation")
    assert scenario.key_tokens == ("it", "'", "s")


# What is set follows its word.


def marked(text: str, context: str | None = None) -> Scenario:
    scenario = edit.set_text(START, text)[0]
    scenario = edit.set_context(scenario, context)[0]
    n_queries, n_keys = len(scenario.tokens), len(scenario.key_tokens)
    scenario = edit.set_cells(scenario, "x", {(n_queries - 1, 0): 9.0})[0]
    scenario = edit.set_cells(scenario, "bias", {(0, n_keys - 1): 0.5, (0, 0): 1.5})[0]
    scenario = edit.set_mask(scenario, {(n_queries - 1, 0): False})[0]
    return edit.set_padding(scenario, [n_keys - 1])[0]


def test_mask_bias_and_padding_follow_their_words() -> None:
    scenario, note = edit.set_text(marked("a b c"), "new a b new c")
    assert note == ""
    assert dict(scenario.x_edits) == {(4, 0): 9.0}
    assert dict(scenario.bias_edits) == {(1, 4): 0.5, (1, 1): 1.5}
    assert scenario.hidden == {(4, 1)}
    assert scenario.padding == {4}
    run(scenario)


def test_what_goes_with_a_word_is_said_table_by_table() -> None:
    scenario, note = edit.set_text(marked("a b c"), "a b")
    assert dict(scenario.bias_edits) == {(0, 0): 1.5}
    assert (scenario.hidden, scenario.padding, dict(scenario.x_edits)) == (set(), set(), {})
    for word in ("X", "B", "mask", "padding", " c ", "undo"):
        assert word in note


def test_keys_follow_the_second_text_and_queries_the_first() -> None:
    scenario = edit.set_cells(marked("a b", "p q r"), "context", {(1, 1): 4.0})[0]
    other, note = edit.set_context(scenario, "r new q p")
    assert dict(other.context_edits) == {(2, 1): 4.0} or "C" in note
    longer, note = edit.set_context(scenario, "new p q r")
    assert note == ""
    assert dict(longer.context_edits) == {(2, 1): 4.0}
    assert dict(longer.bias_edits) == {(0, 3): 0.5, (0, 1): 1.5}
    assert longer.hidden == {(1, 1)}
    assert longer.padding == {3}
    assert dict(longer.x_edits) == dict(scenario.x_edits)
    shorter, note = edit.set_text(longer, "b")
    assert dict(shorter.bias_edits) == {}
    assert shorter.hidden == {(0, 1)}
    assert shorter.padding == {3}
    assert " a " in note


words = st.lists(st.sampled_from(["the", "cat", "sat"]), min_size=1, max_size=5).map(" ".join)


@given(words, st.none() | words, words, st.none() | words, st.booleans())
def test_whatever_the_texts_become_it_can_be_computed(
    text: str, context: str | None, then: str, then_context: str | None, start: bool
) -> None:
    scenario = edit.start_from_qkv(marked(text, context))[0]
    scenario = edit.start_from_qkv(scenario, start)[0]
    scenario = edit.set_config(scenario, positions="learned")[0]
    scenario = edit.set_text(scenario, then)[0]
    scenario = edit.set_context(scenario, then_context)[0]
    trace = run(scenario)
    assert trace["attention"].shape[1:] == (len(scenario.tokens), len(scenario.key_tokens))
    assert pickle.loads(pickle.dumps(scenario)).same(scenario)
    assert copy.deepcopy(scenario).same(scenario)


# Starting from Q, K and V.


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("context", [None, "p q"])
def test_starting_from_q_k_v_moves_no_number(positions: str, context: str | None) -> None:
    before = edit.set_config(marked("a b c", context), positions=positions)[0]
    after, note = edit.start_from_qkv(before)
    assert note
    one, two = run(before), run(after)
    gone = {"x", "x_positioned", "context_positioned"}
    keys = [stage.key for stage in one.stages if stage.key not in gone]
    assert [stage.key for stage in two.stages] == keys
    for key in keys:
        assert_close(two[key], one[key], key, rel=1e-12, abs_=1e-14)
    assert not {"x", "w_q", "w_k", "w_v", "context", "positions"} & two.values.arrays.keys()
    assert two.explain("q", 0, 1, 0).given
    back, _ = edit.start_from_qkv(after, False)
    assert replace(back, qkv={}).same(before)


def test_tables_of_q_k_v_show_no_last_bits_and_say_where_they_were_rounded() -> None:
    scenario, note = edit.start_from_qkv(START)
    assert "rounded to 15 digits" in note
    computed = run(START)
    for name, table in scenario.qkv.items():
        assert (table != computed[name]).any() or name == "v"
        assert max(len(number_text(value)) for value in table.flat) <= 5
    again, note = edit.start_from_qkv(replace(scenario, config=START.config))
    assert again.same(scenario)
    assert "rounded" not in note
    exact = edit.set_table(START, "w_q", np.zeros((2, 4, 2)))[0]
    for name in ("w_k", "w_v"):
        exact = edit.set_table(exact, name, np.full((2, 4, 2), 5e-324))[0]
    exact = edit.set_table(exact, "x", np.ones((3, 4)))[0]
    scenario, note = edit.start_from_qkv(exact)
    assert "rounded" not in note
    assert (scenario.qkv["k"] == 4 * 5e-324).all()


def test_tables_of_q_k_v_are_edited_kept_while_off_and_resized() -> None:
    scenario, _ = edit.set_config(edit.set_context(START, "p q r s")[0], start="qkv")
    scenario, _ = edit.set_cells(scenario, "k", {(1, 3, 0): 7.0})
    scenario, _ = edit.set_table(scenario, "v", np.ones((4, 2)), head=0)
    trace = run(scenario)
    assert trace["k"][1, 3, 0] == 7.0
    assert (trace["heads"][0] == 1).all() or np.allclose(trace["heads"][0], 1.0)
    again = edit.set_config(edit.set_config(scenario, start="x")[0], start="qkv")[0]
    assert again.same(scenario)
    larger, note = edit.resize(scenario, n_heads=4, d_k=3)
    assert "Q keeps 12 of 12" in note
    assert run(larger)["q"].shape == (4, 3, 3)
    assert run(larger)["k"][1, 3, 0] == 7.0
    shared, _ = edit.resize(larger, n_kv_heads=2)
    assert run(shared)["k"].shape == (2, 4, 3)
    assert edit.resize(larger, n_heads=2, d_k=2)[0].same(scenario)


def test_tables_that_have_no_part_are_not_talked_of() -> None:
    scenario, _ = edit.start_from_qkv(START)
    _, note = edit.resize(scenario, d_k=3)
    assert "Q keeps" in note
    assert "W_Q" not in note
    _, note = edit.resize(scenario, d_model=7)
    assert note == "d_model 4 → 7. Undo brings the old sizes back."
    drawn, note = edit.randomise(scenario, 5)
    assert note.startswith("Q, K, V, W_O drawn from seed 5.")
    assert not np.array_equal(run(drawn)["q"], run(scenario)["q"])
    assert edit.randomise(drawn, 5)[0].same(drawn)
    assert edit.randomise(drawn, 6)[0].qkv["k"].tolist() != drawn.qkv["k"].tolist()


@pytest.mark.parametrize(
    ("scenario", "tables"),
    [
        (START, "x w_q w_k w_v w_o"),
        (edit.set_config(START, project=False)[0], "x w_q w_k w_v"),
        (edit.switch(START, "b_k", True)[0], "x w_q w_k b_k w_v w_o"),
        (full(), "x positions context context_positions w_q b_q w_k b_k w_v b_v bias w_o b_o"),
        (edit.start_from_qkv(full())[0], "q k v bias w_o b_o"),
        (edit.switch(edit.switch(full(), "b_q", False)[0], "bias", False)[0], None),
    ],
)
def test_tables_that_take_part_can_be_edited(scenario: Scenario, tables: str | None) -> None:
    if tables is None:
        tables = "x positions context context_positions w_q w_k b_k w_v b_v w_o b_o"
    assert edit.editable(scenario) == tuple(tables.split())
    trace = run(scenario)
    for name in edit.editable(scenario):
        cell = (0,) * trace[name].ndim
        changed, _ = edit.set_cells(scenario, name, {cell: 0.123})
        assert run(changed)[name][cell] == 0.123
        assert trace.explain(name).given


def test_rows_of_q_k_v_follow_their_words() -> None:
    scenario, _ = edit.start_from_qkv(edit.set_context(START, "p q r")[0])
    longer, note = edit.set_context(scenario, "p new q r")
    assert note == ""
    assert (longer.qkv["k"][:, [0, 2, 3]] == scenario.qkv["k"]).all()
    assert (longer.qkv["q"] == scenario.qkv["q"]).all()
    again, _ = edit.set_context(longer, "p new new q r")
    assert (again.qkv["v"][:, 1] == again.qkv["v"][:, 2]).all()
    shorter, note = edit.set_text(scenario, "major baseball")
    assert "league" in note
    assert "Q" in note
    assert (shorter.qkv["q"] == scenario.qkv["q"][:, [0, 2]]).all()


def test_q_k_v_that_are_missing_or_do_not_fit_are_refused_by_name() -> None:
    config = Config(start="qkv")
    with pytest.raises(ScenarioError, match=r"^Q:"):
        run(replace(START, config=config))
    q = np.ones((2, 3, 2))
    with pytest.raises(ShapeError, match=r"^V:.*\(2, 3, 2\).*\(2, 4, 2\)"):
        run(replace(START, config=config, qkv={"q": q, "k": q, "v": np.ones((2, 4, 2))}))
    with pytest.raises(NumberError, match=r"^k, head 1, row 1, column 1"):
        replace(START, qkv={"k": q * np.nan})


# Biases of tables.


@pytest.mark.parametrize("name", ["b_q", "b_k", "b_v", "b_o"])
def test_a_bias_is_added_and_kept_while_off(name: str) -> None:
    on, note = edit.switch(START, name, True)
    assert "seed 0" in note
    table = on.params.tables()[name]
    assert np.abs(table).max() > 0
    stage = {"b_q": "q", "b_k": "k", "b_v": "v", "b_o": "output"}[name]
    added = run(on)[stage] - run(START)[stage]
    assert_close(added, np.broadcast_to(table[..., None, :], added.shape), **CLOSE)
    typed, _ = edit.set_cells(on, name, {(0,) * table.ndim: 5.0})
    off, _ = edit.switch(typed, name, False)
    assert_stages(run(off), {s.key: run(START)[s.key] for s in run(START).stages}, **CLOSE)
    assert name not in run(off)
    assert edit.switch(off, name, True)[0].same(typed)
    assert edit.switch(typed, name, True)[0].same(typed)


def test_an_output_bias_needs_an_output_table_and_what_cannot_be_switched_is_named() -> None:
    bare = replace(START, params=random_params(1, d_out=None))
    with pytest.raises(ScenarioError, match="b_O"):
        edit.switch(bare, "b_o", True)
    with pytest.raises(ScenarioError, match="one of b_q"):
        edit.switch(START, "w_q", True)


# Learned positions.


def test_learned_positions_hang_on_seed_and_place_and_are_edited_by_place() -> None:
    learned, _ = edit.set_config(START, positions="learned")
    longer, _ = edit.set_text(learned, "major league baseball new")
    assert (longer.positions[:3] == learned.positions).all()
    typed, _ = edit.set_cells(longer, "positions", {(3, 1): 4.0})
    assert "Typed" in run(typed).explain("positions", row=3, col=1).note
    assert "place" in run(typed).explain("positions", row=2, col=1).note
    shorter, note = edit.set_text(typed, "major league")
    assert note == ""
    assert run(shorter)["positions"].shape == (2, 4)
    assert edit.set_text(shorter, longer.text)[0].same(typed)  # cells wait for their place
    wider, _ = edit.resize(typed, d_model=6)
    assert (wider.positions[:, :4] == typed.positions).all()
    narrower, note = edit.resize(edit.set_cells(typed, "positions", {(0, 3): 1.0})[0], d_model=3)
    assert "P loses" in note
    assert dict(narrower.position_edits) == {(3, 1): 4.0}
    assert not np.array_equal(edit.randomise(typed, 3)[0].positions, typed.positions)


def test_a_table_of_positions_must_fit_and_must_be_asked_for() -> None:
    params, x = random_params(1), np.ones((3, 4))
    with pytest.raises(ShapeError, match=r"^positions:.*\(3, 4\).*none"):
        multi_head_attention(x, params, Config(positions="learned"))
    with pytest.raises(ShapeError, match=r"\(2, 4\)"):
        multi_head_attention(x, params, Config(positions="learned"), positions=np.ones((2, 4)))
    with pytest.raises(ScenarioError, match="learned"):
        multi_head_attention(x, params, positions=np.ones((3, 4)))


@pytest.mark.parametrize(
    ("d_k", "dims", "words"), [(3, 4, "2 to 2"), (4, 3, "2 to 4"), (1, None, "at least 2")]
)
def test_rotary_columns_must_come_in_pairs(d_k: int, dims: int | None, words: str) -> None:
    scenario, _ = edit.resize(START, d_k=d_k)
    scenario, _ = edit.set_config(scenario, positions="rope", rope_dims=dims)
    with pytest.raises(ScenarioError, match=words):
        run(scenario)


def test_an_odd_last_column_does_not_turn() -> None:
    scenario, _ = edit.set_config(edit.resize(START, d_k=3)[0], positions="rope")
    trace = run(scenario)
    assert (trace["q_rotated"][..., 2] == trace["q"][..., 2]).all()
    assert "not among the rotary" in trace.explain("q_rotated", 0, 1, 2).note


# Choices that do nothing where they stand.


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ({}, set()),
        ({"causal_offset": 1}, {"causal_offset"}),
        ({"causal_offset": 1, "causal": True}, set()),
        ({"causal_alignment": "bottom-right"}, {"causal_alignment"}),
        ({"causal_alignment": "bottom-right", "causal": True}, {"causal_alignment"}),
        ({"top_k": 3}, {"top_k"}),
        ({"top_k": 1, "normaliser": "top_k"}, set()),
        ({"top_k": 5, "normaliser": "top_k"}, {"top_k"}),
        ({"position_base": 50.0, "positions": "alibi"}, {"position_base"}),
        ({"position_base": 50.0, "positions": "rope"}, {"position_base"}),  # one pair turns
        ({"position_base": 50.0, "positions": "sinusoidal"}, set()),
        ({"rope_dims": 2, "positions": "sinusoidal"}, {"rope_dims"}),
        ({"rope_dims": 2, "positions": "rope"}, set()),
        ({"positions": "learned", "start": "qkv"}, {"positions"}),
        ({"positions": "rope", "start": "qkv"}, set()),
    ],
)
def test_choices_without_effect_are_named_and_have_none(
    choices: dict[str, Any], names: set[str]
) -> None:
    scenario, _ = edit.set_config(START, **choices)
    found = idle(scenario)
    assert found.keys() == names
    for name, sentence in found.items():
        assert "no effect" in sentence
        other = {name: getattr(Config(), name)}
        if choices.get("normaliser") == "top_k":
            other = {"normaliser": "softmax"}
        without = replace(scenario, config=replace(scenario.config, **other))
        assert_same_numbers(run(scenario), run(without))


def test_biases_without_effect_are_named() -> None:
    scenario = replace(START, params=random_params(1, d_k=2, d_out=4, biases="qkvo"))
    assert not idle(scenario)
    given = edit.set_config(scenario, start="qkv")[0]
    assert idle(given).keys() == {"b_q", "b_k", "b_v"}
    assert "Q, K and V are given" in idle(given)["b_q"]
    assert idle(edit.switch(given, "b_q", False)[0]).keys() == {"b_k", "b_v"}
    assert idle(edit.set_config(scenario, project=False)[0]).keys() == {"b_o"}


def assert_same_numbers(one: Trace, two: Trace) -> None:
    assert [s.key for s in one.stages] == [s.key for s in two.stages]
    for stage in one.stages:
        assert (one[stage.key] == two[stage.key]).all()


def test_alignment_matters_where_counts_differ() -> None:
    scenario, _ = edit.set_context(START, "a b c d e")
    scenario, _ = edit.set_config(scenario, causal=True, causal_alignment="bottom-right")
    assert not idle(scenario)
    assert np.isneginf(run(scenario)["masked"][0]).tolist() == [
        [j > i + 2 for j in range(5)] for i in range(3)
    ]


# Cells, padding and masks that are not there.


def test_cells_outside_of_their_table_are_refused_by_name() -> None:
    for table in ("x_edits", "bias_edits"):
        with pytest.raises(ScenarioError, match=r"\(7, 0\)"):
            run(replace(START, **{table: {(7, 0): 1.0}}))
    with pytest.raises(ScenarioError, match=r"^mask:"):
        run(replace(START, hidden={(0, 3)}))
    with pytest.raises(ScenarioError, match=r"^key padding:"):
        run(replace(START, padding={-1}))
    with pytest.raises(ScenarioError, match=r"^mask:"):
        edit.set_mask(START, {(3, 0): False})
    with pytest.raises(ScenarioError, match=r"^key padding:"):
        edit.set_padding(START, [3])


def test_a_mask_cell_goes_off_and_on_and_an_empty_row_is_marked() -> None:
    scenario, _ = edit.set_mask(START, {(1, 2): False})
    assert run(scenario)["attention"][0, 1, 2] == 0
    assert "mask table" in run(scenario).explain("masked", 0, 1, 2).note
    assert edit.set_mask(scenario, {(1, 2): True})[0].same(START)
    hidden, _ = edit.set_mask(START, {(1, j): False for j in range(3)})
    assert run(hidden).empty_rows.tolist() == [[False, True, False]] * 2
    padded, _ = edit.set_padding(START, [0])
    assert (run(padded)["attention"][..., 0] == 0).all()
    assert "padding" in run(padded).explain("masked", 0, 1, 0).note
    assert run(padded).labels("keep") == (START.tokens,)
    assert run(padded).explain("keep", col=0).value == 0.0


# Everything at once, against the slow loops.


@pytest.mark.parametrize("normaliser", [name for name in NORMALISERS if name != "division"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_everything_at_once_agrees_with_the_loops(normaliser: str, positions: str) -> None:
    choices = {
        "normaliser": normaliser,
        "positions": positions,
        "temperature": 0.7,
        "softcap": 5.0,
        "causal": True,
        "causal_alignment": "bottom-right",
        "causal_offset": -1,
    }
    scenario, _ = edit.set_config(full(), **choices)
    tables = {name: table.tolist() for name, table in scenario.params.tables().items()}
    expected = oracle.multi_head(
        scenario.x.tolist(),
        **tables,
        context=scenario.context.tolist(),
        learned=scenario.positions.tolist(),
        context_learned=scenario.context_positions.tolist(),
        mask=scenario.mask.tolist(),
        keep=scenario.keep.tolist(),
        bias=scenario.bias.tolist(),
        **choices,
        top_k=scenario.config.top_k,
    )
    assert_stages(run(scenario), expected, **CLOSE)
