"""Answers worked out elsewhere, stage by stage; see tests/data/README.md."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from attnviz import (
    PRESETS,
    Config,
    Params,
    Trace,
    multi_head_attention,
    run,
    scaled_dot_product_attention,
)
from attnviz.core import NumberError
from attnviz.core.positions import alibi_slopes
from tests import oracle
from tests.core.support import (
    STAGE_NAMES,
    as_lists,
    assert_close,
    assert_stages,
    golden_arrays,
    golden_json,
    golden_params,
)

WALKTHROUGH = golden_json("walkthrough")
VARIANTS = {case["name"]: case for case in golden_json("variants")["cases"]}
VARIANT_ARRAYS = golden_arrays("variants")
OVERFLOWS = "logits_overflow_to_inf"
FINITE = [name for name in VARIANTS if name != OVERFLOWS]
STRICT = {"rel": 1e-12, "abs_": 1e-12}
TOLERANCE = {"rel": 1e-9, "abs_": 1e-12}


def named_stages(arrays: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The golden stages under our names, in our order."""
    order = ("x", "q", "k", "v", "raw", "scaled", "capped", "biased", "masked", "weights", "heads")
    return {
        STAGE_NAMES.get(name, name): arrays[prefix + name]
        for name in (*order, "concat", "output")
        if prefix + name in arrays
    }


def walkthrough_trace(route: str) -> Trace:
    if route == "preset":
        return run(PRESETS["walkthrough"])
    inputs = WALKTHROUGH["inputs"]
    return multi_head_attention(inputs["x"], golden_params(inputs), tokens=inputs["tokens"])


@pytest.mark.parametrize("route", ["preset", "function"])
def test_walkthrough_every_stage(route: str) -> None:
    trace = walkthrough_trace(route)
    stages = {"x": WALKTHROUGH["inputs"]["x"], **named_stages(WALKTHROUGH["stages"])}
    assert_stages(trace, stages, **STRICT)
    assert trace.tokens == trace.key_tokens == tuple(WALKTHROUGH["inputs"]["tokens"])
    assert trace.result == "output"


@pytest.mark.parametrize("route", ["preset", "function"])
def test_walkthrough_output_to_25_digits(route: str) -> None:
    output = walkthrough_trace(route)["output"]
    for row, exact_row in zip(output.tolist(), WALKTHROUGH["output_25_digits"], strict=True):
        for number, exact in zip(row, exact_row, strict=True):
            assert abs(Decimal(number) - Decimal(exact)) < Decimal("1e-15")


def test_walkthrough_two_cells_by_hand() -> None:
    trace = run(PRESETS["walkthrough"])
    assert trace["q"][0, 1, 0] == pytest.approx(0.58, abs=1e-15)
    assert trace["scores"][1, 2, 0] == pytest.approx(1.2104, abs=1e-15)


@pytest.mark.parametrize("name", ["head_256_64", "heads4_256", "vit_17x32"])
def test_heads_with_bias(name: str) -> None:
    arrays = golden_arrays(name)
    tokens = arrays["tokens"].tolist()
    trace = multi_head_attention(arrays["x"], golden_params(arrays), tokens=tokens)
    assert_stages(trace, named_stages(arrays), **TOLERANCE)
    assert trace.tokens == tuple(tokens)
    assert trace.result == ("output" if "wo" in arrays else "concat")


def test_vision_transformer_row_of_the_class_token_is_the_patch_grid() -> None:
    arrays = golden_arrays("vit_17x32")
    trace = multi_head_attention(arrays["x"], golden_params(arrays))
    grid = trace["attention"][:, 0, 1:].reshape(4, 4, 4)
    assert_close(grid, arrays["cls_grid"], "cls_grid", **TOLERANCE)


@pytest.mark.parametrize("query", [0, 1])
def test_recommendation_as_cross_attention(query: int) -> None:
    arrays = golden_arrays("recommendation_1x6")
    trace = multi_head_attention(
        arrays["xq"][query : query + 1],
        golden_params(arrays),
        context=arrays["xk"],
        tokens=[str(arrays["queries"][query])],
        context_tokens=arrays["titles"].tolist(),
    )
    stages = {"x": arrays["xq"][query : query + 1], **named_stages(arrays, f"query{query}/")}
    assert_stages(trace, stages, **TOLERANCE)
    ranking = np.argsort(-trace["attention"][0, 0], kind="stable")
    assert ranking.tolist() == arrays[f"query{query}/ranking"].tolist()
    assert trace.labels("attention")[1:] == (
        (str(arrays["queries"][query]),),
        tuple(arrays["titles"].tolist()),
    )


def variant(name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A case's arrays, and the choices it was made with."""
    prefix = f"{name}/"
    arrays = {
        key.removeprefix(prefix): array
        for key, array in VARIANT_ARRAYS.items()
        if key.startswith(prefix)
    }
    params = VARIANTS[name]["params"]
    scale = None if params["scale"] == "1/sqrt(d_k)" else params["scale"]
    choices = {"scale": scale, "softcap": params["softcap"]}
    choices |= {
        ours: arrays[theirs]
        for ours, theirs in (("mask", "allowed"), ("bias", "bias"))
        if theirs in arrays
    }
    return arrays, choices


def expected_stages(name: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    stages = named_stages({key: arrays[key] for key in ("q", "k", "v", *VARIANTS[name]["stages"])})
    if "weights_safe" in arrays:  # a row without any key: the zeros, not the NaN
        safe = arrays["heads_safe"]
        stages |= {
            "attention": arrays["weights_safe"],
            "heads": safe,
            "concat": safe.transpose(1, 0, 2).reshape(safe.shape[1], -1),
        }
    return stages


def tolerance(name: str) -> dict[str, float]:
    return {"rel": 1e-9, "abs_": 0.0 if name == "values_1e-300" else 1e-12}


def test_there_are_34_variants_and_none_is_left_out() -> None:
    assert len(VARIANTS) == 34
    assert len(FINITE) == 33


@pytest.mark.parametrize("name", FINITE)
def test_variant(name: str) -> None:
    arrays, choices = variant(name)
    trace = scaled_dot_product_attention(arrays["q"], arrays["k"], arrays["v"], **choices)
    assert_stages(trace, expected_stages(name, arrays), **tolerance(name))
    empty = arrays.get("empty_rows", np.zeros(trace["attention"].shape[:2], bool))
    assert trace.empty_rows.tolist() == empty.tolist()


POSITIONED = {
    "alibi_4_heads_causal": "alibi",
    "alibi_4_heads_symmetric": "alibi_symmetric",
    "rope_half_split": "rope",
    "rope_interleaved": "rope_interleaved",
    "sinusoidal_interleaved": "sinusoidal",
    "sinusoidal_concat": "sinusoidal_concat",
}


@pytest.mark.parametrize("name", POSITIONED)
def test_oracle_agrees_on_positions(name: str) -> None:
    arrays, kind = variant(name)[0], POSITIONED[name]
    if "pe" in arrays:
        stages = {"pe": oracle.add_positions((arrays["x"] * 0).tolist(), kind, 10000.0, None)}
    elif "q_before" in arrays:
        stages = {k: oracle.rotate(arrays[f"{k}_before"].tolist(), kind, 10000.0) for k in "qk"}
    else:
        lists = as_lists({key: arrays[key] for key in "qkv"})
        stages = {"biased": oracle.dot_product(**lists, positions=kind)["biased"]}
    for key, stage in stages.items():
        assert_close(stage, arrays[key], key, **TOLERANCE)


@pytest.mark.parametrize("name", FINITE)
def test_oracle_agrees_on_variant(name: str) -> None:
    arrays, choices = variant(name)
    lists = {key: value.tolist() for key, value in choices.items() if hasattr(value, "tolist")}
    qkv = as_lists({key: arrays[key] for key in ("q", "k", "v")})
    stages = oracle.dot_product(**qkv, **(choices | lists))
    expected = expected_stages(name, arrays)
    assert list(stages) == list(expected)
    for key, desired in expected.items():
        assert_close(stages[key], desired, key, **tolerance(name))


def test_oracle_agrees_on_walkthrough() -> None:
    inputs = WALKTHROUGH["inputs"]
    tables = {f"w_{letter}": inputs[f"w{letter}"] for letter in "qkvo"}
    stages = oracle.multi_head(inputs["x"], **tables)
    for key, desired in named_stages(WALKTHROUGH["stages"]).items():
        assert_close(stages[key], desired, key, **STRICT)


CAUSAL = [name for name in FINITE if "causal" in VARIANTS[name]["features"]]


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_variant_by_its_switch(name: str) -> None:
    """The same answers from `causal` and its alignment, with the kept keys beside it."""
    arrays, choices = variant(name)
    if "padding mask" in VARIANTS[name]["features"]:
        choices["keep"] = arrays["allowed"][-1]
    del choices["mask"]
    n_queries, n_keys = arrays["scaled"].shape[1:]
    bottom_right = name.endswith("bottom_right")
    ways = [{"causal_alignment": "bottom-right" if bottom_right else "top-left"}]
    ways.append({"causal_offset": n_keys - n_queries if bottom_right else 0})
    for way in ways:
        trace = scaled_dot_product_attention(
            arrays["q"], arrays["k"], arrays["v"], causal=True, **way, **choices
        )
        assert_stages(trace, expected_stages(name, arrays), **tolerance(name))


def test_causal_variants_are_what_they_say() -> None:
    assert len(CAUSAL) == 7


def test_padding_by_the_kept_keys() -> None:
    arrays, choices = variant("key_padding")
    choices["keep"] = arrays["keep"]
    del choices["mask"]
    trace = scaled_dot_product_attention(arrays["q"], arrays["k"], arrays["v"], **choices)
    assert_stages(trace, expected_stages("key_padding", arrays), **tolerance("key_padding"))


@pytest.mark.parametrize("form", ["causal", "symmetric"])
def test_alibi_by_its_name(form: str) -> None:
    name = f"alibi_4_heads_{form}"
    arrays, choices = variant(name)
    del choices["bias"]
    choices["positions"] = "alibi" if form == "causal" else "alibi_symmetric"
    trace = scaled_dot_product_attention(arrays["q"], arrays["k"], arrays["v"], **choices)
    assert_stages(trace, expected_stages(name, arrays), **tolerance(name))
    assert_close(alibi_slopes(4), arrays["slopes"], "slopes", **STRICT)


@pytest.mark.parametrize("form", ["half_split", "interleaved"])
def test_rotary_positions_by_their_name(form: str) -> None:
    name = f"rope_{form}"
    arrays, choices = variant(name)
    choices["positions"] = "rope" if form == "half_split" else "rope_interleaved"
    before = {key: arrays[f"{key}_before"] for key in "qk"}
    trace = scaled_dot_product_attention(**before, v=arrays["v"], **choices)
    stages = expected_stages(name, arrays)
    turned = {"q_rotated": stages.pop("q"), "k_rotated": stages.pop("k")}
    stages = {**before, "v": stages.pop("v"), **turned, **stages}
    assert_stages(trace, stages, **tolerance(name))


@pytest.mark.parametrize("form", ["interleaved", "concat"])
def test_sinusoidal_positions_by_their_name(form: str) -> None:
    name = f"sinusoidal_{form}"
    arrays, _ = variant(name)
    width = arrays["x"].shape[1]
    cut = np.eye(width).reshape(width, 2, -1).transpose(1, 0, 2)  # head h reads its own columns
    config = Config(positions="sinusoidal" if form == "interleaved" else "sinusoidal_concat")
    trace = multi_head_attention(arrays["x"], Params(cut, cut, cut), config)
    with_places = {"x_positioned": arrays["x"] + arrays["pe"], **expected_stages(name, arrays)}
    assert_stages(trace, {"x": arrays["x"], **with_places}, **tolerance(name))


@pytest.mark.parametrize("form", ["interleaved", "concat"])
def test_learned_positions_are_the_rows_of_a_table(form: str) -> None:
    name = f"sinusoidal_{form}"
    arrays, _ = variant(name)
    width = arrays["x"].shape[1]
    cut = np.eye(width).reshape(width, 2, -1).transpose(1, 0, 2)
    longer = np.concatenate([arrays["pe"], np.ones((3, width))])
    config = Config(positions="learned")
    trace = multi_head_attention(arrays["x"], Params(cut, cut, cut), config, positions=longer)
    with_places = {"x_positioned": arrays["x"] + arrays["pe"], **expected_stages(name, arrays)}
    assert_stages(trace, {"x": arrays["x"], **with_places}, **tolerance(name))


# Slopes of 6 heads by the code to the paper: those of 4, then every second one of 8.
def test_alibi_slopes_of_counts_that_are_no_power_of_two() -> None:
    assert alibi_slopes(6).tolist() == [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    assert alibi_slopes(1).tolist() == [2**-8]
    assert alibi_slopes(12)[8:].tolist() == pytest.approx([2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5])
    for n_heads in range(1, 33):
        assert_close(alibi_slopes(n_heads), oracle.slopes(n_heads), rel=1e-14, abs_=0)


def test_scores_beyond_float64_are_refused_by_stage_and_cell() -> None:
    arrays, choices = variant(OVERFLOWS)
    assert np.isinf(arrays["raw"]).any()
    with pytest.raises(NumberError) as refused:
        scaled_dot_product_attention(arrays["q"], arrays["k"], arrays["v"], **choices)
    head, row, col = (int(i) + 1 for i in np.argwhere(np.isinf(arrays["raw"]))[0])
    assert f"Raw scores, head {head}, row {row}, column {col}" in str(refused.value)


ONE = np.ones((1, 1, 1))
OVERFLOWING: dict[str, Callable[[float], Trace]] = {
    "Queries": lambda big: multi_head_attention([[1e300]], Params(ONE * big, ONE, ONE)),
    "Values": lambda big: multi_head_attention(
        [[1.0]], Params(ONE, ONE, ONE * big * 1e8, b_v=[[big * 1.7e8]])
    ),
    "Raw scores": lambda big: scaled_dot_product_attention(ONE * big, ONE * 1e300, ONE),
    "Scaled scores": lambda big: scaled_dot_product_attention(ONE * big, ONE, ONE, scale=1e300),
    "Biased scores": lambda big: scaled_dot_product_attention(
        ONE * big * 1e8, ONE, ONE, bias=[[big * 1.7e8]]
    ),
    "Output": lambda big: multi_head_attention([[1.0]], Params(ONE, ONE, ONE * big, [[1e300]])),
}


@pytest.mark.parametrize("title", OVERFLOWING)
@pytest.mark.parametrize("big", [1e300, -1e300])
def test_no_stage_lets_an_overflow_pass(title: str, big: float) -> None:
    with pytest.raises(NumberError, match=f"^{title}.*row 1, column 1"):
        OVERFLOWING[title](big)
