"""Golden data, random tables and comparing, for the tests of the core."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attnviz import Params, Trace

DATA = Path(__file__).parents[1] / "data"
# Names in the golden files -> ours, where they differ.
STAGE_NAMES = {"raw": "scores", "weights": "attention"}
PARAM_NAMES = ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o")
SEEDS = st.integers(0, 2**32 - 1)


def golden_json(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def golden_arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        return dict(file)


def golden_params(arrays: dict[str, Any]) -> Params:
    """The tables of a golden file, whose names have no underscore."""
    tables = {name: arrays.get(name.replace("_", "")) for name in PARAM_NAMES}
    return Params(**tables)


def assert_close(actual: Any, desired: Any, what: str = "", *, rel: float, abs_: float) -> None:
    """Equal shape and numbers; infinities must be the same ones, NaN never passes."""
    actual, desired = np.asarray(actual, np.float64), np.asarray(desired, np.float64)
    assert actual.shape == desired.shape, f"{what}: {actual.shape} is not {desired.shape}"
    np.testing.assert_allclose(
        actual, desired, rtol=rel, atol=abs_, equal_nan=False, err_msg=what, strict=True
    )


def assert_stages(trace: Trace, stages: dict[str, Any], *, rel: float, abs_: float) -> None:
    """A trace has exactly these stages, in this order, with these numbers."""
    assert [stage.key for stage in trace.stages] == list(stages)
    for key, desired in stages.items():
        assert_close(trace[key], desired, key, rel=rel, abs_=abs_)


def random_arrays(seed: int, size: float = 1.0, **shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Named arrays of evenly spread numbers in [-size, size] with a few zeros."""
    rng = np.random.RandomState(seed)
    arrays = {}
    for name, shape in shapes.items():
        array = rng.uniform(-size, size, shape)
        array[rng.uniform(size=shape) < 0.1] = 0.0
        arrays[name] = array
    return arrays


def random_params(
    seed: int,
    *,
    heads: int = 2,
    kv_heads: int | None = None,
    d_model: int = 4,
    d_context: int | None = None,
    d_k: int = 3,
    d_v: int = 2,
    d_out: int | None = 5,
    biases: str = "",
) -> Params:
    """Tables of these sizes; `biases` names those with a bias, such as "qo"."""
    kv_heads, d_context = kv_heads or heads, d_context or d_model
    shapes: dict[str, tuple[int, ...]] = {
        "w_q": (heads, d_model, d_k),
        "w_k": (kv_heads, d_context, d_k),
        "w_v": (kv_heads, d_context, d_v),
        "b_q": (heads, d_k),
        "b_k": (kv_heads, d_k),
        "b_v": (kv_heads, d_v),
    }
    if d_out is not None:
        shapes |= {"w_o": (heads * d_v, d_out), "b_o": (d_out,)}
    wanted = {
        name: shape for name, shape in shapes.items() if name.startswith("w") or name[-1] in biases
    }
    return Params(**random_arrays(seed, **wanted))


def as_lists(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Arrays -> nested lists, for the oracle."""
    return {name: array.tolist() for name, array in arrays.items()}
