"""Arrays in and out: copies, read-only float64, and a sentence for what does not fit."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz import (
    PRESETS,
    AttnvizError,
    Config,
    Params,
    Sizes,
    Trace,
    multi_head_attention,
    run,
    scaled_dot_product_attention,
)
from attnviz.core import LimitError, NumberError, ScenarioError, ShapeError
from tests.core.support import assert_close, random_arrays, random_params

Q = np.arange(12.0).reshape(2, 3, 2) / 10
ONES = np.ones((2, 3, 2))
MASK = np.ones((3, 3), bool)


def full_trace() -> Trace:
    """A trace with every stage and every kind of input."""
    params = random_params(1, heads=4, kv_heads=2, d_context=3, biases="qkvo")
    arrays = random_arrays(2, x=(3, 4), context=(5, 3), bias=(4, 3, 5))
    mask = np.ones((3, 5), bool)
    mask[1, 2] = False
    config = Config(softcap=2.0, causal=True, causal_offset=1)
    return multi_head_attention(
        arrays["x"],
        params,
        config,
        context=arrays["context"],
        mask=mask,
        bias=arrays["bias"],
    )


def test_every_array_of_a_trace_refuses_writes() -> None:
    trace = full_trace()
    assert len(trace.values.arrays) == 24
    for key, array in trace.values.arrays.items():
        assert not array.flags.writeable, key
        with pytest.raises(ValueError, match="read-only"):
            array[(0,) * array.ndim] = 1


def test_every_array_of_a_trace_is_float64_but_the_mask() -> None:
    trace = full_trace()
    kinds = {key: array.dtype for key, array in trace.values.arrays.items()}
    assert kinds.pop("mask") == np.bool_
    assert set(kinds.values()) == {np.dtype(np.float64)}


def test_tables_and_embeddings_of_a_scenario_refuse_writes() -> None:
    scenario = PRESETS["walkthrough"]
    for array in (scenario.x, *scenario.params.tables().values()):
        with pytest.raises(ValueError, match="read-only"):
            array[(0,) * array.ndim] = 1


def test_later_changes_of_the_callers_arrays_do_not_reach_the_trace() -> None:
    arrays = random_arrays(3, q=(2, 3, 4), k=(2, 5, 4), v=(2, 5, 2), bias=(3, 5))
    mask = np.ones((3, 5), bool)
    trace = scaled_dot_product_attention(**arrays, mask=mask)
    before = {key: array.copy() for key, array in trace.values.arrays.items()}
    for array in arrays.values():
        array[:] = 99.0
    mask[:] = False
    for key, array in before.items():
        assert (trace[key] == array).all(), key
        assert key not in arrays or array.max() < 99


def test_later_changes_of_the_callers_tables_do_not_reach_params() -> None:
    tables = {name: np.array(t) for name, t in random_params(4, biases="qkvo").tables().items()}
    x, context = np.ones((3, 4)), np.ones((2, 4))
    params = Params(**tables)
    trace = multi_head_attention(x, params, context=context)
    before = {key: array.copy() for key, array in trace.values.arrays.items()}
    for table in (*tables.values(), x, context):
        table[:] = 99.0
    assert all((trace[key] == array).all() for key, array in before.items())
    assert all((params.tables()[name] == before[name]).all() for name in tables)


def test_the_callers_arrays_stay_writeable_and_as_they_were() -> None:
    arrays = random_arrays(3, q=(1, 3, 4), k=(1, 3, 4), v=(1, 3, 2))
    before = {name: array.copy() for name, array in arrays.items()}
    scaled_dot_product_attention(**arrays, causal=True)
    for name, array in arrays.items():
        assert array.flags.writeable
        assert (array == before[name]).all()


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, np.uint16])
def test_other_numeric_types_are_taken(kind: type) -> None:
    whole = np.arange(12).reshape(2, 3, 2)
    trace = scaled_dot_product_attention(*(whole.astype(kind),) * 3)
    expected = scaled_dot_product_attention(*(whole.astype(np.float64),) * 3)
    assert trace["concat"].dtype == np.float64
    assert (trace["concat"] == expected["concat"]).all()


def test_float32_is_widened_before_anything_is_computed() -> None:
    third = np.full((1, 1, 1), 1 / 3, np.float32)
    trace = scaled_dot_product_attention(third, third, third)
    assert trace["scores"][0, 0, 0] == float(third[0, 0, 0]) ** 2


def test_lists_tuples_and_other_memory_orders_are_taken() -> None:
    expected = scaled_dot_product_attention(Q, Q, Q)["concat"]
    as_tuples = tuple(tuple(map(tuple, head)) for head in Q.tolist())
    turned = np.asfortranarray(Q)
    backwards = Q[:, ::-1][:, ::-1]
    for given in (Q.tolist(), as_tuples, turned, backwards, Q.astype(">f8")):
        assert_close(
            scaled_dot_product_attention(given, given, given)["concat"], expected, rel=1e-15, abs_=0
        )


def holed(shape: tuple[int, ...], index: tuple[int, ...], value: float) -> np.ndarray:
    array = np.ones(shape)
    array[index] = value
    return array


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["q", "k", "v"])
def test_a_number_that_is_not_finite_is_refused_by_its_place(name: str, value: float) -> None:
    arrays = {key: np.ones((2, 3, 4)) for key in "qkv"}
    arrays[name] = holed((2, 3, 4), (1, 2, 0), value)
    with pytest.raises(NumberError) as refused:
        scaled_dot_product_attention(**arrays)
    assert f"{name}, head 2, row 3, column 1" in str(refused.value)
    assert str(value) in str(refused.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("name", "index", "place"),
    [
        ("w_q", (1, 2, 0), "w_q, head 2, row 3, column 1"),
        ("w_k", (0, 3, 1), "w_k, head 1, row 4, column 2"),
        ("w_v", (1, 0, 0), "w_v, head 2, row 1, column 1"),
        ("w_o", (2, 4), "w_o, row 3, column 5"),
        ("b_q", (1, 2), "b_q, row 2, column 3"),
        ("b_o", (3,), "b_o, entry 4"),
    ],
)
def test_a_table_that_is_not_finite_is_refused_by_its_place(
    name: str, index: tuple[int, ...], place: str, value: float
) -> None:
    tables = random_params(1, biases="qkvo").tables()
    tables[name] = holed(tables[name].shape, index, value)
    with pytest.raises(NumberError) as refused:
        Params(**tables)
    assert str(refused.value).startswith(f"{place}:")


@pytest.mark.parametrize("name", ["x", "context"])
def test_embeddings_that_are_not_finite_are_refused_by_their_place(name: str) -> None:
    arrays = {"x": np.ones((3, 4)), "context": np.ones((3, 4))}
    arrays[name] = holed((3, 4), (1, 3), math.nan)
    with pytest.raises(NumberError, match=f"^{name}, row 2, column 4:"):
        multi_head_attention(arrays["x"], random_params(1), context=arrays["context"])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_bias_may_be_minus_infinity_but_not_nan_or_infinity(value: float) -> None:
    trace = scaled_dot_product_attention(Q, Q, Q, bias=holed((3, 3), (0, 1), -math.inf))
    assert (trace["attention"][:, 0, 1] == 0).all()
    with pytest.raises(NumberError, match=r"^bias, row 1, column 2:"):
        scaled_dot_product_attention(Q, Q, Q, bias=holed((3, 3), (0, 1), value))


SHAPE_CASES: dict[str, tuple[Callable[[], object], list[str]]] = {
    "k of another width": (
        lambda: scaled_dot_product_attention(ONES, np.ones((2, 3, 5)), ONES),
        ["k", "(2, 3, 2)", "(2, 3, 5)"],
    ),
    "v with other keys": (
        lambda: scaled_dot_product_attention(ONES, ONES, np.ones((2, 4, 2))),
        ["v", "(2, 3, 2)", "(2, 4, 2)"],
    ),
    "v with other heads": (
        lambda: scaled_dot_product_attention(ONES, ONES, np.ones((1, 3, 2))),
        ["v", "(2, 3, 2)", "(1, 3, 2)"],
    ),
    "heads that cannot be shared": (
        lambda: scaled_dot_product_attention(np.ones((3, 3, 2)), ONES, ONES),
        ["k", "2", "3"],
    ),
    "more key heads than query heads": (
        lambda: scaled_dot_product_attention(ONES, np.ones((4, 3, 2)), np.ones((4, 3, 2))),
        ["k", "4", "2"],
    ),
    "q without heads": (
        lambda: scaled_dot_product_attention(np.ones((3, 2)), ONES, ONES),
        ["q", "3", "(3, 2)"],
    ),
    "no queries": (
        lambda: scaled_dot_product_attention(np.ones((2, 0, 2)), ONES, ONES),
        ["q", "(2, 0, 2)"],
    ),
    "ragged rows": (
        lambda: scaled_dot_product_attention([[[1.0, 2.0], [3.0]]], ONES, ONES),
        ["q", "length"],
    ),
    "mask turned round": (
        lambda: scaled_dot_product_attention(
            ONES, np.ones((2, 4, 2)), np.ones((2, 4, 2)), mask=np.ones((4, 3), bool)
        ),
        ["mask", "(3, 4)", "(4, 3)"],
    ),
    "mask for other heads": (
        lambda: scaled_dot_product_attention(ONES, ONES, ONES, mask=np.ones((3, 3, 3), bool)),
        ["mask", "(2, 3, 3)", "(3, 3, 3)"],
    ),
    "mask of one row": (
        lambda: scaled_dot_product_attention(ONES, ONES, ONES, mask=np.ones(3, bool)),
        ["mask", "(3,)"],
    ),
    "bias of another shape": (
        lambda: scaled_dot_product_attention(ONES, ONES, ONES, bias=np.ones((3, 2))),
        ["bias", "(3, 3)", "(3, 2)"],
    ),
    "bias of one row": (
        lambda: scaled_dot_product_attention(ONES, ONES, ONES, bias=np.ones(3)),
        ["bias", "(3,)"],
    ),
    "ragged mask": (
        lambda: scaled_dot_product_attention(ONES, ONES, ONES, mask=[[True], [True, False]]),
        ["mask", "length"],
    ),
    "ragged bias": (
        lambda: scaled_dot_product_attention(ONES, ONES, ONES, bias=[[1.0], [1.0, 2.0]]),
        ["bias", "length"],
    ),
    "x of another width": (
        lambda: multi_head_attention(np.ones((3, 5)), random_params(1)),
        ["x", "(2, 4, 3)", "(3, 5)"],
    ),
    "context of another width": (
        lambda: multi_head_attention(np.ones((3, 4)), random_params(1), context=np.ones((2, 3))),
        ["context", "(2, 4, 3)", "(2, 3)"],
    ),
    "x where the key side is wider": (
        lambda: multi_head_attention(np.ones((3, 4)), random_params(1, d_context=6)),
        ["x", "(2, 6, 3)", "(3, 4)"],
    ),
    "names for other rows": (
        lambda: multi_head_attention(np.ones((3, 4)), random_params(1), tokens=["a", "b"]),
        ["tokens", "3", "2"],
    ),
    "w_k of another width": (
        lambda: Params(np.ones((2, 4, 3)), np.ones((2, 4, 2)), np.ones((2, 4, 2))),
        ["w_k", "(2, 4, 3)", "(2, 4, 2)"],
    ),
    "w_v with other heads": (
        lambda: Params(np.ones((2, 4, 3)), np.ones((2, 4, 3)), np.ones((1, 4, 2))),
        ["w_v", "(2, 4, 2)", "(1, 4, 2)"],
    ),
    "w_v with other rows": (
        lambda: Params(np.ones((2, 4, 3)), np.ones((2, 4, 3)), np.ones((2, 5, 2))),
        ["w_v", "(2, 4, 2)", "(2, 5, 2)"],
    ),
    "w_o with other rows": (
        lambda: Params(ONES, ONES, ONES, np.ones((5, 4))),
        ["w_o", "(4, 4)", "(5, 4)"],
    ),
    "b_q with other columns": (
        lambda: Params(ONES, ONES, ONES, b_q=np.ones((2, 3))),
        ["b_q", "(2, 2)", "(2, 3)"],
    ),
    "b_q turned round": (
        lambda: Params(*[np.ones((2, 4, 3))] * 3, b_q=np.ones((3, 2))),
        ["b_q", "(2, 3)", "(3, 2)"],
    ),
    "b_o with other columns": (
        lambda: Params(ONES, ONES, ONES, np.ones((4, 4)), b_o=np.ones(3)),
        ["b_o", "(4,)", "(3,)"],
    ),
    "b_o without w_o": (lambda: Params(ONES, ONES, ONES, b_o=np.ones(3)), ["b_o", "w_o"]),
    "key heads that do not divide": (
        lambda: Params(np.ones((3, 4, 2)), np.ones((2, 4, 2)), np.ones((2, 4, 2))),
        ["w_k", "2", "3"],
    ),
    "sizes whose key heads do not divide": (
        lambda: Sizes(6, 4, 2, 2, 4, 4),
        ["n_kv_heads", "1, 2, 3, 6"],
    ),
}


@pytest.mark.parametrize("case", SHAPE_CASES)
def test_shapes_that_do_not_fit_are_refused_naming_both(case: str) -> None:
    attempt, words = SHAPE_CASES[case]
    with pytest.raises(ShapeError) as refused:
        attempt()
    assert refused.value.where == words[0]
    for word in words:
        assert word in str(refused.value)


KIND_CASES: dict[str, Callable[[], object]] = {
    "text as q": lambda: scaled_dot_product_attention([[["a"]]], ONES, ONES),
    "complex q": lambda: scaled_dot_product_attention(ONES * 1j, ONES, ONES),
    "objects as q": lambda: scaled_dot_product_attention([[[None, 1.0]]], ONES, ONES),
    "booleans as w_q": lambda: Params(np.ones((2, 3, 2), bool), ONES, ONES),
    "dates as x": lambda: multi_head_attention(
        np.array([["2024-01-01"] * 4], "M8[D]"), random_params(1)
    ),
    "numbers as mask": lambda: scaled_dot_product_attention(ONES, ONES, ONES, mask=np.ones((3, 3))),
    "booleans as bias": lambda: scaled_dot_product_attention(ONES, ONES, ONES, bias=MASK),
    "infinite scale": lambda: Config(scale=math.inf),
    "scale that is no number": lambda: Config(scale=math.nan),
    "cap of zero": lambda: Config(softcap=0.0),
    "negative cap": lambda: Config(softcap=-1.0),
    "cap of minus infinity": lambda: Config(softcap=-math.inf),
    "scale beside q": lambda: scaled_dot_product_attention(ONES, ONES, ONES, scale=math.nan),
    "number beyond float64": lambda: Params(
        np.full((1, 1, 1), np.longdouble("1e400")), *[np.ones((1, 1, 1))] * 2
    ),
}


@pytest.mark.parametrize("case", KIND_CASES)
def test_what_is_no_number_is_refused(case: str) -> None:
    with pytest.raises(NumberError) as refused:
        KIND_CASES[case]()
    assert refused.value.where


SIZE_CASES: dict[str, tuple[Any, ...]] = {
    "no heads": (0, 4, 2, 2, 4),
    "negative width": (2, -4, 2, 2, 4),
    "no d_k": (2, 4, 0, 2, 4),
    "too many heads": (33, 4, 2, 2, 4),
    "too wide": (2, 1025, 2, 2, 4),
    "half a head": (2.5, 4, 2, 2, 4),
    "text": ("2", 4, 2, 2, 4),
    "a boolean": (True, 4, 2, 2, 4),
    "too many cells": (32, 1024, 1024, 2, 4),
    "no key heads": (2, 4, 2, 2, 4, 0),
}


@pytest.mark.parametrize("case", SIZE_CASES)
def test_illegal_sizes_are_refused(case: str) -> None:
    with pytest.raises(LimitError) as refused:
        Sizes(*SIZE_CASES[case])
    assert refused.value.expected


def test_unknown_names_are_refused() -> None:
    trace = run(PRESETS["walkthrough"])
    with pytest.raises(ScenarioError, match="one of x, w_q"):
        trace["attentions"]
    with pytest.raises(ScenarioError, match="masked"):
        trace.explain("masked")
    with pytest.raises(ScenarioError, match="entmax"):
        multi_head_attention(np.ones((2, 4)), random_params(1), Config(normaliser="entmax"))


@pytest.mark.parametrize("place", [(2, 0, 0), (0, 3, 0), (0, 0, 3), (-1, 0, 0), (0, -1, 0)])
def test_a_cell_outside_its_array_is_refused(place: tuple[int, int, int]) -> None:
    trace = run(PRESETS["walkthrough"])
    for ask in (trace.explain, trace.sentence):
        with pytest.raises(ScenarioError, match=r"shape \(2, 3, 3\)"):
            ask("attention", *place)


@pytest.mark.parametrize("config", [Config(), Config(project=False)])
def test_stages_a_configuration_does_not_use_are_absent(config: Config) -> None:
    trace = multi_head_attention(np.ones((3, 4)), random_params(1), config)
    keys = [stage.key for stage in trace.stages]
    common = ["x", "q", "k", "v", "scores", "scaled", "attention", "heads", "concat"]
    assert keys == common + ["output"] * config.project
    assert trace.result == keys[-1]
    for absent in ("capped", "biased", "masked", *["output"] * (not config.project)):
        assert absent not in trace


def test_an_error_is_one_sentence_made_of_its_parts() -> None:
    error = AttnvizError("too wide", where="W_Q", expected="4", got="5", hint="Cut it.")
    assert str(error) == "W_Q: too wide (expected 4, got 5). Cut it."
    assert str(AttnvizError("no")) == "no."
    assert str(AttnvizError("Really?", hint="Yes.")) == "Really? Yes."


@pytest.mark.parametrize("kind", [ShapeError, NumberError, LimitError, ScenarioError])
def test_errors_survive_pickling_with_their_parts(kind: type[AttnvizError]) -> None:
    error = pickle.loads(pickle.dumps(kind("m", where="w", expected="e", got="g", hint="h")))
    assert type(error) is kind
    assert vars(error) == {"message": "m", "where": "w", "expected": "e", "got": "g", "hint": "h"}
