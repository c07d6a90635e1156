"""Inputs that broke other tools of this kind; each test's name begins with the case's id."""

import math
import unicodedata
from datetime import date, timedelta

import numpy as np
import pytest

from attnviz import (
    PRESETS,
    Config,
    Scenario,
    Sizes,
    multi_head_attention,
    run,
    scaled_dot_product_attention,
)
from attnviz.core import LimitError, NumberError, ScenarioError, ShapeError, edit
from attnviz.core.text import TOKENIZERS, visible
from tests.core.support import assert_close, random_params

START = PRESETS["walkthrough"]


def with_text(text: str) -> Scenario:
    return edit.set_text(START, text)[0]


def test_b01_repeated_words_keep_three_rows_and_three_names() -> None:
    trace = run(edit.set_cells(with_text("the cat the"), "x", {(2, 0): 3.0})[0])
    assert trace["attention"].shape == (2, 3, 3)
    for key in ("x", "q", "k", "v", "heads", "concat", "output"):
        assert trace.labels(key)[-2] == ("the₁", "cat", "the₃")
        assert len(trace[key].reshape(-1, 3, trace[key].shape[-1])[0]) == 3
    assert trace.labels("attention")[1:] == (("the₁", "cat", "the₃"),) * 2
    assert (trace["q"][:, 0] != trace["q"][:, 2]).any()
    assert "the₃ attends to the₁" in trace.sentence("attention", 0, 2, 0)
    assert "q_the₃ · k_the₁" in trace.explain("scores", 0, 2, 0).text()


def test_b01_repeated_words_without_an_edit_have_equal_rows() -> None:
    trace = run(with_text("the cat the"))
    assert (trace["output"][0] == trace["output"][2]).all()


@pytest.mark.parametrize("text", ["1 2 10", "2024 is 2025", "1E1 2A1 3E2", "0 00 -0", "1.0 1 1e0"])
def test_b02_numbers_as_words_keep_their_names(text: str) -> None:
    trace = run(with_text(text))
    assert trace.tokens == tuple(text.split())
    assert trace.labels("attention")[1:] == (tuple(text.split()),) * 2
    assert len({row.tobytes() for row in trace["x"]}) == 3


def test_b03_dates_as_words_keep_their_names() -> None:
    first = date(2024, 1, 1)
    dates = tuple((first + timedelta(weeks=n)).isoformat() for n in range(3))
    assert run(with_text(" ".join(dates))).labels("x")[0] == dates


MARKUP = ["<s>", "a&b", "<b>bold</b>", "<script>alert(1)</script>", "&lt;", "%{z}", "$x$", r"\frac"]


def test_b04_markup_as_words_is_kept_letter_for_letter() -> None:
    trace = run(with_text(" ".join(MARKUP)))
    assert trace.labels("attention")[1] == tuple(MARKUP)
    for row, token in enumerate(MARKUP):
        assert token in trace.explain("scores", 0, row, 0).text()
        assert trace.sentence("attention", 0, row, 0).startswith(token)


def test_b04_markup_is_escaped_in_latex() -> None:
    trace = run(with_text(r"a&b 50% x_1 {y} $z$ \frac ^ ~ #"))
    latex = trace.explain("attention", 0, 5, 3).latex + trace.explain("scores", 0, 8, 2).latex
    assert r"\text{\textbackslash{}frac}" in latex
    assert r"\text{\{y\}}" in latex
    assert r"\text{\#}" in latex
    assert r"\text{x\_1}" in latex


B06 = [
    "Wie",
    "geht",
    "es",
    "dir",
    "Straße",
    "日本語",
    "مرحبا",
    "🏳️‍🌈",
    "🇩🇪",
    "é",
    "e\u0301",
    "\u200b",
]


def test_b06_each_is_one_token_with_one_name() -> None:
    trace = run(with_text(" ".join(B06)))
    assert trace.tokens == tuple(B06)
    labels = trace.labels("attention")[2]
    assert len({unicodedata.normalize("NFC", label) for label in labels}) == len(B06)
    for token, label in zip(B06, labels, strict=True):
        if token != "\u200b":
            assert label.startswith(token)
    assert labels[-1] == "⟨U+200B⟩"


def test_b06_two_codings_of_a_letter_stay_two_texts() -> None:
    scenario = with_text("é e\u0301")
    assert scenario.text == "é e\u0301"
    assert scenario.tokens == ("é", "e\u0301")
    assert scenario.x[0].tolist() != scenario.x[1].tolist()
    assert [label[1:] for label in run(scenario).labels("x")[0]] == ["₁", "\u0301₂"]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_b06_every_tokenizer_keeps_what_a_reader_sees_as_one_together(tokenizer: str) -> None:
    text = ("\n" if tokenizer == "lines" else " ").join(B06)
    tokens = TOKENIZERS[tokenizer](text)
    for whole in ("🏳️‍🌈", "🇩🇪", "é", "e\u0301", "\u200b"):
        assert whole in tokens
    assert {"日本語"} <= set(tokens) or {"日", "本", "語"} <= set(tokens)


def test_b06_invisible_tokens_can_be_told_apart() -> None:
    shown = [visible(token) for token in ("\u200b", "\u200c", "\u00a0", " ", "\t", "\n", "")]
    assert len(set(shown)) == len(shown)
    assert all(shown)


LADDER = {"q": [[[1.0], [1.0], [1.0]]], "k": [[[0.0], [1.0], [2.0]]], "v": [[[1.0], [2.0], [4.0]]]}
HIDDEN_ROW = [[True] * 3, [True] * 3, [False] * 3]


@pytest.mark.parametrize("way", ["mask", "bias", "mask for each head"])
def test_b09_a_query_that_may_attend_to_nothing_gives_zeros(way: str) -> None:
    mask = np.array(HIDDEN_ROW)
    given = {
        "mask": {"mask": mask},
        "bias": {"bias": np.where(mask, 0.0, -np.inf)},
        "mask for each head": {"mask": mask[None]},
    }[way]
    trace = scaled_dot_product_attention(**LADDER, scale=1.0, **given)
    expected = [0.0900, 0.2447, 0.6652]
    assert_close(trace["attention"][0, :2], [expected] * 2, rel=0, abs_=5e-5)
    assert (trace["attention"][0, 2] == 0).all()
    assert (trace["heads"][0, 2] == 0).all()
    assert (trace["concat"][2] == 0).all()
    assert trace.empty_rows.tolist() == [[False, False, True]]
    assert "nothing" in trace.explain("attention", 0, 2, 1).note
    for stage in trace.stages:
        assert not np.isnan(trace[stage.key]).any()


def test_b09_an_empty_row_passes_only_the_output_bias_on() -> None:
    params = random_params(1, biases="o")
    trace = multi_head_attention(np.ones((2, 4)), params, Config(causal=True, causal_offset=-1))
    assert trace.empty_rows.tolist() == [[True, False]] * 2
    assert (trace["output"][0] == params.b_o).all()


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ([1000.0, 1000.0, 0.0], [0.5, 0.5, 0.0]),
        ([710.0, 0.0, -710.0], [1.0, 0.0, 0.0]),
        ([-1000.0, -1000.0, -1000.0], [1 / 3] * 3),
        ([1e308, -1e308, 0.0], [1.0, 0.0, 0.0]),
    ],
)
def test_b11_large_scores_give_exact_weights_and_no_warning(
    scores: list[float], weights: list[float], recwarn: pytest.WarningsRecorder
) -> None:
    k = np.array(scores).reshape(1, 3, 1)
    trace = scaled_dot_product_attention([[[1.0]]], k, k * 0 + 1, scale=1.0)
    assert_close(trace["attention"], [[weights]], rel=1e-15, abs_=1e-300)
    assert_close(trace.explain("attention", 0, 0, 1).total, weights[1], rel=1e-15, abs_=1e-300)
    assert not recwarn.list


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_b11_an_infinity_in_a_table_is_refused_with_its_cell(value: float) -> None:
    with pytest.raises(NumberError, match=r"^W_K, head 2, row 4, column 1:"):
        edit.set_cells(START, "w_k", {(1, 3, 0): value})


def test_b15_width_16_with_3_heads_takes_a_free_d_k() -> None:
    scenario, _ = edit.resize(START, n_heads=3, d_model=16, d_k=5, d_v=6, d_out=16)
    assert scenario.sizes == Sizes(3, 16, 5, 6, 16)
    assert run(scenario)["output"].shape == (3, 16)


def test_b15_width_4_with_3_heads_and_more_heads_than_width_work() -> None:
    for heads in (3, 5, 32):
        trace = run(edit.resize(START, n_heads=heads)[0])
        assert trace["attention"].shape == (heads, 3, 3)
        assert trace["output"].shape == (3, 4)


@pytest.mark.parametrize(("heads", "nearest"), [(0, 1), (-2, 1), (33, 32)])
def test_b15_an_illegal_number_of_heads_is_refused_with_the_nearest(
    heads: int, nearest: int
) -> None:
    with pytest.raises(LimitError, match=f"nearest legal value is {nearest}"):
        edit.resize(START, n_heads=heads)


def test_b15_key_heads_that_do_not_divide_are_refused_with_those_that_do() -> None:
    with pytest.raises(ShapeError, match="one of 1, 2, 3, 6"):
        edit.resize(edit.resize(START, n_heads=6)[0], n_kv_heads=4)


def test_b16_every_visit_gives_the_same_numbers() -> None:
    scenario = with_text("the cat sat the")
    forth = {stage.key: run(scenario)[stage.key].tobytes() for stage in run(scenario).stages}
    away, _ = edit.set_text(scenario, "other words")
    away, _ = edit.resize(edit.set_config(away, causal=True)[0], n_heads=4)
    back, _ = edit.resize(edit.set_config(away, causal=False)[0], n_heads=2)
    back, _ = edit.set_text(back, "the cat sat the")
    trace = run(back)
    for stage in reversed(trace.stages):
        assert trace[stage.key].tobytes() == forth[stage.key], stage.key


def test_b19_four_cells_one_after_another_are_all_kept() -> None:
    scenario = START
    cells = {
        ("w_q", (0, 0, 0)): 1.5,
        ("w_k", (1, 2, 1)): -2.0,
        ("x", (1, 3)): 0.25,
        ("w_o", (3, 3)): 9.0,
    }
    for (table, index), value in cells.items():
        scenario, _ = edit.set_cells(scenario, table, {index: value})
    trace = run(scenario)
    assert all(trace[table][index] == value for (table, index), value in cells.items())


def test_b21_adding_a_word_and_going_from_4_to_6_and_back_loses_nothing() -> None:
    typed, _ = edit.set_cells(START, "w_q", {(1, 3, 1): -7.0})
    typed, _ = edit.set_cells(typed, "x", {(2, 3): 0.125})
    longer, _ = edit.set_text(typed, "major league baseball cap")
    assert (longer.x[:3] == typed.x).all()
    wider, note = edit.resize(longer, d_model=6)
    assert "d_model 4 → 6" in note
    assert "W_Q keeps 16 of 16 cells" in note
    assert all(np.isfinite(run(wider)[stage.key]).all() for stage in run(wider).stages)
    assert (wider.x[:, :4] == longer.x).all()
    back, note = edit.resize(wider, d_model=4)
    assert "d_model 6 → 4" in note
    assert back.same(longer)
    assert edit.set_text(back, START.text)[0].same(typed)


def test_b21_a_deleted_cell_is_refused_and_never_becomes_nan() -> None:
    for nothing in (None, math.nan, ""):
        with pytest.raises(NumberError, match=r"^W_V, head 1, row 1, column 2:"):
            edit.set_cells(START, "w_v", {(0, 0, 1): nothing})


def test_b22_both_heads_with_the_same_tables_are_both_there() -> None:
    scenario = START
    for name in ("w_q", "w_k", "w_v"):
        scenario, _ = edit.set_table(scenario, name, START.params.tables()[name][0], head=1)
    trace = run(scenario)
    for key in ("q", "k", "v", "scores", "attention", "heads"):
        assert trace[key].shape[0] == 2
        assert (trace[key][0] == trace[key][1]).all()
        assert trace.labels(key)[0] == ("head 1", "head 2")
    assert trace.explain("q", 0, 1, 0).title != trace.explain("q", 1, 1, 0).title


def test_b23_one_query_against_five_titles() -> None:
    titles = ["Deep Learning", "Cats", "PyTorch", "Dogs", "Generative AI"]
    params = random_params(1, heads=1, d_k=4, d_v=2, d_out=None)
    trace = multi_head_attention(
        np.ones((1, 4)),
        params,
        context=np.random.RandomState(1).uniform(size=(5, 4)),
        tokens=["generative AI"],
        context_tokens=titles,
    )
    assert trace["attention"].shape == (1, 1, 5)
    assert trace.labels("attention") == (("head 1",), ("generative AI",), tuple(titles))
    assert trace["concat"].shape == (1, 2)
    assert trace.labels("v")[1] == tuple(titles)
    assert trace.labels("q")[1] == ("generative AI",)


def test_b23_three_queries_seven_keys_and_values_of_another_width() -> None:
    rng = np.random.RandomState(2)
    q, k, v = (rng.uniform(size=shape) for shape in ((1, 3, 4), (1, 7, 4), (1, 7, 2)))
    trace = scaled_dot_product_attention(q, k, v)
    shapes = {stage.key: trace[stage.key].shape for stage in trace.stages}
    assert shapes["scores"] == shapes["attention"] == (1, 3, 7)
    assert shapes["heads"] == (1, 3, 2)
    assert shapes["concat"] == (3, 2)
    assert [len(names) for names in trace.labels("attention")] == [1, 3, 7]
    assert (trace["scaled"] == trace["scores"] / 2).all()
    with pytest.raises(ScenarioError, match=r"\(1, 3, 7\)"):
        trace.explain("scores", 0, 6, 2)
