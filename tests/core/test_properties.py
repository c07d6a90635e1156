"""What holds for every attention: agreement with the slow loops, and the laws of the formula."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Config, Params, Trace, multi_head_attention, scaled_dot_product_attention
from attnviz.core import NumberError
from attnviz.core.masks import ALIGNMENTS
from attnviz.core.normalise import NORMALISERS
from attnviz.core.positions import POSITIONS
from tests import oracle
from tests.core.support import (
    SEEDS,
    as_lists,
    assert_close,
    assert_stages,
    random_arrays,
    random_params,
)

TOLERANCE = {"rel": 1e-9, "abs_": 1e-12}
sizes = st.integers(1, 5)


@dataclass(frozen=True)
class Choices:
    """Everything beside q, k, v that an attention can be given."""

    mask: np.ndarray | None
    keep: np.ndarray | None
    bias: np.ndarray | None
    causal: bool
    causal_offset: int
    causal_alignment: str
    scale: float | None
    temperature: float
    softcap: float | None
    normaliser: str
    top_k: int
    positions: str
    position_base: float

    def config(self) -> Config:
        tables = ("mask", "keep", "bias")
        return Config(**{name: v for name, v in vars(self).items() if name not in tables})

    def but(self, **other: Any) -> "Choices":
        return replace(self, **other)

    def for_oracle(self) -> dict[str, Any]:
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(self).items()
        }


PLAIN = ("none", "alibi", "alibi_symmetric")
TURNED = ("rope", "rope_interleaved")
NORMAL = tuple(name for name in NORMALISERS if name != "division")  # which refuses some scores


@st.composite
def choices(
    draw: st.DrawFn,
    heads: int,
    n_queries: int,
    n_keys: int,
    normalisers: Sequence[str] = ("softmax",),
    positions: Sequence[str] = ("none",),
) -> Choices:
    rng = np.random.RandomState(draw(SEEDS))
    shapes = st.sampled_from([None, (n_queries, n_keys), (heads, n_queries, n_keys)])
    mask_shape, bias_shape = draw(shapes), draw(shapes)
    bias = None
    if bias_shape is not None:
        bias = rng.uniform(-2, 2, bias_shape)
        if draw(st.booleans()):
            bias[rng.uniform(size=bias_shape) < 0.3] = -np.inf
    return Choices(
        mask=None if mask_shape is None else rng.uniform(size=mask_shape) < 0.6,
        bias=bias,
        keep=rng.uniform(size=n_keys) < 0.7 if draw(st.booleans()) else None,
        causal=draw(st.booleans()),
        causal_offset=draw(st.integers(-2, 3)),
        causal_alignment=draw(st.sampled_from(sorted(ALIGNMENTS))),
        scale=draw(st.sampled_from([None, 1.0, 0.3, 0.0, -0.5])),
        temperature=draw(st.sampled_from([1.0, 0.5, 3.0])),
        softcap=draw(st.sampled_from([None, 0.5, 2.0, 50.0])),
        normaliser=draw(st.sampled_from(normalisers)),
        top_k=draw(st.integers(1, 6)),
        positions=draw(st.sampled_from(positions)),
        position_base=draw(st.sampled_from([10000.0, 50.0])),
    )


@st.composite
def dot_products(
    draw: st.DrawFn, normalisers: Sequence[str] = ("softmax",), positions: Sequence[str] = ("none",)
) -> tuple[dict[str, np.ndarray], Choices]:
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n_queries, n_keys, d_k, d_v = (draw(sizes) for _ in range(4))
    d_k += d_k == 1 and len(positions) > 1
    arrays = random_arrays(
        draw(SEEDS),
        draw(st.sampled_from([0.01, 1.0, 3.0])),
        q=(kv_heads * group, n_queries, d_k),
        k=(kv_heads, n_keys, d_k),
        v=(kv_heads, n_keys, d_v),
    )
    return arrays, draw(choices(kv_heads * group, n_queries, n_keys, normalisers, positions))


@st.composite
def multi_heads(
    draw: st.DrawFn, normalisers: Sequence[str] = ("softmax",), positions: Sequence[str] = ("none",)
) -> tuple[dict[str, np.ndarray], Params, Choices]:
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    n_queries, d_model, d_context = draw(sizes), draw(sizes), draw(sizes)
    cross = draw(st.booleans())
    params = random_params(
        draw(SEEDS),
        heads=kv_heads * group,
        kv_heads=kv_heads,
        d_model=d_model,
        d_context=d_context if cross else d_model,
        d_k=draw(sizes) + (len(positions) > 1),
        d_v=draw(sizes),
        d_out=draw(st.none() | sizes),
        biases="".join(sorted(draw(st.sets(st.sampled_from("qkvo"))))),
    )
    shapes = {"x": (n_queries, d_model)}
    n_keys = n_queries
    if cross:
        n_keys = draw(sizes)
        shapes["context"] = (n_keys, d_context)
    arrays = random_arrays(draw(SEEDS), **shapes)
    chosen = draw(choices(kv_heads * group, n_queries, n_keys, normalisers, positions))
    return arrays, params, chosen


def attend(arrays: dict[str, np.ndarray], choice: Choices) -> Trace:
    return scaled_dot_product_attention(**arrays, **vars(choice))


@given(dot_products(NORMAL, (*PLAIN, *TURNED)))
def test_dot_product_attention_agrees_with_the_loops(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    expected = oracle.dot_product(**as_lists(arrays), **choice.for_oracle())
    assert_stages(attend(arrays, choice), expected, **TOLERANCE)


@given(multi_heads(NORMAL, tuple(POSITIONS)), SEEDS)
def test_multi_head_attention_agrees_with_the_loops(
    case: tuple[dict[str, np.ndarray], Params, Choices], seed: int
) -> None:
    arrays, params, choice = case
    learned: dict[str, np.ndarray] = {}
    if choice.positions == "learned":
        pairs = (("learned", "x"), ("context_learned", "context"))
        shapes = {name: arrays[of].shape for name, of in pairs if of in arrays}
        learned = random_arrays(seed, **shapes)
    trace = multi_head_attention(
        arrays["x"],
        params,
        choice.config(),
        context=arrays.get("context"),
        mask=choice.mask,
        keep=choice.keep,
        bias=choice.bias,
        positions=learned.get("learned"),
        context_positions=learned.get("context_learned"),
    )
    tables = {**arrays, **params.tables(), **learned}
    expected = oracle.multi_head(**as_lists(tables), **choice.for_oracle())
    assert_stages(trace, expected, **TOLERANCE)


@given(dot_products())
def test_rows_sum_to_one_or_are_empty(case: tuple[dict[str, np.ndarray], Choices]) -> None:
    trace = attend(*case)
    weights, empty = trace["attention"], trace.empty_rows
    assert ((weights >= 0) & (weights <= 1)).all()
    assert_close(weights.sum(axis=-1), np.where(empty, 0.0, 1.0), rel=0, abs_=1e-14)
    assert (weights[empty] == 0).all()
    assert (trace["heads"][empty] == 0).all()
    hidden = np.zeros(weights.shape, bool)
    for name in ("masked", "biased"):
        if name in trace:
            hidden |= np.isneginf(trace[name])
    assert (weights[hidden] == 0).all()
    assert (empty == hidden.all(axis=-1)).all()


@given(dot_products(), st.sampled_from([-300.0, -1.0, 0.25, 700.0]))
def test_softmax_does_not_see_a_shift_of_a_row(
    case: tuple[dict[str, np.ndarray], Choices], shift: float
) -> None:
    arrays, choice = case
    base = attend(arrays, choice)
    bias = np.zeros(base["attention"].shape[1:]) if choice.bias is None else choice.bias
    rows = shift * np.arange(1, bias.shape[-2] + 1)[:, None]  # another shift for each query
    moved = attend(arrays, choice.but(bias=bias + rows))
    assert_close(moved["attention"], base["attention"], rel=1e-9, abs_=1e-12)


@given(multi_heads(), SEEDS)
def test_permuted_tokens_give_permuted_rows(
    case: tuple[dict[str, np.ndarray], Params, Choices], seed: int
) -> None:
    arrays, params, choice = case
    if params.w_q.shape[1] != params.w_k.shape[1]:
        params = random_params(seed, d_model=arrays["x"].shape[1])
    config = Config(choice.scale, choice.softcap)
    order = np.random.RandomState(seed).permutation(len(arrays["x"]))
    straight = multi_head_attention(arrays["x"], params, config)
    turned = multi_head_attention(arrays["x"][order], params, config)
    assert_close(turned[turned.result], straight[straight.result][order], **TOLERANCE)
    weights = straight["attention"][:, order][:, :, order]
    assert_close(turned["attention"], weights, **TOLERANCE)


@given(dot_products(), SEEDS)
def test_permuted_keys_change_nothing_but_their_columns(
    case: tuple[dict[str, np.ndarray], Choices], seed: int
) -> None:
    arrays, choice = case
    order = np.random.RandomState(seed).permutation(arrays["k"].shape[1])
    fixed = {**vars(choice), "causal": False}
    straight = attend(arrays, Choices(**fixed))
    for name in ("mask", "keep", "bias"):
        if fixed[name] is not None:
            fixed[name] = fixed[name][..., order]
    moved = {"q": arrays["q"], "k": arrays["k"][:, order], "v": arrays["v"][:, order]}
    turned = attend(moved, Choices(**fixed))
    assert_close(turned["attention"], straight["attention"][..., order], **TOLERANCE)
    assert_close(turned["concat"], straight["concat"], **TOLERANCE)


@given(dot_products())
def test_heads_stand_side_by_side_in_order(case: tuple[dict[str, np.ndarray], Choices]) -> None:
    trace = attend(*case)
    width = trace["heads"].shape[2]
    for head, rows in enumerate(trace["heads"]):
        columns = slice(head * width, (head + 1) * width)
        assert (trace["concat"][:, columns] == rows).all()
        expected = tuple(f"h{head + 1} d{i}" for i in range(width))
        assert trace.labels("concat")[1][columns] == expected


@given(dot_products())
def test_shared_key_value_heads_equal_repeated_ones(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    group = len(arrays["q"]) // len(arrays["k"])
    repeated = {name: np.repeat(arrays[name], group, axis=0) for name in ("k", "v")}
    one = attend(arrays, choice)
    other = attend({**arrays, **repeated}, choice)
    assert_close(one["concat"], other["concat"], **TOLERANCE)
    assert_close(one["attention"], other["attention"], **TOLERANCE)


@given(dot_products())
def test_causal_is_the_mask_it_says(case: tuple[dict[str, np.ndarray], Choices]) -> None:
    arrays, choice = case
    n_queries, n_keys = arrays["q"].shape[1], arrays["k"].shape[1]
    shift = choice.causal_offset
    if choice.causal_alignment == "bottom-right":
        shift += n_keys - n_queries
    allowed = np.array([[j <= i + shift for j in range(n_keys)] for i in range(n_queries)])
    by_switch = attend(arrays, choice.but(causal=True))
    mask = allowed if choice.mask is None else allowed & choice.mask
    by_mask = attend(arrays, choice.but(causal=False, mask=mask))
    assert (by_switch["masked"] == by_mask["masked"]).all()


@given(multi_heads())
def test_a_causal_row_does_not_see_later_tokens(
    case: tuple[dict[str, np.ndarray], Params, Choices],
) -> None:
    arrays, params, choice = case
    if params.w_q.shape[1] != params.w_k.shape[1]:
        params = random_params(7, d_model=params.w_q.shape[1])
    config = Config(choice.scale, choice.softcap, causal=True)
    whole = multi_head_attention(arrays["x"], params, config)
    for length in range(1, len(arrays["x"]) + 1):
        prefix = multi_head_attention(arrays["x"][:length], params, config)
        assert_close(prefix[prefix.result], whole[whole.result][:length], **TOLERANCE)


@given(dot_products())
def test_cross_attention_to_the_same_text_is_self_attention(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    x = case[0]["q"][0]
    params = random_params(3, d_model=x.shape[1], biases="qkvo")
    alone = multi_head_attention(x, params)
    crossed = multi_head_attention(x, params, context=x)
    for stage in alone.stages:
        assert (alone[stage.key] == crossed[stage.key]).all()


@given(dot_products())
def test_a_large_cap_and_a_zero_bias_change_nothing(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    plain = attend(arrays, choice.but(softcap=None, bias=None))
    zeros = np.zeros(plain["attention"].shape)
    dressed = attend(arrays, choice.but(softcap=1e9, bias=zeros))
    assert_close(dressed["attention"], plain["attention"], rel=1e-9, abs_=1e-12)


@given(dot_products(NORMAL, PLAIN))
def test_an_infinite_cap_and_a_temperature_of_one_are_the_identity(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    plain = attend(arrays, replace(choice, softcap=None, temperature=1.0))
    trace = attend(arrays, replace(choice, softcap=np.inf, temperature=1.0))
    assert_stages(trace, {stage.key: plain[stage.key] for stage in plain.stages}, rel=0, abs_=0)


@given(dot_products(NORMAL, PLAIN), st.sampled_from([0.25, 3.0]))
def test_a_temperature_is_a_smaller_scale(
    case: tuple[dict[str, np.ndarray], Choices], temperature: float
) -> None:
    arrays, choice = case
    scale = 1 / np.sqrt(arrays["q"].shape[2]) if choice.scale is None else choice.scale
    warm = attend(arrays, choice.but(temperature=temperature))
    small = attend(arrays, choice.but(temperature=1.0, scale=float(scale / temperature)))
    if choice.normaliser != "top_k":  # where rounding may decide a tie
        assert_close(warm["attention"], small["attention"], rel=1e-9, abs_=1e-12)
    assert_close(warm["tempered"], small["scaled"], rel=1e-12, abs_=1e-14)
    assert "tempered" not in small


@pytest.mark.parametrize("shape", [(1, 5), (4, 1), (1, 4, 5), (2, 1, 5), (2, 4, 1), (1, 1, 1)])
def test_an_axis_of_length_one_in_a_mask_or_bias_stands_for_the_whole(
    shape: tuple[int, ...],
) -> None:
    arrays = random_arrays(1, q=(2, 4, 3), k=(1, 5, 3), v=(1, 5, 2))
    rng = np.random.RandomState(2)
    small: dict[str, Any] = {"mask": rng.uniform(size=shape) < 0.6, "bias": rng.uniform(size=shape)}
    full = {name: np.broadcast_to(table, (2, 4, 5)) for name, table in small.items()}
    trace, expected = (scaled_dot_product_attention(**arrays, **tables) for tables in (small, full))
    stages = {stage.key: expected[stage.key] for stage in expected.stages}
    assert_stages(trace, stages, rel=0, abs_=0)
    for name in small:
        assert trace[name].shape == ((2, 4, 5) if shape[0] == 2 else (4, 5))
    cell = trace.explain("biased", head=1, row=3, col=4)
    assert cell.total == trace["biased"][1, 3, 4]


@given(dot_products(NORMAL, PLAIN))
def test_kept_keys_are_a_mask_of_whole_columns(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    n_queries, n_keys = arrays["q"].shape[1], arrays["k"].shape[1]
    keep = np.arange(n_keys) % 3 != 1
    columns = np.broadcast_to(keep, (n_queries, n_keys))
    by_keys = attend(arrays, choice.but(keep=keep, mask=None))
    by_mask = attend(arrays, choice.but(keep=None, mask=columns))
    assert (by_keys["masked"] == by_mask["masked"]).all()
    assert (by_keys["concat"] == by_mask["concat"]).all()


@pytest.mark.parametrize("kind", TURNED)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(2, 7), st.integers(1, 9), SEEDS)
def test_rotary_scores_depend_on_differences_of_places_only(
    kind: str, n_queries: int, n_keys: int, d_k: int, shift: int, seed: int
) -> None:
    arrays = random_arrays(seed, q=(2, n_queries, d_k), k=(1, n_keys, d_k), v=(1, n_keys, 1))
    here = scaled_dot_product_attention(**arrays, positions=kind)
    before = dict.fromkeys(arrays, ((0, 0), (shift, 0), (0, 0)))
    later = {name: np.pad(arrays[name], pad) for name, pad in before.items()}
    there = scaled_dot_product_attention(**later, positions=kind)
    assert_close(there["scores"][:, shift:, shift:], here["scores"], rel=1e-9, abs_=1e-12)
    lengths = np.linalg.norm(arrays["q"], axis=-1)
    assert_close(np.linalg.norm(here["q_rotated"], axis=-1), lengths, rel=1e-12, abs_=1e-14)
    assert (here["q_rotated"][:, 0] == arrays["q"][:, 0]).all()  # place 0 does not turn


@given(st.integers(2, 4), st.integers(4, 9), SEEDS)
def test_columns_that_are_not_rotary_stay(n: int, d_k: int, seed: int) -> None:
    arrays = random_arrays(seed, q=(1, n, d_k), k=(1, n, d_k), v=(1, n, 1))
    for kind in TURNED:
        trace = scaled_dot_product_attention(**arrays, positions=kind, rope_dims=2)
        assert (trace["q_rotated"][..., 2:] == arrays["q"][..., 2:]).all()
        assert (trace["k_rotated"][:, 1:, :2] != arrays["k"][:, 1:, :2]).any()
    alone = {name: arrays[name][..., :2] for name in "qk"}
    two = scaled_dot_product_attention(**alone, v=arrays["v"], positions="rope")
    assert_close(trace["q_rotated"][..., :2], two["q_rotated"], rel=1e-12, abs_=1e-15)


@given(dot_products(NORMAL))
def test_alibi_is_an_additive_bias(case: tuple[dict[str, np.ndarray], Choices]) -> None:
    arrays, choice = case
    n_heads, n_queries, n_keys = len(arrays["q"]), arrays["q"].shape[1], arrays["k"].shape[1]
    ahead = np.arange(n_keys)[None, :] - np.arange(n_queries)[:, None]
    own = 0.0 if choice.bias is None else choice.bias
    slopes = np.array(oracle.slopes(n_heads))[:, None, None]
    for kind, distance in (("alibi", ahead), ("alibi_symmetric", -np.abs(ahead))):
        by_name = attend(arrays, choice.but(positions=kind))
        by_table = attend(arrays, choice.but(bias=slopes * distance + own))
        assert_close(by_name["biased"], by_table["biased"], rel=1e-12, abs_=1e-12)


@given(st.integers(1, 6), st.integers(1, 9), st.booleans(), SEEDS)
def test_added_positions_are_other_embeddings(n: int, width: int, cross: bool, seed: int) -> None:
    arrays = random_arrays(seed, x=(n, width), context=(n + 1, width), learned=(n + 1, width))
    params = random_params(seed, d_model=width, biases="qkvo")
    context = arrays["context"] if cross else None
    for kind in ("sinusoidal", "sinusoidal_concat", "learned"):
        tables = {"positions": arrays["learned"], "context_positions": arrays["learned"]}
        given_tables = tables if kind == "learned" else {}
        config = Config(positions=kind)
        named = multi_head_attention(arrays["x"], params, config, context=context, **given_tables)
        added = oracle.add_positions(
            np.zeros((n + 1, width)).tolist(), kind, 10000.0, arrays["learned"].tolist()
        )
        moved = None if context is None else context + np.array(added)
        other = multi_head_attention(arrays["x"] + np.array(added)[:n], params, context=moved)
        assert_close(named["output"], other["output"], rel=1e-9, abs_=1e-12)


# Normalisers.


@given(dot_products())
def test_softmax_plus_one_is_softmax_with_a_key_of_score_and_value_zero(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    choice = choice.but(mask=None, keep=None, bias=None, causal=False)
    more = {name: np.pad(arrays[name], ((0, 0), (0, 1), (0, 0))) for name in "kv"}
    one = attend(arrays, choice.but(normaliser="softmax_plus_one"))
    other = attend({**arrays, **more}, choice)
    assert_close(one["attention"], other["attention"][..., :-1], rel=1e-9, abs_=1e-12)
    assert_close(one["concat"], other["concat"], rel=1e-9, abs_=1e-12)
    assert (one["attention"].sum(axis=-1) < 1).all()


@given(dot_products(), st.integers(1, 6))
def test_top_k_keeps_the_largest_and_softmax_shares_among_them(
    case: tuple[dict[str, np.ndarray], Choices], k: int
) -> None:
    arrays, choice = case
    trace = attend(arrays, choice.but(normaliser="top_k", top_k=k))
    full = attend(arrays, choice)
    weights, n_keys = trace["attention"], arrays["k"].shape[1]
    if k >= n_keys:
        assert (weights == full["attention"]).all()
    for row, all_ in zip(
        weights.reshape(-1, n_keys), full["attention"].reshape(-1, n_keys), strict=True
    ):
        kept = all_ >= sorted(all_)[-min(k, n_keys)]
        assert_close(row.sum(), float(all_.any()), rel=0, abs_=1e-12)
        assert (row[~kept] == 0).all()
        assert_close(row * all_.sum(where=kept), np.where(kept, all_, 0), rel=1e-9, abs_=1e-12)


@given(dot_products(("softmax_columns",), PLAIN))
def test_softmax_of_columns_is_softmax_of_the_turned_scores(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    trace = attend(arrays, choice)
    last = [s.key for s in trace.stages if s.axes == ("head", "query", "key")][-2]
    turned = [oracle.weigh(head.T.tolist(), "softmax") for head in trace[last]]
    assert_close(trace["attention"].swapaxes(1, 2), turned, rel=1e-9, abs_=1e-12)


@given(dot_products(("sigmoid",), PLAIN), st.integers(0, 4))
def test_a_sigmoid_weight_does_not_see_the_other_keys(
    case: tuple[dict[str, np.ndarray], Choices], key: int
) -> None:
    arrays, choice = case
    choice = choice.but(mask=None, keep=None, bias=None, causal=False, positions="none")
    key %= arrays["k"].shape[1]
    alone = {**arrays, **{name: arrays[name][:, key : key + 1] for name in "kv"}}
    whole, one = attend(arrays, choice), attend(alone, choice)
    assert_close(whole["attention"][..., [key]], one["attention"], rel=1e-9, abs_=1e-12)
    assert ((whole["attention"] > 0) & (whole["attention"] < 1)).all()


@given(st.integers(1, 4), st.integers(1, 5), SEEDS)
def test_plain_division_shares_by_size_among_the_keys_that_are_shown(
    n_queries: int, n_keys: int, seed: int
) -> None:
    q = random_arrays(seed, q=(1, n_queries, 2))["q"] + 2.0
    k = random_arrays(seed, k=(1, n_keys, 2))["k"] + 2.0
    mask = np.random.RandomState(seed).uniform(size=(n_queries, n_keys)) < 0.7
    trace = scaled_dot_product_attention(
        q, k, np.ones((1, n_keys, 1)), mask=mask, normaliser="division"
    )
    shown = np.where(mask, trace["scaled"], 0.0)
    sums = trace["attention"].sum(axis=-1)
    assert_close(sums[0], mask.any(axis=-1).astype(float), rel=1e-12, abs_=1e-12)
    assert_close(trace["attention"] * shown.sum(axis=-1, keepdims=True), shown, **TOLERANCE)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[1.0, 2.0, 0.5], [3.0, -1.0, -2.0]], ["head 1, row 2", "zero"]),
        ([[0.0, 0.0, 0.0]], ["head 1, row 1", "zero"]),
        ([[1e308, 1e308, 1e308]], ["head 1, row 1", "float64"]),
    ],
)
def test_plain_division_by_nothing_is_refused_by_stage_and_row(
    scores: list[list[float]], words: list[str]
) -> None:
    q, k = np.array([scores]), np.eye(3)[None]
    with pytest.raises(NumberError) as refused:
        scaled_dot_product_attention(q, k, k, scale=1.0, normaliser="division")
    assert refused.value.where.startswith("Attention weights")
    for word in words:
        assert word in str(refused.value)


def test_plain_division_gives_zeros_where_nothing_may_be_attended() -> None:
    q = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    trace = scaled_dot_product_attention(
        q, q, q, mask=[[True, True], [False, False]], normaliser="division"
    )
    assert (trace["attention"][0, 1] == 0).all()
    assert trace.empty_rows.tolist() == [[False, True]]


@pytest.mark.parametrize("name", NORMALISERS)
def test_normalisers_say_whether_their_rows_sum_to_one(name: str) -> None:
    arrays = random_arrays(3, q=(2, 3, 4), k=(2, 5, 4), v=(2, 5, 1))
    arrays["q"], arrays["k"] = np.abs(arrays["q"]), np.abs(arrays["k"])
    sums = scaled_dot_product_attention(**arrays, normaliser=name)["attention"].sum(axis=-1)
    assert np.allclose(sums, 1.0, rtol=0, atol=1e-12) == NORMALISERS[name].sums_to_one
    assert bool(NORMALISERS[name].warning) == ("mistake" in NORMALISERS[name].label)


@pytest.mark.parametrize("name", NORMALISERS)
def test_scores_of_any_size_give_finite_weights_and_no_warning(
    name: str, recwarn: pytest.WarningsRecorder
) -> None:
    rows = [[1e308, -1e308, 700.0], [-801.0, 800.0, 0.0], [-1e300, -1e300, -1.0], [-900.0] * 3]
    scores = np.array([rows])
    trace = scaled_dot_product_attention(
        scores, np.eye(3)[None], np.eye(3)[None], scale=1.0, normaliser=name
    )
    assert np.isfinite(trace["attention"]).all()
    for i, j in np.ndindex(4, 3):
        derivation = trace.explain("attention", 0, i, j)
        assert_close(derivation.total, derivation.value, rel=1e-12, abs_=1e-300)
    trace.stages[-3].op.equation(trace.values, 0)
    assert not recwarn.list


@given(st.integers(1, 6), st.integers(1, 6), SEEDS)
def test_equal_scores_share_evenly_and_values_are_averaged(n: int, d_v: int, seed: int) -> None:
    v = random_arrays(seed, v=(1, n, d_v))["v"]
    trace = scaled_dot_product_attention(np.zeros((1, 2, 3)), np.ones((1, n, 3)), v)
    assert_close(trace["attention"], np.full((1, 2, n), 1 / n), **TOLERANCE)
    assert_close(trace["heads"], np.stack([v.mean(axis=1)] * 2, axis=1), **TOLERANCE)


@given(dot_products())
def test_the_same_input_gives_the_same_bits(case: tuple[dict[str, np.ndarray], Choices]) -> None:
    one, other = attend(*case), attend(*case)
    for stage in one.stages:
        assert one[stage.key].tobytes() == other[stage.key].tobytes()


@pytest.mark.parametrize("scale", [None, 1.0, 0.25, -2.0])
def test_scores_are_divided_by_the_root_of_d_k_or_times_the_scale(scale: float | None) -> None:
    arrays = random_arrays(5, q=(2, 3, 7), k=(2, 4, 7), v=(2, 4, 1))
    trace = scaled_dot_product_attention(**arrays, scale=scale)
    factor = 7**-0.5 if scale is None else scale
    assert_close(trace["scaled"], trace["scores"] * factor, **TOLERANCE)


def test_a_scale_of_zero_weighs_all_keys_alike() -> None:
    arrays = random_arrays(5, q=(2, 3, 7), k=(2, 4, 7), v=(2, 4, 1))
    trace = scaled_dot_product_attention(**arrays, scale=0.0)
    assert (trace["attention"] == 0.25).all()
