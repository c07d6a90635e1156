"""What holds for every attention: agreement with the slow loops, and the laws of the formula."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Config, Params, Trace, multi_head_attention, scaled_dot_product_attention
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
    bias: np.ndarray | None
    causal: bool
    causal_offset: int
    scale: float | None
    softcap: float | None

    def config(self) -> Config:
        return Config(self.scale, self.softcap, self.causal, self.causal_offset)

    def for_oracle(self) -> dict[str, Any]:
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(self).items()
        }


@st.composite
def choices(draw: st.DrawFn, heads: int, n_queries: int, n_keys: int) -> Choices:
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
        causal=draw(st.booleans()),
        causal_offset=draw(st.integers(-2, 3)),
        scale=draw(st.sampled_from([None, 1.0, 0.3, 0.0, -0.5])),
        softcap=draw(st.sampled_from([None, 0.5, 2.0, 50.0])),
    )


@st.composite
def dot_products(draw: st.DrawFn) -> tuple[dict[str, np.ndarray], Choices]:
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n_queries, n_keys, d_k, d_v = (draw(sizes) for _ in range(4))
    arrays = random_arrays(
        draw(SEEDS),
        draw(st.sampled_from([0.01, 1.0, 3.0])),
        q=(kv_heads * group, n_queries, d_k),
        k=(kv_heads, n_keys, d_k),
        v=(kv_heads, n_keys, d_v),
    )
    return arrays, draw(choices(kv_heads * group, n_queries, n_keys))


@st.composite
def multi_heads(draw: st.DrawFn) -> tuple[dict[str, np.ndarray], Params, Choices]:
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    n_queries, d_model, d_context = draw(sizes), draw(sizes), draw(sizes)
    cross = draw(st.booleans())
    params = random_params(
        draw(SEEDS),
        heads=kv_heads * group,
        kv_heads=kv_heads,
        d_model=d_model,
        d_context=d_context if cross else d_model,
        d_k=draw(sizes),
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
    return arrays, params, draw(choices(kv_heads * group, n_queries, n_keys))


def attend(arrays: dict[str, np.ndarray], choice: Choices) -> Trace:
    return scaled_dot_product_attention(**arrays, **vars(choice))


@given(dot_products())
def test_dot_product_attention_agrees_with_the_loops(
    case: tuple[dict[str, np.ndarray], Choices],
) -> None:
    arrays, choice = case
    expected = oracle.dot_product(**as_lists(arrays), **choice.for_oracle())
    assert_stages(attend(arrays, choice), expected, **TOLERANCE)


@given(multi_heads())
def test_multi_head_attention_agrees_with_the_loops(
    case: tuple[dict[str, np.ndarray], Params, Choices],
) -> None:
    arrays, params, choice = case
    trace = multi_head_attention(
        arrays["x"],
        params,
        choice.config(),
        context=arrays.get("context"),
        mask=choice.mask,
        bias=choice.bias,
    )
    expected = oracle.multi_head(
        **as_lists(arrays), **as_lists(params.tables()), **choice.for_oracle()
    )
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
    moved = attend(arrays, Choices(**{**vars(choice), "bias": bias + rows}))
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
    for name in ("mask", "bias"):
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
    allowed = np.array(
        [[j <= i + choice.causal_offset for j in range(n_keys)] for i in range(n_queries)]
    )
    by_switch = attend(arrays, Choices(**{**vars(choice), "causal": True}))
    mask = allowed if choice.mask is None else allowed & choice.mask
    by_mask = attend(arrays, Choices(**{**vars(choice), "causal": False, "mask": mask}))
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
    plain = attend(arrays, Choices(**{**vars(choice), "softcap": None, "bias": None}))
    zeros = np.zeros(plain["attention"].shape)
    dressed = attend(arrays, Choices(**{**vars(choice), "softcap": 1e9, "bias": zeros}))
    assert_close(dressed["attention"], plain["attention"], rel=1e-9, abs_=1e-12)


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
def test_the_divisor_is_what_scores_are_divided_by(scale: float | None) -> None:
    arrays = random_arrays(5, q=(2, 3, 7), k=(2, 4, 7), v=(2, 4, 1))
    trace = scaled_dot_product_attention(**arrays, scale=scale)
    assert_close(trace["scaled"] * trace.divisor, trace["scores"], **TOLERANCE)
    if scale is None:
        assert trace.divisor == np.sqrt(7)


def test_a_scale_of_zero_has_no_divisor() -> None:
    arrays = random_arrays(5, q=(2, 3, 7), k=(2, 4, 7), v=(2, 4, 1))
    trace = scaled_dot_product_attention(**arrays, scale=0.0)
    assert trace.divisor == np.inf
    assert (trace["attention"] == 0.25).all()
