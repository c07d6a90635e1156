"""The contract of explanations: every cell of every stage, in every example and configuration.

`problems` compares an explanation with the array and with the oracle; the last tests show that
it sees wrong operands.
"""

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

from attnviz import (
    PRESETS,
    STAGES,
    Config,
    Derivation,
    Scenario,
    Trace,
    multi_head_attention,
    run,
    scaled_dot_product_attention,
)
from attnviz.core import CHOICES, TABLES, edit
from attnviz.core.bare import tree
from attnviz.core.derivation import aligned
from attnviz.core.expr import Cell, Const, Div, Expr, Func, Max, Mul, Neg, Sub, Sum
from attnviz.core.normalise import NORMALISERS
from attnviz.core.numbers import format_number
from attnviz.core.positions import POSITIONS
from attnviz.core.text import SUBSCRIPTS
from tests import oracle
from tests.core.support import random_arrays, random_params

NOT_FOR_THE_ORACLE = {"project", "start", "off"}  # they decide what is there, not its arithmetic
MOST_CELLS = 150  # of one array; larger ones are sampled evenly
WIDE, FEWER_CELLS = 40, 20  # of one array, where rows are as long as this

CONFIGS: dict[str, dict[str, Any]] = {
    "default": {},
    "no scaling": {"scale": 1.0},
    "scale 0.3": {"scale": 0.3},
    "scale 0": {"scale": 0.0},
    "softcap": {"softcap": 0.7},
    "causal": {"causal": True},
    "causal, offset 1": {"causal": True, "causal_offset": 1},
    "causal, first row empty": {"causal": True, "causal_offset": -1},
    "all at once": {"scale": -0.5, "softcap": 2.0, "causal": True},
    "no projection": {"project": False},
    "temperature": {"temperature": 2.5, "softcap": 1.5},
    "bottom right": {"causal": True, "causal_alignment": "bottom-right", "causal_offset": -1},
    "wide base": {"positions": "rope", "position_base": 50.0, "rope_dims": 2, "causal": True},
    "low base": {"positions": "sinusoidal", "position_base": 3.0},
    **{f"normaliser {name}": {"normaliser": name} for name in NORMALISERS},
    **{
        f"normaliser {name}, first row empty": {
            "normaliser": name,
            "causal": True,
            "causal_offset": -1,
        }
        for name in NORMALISERS
    },
    **{f"positions {name}": {"positions": name} for name in POSITIONS},
}


def _everything(**flags: Any) -> Trace:
    """Shared heads, another text, biases everywhere, a mask and a bias for each head."""
    params = random_params(1, heads=4, kv_heads=2, d_context=3, biases="qkvo")
    arrays = random_arrays(2, x=(3, 4), context=(5, 3), bias=(4, 3, 5))
    mask = np.random.RandomState(3).uniform(size=(4, 3, 5)) < 0.7
    mask[1, 2] = False
    arrays["bias"][0, 0, :2] = -np.inf
    return multi_head_attention(
        arrays["x"],
        params,
        Config(softcap=1.5, causal=True, causal_offset=2),
        context=arrays["context"],
        mask=mask,
        bias=arrays["bias"],
        tokens=["the", "cat", "the"],
        context_tokens=["<s>", "100%", "a_b", "{x}$", "\\n"],
        **flags,
    )


def _flat() -> Trace:
    """q, k, v given; one bias and one mask for all heads; a row hidden by the bias alone."""
    arrays = random_arrays(4, q=(2, 3, 2), k=(1, 4, 2), v=(1, 4, 3), bias=(3, 4))
    arrays["bias"][1] = -np.inf
    mask = np.ones((3, 4), bool)
    mask[:, 3] = False
    return scaled_dot_product_attention(**arrays, mask=mask)


def _long() -> Trace:
    """Sums of many terms."""
    params = random_params(5, d_model=20, d_k=14, d_v=7, biases="q")
    return multi_head_attention(random_arrays(6, x=(13, 20))["x"], params)


def _extreme() -> Trace:
    """Scores that would overflow exp, and numbers near both ends of float64."""
    q = np.array([[[1e4, 0.0], [-1e4, 1.0], [1e-300, 1e-300]]])
    k = np.array([[[1.0, 0.0], [-1.0, 0.5], [0.0, 1e-8]]])
    v = np.array([[[1e300, -1e-300], [-1e300, 5e-324], [0.0, 1.0]]])
    return scaled_dot_product_attention(q, k, v, scale=1.0)


def _square() -> Trace:
    """All sizes the same, where a transposed table has the right shape."""
    params = random_params(7, heads=3, d_model=3, d_k=3, d_v=3, d_out=9, biases="qkvo")
    arrays = random_arrays(8, x=(3, 3), context=(3, 3))
    return multi_head_attention(arrays["x"], params, context=arrays["context"])


def _scenario(text: str, **choices: Any) -> Scenario:
    """A second text, shared heads, everything that can be added, hidden and switched."""
    scenario = edit.set_text(PRESETS["walkthrough"], text)[0]
    scenario = edit.set_context(scenario, "a b c d e")[0]
    scenario = edit.resize(scenario, n_heads=6, n_kv_heads=3, d_context=3, d_model=5, d_k=5, d_v=3)[
        0
    ]
    for name in ("b_q", "b_k", "b_v", "b_o"):
        scenario = edit.switch(scenario, name, True)[0]
    scenario = edit.set_padding(scenario, [4])[0]
    scenario = edit.set_mask(scenario, {(0, 1): False, (1, 3): False})[0]
    scenario = edit.set_cells(scenario, "bias", {(0, 0): 0.5, (1, 2): -1.25})[0]
    return edit.set_config(scenario, **choices)[0]


def _given(**choices: Any) -> Scenario:
    """Q, K and V as tables, with fewer queries than keys."""
    scenario = edit.start_from_qkv(_scenario("one two"))[0]
    scenario = edit.set_cells(scenario, "q", {(1, 0, 2): -3.0})[0]
    return edit.set_config(scenario, **choices)[0]


TURNED = {"positions": "rope_interleaved", "rope_dims": 4}
SHIFTED = {"causal": True, "causal_alignment": "bottom-right"}
OTHERS = {
    "crossed": lambda: run(_scenario("one two three", positions="learned", temperature=0.5)),
    "crossed waves": lambda: run(_scenario("one two", positions="sinusoidal_concat", **SHIFTED)),
    "crossed turns": lambda: run(_scenario("one two", **TURNED, normaliser="softmax_columns")),
    "crossed slopes": lambda: run(_scenario("one two", positions="alibi", normaliser="sigmoid")),
    "given": lambda: run(_given(normaliser="top_k", top_k=3, positions="alibi_symmetric")),
    "given turns": lambda: run(_given(positions="rope", normaliser="softmax_plus_one")),
    "given, off": lambda: run(_given(off=("bias", "keep", "b_o"), normaliser="division")),
    "everything": _everything,
    "flat": _flat,
    "long": _long,
    "extreme": _extreme,
    "square": _square,
}
FEW = ("default", "all at once")  # for presets that are large or much alike
EXAMPLES = (
    *itertools.product(["walkthrough"], CONFIGS),
    *itertools.product([name for name in PRESETS if name != "walkthrough"], FEW),
    *((name, "") for name in OTHERS),
)


@dataclass(frozen=True)
class Example:
    """A trace, and what the oracle needs to know to explain it."""

    trace: Trace

    @cached_property
    def stages(self) -> dict[str, Any]:
        return {stage.key: self.trace[stage.key].tolist() for stage in self.trace.stages}

    @cached_property
    def tables(self) -> dict[str, Any]:
        arrays = self.trace.values.arrays
        return {key: array.tolist() for key, array in arrays.items() if key not in self.stages}

    @property
    def choices(self) -> dict[str, Any]:
        config = self.trace.values.config
        return {name: getattr(config, name) for name in CHOICES if name not in NOT_FOR_THE_ORACLE}

    def cells(self, key: str) -> Iterator[tuple[int, ...]]:
        widest = max(table.shape[-1] for table in self.trace.values.arrays.values())
        return every_cell(self.trace[key], FEWER_CELLS if widest >= WIDE else MOST_CELLS)

    def explain(self, key: str, index: tuple[int, ...]) -> Derivation:
        head, row, col = index if len(index) == 3 else (None, *index)
        return self.trace.explain(key, head, row, col)

    def arithmetic(self, key: str, index: tuple[int, ...]) -> oracle.Arithmetic:
        return oracle.explain(self.stages, self.tables, key, index, **self.choices)


@cache
def example(name: str, config: str) -> Example:
    if name in OTHERS:
        return Example(OTHERS[name]())
    return Example(run(edit.set_config(PRESETS[name], **CONFIGS[config])[0]))


def every_cell(array: np.ndarray, most: int = MOST_CELLS) -> Iterator[tuple[int, ...]]:
    """Every index of an array, or evenly spread ones, first and last among them, of a large one."""
    places = np.unique(np.linspace(0, array.size - 1, most).astype(int))
    for place in places if array.size > most else range(array.size):
        yield tuple(int(i) for i in np.unravel_index(place, array.shape))


def close(a: float, b: float, size: float = 0.0) -> bool:
    """Equal to 1e-12, relative to the number or to the size of what it is the sum of."""
    return a == b or abs(a - b) <= 1e-12 + 1e-12 * max(abs(b), size)


def balanced(latex: str) -> bool:
    """Braces that open and close in order, and as many left as right delimiters."""
    plain = re.sub(r"\\[\\{}]", "", latex)
    depth = 0
    for char in plain:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth < 0:
            return False
    return depth == 0 and len(re.findall(r"\\left\b", plain)) == len(
        re.findall(r"\\right\b", plain)
    )


def leaves(node: Expr) -> Iterator[Cell]:
    if isinstance(node, Cell):
        yield node
    for part in getattr(node, "terms", ()) or (getattr(node, "a", None), getattr(node, "b", None)):
        if part is not None:
            yield from leaves(part)


def problems(trace: Trace, derivation: Derivation, expected: oracle.Arithmetic) -> list[str]:
    """What is wrong with an explanation; empty where nothing is."""
    key, index = derivation.stage, derivation.index
    cell = float(trace[key][index])
    size = max(abs(product) for _, _, product in expected.terms)
    size = size if math.isfinite(size) else 0.0
    found = []
    try:
        _ = derivation.total
    except ZeroDivisionError:
        return ["it divides by zero"]
    if not (derivation.value == cell and close(derivation.total, cell, size)):
        found.append(f"total {derivation.total!r} is not the cell {cell!r}")
    if not close(expected.total, cell, size):
        found.append(f"the oracle's total {expected.total!r} is not the cell {cell!r}")
    for expr in derivation.explanation.exprs:
        if not close(expr.value, cell, size):
            found.append(f"a step gives {expr.value!r}, the cell is {cell!r}")
    terms = [(term.a, term.b, term.product) for term in derivation.terms]
    if len(terms) != len(expected.terms):
        found.append(f"{len(terms)} terms, not {len(expected.terms)}")
    for mine, theirs in zip(terms, expected.terms, strict=False):
        if not all(map(close, mine, theirs)):
            found.append(f"term {mine}, not {theirs}")
    together = math.fsum(product for _, _, product in terms)
    if expected.above is not None and not (together and close(expected.above / together, cell)):
        found.append("what is above the line over the sum of the terms is not the weight")
    if expected.above is None and not close(together, cell, size):
        found.append(f"the terms give {together!r}, the cell is {cell!r}")
    operands = {(operand.key, operand.index) for operand in derivation.operands}
    if operands != expected.operands:
        found.append(f"operands {operands ^ expected.operands} are too many or missing")
    for operand in itertools.chain.from_iterable(map(leaves, derivation.explanation.exprs)):
        if operand.key not in trace or float(trace[operand.key][operand.index]) != operand.value:
            found.append(f"{operand} is not what the array holds")
        if not operand.label:
            found.append(f"{operand} has no label")
    return found


def test_the_examples_reach_every_stage() -> None:
    reached = {stage.key for pair in EXAMPLES for stage in example(*pair).trace.stages}
    assert reached == {stage.key for stage in STAGES}


CASES = [
    pytest.param(*pair, stage.key, id=f"{'-'.join(filter(None, pair))}-{stage.key}")
    for pair in EXAMPLES
    for stage in example(*pair).trace.stages
]


@pytest.mark.parametrize(("name", "config", "key"), CASES)
def test_every_cell_is_explained_by_what_it_is_made_of(name: str, config: str, key: str) -> None:
    case = example(name, config)
    for index in case.cells(key):
        derivation = case.explain(key, index)
        assert (derivation.stage, derivation.index) == (key, index)
        assert derivation.terms
        assert not problems(case.trace, derivation, case.arithmetic(key, index)), index


def differs(name: str, config: str, key: str) -> bool:
    """Whether an array is another one than with the first configuration of its preset."""
    first = example(name, FEW[0]).trace if name in PRESETS else None
    return (
        config in ("", FEW[0])
        or first is None
        or key not in first
        or not np.array_equal(first[key], example(name, config).trace[key])
    )


SAMPLED = [
    case
    for case in CASES
    if differs(*case.values)
    and len(list(example(*case.values[:2]).cells(case.values[2])))
    < example(*case.values[:2]).trace[case.values[2]].size
]


@pytest.mark.parametrize(("name", "config", "key"), SAMPLED)
def test_every_cell_of_a_large_array_has_its_total_and_its_operands(
    name: str, config: str, key: str
) -> None:
    """Without words, which take most of the time."""
    case = example(name, config)
    trace, array = case.trace, case.trace[key]
    stage = next(stage for stage in trace.stages if stage.key == key)
    for index in np.ndindex(array.shape):
        node, expected = tree(trace, stage, index), case.arithmetic(key, index)
        cell = float(array[index])
        size = max(abs(product) for _, _, product in expected.terms)
        assert close(node.value, cell, size), index
        assert close(expected.total, cell, size), index
        assert {(leaf.key, leaf.index) for leaf in leaves(node)} == expected.operands, index


@pytest.mark.parametrize(("name", "config", "key"), CASES)
def test_every_cell_is_written_out(name: str, config: str, key: str) -> None:
    case = example(name, config)
    for index in case.cells(key):
        derivation = case.explain(key, index)
        value = derivation.value
        for decimals in (4, 2, None):
            result = format_number(value, decimals)
            text, latex = derivation.text(decimals), derivation.to_latex(decimals)
            assert result in text.rsplit(" = ", 1)[-1]
            assert derivation.steps(decimals)[-1] == result
            assert text.startswith(derivation.symbolic)
            assert "\n" not in text
            assert balanced(latex), latex
            assert latex.endswith(result.replace("−", "-").replace("∞", r"\infty "))
            assert "−" not in latex
            assert "nan" not in (text + latex).lower()
        assert derivation.latex == derivation.to_latex(4)
        assert derivation.title.startswith(case.trace.info(key).title)
        if len(index) == 3:
            assert derivation.head == case.trace.labels(key)[0][index[0]]
            assert derivation.head in derivation.title


@pytest.mark.parametrize(("name", "config"), EXAMPLES)
def test_every_cell_of_every_input_is_a_leaf(name: str, config: str) -> None:
    case = example(name, config)
    trace = case.trace
    for key in trace.values.arrays.keys() - {stage.key for stage in trace.stages}:
        axes, array = trace.axes(key), trace[key]
        for index in case.cells(key):
            head = index[0] if axes[0] in ("head", "kv_head") else None
            rest = index if head is None else index[1:]
            row, col = (0, *rest)[-2:]
            derivation = trace.explain(key, head, row, col)
            assert derivation.given
            assert derivation.index == index
            assert derivation.value == derivation.total == float(array[index])
            assert [(cell.key, cell.index) for cell in derivation.operands] == [(key, index)]
            assert derivation.note
            assert balanced(derivation.latex)


@pytest.mark.parametrize(("name", "config"), EXAMPLES)
def test_labels_name_every_place_of_every_axis_once(name: str, config: str) -> None:
    trace = example(name, config).trace
    for key, array in trace.values.arrays.items():
        labels, axes = trace.labels(key), trace.axes(key)
        assert tuple(map(len, labels)) == array.shape
        assert len(axes) == array.ndim
        for axis in labels:
            assert len(set(axis)) == len(axis)
            assert all(axis)


@pytest.mark.parametrize(("name", "config"), EXAMPLES)
def test_every_cell_can_be_said_in_a_sentence(name: str, config: str) -> None:
    trace = example(name, config).trace
    for stage in trace.stages:
        for index in itertools.islice(every_cell(trace[stage.key]), 40):
            head, row, col = index if len(index) == 3 else (None, *index)
            sentence = trace.sentence(stage.key, head, row, col)
            labels = [names[i] for names, i in zip(trace.labels(stage.key), index, strict=True)]
            assert format_number(float(trace[stage.key][index]), 4) in sentence
            assert labels[-1] in sentence
            assert labels[-2] in sentence
            assert labels[0] in sentence or "{head}" not in stage.says


def test_from_the_output_one_comes_down_to_the_tables() -> None:
    trace = run(PRESETS["walkthrough"])
    seen, open_ = set(), [("output", (1, 2))]
    while open_:
        key, index = open_.pop()
        if (key, index) in seen:
            continue
        seen.add((key, index))
        head, row, col = index if len(index) == 3 else (None, *index)
        derivation = trace.explain(key, head, row, col)
        if not derivation.given:
            open_ += [(cell.key, cell.index) for cell in derivation.operands]
    reached = {key for key, _ in seen}
    assert reached == {stage.key for stage in trace.stages} | {"w_q", "w_k", "w_v", "w_o"}
    assert sum(key == "x" for key, _ in seen) == 12


def test_empty_row_is_said_to_be_empty() -> None:
    trace = example("walkthrough", "causal, first row empty").trace
    assert trace.empty_rows.tolist() == [[True, False, False]] * 2
    derivation = trace.explain("attention", 0, 0, 1)
    assert "nothing" in derivation.note
    assert derivation.total == 0
    assert derivation.operands == ()


def test_hidden_cell_says_which_mask_hides_it() -> None:
    trace = _everything()
    mask = trace["mask"]
    for index in every_cell(trace["masked"]):
        note = trace.explain("masked", *index).note
        later, off = index[2] > index[1] + 2, not mask[index]
        assert ("causal" in note.lower()) == later
        assert ("mask table" in note) == off
        assert ("stays" in note) == (not later and not off)


def test_a_concatenated_cell_says_from_where_it_was_copied() -> None:
    note = run(PRESETS["walkthrough"]).explain("concat", row=1, col=3).note
    assert note == "Copied from column 2 of head 2."


@pytest.mark.parametrize(
    ("heads", "text", "columns", "latex"),
    [
        (1, "H₁", "H₁ᵀ", r"[\,H_{1}\,]"),
        (2, "H₁ | H₂", "H₁ᵀ over H₂ᵀ", r"[\,H_{1} \mid H_{2}\,]"),
        (3, "H₁ | H₂ | H₃", "H₁ᵀ over H₂ᵀ over H₃ᵀ", r"[\,H_{1} \mid H_{2} \mid H_{3}\,]"),
        (
            12,
            "H₁ | H₂ | … | H₁₂",
            "H₁ᵀ over H₂ᵀ over … over H₁₂ᵀ",
            r"[\,H_{1} \mid H_{2} \mid \dots \mid H_{12}\,]",
        ),
    ],
)
def test_the_heads_that_are_put_together_are_named(
    heads: int, text: str, columns: str, latex: str
) -> None:
    trace = run(edit.resize(PRESETS["walkthrough"], n_heads=heads)[0])
    concat = next(stage for stage in trace.stages if stage.key == "concat")
    assert concat.formula == (text, latex)
    assert concat.formula_columns == (columns, latex + r"^{\top}")
    derivation = trace.explain("concat", row=1, col=2 * heads - 1)
    label = f"H{str(heads).translate(SUBSCRIPTS)}[league, d1]"
    assert (derivation.symbolic, derivation.operands[0].label) == (label, label)


def test_the_weight_of_a_lone_token_is_no_sum() -> None:
    trace = run(edit.set_text(PRESETS["walkthrough"], "one")[0])
    first, *rest = trace.explain("attention", 0).steps(2)
    assert first.count("(") == 2  # those of the powers
    assert rest == ["1 / 1", "1.00"]


def test_where_a_cell_of_x_comes_from() -> None:
    scenario, _ = edit.set_text(PRESETS["walkthrough"], "major hello league")
    scenario, _ = edit.set_cells(scenario, "x", {(2, 1): 7.0})
    scenario, _ = edit.resize(scenario, d_model=5)
    trace = run(scenario)
    notes = {
        place: trace.explain("x", row=place[0], col=place[1]).note
        for place in ((0, 0), (0, 4), (1, 0), (2, 0), (2, 1))
    }
    assert "example" in notes[0, 0]
    assert "example" in notes[2, 0]
    assert "seed 0" in notes[0, 4]
    assert "seed 0" in notes[1, 0]
    assert "Typed" in notes[2, 1]


WALKTHROUGH_LINES = {
    ("q", 0, 1, 0): "x_league · W_Q[:, d0] = 0.5·0.5 + 0.3·0.8 + 0·0.7 + 0.9·0.1 = 0.5800 (head 1)",
    ("scores", 0, 1, 0): "q_league · k_major = 0.58·0.37 + 1.11·0.49 = 0.7585 (head 1)",
    ("scaled", 1, 1, 2): (
        "S[league, baseball] / √d_k = 2.2698 / √2 = 2.2698 / 1.4142 = 1.6050 (head 2)"
    ),
    ("heads", 0, 1, 0): (
        "a_league · V[:, d0] = 0.23808·0.39 + 0.35487·0.41 + 0.40705·0.78 = 0.5558 (head 1)"
    ),
    ("concat", None, 0, 2): "H₂[major, d0] = 0.7355",
}


@pytest.mark.parametrize("place", WALKTHROUGH_LINES)
def test_walkthrough_lines(place: tuple[str, int | None, int, int]) -> None:
    assert run(PRESETS["walkthrough"]).explain(*place).text() == WALKTHROUGH_LINES[place]


def test_walkthrough_softmax_shows_maximum_powers_sum_and_quotient() -> None:
    derivation = run(PRESETS["walkthrough"]).explain("attention", 1, 1, 2)
    steps = derivation.steps(4)
    assert len(steps) == 4
    assert "0.8025 − 1.605" in steps[0]
    assert steps[1:] == ("1 / (0.4482 + 0.6934 + 1)", "1 / 2.1416", "0.4669")
    assert derivation.note.startswith("m is the largest score of the row.")


def test_derivations_stand_under_each_other_in_latex() -> None:
    trace = run(PRESETS["walkthrough"])
    latex = aligned([trace.explain(key, 1, 1, 2) for key in ("scores", "scaled")], 2)
    begin, *rows, end = latex.splitlines()
    assert (begin, end) == (r"\begin{aligned}", r"\end{aligned}")
    assert rows[0].endswith(r" &= 0.75 \cdot 0.54 + 1.26 \cdot 1.48 \\")
    assert rows[1:] == [
        r"&= 2.27 \\",
        r"\frac{{S}_{\text{league},\,\text{baseball}}}{\sqrt{d_k}} &= \frac{2.2698}{\sqrt{2}} \\",
        r"&= \frac{2.2698}{1.41421} \\",
        "&= 1.60",
    ]
    assert balanced(latex)


def test_walkthrough_sentences() -> None:
    trace = run(PRESETS["walkthrough"])
    assert trace.sentence("attention", 0, 1, 2) == "league attends to baseball with 0.4071"
    assert trace.sentence("attention", 0, 1, 2, 2) == "league attends to baseball with 0.41"
    assert "league's query meets major's key" in trace.sentence("scores", 0, 1, 0)


def test_long_sum_shows_the_largest_terms_their_number_and_the_rest() -> None:
    derivation = _long().explain("q", 0, 3, 1)
    products = [term.product for term in derivation.terms]
    assert len(products) == 21
    text = derivation.text(None)
    rest = re.search(r"\[(\d+) other terms: (\S+)\]", text)
    assert rest
    shown = text.split(" = ")[1].split(" + [")[0].split(" + ")
    assert len(shown) + int(rest[1]) == 21
    assert len(shown) <= 12
    largest = sorted(map(abs, products), reverse=True)[: len(shown)]
    total = 0.0
    for item in shown:
        factors = [float(part.strip("()").replace("−", "-")) for part in item.split("·")]
        product = math.prod(factors)
        assert min(abs(abs(product) - size) for size in largest) < 1e-15
        total += product
    assert close(total + float(rest[2].replace("−", "-")), derivation.value)
    assert r"\underbrace" in derivation.to_latex()


# Whether the check itself sees what is wrong.


def rebuilt(node: Expr, old: Expr, new: Expr, every: bool = False) -> Expr:
    """A tree with one node replaced, or with every node that is equal to it."""
    if node is old or (every and node == old):
        return new

    def part(inner: Expr) -> Expr:
        return rebuilt(inner, old, new, every)

    match node:
        case Cell() | Const():
            return node
        case Neg(a):
            return Neg(part(a))
        case Func(name, a):
            return Func(name, part(a))
        case Mul(a, b) | Div(a, b) | Sub(a, b):
            return type(node)(part(a), part(b))
        case Max(terms):
            return Max(tuple(map(part, terms)))
        case Sum(terms, names):
            return Sum(tuple(map(part, terms)), names)


def forged(derivation: Derivation, expr: Expr) -> Derivation:
    return replace(derivation, explanation=replace(derivation.explanation, exprs=(expr,)))


def swapped(trace: Trace, cell: Cell) -> Iterator[Cell]:
    """The neighbour with its own number, the right number under a wrong place, a wrong number."""
    array = trace[cell.key]
    other = tuple(
        int(i)
        for i in np.unravel_index(
            (np.ravel_multi_index(cell.index, array.shape) + 1) % array.size, array.shape
        )
    )
    yield Cell(cell.key, other, float(array[other]), cell.label)
    yield Cell(cell.key, other, cell.value, cell.label)
    yield Cell(cell.key, cell.index, cell.value + 0.01, cell.label)
    yield Cell(cell.key, cell.index, cell.value)


FORGED = [
    pytest.param(name, config, stage.key, id=f"{name}-{stage.key}")
    for name, config in (
        ("walkthrough", "all at once"),
        ("everything", ""),
        ("crossed", ""),
        ("crossed turns", ""),
        ("crossed slopes", ""),
        ("given", ""),
        ("given, off", ""),
    )
    for stage in example(name, config).trace.stages
]


@pytest.mark.parametrize(("name", "config", "key"), FORGED)
def test_a_swapped_operand_is_seen(name: str, config: str, key: str) -> None:
    case = example(name, config)
    tried = 0
    for index in every_cell(case.trace[key]):
        derivation, expected = case.explain(key, index), case.arithmetic(key, index)
        for leaf in leaves(derivation.expr):
            for wrong in swapped(case.trace, leaf):
                if wrong == leaf:  # minus infinity and 0.01 is minus infinity
                    continue
                every = wrong.value == leaf.value  # else another leaf may still be right
                forgery = forged(derivation, rebuilt(derivation.expr, leaf, wrong, every))
                assert problems(case.trace, forgery, expected), (index, leaf, wrong)
                tried += 1
    assert tried >= 40


@pytest.mark.parametrize("key", ["q", "scores", "attention", "heads", "output"])
def test_a_missing_or_doubled_term_is_seen(key: str) -> None:
    case = example("walkthrough", "default")
    for index in every_cell(case.trace[key]):
        derivation, expected = case.explain(key, index), case.arithmetic(key, index)
        node = derivation.expr.b if isinstance(derivation.expr, Div) else derivation.expr
        assert isinstance(node, Sum)
        for terms in (node.terms[1:], node.terms[:-1], (*node.terms, node.terms[0])):
            names = ("",) * len(terms)
            forgery = forged(derivation, rebuilt(derivation.expr, node, Sum(terms, names)))
            assert problems(case.trace, forgery, expected)


def test_a_total_that_is_only_nearly_right_is_seen() -> None:
    case = example("walkthrough", "default")
    derivation, expected = case.explain("scores", (0, 1, 0)), case.arithmetic("scores", (0, 1, 0))
    assert not problems(case.trace, derivation, expected)
    off = Sum((derivation.expr, Const(3e-12)), ("", ""))
    assert problems(case.trace, forged(derivation, off), expected)
    assert problems(case.trace, replace(derivation, value=derivation.value + 1e-15), expected)


@pytest.mark.parametrize("latex", ["{", "}", "}{", r"\{{", r"\left(", r"\text{\}", r"\frac{1}{2}}"])
def test_unbalanced_latex_is_seen(latex: str) -> None:
    assert not balanced(latex)
    assert balanced(r"\left(\frac{1}{\text{\{}}\right)")


def test_every_row_of_the_table_reads_as_it_does_in_some_computation() -> None:
    """So that what a configuration always overrides cannot say something else."""
    told: dict[str, set[Any]] = {}
    for pair in EXAMPLES:
        for stage in example(*pair).trace.stages:
            words = stage.formula, stage.formula_columns, stage.what, stage.why
            told.setdefault(stage.key, set()).add(words)
    for stage in STAGES:
        words = stage.formula, stage.formula_columns, stage.what, stage.why
        assert words in told[stage.key], stage.key


def test_a_stage_that_was_given_does_not_say_how_it_is_computed() -> None:
    trace = example("given", "").trace
    for key in "qkv":
        stage = next(stage for stage in trace.stages if stage.key == key)
        assert stage.formula == (stage.symbol, stage.latex)
        assert stage.formula_columns[0] == f"{stage.symbol}ᵀ"
        assert "given" in stage.what
        assert "W_" not in stage.what


@pytest.mark.parametrize("name", NORMALISERS)
def test_only_weights_that_sum_to_one_are_said_to_share_out_one_unit(name: str) -> None:
    trace = example("walkthrough", f"normaliser {name}").trace
    why = next(stage.why for stage in trace.stages if stage.key == "attention")
    assert ("one unit" in why) == np.allclose(trace["attention"].sum(axis=-1), 1.0)


def test_every_stage_and_table_says_what_it_is() -> None:
    keys = [stage.key for stage in STAGES]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set(TABLES)
    for stage in STAGES:
        for words in (stage.title, stage.symbol, stage.latex, stage.what, stage.why):
            assert words.strip()
        assert all((*stage.formula, *stage.formula_columns))
        assert balanced(stage.formula[1])
        assert balanced(stage.formula_columns[1])
        assert stage.what.endswith(".")
        assert stage.why.endswith(".")
