"""Every preset opens, can be changed in every way, and shows what its sentence claims."""

import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from attnviz import PRESETS, Params, Scenario, Trace, run
from attnviz.core import GALLERY, ScenarioError, edit, examples
from attnviz.core.compare import differences
from attnviz.core.heads import ranking
from attnviz.core.text import TOKENIZERS
from tests.core.support import assert_close, assert_stages, golden_arrays, golden_params
from tests.core.test_golden import TOLERANCE, named_stages

ROOT = Path(__file__).parents[2]


@cache
def traced(name: str) -> Trace:
    return run(PRESETS[name])


# What holds for all of them.


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_computes_and_carries_its_name(name: str) -> None:
    trace = traced(name)
    assert PRESETS[name].preset == name
    assert PRESETS[name] is PRESETS[name]
    assert np.isfinite(trace[trace.result]).all()
    assert not trace.empty_rows.any()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_a_title_and_one_sentence(name: str) -> None:
    preset = GALLERY[name]
    assert preset.title
    assert preset.says.endswith(".")
    assert ". " not in preset.says
    assert len(preset.says) < 100


def test_titles_differ() -> None:
    assert len({preset.title for preset in GALLERY.values()}) == len(GALLERY) == len(PRESETS)
    assert list(PRESETS) == list(GALLERY)


@pytest.mark.parametrize("name", [name for name, preset in GALLERY.items() if preset.compare_with])
def test_a_ready_made_comparison_goes_both_ways_and_differs(name: str) -> None:
    other = GALLERY[name].compare_with
    assert GALLERY[other].compare_with == name
    assert differences(PRESETS[name], PRESETS[other])


CHANGES: dict[str, Callable[[Scenario], edit.Change]] = {
    "text": lambda s: edit.set_text(s, f"{s.text}\nnew {s.tokens[0]}"),
    "shorter text": lambda s: edit.set_text(s, s.tokens[-1]),
    "second text": lambda s: edit.set_context(s, "one two\nthree"),
    "no second text": lambda s: edit.set_context(s, None),
    **{f"tokens {t}": lambda s, t=t: edit.set_tokenizer(s, t) for t in TOKENIZERS},
    "smaller": lambda s: edit.resize(s, n_heads=1, d_model=3, d_k=2, d_v=1),
    "larger": lambda s: edit.resize(s, n_heads=5, d_model=s.sizes.d_model + 1, d_k=65, d_v=7),
    "randomise": lambda s: edit.randomise(s, 5),
    "q, k, v": lambda s: edit.start_from_qkv(s, s.config.start == "x"),
    "b_q": lambda s: edit.switch(s, "b_q", True),
    "a cell of w_k": lambda s: edit.set_cells(s, "w_k", {(0, 0, 0): 9.0}),
    "a cell of x": lambda s: edit.set_cells(s, "x", {(0, 0): 9.0}),
    "padding": lambda s: edit.set_padding(s, [0]),
    "grid of a picture": lambda s: edit.set_picture(s, np.zeros((24, 16)), (3, 2)),
}


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_preset_can_be_changed_and_stays_as_it_was(name: str, change: str) -> None:
    preset = PRESETS[name]
    before = pickle.loads(pickle.dumps(preset))
    changed, note = CHANGES[change](preset)
    trace = run(changed)
    assert np.isfinite(trace[trace.result]).all()
    assert isinstance(note, str)
    assert preset.same(before)
    assert before.same(preset)
    assert not before.x.flags.writeable


def test_presets_cannot_be_set_and_unknown_ones_are_no_key() -> None:
    with pytest.raises(TypeError):
        PRESETS["search"] = PRESETS["picture"]  # type: ignore[index]
    assert "nonsense" not in PRESETS
    with pytest.raises(KeyError):
        PRESETS["nonsense"]


def test_nothing_is_built_before_it_is_asked_for() -> None:
    code = (
        "from attnviz.core import PRESETS, presets\n"
        "list(PRESETS), len(PRESETS)\n"
        "print(presets._built.cache_info().currsize)\n"
        "PRESETS['search']\n"
        "print(presets._built.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "1"]


def test_stored_tables_are_packaged() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["attnviz"]
    found = {path for pattern in patterns for path in (ROOT / "attnviz").glob(pattern)}
    stored = set(examples.DATA.iterdir())
    assert stored
    assert stored <= found


# Attention heads with bias.


@pytest.mark.parametrize(
    ("name", "file"), [("attention head", "head_256_64"), ("four heads", "heads4_256")]
)
def test_heads_of_256_are_the_ones_worked_out_elsewhere(name: str, file: str) -> None:
    arrays, trace = golden_arrays(file), traced(name)
    assert (trace["x"] == arrays["x"]).all()
    for key, table in golden_params(arrays).tables().items():
        assert (trace[key] == table).all(), key
    assert_stages(trace, named_stages(arrays), **TOLERANCE)
    assert trace.tokens == tuple(arrays["tokens"].tolist()) == ("Wie", "geht", "es", "dir")


def test_a_head_gives_64_numbers_and_four_heads_256_with_words_in_context() -> None:
    assert traced("attention head")["concat"].shape == (4, 64)
    trace = traced("four heads")
    assert trace["output"].shape == trace["x"].shape == (4, 256)
    other = run(edit.set_text(PRESETS["four heads"], "Wie geht es uns")[0])
    assert (other["x"][:3] == trace["x"][:3]).all()
    assert (np.abs(other["output"] - trace["output"])[:3].max(axis=1) > 0.1).all()


# Search.


def test_the_search_ranks_the_titles() -> None:
    trace = traced("search")
    generative, torch = ([title for title, _ in ranking(trace, query)] for query in (0, 1))
    assert trace.tokens == ("generative AI", "PyTorch")
    assert generative[:3] == [
        "Text-to-Image from Scratch",
        "Generative Models in Practice",
        "Deep Learning with PyTorch",
    ]
    assert torch[0] == "Deep Learning with PyTorch"
    assert set(generative) == set(torch) == set(trace.key_tokens)
    for query in (0, 1):
        weights = [weight for _, weight in ranking(trace, query)]
        assert weights == sorted(set(weights), reverse=True)
        assert weights[0] > 0.5


def test_the_output_of_the_search_is_the_weight_of_each_title() -> None:
    trace = traced("search")
    assert_close(trace["concat"], trace["attention"][0], rel=1e-15, abs_=0)


def test_a_title_wins_by_its_topics() -> None:
    start, trace = PRESETS["search"], traced("search")
    topics = np.array(list(examples.TITLES.values()))
    for query, wanted in enumerate(examples.SEARCHES.values()):
        assert_close(trace["scores"][0, query], 8 * topics @ wanted, rel=1e-14, abs_=1e-15)
    images = trace.labels("context")[1].index("images")
    plain = run(edit.set_cells(start, "context", {(3, images): 0.0})[0])
    assert ranking(plain)[0][0] == "Generative Models in Practice"


def test_a_search_of_random_numbers_agrees_with_what_was_worked_out_elsewhere() -> None:
    arrays = golden_arrays("recommendation_1x6")
    titles, queries = arrays["titles"].tolist(), arrays["queries"].tolist()
    rows = dict(zip((*titles, *queries), (*arrays["xk"], *arrays["xq"]), strict=True))
    for place, query in enumerate(queries):
        scenario = Scenario(
            query,
            golden_params(arrays),
            tokenizer="lines",
            context_text="\n".join(titles),
            lexicon={name: tuple(row) for name, row in rows.items()},
        )
        trace = run(scenario)
        expected = named_stages(arrays, f"query{place}/")
        stages = {"x": arrays["xq"][place : place + 1], **expected}
        assert_stages(trace, stages, **TOLERANCE)
        order = [titles[i] for i in arrays[f"query{place}/ranking"]]
        assert [title for title, _ in ranking(trace)] == order


def test_equal_weights_keep_their_order_and_equal_words_their_place() -> None:
    zeros = Params(*np.zeros((3, 1, 4, 2)))
    trace = run(replace(PRESETS["walkthrough"], params=zeros, text="b a b"))
    assert ranking(trace) == (("b₁", 1 / 3), ("a", 1 / 3), ("b₃", 1 / 3))
    for place in ((3, 0), (0, 1), (-1, 0)):
        with pytest.raises(ScenarioError, match="no such cell"):
            ranking(trace, *place)


# Names of columns.


def test_columns_of_embeddings_carry_the_names_of_their_features() -> None:
    trace = traced("search")
    names = (*examples.TOPICS, *(f"title {i}" for i in range(1, 7)))
    assert trace.labels("x")[1] == trace.labels("context")[1] == trace.labels("w_k")[1] == names
    assert trace.labels("q")[2] == tuple(f"d{i}" for i in range(8))
    assert "generative" in trace.explain("q", 0, 0, 0).text(None)


def test_names_of_features_are_told_apart_and_end_where_the_columns_do() -> None:
    start = replace(PRESETS["walkthrough"], features=("size", "size", "d3"))
    assert run(start).labels("x")[1] == ("size₁", "size₂", "d3₃", "d3₄")
    short = edit.resize(start, d_model=2)[0]
    assert run(short).labels("x")[1] == ("size₁", "size₂")
    assert run(edit.resize(short, d_model=4)[0]).labels("x")[1][2] == "d3₃"


# Causal language model.


def test_each_word_sees_only_its_past() -> None:
    trace = traced("language model")
    assert 6 <= len(trace.tokens) <= 8
    later = np.triu(np.ones((len(trace.tokens),) * 2, bool), k=1)
    assert (trace["attention"][:, later] == 0).all()
    assert (trace["attention"][:, ~later] > 0).all()
    assert "x_positioned" in trace
    words = " ".join(trace.tokens)
    other = run(edit.set_text(PRESETS["language model"], f"{words.rsplit(' ', 1)[0]} hat")[0])
    assert_close(other["output"][:-1], trace["output"][:-1], rel=1e-12, abs_=1e-14)
    assert np.abs(other["output"][-1] - trace["output"][-1]).max() > 0.01


# Why scale.


def test_without_the_scale_softmax_picks_one_key() -> None:
    without, with_ = traced("without scale"), traced("with scale")
    for key in ("q", "k", "v", "scores"):
        assert (without[key] == with_[key]).all()
    assert without["q"].shape[2] == 64
    assert (without["scaled"] == without["scores"]).all()
    assert (with_["scaled"] == with_["scores"] / 8).all()
    assert 7 < without["scores"].std() < 9
    assert without["attention"].max(axis=-1).min() > 0.98
    assert with_["attention"].max(axis=-1).max() < 0.52
    assert with_["attention"].min() > 0.004


# Why position.


def by_word(trace: Trace) -> dict[str, np.ndarray]:
    return dict(zip(trace.tokens, trace["output"], strict=True))


def test_a_shuffled_sentence_gives_each_word_the_same_output() -> None:
    one, other = by_word(traced("word order")), by_word(traced("words shuffled"))
    assert one.keys() == other.keys()
    assert list(one) != list(other)
    assert len(one) == len(traced("word order").tokens)
    for word, row in one.items():
        assert_close(row, other[word], word, rel=1e-12, abs_=1e-15)


def test_with_positions_the_shuffle_is_seen() -> None:
    one, other = (
        by_word(run(edit.set_config(PRESETS[name], positions="sinusoidal")[0]))
        for name in ("word order", "words shuffled")
    )
    assert all(np.abs(row - other[word]).max() > 0.01 for word, row in one.items())


# Why several heads.


def test_one_head_copies_the_previous_word_and_another_finds_the_same_word() -> None:
    trace = traced("two heads")
    previous, same = trace["attention"]
    assert trace.tokens == ("big", "cats", "eat", "big", "fish")
    assert (previous == np.eye(5)[[0, 0, 1, 2, 3]]).all()
    assert (same == np.eye(5)[[3, 1, 2, 0, 4]]).all()
    words = np.eye(4)[[0, 1, 2, 0, 3]]
    assert (trace["heads"][0] == words[[0, 0, 1, 2, 3]]).all()
    assert (trace["heads"][1] == words).all()
    assert set(np.unique(trace["scaled"])) == {0.0, 800.0, 1600.0}


def test_one_head_alone_has_to_share_out() -> None:
    [weights] = traced("one head")["attention"]
    for query, keys in enumerate([{0}, {0, 1}, {1, 2}, {0, 2, 3}, {3, 4}]):
        assert weights[query, sorted(keys)].sum() == pytest.approx(1, abs=1e-15)
    assert weights[1:].max() == 0.5


# A repeated word.


def test_positions_tell_the_places_of_a_repeated_word_apart() -> None:
    plain, placed = traced("repeated word"), traced("repeated word placed")
    assert plain.tokens == placed.tokens
    assert plain.tokens[0] == plain.tokens[3]
    for key in ("q", "scores", "attention", "output"):
        assert (plain[key][..., 0, :] == plain[key][..., 3, :]).all()
        assert np.abs(placed[key][..., 0, :] - placed[key][..., 3, :]).max() > 0.03
    assert (plain["attention"][..., 0] == plain["attention"][..., 3]).all()
