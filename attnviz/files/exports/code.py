"""Each operation as lines of code, in words that NumPy and PyTorch share.

`CODE` has one entry for each kind of operation, `NORMALISE` one for each normaliser. What has
none is written out cell by cell from its expression trees, so every trace can be written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.bare import tree
from attnviz.core.expr import Cell, Const, Div, Expr, Func, Max, Mul, Neg, Sub, Sum
from attnviz.core.masks import MASKS, Mask, causal_shift
from attnviz.core.normalise import Normalise
from attnviz.core.op import Values
from attnviz.core.ops import AddBias, Concat, MatMul, Scale, SoftCap, Temper
from attnviz.core.positions import POSITIONS, AddPositions, Rotate, alibi_slopes, rotary_dims
from attnviz.core.stages import Stage
from attnviz.core.trace import Trace

Lines = list[str]


@dataclass(frozen=True)
class Library:
    """What differs between the two: the name, how an array is made, and how a row is sorted."""

    name: str
    array: str
    sort: str


NUMPY = Library("np", "np.array", "np.sort({0}, axis=-1)")
TORCH = Library("torch", "torch.tensor", "torch.sort({0}, dim=-1).values")


def literal(value: NDArray[Any], lib: Library, indent: str = "") -> str:
    """An array as nested lists with every digit, one row a line."""
    if value.ndim > 1:
        deeper = indent + "    "
        rows = "".join(f"{deeper}{literal(row, lib, deeper)},\n" for row in value)
        return f"[\n{rows}{indent}]"
    items = [repr(item).replace("inf", f"{lib.name}.inf") for item in value.tolist()]
    return f"[{', '.join(items)}]"


def made(name: str, value: NDArray[Any], lib: Library) -> str:
    """A line, or several, that make an array."""
    return f"{name} = {lib.array}({literal(value, lib)})"


def code(trace: Trace, stage: Stage, lib: Library) -> Lines:
    """The lines that compute a stage from the arrays before it."""
    writer = CODE.get(type(stage.op))
    lines = writer(stage, trace.values, lib) if writer else None
    return _cell_by_cell(trace, stage, lib) if lines is None else lines


def _matmul(stage: Stage, values: Values, lib: Library) -> Lines:
    op: Any = stage.op
    left, right = values.pick(op.left), values.pick(op.right)
    assert left is not None
    assert right is not None
    a, b, text = values[left], values[right], right
    if a.ndim == b.ndim == 3 and len(a) != len(b):  # query head h reads key/value head h // n
        text += str([h // (len(a) // len(b)) for h in range(len(a))]).join("[]")
    text = f"{left} @ {text}{'.swapaxes(-1, -2)' if op.transposed else ''}"
    if bias := values.pick(op.bias):
        text += f" + {bias}{'[:, None, :]' if values[bias].ndim == 2 else ''}"
    return [f"{stage.key} = {text}"]


def _scale(stage: Stage, values: Values, lib: Library) -> Lines:
    op: Any = stage.op
    scale = values.config.scale
    factor = f"/ {op.width}.shape[-1] ** 0.5" if scale is None else f"* {scale!r}"
    return [f"{stage.key} = {op.source} {factor}"]


def _temper(stage: Stage, values: Values, lib: Library) -> Lines:
    return [f"{stage.key} = {stage.op.inputs(values)[0]} / {values.config.temperature!r}"]


def _cap(stage: Stage, values: Values, lib: Library) -> Lines:
    source, cap = stage.op.inputs(values)[0], values.config.softcap
    return [f"{stage.key} = {cap!r} * {lib.name}.tanh({source} / {cap!r})"]


def _add_bias(stage: Stage, values: Values, lib: Library) -> Lines:
    text, lines = " + ".join(stage.op.inputs(values)), []
    distance = POSITIONS[values.config.positions].distance
    if distance is not None:
        n_heads, n_queries, n_keys = values[stage.key].shape
        ahead = np.arange(1 - n_queries, n_keys)
        lines = [
            made("slope", alibi_slopes(n_heads), lib),
            made("distance", distance(ahead).astype(np.float64), lib) + "  # by key - query",
            f"ahead = {lib.name}.arange({n_keys}) - {lib.name}.arange({n_queries})[:, None]",
        ]
        text += f" + slope[:, None, None] * distance[ahead + {n_queries - 1}]"
    return [*lines, f"{stage.key} = {text}"]


def _concat(stage: Stage, values: Values, lib: Library) -> Lines:
    source = stage.op.inputs(values)[0]
    return [f"{stage.key} = {source}.swapaxes(0, 1).reshape({values[source].shape[1]}, -1)"]


def _add_positions(stage: Stage, values: Values, lib: Library) -> Lines:
    op: Any = stage.op
    (n, width), wave = values[op.source].shape, POSITIONS[values.config.positions].wave
    if wave is None:
        return [f"{stage.key} = {op.source} + {op.table}[:{n}]"]
    kinds, numbers = zip(*(wave(column, width) for column in range(width)), strict=True)
    return [
        made("number", np.array(numbers, np.float64), lib),
        made("is_sin", np.array(kinds) == "sin", lib),
        f"period = {values.config.position_base!r} ** (2 * number / {width})",
        f"angle = {lib.name}.arange({n})[:, None] / period",
        f"wave = {lib.name}.where(is_sin, {lib.name}.sin(angle), {lib.name}.cos(angle))",
        f"{stage.key} = {op.source} + wave",
    ]


def _rotate(stage: Stage, values: Values, lib: Library) -> Lines:
    op: Any = stage.op
    pairs = POSITIONS[values.config.positions].pairs
    assert pairs is not None
    dims, base = rotary_dims(values, op.source), values.config.position_base
    first, second = (columns.tolist() for columns in pairs(dims))
    places = values[op.source].shape[1]
    return [
        f"first, second = {first}, {second}",
        f"frequency = {base!r} ** (-2.0 * {lib.name}.arange({dims // 2}) / {dims})",
        f"angle = {lib.name}.arange({places})[:, None] * frequency",
        f"cos, sin = {lib.name}.cos(angle), {lib.name}.sin(angle)",
        f"a, b = {op.source}[..., first], {op.source}[..., second]",
        f"{stage.key} = 1.0 * {op.source}  # a copy; some columns may stay",
        f"{stage.key}[..., first] = a * cos - b * sin",
        f"{stage.key}[..., second] = a * sin + b * cos",
    ]


def _mask(stage: Stage, values: Values, lib: Library) -> Lines:
    source, lines, allowed = stage.op.inputs(values)[0], [], []
    shape = values[source].shape
    for name, kind in MASKS.items():
        cells = kind.allowed(values, shape)
        if cells is None:
            continue
        if name == "causal":
            query = f"{lib.name}.arange({shape[1]})[:, None]"
            allowed.append(
                f"({lib.name}.arange({shape[2]}) <= {query} + {causal_shift(values, shape)})"
            )
        else:
            allowed.append(name)
            if name not in values.arrays:
                lines.append(made(name, cells, lib))
    lines.append(f"allowed = {' & '.join(allowed)}")
    return [*lines, f"{stage.key} = {lib.name}.where(allowed, {source}, -{lib.name}.inf)"]


def _softmax(s: str, axis: int = -1) -> Lines:
    return [
        f"top = np.amax({s}, axis={axis}, keepdims=True)",
        "top = np.where(top == -np.inf, 0.0, top)",
        f"power = np.exp({s} - top)",
        f"total = power.sum(axis={axis}, keepdims=True)",
        "attention = power / np.where(total == 0, 1.0, total)  # nothing allowed: zeros",
    ]


def _top_k(s: str, k: int, lib: Library) -> Lines:
    kept = f"kept = np.where({s} >= {lib.sort.format(s)}[..., -{k}, None], {s}, -np.inf)"
    return [kept, *_softmax("kept")]


# Normaliser -> lines that make `attention` from the scores `s`, as for NumPy.
NORMALISE: Mapping[str, Callable[[str, Values, Library], Lines]] = {
    "softmax": lambda s, values, lib: _softmax(s),
    "softmax_columns": lambda s, values, lib: _softmax(s, -2),
    "softmax_plus_one": lambda s, values, lib: [
        f"top = np.clip(np.amax({s}, axis=-1, keepdims=True), 0.0, None)",
        f"power = np.exp({s} - top)",
        "attention = power / (np.exp(-top) + power.sum(axis=-1, keepdims=True))",
    ],
    "division": lambda s, values, lib: [
        f"shown = np.where({s} == -np.inf, 0.0, {s})",
        "total = shown.sum(axis=-1, keepdims=True)",
        "attention = shown / np.where(total == 0, 1.0, total)",
    ],
    "sigmoid": lambda s, values, lib: [
        f"small = np.exp(-np.abs({s}))",
        f"attention = np.where({s} < 0, small, 1.0) / (1.0 + small)",
    ],
    "top_k": lambda s, values, lib: (
        _top_k(s, values.config.top_k, lib)
        if values.config.top_k < values[s].shape[-1]
        else _softmax(s)
    ),
}


def _normalise(stage: Stage, values: Values, lib: Library) -> Lines | None:
    writer = NORMALISE.get(values.config.normaliser)
    if writer is None:
        return None
    source = stage.op.inputs(values)[0]
    lines = writer(source, values, lib)
    return [
        line.replace("np.", f"{lib.name}.").replace("attention =", f"{stage.key} =")
        for line in lines
    ]


CODE: Mapping[type, Callable[[Stage, Values, Library], Lines | None]] = {
    MatMul: _matmul,
    Scale: _scale,
    Temper: _temper,
    SoftCap: _cap,
    AddBias: _add_bias,
    Concat: _concat,
    AddPositions: _add_positions,
    Rotate: _rotate,
    Mask: _mask,
    Normalise: _normalise,
}


def _cell_by_cell(trace: Trace, stage: Stage, lib: Library) -> Lines:
    shape = trace[stage.key].shape
    trees = ((index, tree(trace, stage, index)) for index in np.ndindex(*shape))
    cells = [f"{stage.key}[{', '.join(map(str, i))}] = {expression(node)}" for i, node in trees]
    return [f"{stage.key} = {lib.name}.zeros({shape})", *cells]


def expression(node: Expr) -> str:
    """A tree as Python."""
    match node:
        case Cell(key, index):
            return f"{key}[{', '.join(map(str, index))}]"
        case Const(value):
            return repr(value) if np.isfinite(value) else f'float("{value}")'
        case Neg(a):
            return f"-{expression(a)}" if isinstance(a, Cell) else f"-({expression(a)})"
        case Mul(a, b):
            return f"({expression(a)} * {expression(b)})"
        case Div(a, b):
            return f"({expression(a)} / {expression(b)})"
        case Sub(a, b):
            return f"({expression(a)} - {expression(b)})"
        case Func(name, a):
            return f"math.{name}({expression(a)})"
        case Max(terms):
            return f"max({', '.join(map(expression, terms))})"
        case Sum(terms):
            return f"({' + '.join(map(expression, terms))})"
