"""Every stage as an equation: its blocks, put together, give the stage."""

import numpy as np
import pytest

from attnviz import PRESETS, Config, Params, Trace, multi_head_attention, run
from attnviz.core.op import Block
from attnviz.core.ops import MatMul


def shown(trace: Trace, block: Block) -> np.ndarray:
    if block.values is not None:
        return block.values
    array = trace[block.key]
    array = array if block.head is None else array[block.head]
    return array.T if block.transposed else array


def traces() -> list[Trace]:
    rng = np.random.default_rng(0)
    params = Params(
        w_q=rng.normal(size=(4, 5, 3)),
        w_k=rng.normal(size=(2, 5, 3)),
        w_v=rng.normal(size=(2, 5, 2)),
        w_o=rng.normal(size=(8, 6)),
        b_q=rng.normal(size=(4, 3)),
        b_v=rng.normal(size=(2, 2)),
        b_o=rng.normal(size=6),
    )
    config = Config(causal=True, softcap=2.0)
    grouped = multi_head_attention(rng.normal(size=(3, 5)), params, config)
    return [run(PRESETS["walkthrough"]), grouped]


@pytest.mark.parametrize("number", [0, 1])
def test_products_multiply_to_their_stage(number: int) -> None:
    trace = traces()[number]
    for stage in trace.stages:
        if not isinstance(stage.op, MatMul):
            continue
        heads = len(trace["attention"]) if trace[stage.key].ndim == 3 else 1
        own = len(trace[stage.key]) if trace[stage.key].ndim == 3 else 1
        for head in range(heads):
            equation = stage.op.equation(trace.values, head)
            assert equation.kind == "product"
            left, right, *bias = (shown(trace, block) for block in equation.blocks)
            result = left @ right + sum(bias)
            array = trace[stage.key]
            expected = array[head // (heads // own)] if array.ndim == 3 else array
            np.testing.assert_allclose(result, expected, atol=1e-12)


def test_softmax_shows_its_exponentials_and_their_sum() -> None:
    trace = run(PRESETS["walkthrough"])
    stage = next(stage for stage in trace.stages if stage.key == "attention")
    scores, powers, total = (
        shown(trace, block) for block in stage.op.equation(trace.values, 1).blocks
    )
    np.testing.assert_array_equal(scores, trace["scaled"][1])
    np.testing.assert_allclose(powers.sum(axis=1, keepdims=True), total)
    np.testing.assert_allclose(powers / total, trace["attention"][1], atol=1e-15)


def test_concat_shows_every_head() -> None:
    trace = run(PRESETS["walkthrough"])
    stage = next(stage for stage in trace.stages if stage.key == "concat")
    blocks = stage.op.equation(trace.values, 0).blocks
    np.testing.assert_array_equal(np.hstack([shown(trace, b) for b in blocks]), trace["concat"])
