"""Every stage as an equation: its blocks, put together, give the stage, in every example."""

from itertools import pairwise

import numpy as np
import pytest

from attnviz import PRESETS, Trace, run
from attnviz.core.op import Block, Equation
from attnviz.core.ops import Concat, Given
from tests.core.test_explain import EXAMPLES, example


def shown(trace: Trace, block: Block) -> np.ndarray:
    if block.values is not None:
        return block.values
    array = trace[block.key]
    array = array if block.head is None else array[block.head]
    return array.T if block.transposed else array


def together(equation: Equation, parts: list[np.ndarray]) -> np.ndarray:
    """The result of an equation from its blocks alone."""
    if equation.kind == "product":
        left, right, *bias = parts
        return left @ right + sum(bias)
    if equation.kind == "sum":
        return np.sum(parts, axis=0)
    if equation.kind == "rotation":
        a, cos, b, sin = parts
        return a * cos + b * sin
    assert equation.kind == "quotient"
    *_, above, below = parts
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


@pytest.mark.parametrize(("name", "config"), EXAMPLES)
def test_blocks_put_together_give_their_stage(name: str, config: str) -> None:
    trace = example(name, config).trace
    n_heads = len(trace["attention"])
    for stage in trace.stages:
        array = trace[stage.key]
        for head in range(n_heads if array.ndim == 3 else 1):
            equation = stage.op.equation(trace.values, head)
            parts = [shown(trace, block) for block in equation.blocks]
            own = array[head // (n_heads // len(array))] if array.ndim == 3 else array
            if isinstance(stage.op, Given):
                assert parts == []
            elif isinstance(stage.op, Concat):
                assert (np.hstack(parts) == own).all()
            elif equation.kind == "chain":  # one step, cell by cell
                assert [part.shape for part in parts] == [own.shape]
            else:
                size = max(1.0, *(np.abs(p[np.isfinite(p)]).max(initial=0) for p in parts))
                result = together(equation, parts)
                with np.errstate(invalid="ignore"):
                    off = np.where(result == own, 0.0, np.abs(result - own))
                assert (off <= 1e-12 * size).all(), (stage.key, head)


@pytest.mark.parametrize(("name", "config"), EXAMPLES)
def test_steps_in_between_have_a_title_and_a_shape_that_fits(name: str, config: str) -> None:
    trace = example(name, config).trace
    for stage in trace.stages:
        for block in stage.op.equation(trace.values, 0).blocks:
            assert bool(block.title) == (block.values is not None)
            if block.values is not None:
                rows, columns = trace[block.key].shape[-2:]
                assert block.values.shape[0] in (1, rows)
                assert block.values.shape[1] in (1, columns)


def test_wrong_blocks_are_seen() -> None:
    trace = example("crossed turns", "").trace
    for stage in trace.stages:
        equation = stage.op.equation(trace.values, 0)
        parts = [shown(trace, block) for block in equation.blocks]
        if equation.kind == "chain":
            continue
        own = trace[stage.key]
        own = own[0] if own.ndim == 3 else own
        for place in range(len(parts)):
            moved = [np.roll(p, 1) if i == place else p for i, p in enumerate(parts)]
            unused = equation.kind == "quotient" and place < len(parts) - 2
            wrong = np.abs(together(equation, moved) - own).max() > 1e-6
            assert wrong != unused or parts[place].size == 1


def test_softmax_shows_its_exponentials_and_their_sum() -> None:
    trace = run(PRESETS["walkthrough"])
    stage = next(stage for stage in trace.stages if stage.key == "attention")
    scores, powers, total = (
        shown(trace, block) for block in stage.op.equation(trace.values, 1).blocks
    )
    np.testing.assert_array_equal(scores, trace["scaled"][1])
    np.testing.assert_allclose(powers.sum(axis=1, keepdims=True), total)
    np.testing.assert_allclose(powers / total, trace["attention"][1], atol=1e-15)


def test_formulas_name_the_arrays_that_are_read() -> None:
    """Every symbol in front of a stage that was computed stands in the formula of the next."""
    for pair in EXAMPLES:
        trace = example(*pair).trace
        scores = [s for s in trace.stages if s.axes == ("head", "query", "key")]
        for before, stage in pairwise(scores):
            if stage.key in ("capped", "biased", "tempered", "scaled"):
                assert before.symbol in stage.formula[0]
                assert before.latex in stage.formula[1]
        for stage in trace.stages:
            for name in stage.op.inputs(trace.values):
                if stage.key in ("q", "k", "v", "scores", "heads", "output", "biased"):
                    assert trace.info(name).symbol in stage.formula[0], (pair, stage.key)
                    assert trace.info(name).latex in stage.formula_columns[1], (pair, stage.key)
