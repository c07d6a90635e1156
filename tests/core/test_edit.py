"""Changes to a scenario: pure, telling what they did, refusing what cannot be."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import PRESETS, AttnvizError, Config, Params, Scenario, Sizes, run
from attnviz.core import LimitError, NumberError, ScenarioError, ShapeError, TextError, edit
from attnviz.core.model import MAX_CHARACTERS, MAX_HEADS, MAX_SIZE, MAX_TOKENS
from attnviz.core.text import TOKENIZERS
from tests.core.support import SEEDS, random_params

START = PRESETS["walkthrough"]
SIZE_NAMES = ("n_heads", "d_model", "d_k", "d_v", "d_out")
words = st.lists(st.sampled_from(["the", "cat", "sat", "major"]), min_size=1, max_size=8)


def snapshot(scenario: Scenario) -> dict[str, Any]:
    """Everything in a scenario as plain values of their own."""
    tables = {name: table.tolist() for name, table in scenario.params.tables().items()}
    return {
        "text": scenario.text,
        "tokenizer": scenario.tokenizer,
        "seed": scenario.seed,
        "config": scenario.config,
        "lexicon": dict(scenario.lexicon),
        "x_edits": dict(scenario.x_edits),
        "x": scenario.x.tolist(),
        **tables,
    }


def edited() -> Scenario:
    """The walkthrough with one more word, a cell of X and one of W_Q changed."""
    scenario, _ = edit.set_text(START, "major league hello baseball")
    scenario, _ = edit.set_cells(scenario, "x", {(2, 1): 5.0, (3, 0): -1.5})
    return edit.set_cells(scenario, "w_q", {(1, 2, 0): 0.25})[0]


CHANGES: dict[str, Callable[[Scenario], edit.Change]] = {
    "set_text": lambda s: edit.set_text(s, "hello major"),
    "set_tokenizer": lambda s: edit.set_tokenizer(s, "characters"),
    "set_cells x": lambda s: edit.set_cells(s, "x", {(0, 0): 9.0}),
    "set_cells w_q": lambda s: edit.set_cells(s, "w_q", {(0, 0, 0): 9.0}),
    "set_cells w_o": lambda s: edit.set_cells(s, "w_o", {(0, 0): 9.0}),
    "set_table x": lambda s: edit.set_table(s, "x", np.ones((4, 4))),
    "set_table w_v": lambda s: edit.set_table(s, "w_v", np.ones((4, 2)), head=1),
    "resize larger": lambda s: edit.resize(s, n_heads=3, d_model=6, d_k=3, d_v=4, d_out=5),
    "resize smaller": lambda s: edit.resize(s, n_heads=1, d_model=1, d_k=1, d_v=1, d_out=1),
    "randomise": lambda s: edit.randomise(s, 5),
    "set_config": lambda s: edit.set_config(s, scale=0.5, softcap=2.0, causal=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_leaves_the_old_scenario_as_it_was(name: str) -> None:
    old = edited()
    before = snapshot(old)
    new, note = CHANGES[name](old)
    assert snapshot(old) == before
    assert snapshot(new) != before
    assert isinstance(note, str)
    assert run(new).tokens == new.tokens


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_gives_the_same_every_time(name: str) -> None:
    one, other = CHANGES[name](edited()), CHANGES[name](edited())
    assert one[0].same(other[0])
    assert one[1] == other[1]
    assert not one[0].same(edited())


def test_a_scenario_cannot_be_changed_from_outside() -> None:
    lexicon, x_edits = {"a": (1.0, 2.0, 3.0, 4.0)}, {(0, 0): 5.0}
    scenario = replace(START, text="a", lexicon=lexicon, x_edits=x_edits)
    lexicon["a"], x_edits[0, 1] = (9.0,) * 4, 9.0
    assert scenario.x.tolist() == [[5.0, 2.0, 3.0, 4.0]]
    for name in ("text", "seed", "params"):
        with pytest.raises(FrozenInstanceError):
            setattr(scenario, name, None)
    for name in ("lexicon", "x_edits"):
        with pytest.raises(TypeError):
            getattr(scenario, name)["a"] = (0.0,)
    with pytest.raises(TypeError):
        PRESETS["walkthrough"] = scenario


def test_same_sees_every_difference() -> None:
    base = edited()
    assert base.same(edited())
    others = [
        replace(base, text=base.text + " "),
        replace(base, tokenizer="characters"),
        replace(base, seed=1),
        replace(base, config=Config(causal=True)),
        replace(base, preset="other"),
        replace(base, lexicon={}),
        replace(base, x_edits={}),
        replace(base, x_edits={**base.x_edits, (2, 1): 5.5}),
        edit.set_cells(base, "w_k", {(0, 0, 0): 1e-300})[0],
        replace(base, params=Params(base.params.w_q, base.params.w_k, base.params.w_v)),
    ]
    for other in others:
        assert not base.same(other)
        assert not other.same(base)


# Text.


@given(words, words, SEEDS)
def test_a_token_s_row_hangs_on_its_text_and_the_seed_only(
    first: list[str], second: list[str], seed: int
) -> None:
    seeded = edit.randomise(START, seed)[0]
    one, _ = edit.set_text(seeded, " ".join(first))
    other, _ = edit.set_text(seeded, " ".join(second))
    rows = {token: row.tolist() for token, row in zip(one.tokens, one.x, strict=True)}
    for token, row in zip(other.tokens, other.x, strict=True):
        assert rows.setdefault(token, row.tolist()) == row.tolist()


@given(words, st.integers(0, 8), st.sampled_from(["the", "cat", "new"]))
def test_a_word_put_in_or_taken_out_leaves_every_other_row_with_its_edits(
    old: list[str], place: int, word: str
) -> None:
    place = min(place, len(old))
    longer = [*old[:place], word, *old[place:]]
    short, _ = edit.set_text(START, " ".join(old))
    short, _ = edit.set_cells(short, "x", {(row, row % 4): 10.0 + row for row in range(len(old))})
    put_in, note = edit.set_text(short, " ".join(longer))
    assert note == ""
    rows = put_in.x.tolist()
    # Beside an equal word it cannot be told which one is new; then either may keep the numbers.
    kept = [
        rows[:i] + rows[i + 1 :] for i in range(len(longer)) if longer[:i] + longer[i + 1 :] == old
    ]
    assert short.x.tolist() in kept
    taken_out, _ = edit.set_text(put_in, " ".join(old))
    assert len(taken_out.x_edits) >= len(old) - 1
    assert set(taken_out.x_edits.values()) <= set(short.x_edits.values())


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("a b c", "a b c d", {0: 0, 1: 1, 2: 2}),
        ("a b c", "z a b c", {0: 1, 1: 2, 2: 3}),
        ("a b c", "a c", {0: 0, 2: 1}),
        ("a b c", "a x c", {0: 0, 2: 2}),
        ("a b c", "a b b c", {0: 0, 1: 1, 2: 3}),
        ("a a a", "a b a a", {0: 0, 1: 2, 2: 3}),
        ("the cat the", "the old cat the dog", {0: 0, 1: 2, 2: 3}),
        ("the cat the", "cat the", {1: 0, 2: 1}),
        ("a b c d e", "x b y d z", {1: 1, 3: 3}),
        ("a b", "b a b a", {0: 1, 1: 2}),
        ("a b c d e", "e a b c d", {0: 1, 1: 2, 2: 3, 3: 4, 4: 0}),
        ("a", "b", {}),
    ],
)
def test_edits_go_with_their_word(old: str, new: str, rows: dict[int, int]) -> None:
    scenario, _ = edit.set_text(START, old)
    edits = {(row, 1): 100.0 + row for row in range(len(scenario.tokens))}
    scenario, _ = edit.set_cells(scenario, "x", edits)
    moved, note = edit.set_text(scenario, new)
    assert dict(moved.x_edits) == {(there, 1): 100.0 + here for here, there in rows.items()}
    lost = {scenario.tokens[row] for row in range(len(scenario.tokens)) if row not in rows}
    assert all(word in note for word in lost)
    assert bool(note) == bool(lost)
    if lost:
        assert "undo" in note.lower()


def test_the_words_of_the_example_keep_its_vectors_wherever_they_stand() -> None:
    scenario, _ = edit.set_text(START, "baseball new major baseball league")
    vectors = [START.lexicon[word] for word in ("baseball", "major", "baseball", "league")]
    assert [tuple(row) for row in scenario.x[[0, 2, 3, 4]].tolist()] == vectors
    other, _ = edit.randomise(scenario, 9)
    assert other.x[[0, 2, 3, 4]].tolist() == scenario.x[[0, 2, 3, 4]].tolist()
    assert other.x[1].tolist() != scenario.x[1].tolist()


def test_another_tokenizer_keeps_text_and_edits_of_tokens_that_stay() -> None:
    scenario, _ = edit.set_text(START, "stop now !")
    scenario, _ = edit.set_cells(scenario, "x", {(1, 1): 7.0})
    other, note = edit.set_tokenizer(scenario, "words and punctuation")
    assert other.text == scenario.text
    assert other.x[1, 1] == 7.0
    assert note == ""
    other, note = edit.set_tokenizer(scenario, "characters")
    assert other.x_edits == {}
    assert "now" in note


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000"])
def test_text_without_a_token_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(TextError, match="Type a word"):
        edit.set_text(START, text)
    with pytest.raises(TextError, match="Type a word"):
        run(replace(START, text=text))


def test_ten_thousand_words_are_refused_with_the_limit_and_a_cut_is_offered() -> None:
    text = " ".join(f"w{i}" for i in range(10_000))
    with pytest.raises(LimitError) as refused:
        edit.set_text(START, text)
    assert "10,000" in str(refused.value)
    assert str(MAX_TOKENS) in str(refused.value)
    assert str(MAX_TOKENS) in refused.value.hint
    with pytest.raises(LimitError):
        run(replace(START, text=text))
    cut = edit.first_tokens(text, "words", edit.token_limit(START))
    scenario, _ = edit.set_text(START, cut)
    assert scenario.tokens == tuple(f"w{i}" for i in range(MAX_TOKENS))


@pytest.mark.parametrize("heads", [1, 2, 16, 17, 32])
def test_more_heads_allow_fewer_tokens_and_the_limit_is_stated(heads: int) -> None:
    scenario, _ = edit.resize(START, n_heads=heads, d_k=1, d_v=1)
    limit = edit.token_limit(scenario)
    assert limit == (512 if heads <= 16 else {17: 496, 32: 362}[heads])
    full, _ = edit.set_text(scenario, "a " * limit)
    assert len(full.tokens) == limit
    with pytest.raises(LimitError, match=f"at most {limit} with {heads} heads"):
        edit.set_text(scenario, "a " * (limit + 1))
    if heads > 16:
        with pytest.raises(LimitError, match="too many tokens"):
            edit.resize(edit.set_text(START, "a " * (limit + 1))[0], n_heads=heads)


def test_too_many_characters_are_refused_before_they_are_cut_up() -> None:
    with pytest.raises(LimitError, match="characters"):
        edit.set_text(START, "w" * (MAX_CHARACTERS + 1))
    assert edit.set_text(START, "w" * MAX_CHARACTERS)[0].tokens == ("w" * MAX_CHARACTERS,)


@given(st.text(max_size=40), st.integers(1, 6), st.sampled_from(sorted(TOKENIZERS)))
def test_the_offered_cut_is_the_beginning_of_the_text(
    text: str, count: int, tokenizer: str
) -> None:
    cut = edit.first_tokens(text, tokenizer, count)
    assert text.startswith(cut)
    assert TOKENIZERS[tokenizer](cut) == TOKENIZERS[tokenizer](text)[:count]


def test_a_token_of_200_characters_is_a_token_like_any_other() -> None:
    long = "Donau" * 40
    scenario, _ = edit.set_text(START, f"{long} major {long}")
    trace = run(scenario)
    assert trace.labels("attention")[2] == (f"{long}₁", "major", f"{long}₃")
    assert (trace["q"][:, 0] == trace["q"][:, 2]).all()
    assert long in trace.explain("scores", 0, 0, 1).text()


# Cells and tables.


@pytest.mark.parametrize(
    ("table", "index"),
    [("x", (2, 3)), ("w_q", (1, 3, 1)), ("w_k", (0, 0, 0)), ("w_v", (1, 2, 1)), ("w_o", (3, 2))],
)
@pytest.mark.parametrize("value", [-0.125, 0.1234567890123, 1e-300, 3, np.float32(0.625)])
def test_a_cell_is_set_and_no_other(table: str, index: tuple[int, ...], value: float) -> None:
    new, _ = edit.set_cells(START, table, {index: value})
    tables = {"x": (START.x, new.x)}
    for name, old in START.params.tables().items():
        tables[name] = (old, new.params.tables()[name])
    for name, (before, after) in tables.items():
        changed = [tuple(place) for place in np.argwhere(before != after).tolist()]
        assert changed == ([index] if name == table else [])
    assert tables[table][1][index] == float(value)
    assert run(new)[table][index] == float(value)


def test_several_cells_at_once_and_one_after_another_give_the_same() -> None:
    cells = {(0, 0, 0): 1.0, (1, 3, 1): 2.0, (0, 2, 1): -3.0}
    once, _ = edit.set_cells(START, "w_v", cells)
    again = START
    for index, value in cells.items():
        again, _ = edit.set_cells(again, "w_v", {index: value})
    assert once.same(again)


def test_a_second_cell_of_x_keeps_the_first() -> None:
    scenario, _ = edit.set_cells(START, "x", {(0, 0): 1.0})
    scenario, _ = edit.set_cells(scenario, "x", {(2, 3): 2.0})
    assert dict(scenario.x_edits) == {(0, 0): 1.0, (2, 3): 2.0}
    scenario, _ = edit.set_cells(scenario, "x", {(0, 0): 3.0})
    assert dict(scenario.x_edits) == {(0, 0): 3.0, (2, 3): 2.0}


def test_biases_are_tables_too() -> None:
    scenario = replace(START, params=random_params(1, d_k=2, d_out=4, biases="qkvo"))
    new, _ = edit.set_cells(scenario, "b_q", {(1, 0): 4.0})
    new, _ = edit.set_cells(new, "b_o", {(3,): 5.0})
    assert (new.params.b_q[1, 0], new.params.b_o[3]) == (4.0, 5.0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), "1", None, 1j])
@pytest.mark.parametrize(
    ("table", "index", "place"),
    [
        ("x", (1, 2), "X, row 2, column 3"),
        ("w_q", (0, 3, 1), "W_Q, head 1, row 4, column 2"),
        ("w_o", (3, 0), "W_O, row 4, column 1"),
    ],
)
def test_what_is_no_finite_number_is_refused_by_its_place(
    table: str, index: tuple[int, ...], place: str, value: Any
) -> None:
    first = (0,) * len(index)
    with pytest.raises(NumberError, match=f"^{place}:"):
        edit.set_cells(START, table, {first: 1.0, index: value})


@pytest.mark.parametrize("index", [(3, 0), (0, 4), (-1, 0), (0,), (0, 0, 0)])
def test_a_cell_that_is_not_there_is_refused(index: tuple[int, ...]) -> None:
    with pytest.raises(ScenarioError, match=r"shape \(3, 4\)"):
        edit.set_cells(START, "x", {index: 1.0})


@pytest.mark.parametrize("table", ["w_z", "b_q", "scores", ""])
def test_a_table_that_is_not_there_is_refused(table: str) -> None:
    with pytest.raises(ScenarioError, match="one of x, w_q, w_k, w_v, w_o"):
        edit.set_cells(START, table, {(0, 0): 1.0})
    with pytest.raises(ScenarioError, match="one of x, w_q, w_k, w_v, w_o"):
        edit.set_table(START, table, [[1.0]])


def test_a_whole_table_or_that_of_one_head() -> None:
    ones = np.ones((4, 2))
    one, _ = edit.set_table(START, "w_k", ones, head=1)
    assert (one.params.w_k[1] == 1).all()
    assert (one.params.w_k[0] == START.params.w_k[0]).all()
    both, _ = edit.set_table(START, "w_k", [ones, ones])
    assert (both.params.w_k == 1).all()
    x, _ = edit.set_table(START, "x", np.arange(12).reshape(3, 4))
    assert x.x.tolist() == np.arange(12.0).reshape(3, 4).tolist()
    longer, _ = edit.set_text(x, "new major league baseball")
    assert longer.x[1:].tolist() == x.x.tolist()


def test_a_bias_of_one_head_is_a_list() -> None:
    biased, _ = edit.switch(START, "b_q", True)
    changed, _ = edit.set_table(biased, "b_q", [5.0, 6.0], head=1)
    assert changed.params.b_q.tolist() == [biased.params.b_q[0].tolist(), [5.0, 6.0]]


@pytest.mark.parametrize("head", [2, -1, 99])
def test_a_head_that_is_not_there_is_refused(head: int) -> None:
    with pytest.raises(ScenarioError, match="W_K: there is no such head"):
        edit.set_table(START, "w_k", np.ones((4, 2)), head=head)
    with pytest.raises(ScenarioError, match="X: there is no such head"):
        edit.set_table(START, "x", np.ones(4), head=0)
    with pytest.raises(ScenarioError, match=r"W_O: there is no such head.*no heads"):
        edit.set_table(START, "w_o", np.ones(4), head=0)


def test_a_table_of_another_shape_is_refused_naming_both() -> None:
    with pytest.raises(ShapeError, match=r"W_Q.*\(4, 2\).*\(2, 4\)"):
        edit.set_table(START, "w_q", np.ones((2, 4)), head=0)
    with pytest.raises(NumberError, match="W_Q, row 2, column 1"):
        edit.set_table(START, "w_q", [[1, 2], [np.nan, 4], [5, 6], [7, 8]], head=0)


# Sizes.


def by_head(params: Params) -> dict[str, np.ndarray]:
    """The tables, with the heads of w_o as an axis of their own."""
    heads = params.sizes.n_heads
    return {
        name: table.reshape(heads, -1, table.shape[1]) if name == "w_o" else table
        for name, table in params.tables().items()
    }


sizes = st.fixed_dictionaries({}, optional={name: st.integers(1, 7) for name in SIZE_NAMES})


@given(sizes, sizes)
def test_what_overlaps_is_kept_and_the_rest_hangs_on_seed_and_sizes(
    first: dict[str, int], second: dict[str, int]
) -> None:
    one, _ = edit.resize(START, **first)
    other, note = edit.resize(one, **second)
    for name, size in {**first, **second}.items():
        assert getattr(other.sizes, name) == size
    before, after = by_head(one.params), by_head(other.params)
    for name, old in before.items():
        overlap = tuple(slice(min(pair)) for pair in zip(old.shape, after[name].shape, strict=True))
        assert (old[overlap] == after[name][overlap]).all(), name
        assert np.isfinite(after[name]).all()
    width = min(one.sizes.d_model, other.sizes.d_model)
    assert (one.x[:, :width] == other.x[:, :width]).all()
    assert bool(note) == (one.sizes != other.sizes)
    direct, _ = edit.resize(one, **second)
    assert direct.same(other)


@pytest.mark.parametrize("name", SIZE_NAMES)
def test_one_size_larger_and_back_gives_the_same_scenario(name: str) -> None:
    base, _ = edit.set_cells(START, "x", {(1, 1): 8.0})
    larger, note = edit.resize(base, **{name: getattr(base.sizes, name) + 2})
    assert f"{name} {getattr(base.sizes, name)} → {getattr(base.sizes, name) + 2}" in note
    assert "keeps" in note
    assert "ndo" in note
    back, _ = edit.resize(larger, **{name: getattr(base.sizes, name)})
    assert back.same(base)


def test_resize_says_what_was_kept_and_what_is_new() -> None:
    _, note = edit.resize(START, d_k=3)
    for part in ("W_Q keeps 16 of 16 cells", "gets 8 new from seed 0", "W_K keeps 16 of 16"):
        assert part in note
    assert "W_V" not in note
    typed, _ = edit.set_cells(START, "x", {(0, 3): 1.0})
    smaller, note = edit.resize(typed, d_model=3)
    assert "W_Q keeps 12 of 16 cells" in note
    assert "X loses" in note
    assert smaller.x.shape == (3, 3)


@pytest.mark.parametrize("same", [{}, {"d_k": 2}, {"n_kv_heads": 2}, {"n_kv_heads": None}])
def test_the_same_sizes_change_nothing_and_say_nothing(same: dict[str, Any]) -> None:
    new, note = edit.resize(START, **same)
    assert new.same(START)
    assert note == ""


def test_heads_can_share_keys_and_values() -> None:
    four, _ = edit.resize(START, n_heads=4)
    shared, note = edit.resize(four, n_kv_heads=2)
    assert shared.params.w_k.shape == (2, 4, 2)
    assert shared.params.w_q.shape == (4, 4, 2)
    assert "n_kv_heads" in note
    assert (shared.params.w_k == START.params.w_k).all()
    trace = run(shared)
    assert trace["attention"].shape == (4, 3, 3)
    assert trace.labels("w_k")[0] == trace.labels("v")[0] == ("heads 1, 2", "heads 3, 4")
    assert trace.labels("q")[0] == tuple(f"head {n}" for n in (1, 2, 3, 4))
    assert trace.explain("k", 1, 0, 0).title == "Keys, heads 3, 4: major, d0"
    one = run(edit.resize(four, n_kv_heads=1)[0])
    assert one.labels("w_k")[0] == ("heads 1 to 4",)
    with pytest.raises(ShapeError, match="one of 1, 2, 4"):
        edit.resize(four, n_kv_heads=3)
    with pytest.raises(ShapeError, match=r"a multiple of 2, got 3.*are 2 and 4"):
        edit.resize(shared, n_heads=3)


def test_without_output_table_its_width_cannot_be_set() -> None:
    params = Params(START.params.w_q, START.params.w_k, START.params.w_v)
    bare = replace(START, params=params)
    with pytest.raises(ScenarioError, match="d_out"):
        edit.resize(bare, d_out=7)
    wider, note = edit.resize(bare, d_v=3)
    assert run(wider)["concat"].shape == (3, 6)
    assert ". ." not in note


@pytest.mark.parametrize("name", [*SIZE_NAMES, "n_kv_heads"])
@pytest.mark.parametrize("value", [0, -3, 10**6, 2.5, "4", True])
def test_an_illegal_size_is_refused_with_the_legal_range(name: str, value: Any) -> None:
    limit = MAX_HEADS if name.endswith("heads") else MAX_SIZE
    with pytest.raises(LimitError) as refused:
        edit.resize(START, **{name: value})
    assert refused.value.where == name
    assert f"1 to {limit}" in str(refused.value)
    if type(value) is int:
        most = START.sizes.n_heads if name == "n_kv_heads" else limit
        nearest = 1 if value < 1 else most
        assert refused.value.hint == f"The nearest legal value is {nearest}."


@pytest.mark.parametrize(
    ("size", "wanted", "nearest"),
    [
        ("n_heads", 0, " is 3."),
        ("n_heads", 33, " is 30."),
        ("n_heads", 2.7, " is 3."),
        ("n_heads", 7, "s are 6 and 9."),
        ("n_kv_heads", 5, "s are 3 and 6."),
        ("n_kv_heads", 9, "s are 3 and 6."),
        ("n_kv_heads", 0, " is 1."),
    ],
)
def test_the_nearest_number_of_heads_goes_with_the_other_one(
    size: str, wanted: float, nearest: str
) -> None:
    scenario = edit.resize(START, n_heads=6, n_kv_heads=3)[0]
    with pytest.raises(AttnvizError) as refused:
        edit.resize(scenario, **{size: wanted})
    assert refused.value.where == size
    assert f"The nearest legal value{nearest}" in str(refused.value)


def test_new_columns_of_the_embeddings_are_told() -> None:
    assert "X keeps its columns and gets 2 new from seed 0" in edit.resize(START, d_model=6)[1]
    assert "X keeps its first columns." in edit.resize(START, d_model=3)[1]


@pytest.mark.parametrize("name", SIZE_NAMES)
def test_a_size_cannot_be_left_out(name: str) -> None:
    with pytest.raises(LimitError, match=name):
        edit.resize(START, **{name: None})


def test_sizes_that_are_too_much_together_are_refused_before_anything_is_made() -> None:
    with pytest.raises(LimitError, match="at most 4,194,304"):
        edit.resize(START, n_heads=MAX_HEADS, d_model=MAX_SIZE, d_k=MAX_SIZE)
    with pytest.raises(ScenarioError, match="width: there is no such size"):
        edit.resize(START, width=3)


@pytest.mark.parametrize(
    ("start", "size", "wanted", "nearest"),
    [
        ({"d_k": 1024, "n_heads": 8}, "d_model", 1024, 512),
        ({"d_model": 1024, "d_k": 1024}, "n_heads", 8, 4),
    ],
)
def test_a_size_too_much_for_the_others_is_refused_with_the_nearest_legal_one(
    start: dict[str, int], size: str, wanted: int, nearest: int
) -> None:
    scenario = edit.resize(START, **start)[0]
    with pytest.raises(LimitError) as refused:
        edit.resize(scenario, **{size: wanted})
    assert refused.value.where == size
    assert f"The nearest legal value is {nearest}." in str(refused.value)
    edit.resize(scenario, **{size: nearest})
    with pytest.raises(LimitError):
        edit.resize(scenario, **{size: nearest + 1})


def test_heads_too_many_for_the_text_are_refused_with_the_most_there_can_be() -> None:
    scenario = edit.set_text(START, "a " * 512)[0]
    with pytest.raises(LimitError, match=r"n_heads: .* at most 16, got 32.*nearest .* is 16"):
        edit.resize(scenario, n_heads=32)


def test_sizes_of_what_is_switched_off_are_not_spoken_of() -> None:
    off, note = edit.set_config(START, project=False)
    assert note == "The concatenated heads are the result; W_O is kept."
    assert "W_O" in edit.resize(START, d_v=3)[1]
    assert "W_O" not in edit.resize(off, d_v=3)[1]


def test_the_largest_single_sizes_work() -> None:
    for name in ("d_model", "d_k", "d_v", "d_out"):
        large, _ = edit.resize(START, **{name: MAX_SIZE})
        assert np.isfinite(run(large)["output"]).all()


def test_new_cells_are_pinned_for_ever() -> None:
    new, _ = edit.resize(START, n_heads=3, d_model=5, d_k=3, d_v=3, d_out=6)
    assert new.params.w_q[2].tolist() == [
        [-0.06, 0.12, 0.17],
        [0.02, -0.37, 0.19],
        [-0.17, 0.29, 0.31],
        [0.83, -0.45, -0.23],
        [-0.3, 0.28, -0.36],
    ]
    assert new.params.w_o[[0, 2, 8]].tolist() == [
        [0.2, 0.2, 0.6, 0.1, -0.3, -0.13],
        [0.32, 0.45, 0.19, -0.02, -0.19, 0.71],
        [-0.31, -0.67, -0.22, -0.08, -0.19, 0.16],
    ]
    assert new.x[:, 4].tolist() == [-1.93, -1.28, 0.88]


# Seeds and choices.


def test_randomise_is_pinned_for_ever() -> None:
    new, note = edit.randomise(START, 42)
    assert new.params.w_q[0].tolist() == [[-0.08, -0.05], [0.41, -0.18], [0.43, 0.42], [0.09, 0.48]]
    assert new.params.w_o[0].tolist() == [-0.16, -0.05, -0.68, -0.4]
    assert "seed 42" in note
    assert new.seed == 42


def test_randomise_gives_the_same_from_wherever_it_starts() -> None:
    one, _ = edit.randomise(START, 7)
    other, _ = edit.randomise(
        edit.randomise(edit.set_cells(START, "w_q", {(0, 0, 0): 9})[0], 3)[0], 7
    )
    assert one.same(other)
    assert not one.same(edit.randomise(START, 8)[0])
    for name, table in one.params.tables().items():
        assert len(np.unique(table)) > table.size / 2, name


def test_randomise_draws_edited_embeddings_anew() -> None:
    typed, _ = edit.set_cells(START, "x", {(0, 0): 9.0})
    assert edit.randomise(typed, 1)[0].x.tolist() == START.x.tolist()


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_a_seed_that_is_no_whole_number_is_refused(seed: Any) -> None:
    with pytest.raises(ScenarioError, match="seed"):
        edit.randomise(START, seed)


def test_choices_are_set_one_by_one() -> None:
    one, _ = edit.set_config(START, scale=0.5)
    two, _ = edit.set_config(one, causal=True)
    assert two.config == Config(scale=0.5, causal=True)
    assert edit.set_config(two, scale=None, causal=False)[0].same(START)
    assert edit.set_config(START, project=False)[0].params.w_o is not None


@pytest.mark.parametrize(("name", "shape"), [("attention head", (64, 256)), ("with scale", (4, 4))])
def test_an_output_projection_that_was_never_there_is_drawn(
    name: str, shape: tuple[int, int]
) -> None:
    start = PRESETS[name]
    assert run(start).result == "concat"
    projected, note = edit.set_config(start, project=True)
    assert note == f"W_O drawn from seed {start.seed}, {shape[0]} × {shape[1]}."
    trace = run(projected)
    assert trace["w_o"].shape == shape
    assert trace.result == "output"
    assert "w_o" in edit.editable(projected)
    assert edit.set_config(start, scale=0.5)[0].params.w_o is None
    off = edit.set_config(projected, project=False)[0]
    assert edit.set_config(off, project=True)[0].same(projected)


@pytest.mark.parametrize(
    ("choices", "error"),
    [
        ({"warmth": 1.0}, ScenarioError),
        ({"softcap": 0.0}, NumberError),
        ({"softcap": "2"}, NumberError),
        ({"scale": float("nan")}, NumberError),
        ({"scale": "a"}, NumberError),
        ({"scale": True}, NumberError),
    ],
)
def test_choices_that_cannot_be_are_refused(
    choices: dict[str, Any], error: type[AttnvizError]
) -> None:
    with pytest.raises(error) as refused:
        edit.set_config(START, **choices)
    assert next(iter(choices)) in str(refused.value)


def test_unknown_names_are_listed_in_a_steady_order() -> None:
    with pytest.raises(ScenarioError) as refused:
        edit.resize(START, width=1)
    assert (
        refused.value.expected == "one of n_heads, d_model, d_k, d_v, d_out, n_kv_heads, d_context"
    )
    with pytest.raises(ScenarioError, match="one of scale, softcap, causal, "):
        edit.set_config(START, width=1)


def test_sizes_of_a_scenario_are_those_of_its_tables() -> None:
    assert START.sizes == Sizes(2, 4, 2, 2, 4)
    assert random_params(1, heads=4, kv_heads=2, d_out=None).sizes == Sizes(4, 4, 3, 2, 8, 2)
