"""Attention once more, slowly: loops over lists, and the arithmetic that each cell should show.

Written from the formulas alone. It uses neither attnviz nor NumPy, so that both agree only if
both are right. Arrays are nested lists: tables [head][in][out], scores [head][query][key].
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

Row = Sequence[float]
Matrix = Sequence[Row]
Heads = Sequence[Matrix]
Stages = dict[str, Any]
Place = tuple[str, tuple[int, ...]]

SCORE_STAGES = ("scores", "scaled", "capped", "biased", "masked")


def multi_head(
    x: Matrix,
    w_q: Heads,
    w_k: Heads,
    w_v: Heads,
    w_o: Matrix | None = None,
    b_q: Matrix | None = None,
    b_k: Matrix | None = None,
    b_v: Matrix | None = None,
    b_o: Row | None = None,
    *,
    context: Matrix | None = None,
    **choices: Any,
) -> Stages:
    """(Tq, d_model) -> every stage, by the project's stage keys."""
    source = x if context is None else context
    q = [_project(x, table, b_q[h] if b_q else None) for h, table in enumerate(w_q)]
    k = [_project(source, table, b_k[h] if b_k else None) for h, table in enumerate(w_k)]
    v = [_project(source, table, b_v[h] if b_v else None) for h, table in enumerate(w_v)]
    stages: Stages = {"x": [list(row) for row in x], **dot_product(q, k, v, **choices)}
    if w_o is not None:
        stages["output"] = _project(stages["concat"], w_o, b_o)
    return stages


def dot_product(
    q: Heads,
    k: Heads,
    v: Heads,
    *,
    mask: Any = None,
    bias: Any = None,
    causal: bool = False,
    causal_offset: int = 0,
    scale: float | None = None,
    softcap: float | None = None,
) -> Stages:
    """q [H][Tq][d_k], k [Hkv][Tk][d_k], v [Hkv][Tk][d_v] -> every stage from q to concat."""
    n_heads, n_queries, n_keys = len(q), len(q[0]), len(k[0])
    group = n_heads // len(k)
    d_k, d_v = len(q[0][0]), len(v[0][0])
    factor = 1.0 / math.sqrt(d_k) if scale is None else scale
    hide = mask is not None or causal
    found: Stages = {
        name: [[[0.0] * n_keys for _ in range(n_queries)] for _ in range(n_heads)]
        for name in (*SCORE_STAGES, "attention")
    }
    heads = [[[0.0] * d_v for _ in range(n_queries)] for _ in range(n_heads)]
    for h in range(n_heads):
        for i in range(n_queries):
            for j in range(n_keys):
                score = math.fsum(q[h][i][t] * k[h // group][j][t] for t in range(d_k))
                found["scores"][h][i][j] = score
                score *= factor
                found["scaled"][h][i][j] = score
                if softcap is not None:
                    score = softcap * math.tanh(score / softcap)
                found["capped"][h][i][j] = score
                if bias is not None:
                    score += _pick(bias, h, i, j)
                found["biased"][h][i][j] = score
                if causal and j > i + causal_offset:
                    score = -math.inf
                if mask is not None and not _pick(mask, h, i, j):
                    score = -math.inf
                found["masked"][h][i][j] = score
            weights = softmax(found["masked"][h][i])
            found["attention"][h][i] = weights
            for c in range(d_v):
                heads[h][i][c] = math.fsum(
                    weights[j] * v[h // group][j][c] for j in range(n_keys) if weights[j]
                )
    found["heads"] = heads
    found["concat"] = [
        [heads[h][i][c] for h in range(n_heads) for c in range(d_v)] for i in range(n_queries)
    ]
    unused = {"capped": softcap is None, "biased": bias is None, "masked": not hide}
    stages = {"q": q, "k": k, "v": v, **found}
    return {name: stage for name, stage in stages.items() if not unused.get(name)}


def softmax(row: Row) -> list[float]:
    """A row of scores -> weights; a row of minus infinities -> zeros."""
    top = max(row)
    if top == -math.inf:
        return [0.0 for _ in row]
    powers = [math.exp(score - top) for score in row]
    total = math.fsum(powers)
    return [power / total for power in powers]


def _project(rows: Matrix, table: Matrix, bias: Row | None) -> list[list[float]]:
    result = []
    for row in rows:
        line = []
        for col in range(len(table[0])):
            cell = math.fsum(row[t] * table[t][col] for t in range(len(row)))
            line.append(cell if bias is None else cell + bias[col])
        result.append(line)
    return result


def _pick(array: Any, head: int, query: int, key: int) -> Any:
    """A cell of an array that is [query][key], or [head][query][key]."""
    cell = array[head][query] if isinstance(array[0][0], list | tuple) else array[query]
    return cell[key]


class Arithmetic(NamedTuple):
    """What the explanation of a cell should hold.

    Args:
        terms: (first part, second part, what they give), in order.
        total: what the terms give together.
        operands: the cells that the number is made of.
    """

    terms: list[tuple[float, float, float]]
    total: float
    operands: set[Place]


def explain(
    stages: Stages,
    tables: dict[str, Any],
    key: str,
    index: tuple[int, ...],
    **choices: Any,
) -> Arithmetic:
    """The arithmetic of one cell.

    Args:
        stages: the numbers of every stage, as `multi_head` and `dot_product` give them.
        tables: the inputs by name: w_q, ..., b_o, context, mask, bias, as far as there are any.
        key: a stage.
        index: the cell in it.
        choices: scale, softcap, causal and causal_offset, as far as they were given.
    """
    if key == "x" or (key in ("q", "k", "v") and "w_q" not in tables):
        value = _at(stages[key], index)
        return Arithmetic([(value, 1.0, value)], value, {(key, index)})
    if key in ("q", "k", "v"):
        h, i, j = index
        source = "context" if key != "q" and "context" in tables else "x"
        rows = tables["context"] if source == "context" else stages["x"]
        left = [(source, (i, t), rows[i][t]) for t in range(len(rows[i]))]
        name = f"w_{key}"
        right = [(name, (h, t, j), tables[name][h][t][j]) for t in range(len(rows[i]))]
        return _sum_of_products(left, right, _bias(tables, f"b_{key}", (h, j)))
    if key == "output":
        i, j = index
        row = stages["concat"][i]
        left = [("concat", (i, t), row[t]) for t in range(len(row))]
        right = [("w_o", (t, j), tables["w_o"][t][j]) for t in range(len(row))]
        return _sum_of_products(left, right, _bias(tables, "b_o", (j,)))
    if key == "concat":
        i, column = index
        d_v = len(stages["heads"][0][0])
        origin = (column // d_v, i, column % d_v)
        value = _at(stages["heads"], origin)
        return Arithmetic([(value, 1.0, value)], value, {("heads", origin)})
    h, i, j = index
    if key == "scores":
        kv = h // (len(stages["q"]) // len(stages["k"]))
        query, match = stages["q"][h][i], stages["k"][kv][j]
        left = [("q", (h, i, t), query[t]) for t in range(len(query))]
        right = [("k", (kv, j, t), match[t]) for t in range(len(match))]
        return _sum_of_products(left, right, None)
    if key == "heads":
        kv = h // (len(stages["attention"]) // len(stages["v"]))
        weights = stages["attention"][h][i]
        left = [("attention", (h, i, t), weight) for t, weight in enumerate(weights)]
        right = [("v", (kv, t, j), stages["v"][kv][t][j]) for t in range(len(weights))]
        return _sum_of_products(left, right, None)
    return _explain_score(stages, tables, key, (h, i, j), **choices)


def _explain_score(
    stages: Stages,
    tables: dict[str, Any],
    key: str,
    index: tuple[int, int, int],
    *,
    scale: float | None = None,
    softcap: float | None = None,
    causal: bool = False,
    causal_offset: int = 0,
) -> Arithmetic:
    """The arithmetic of one cell of the stages from the raw scores to the weights."""
    h, i, j = index
    steps = [name for name in (*SCORE_STAGES, "attention") if name in stages]
    before = steps[steps.index(key) - 1]
    cell = stages[before][h][i][j]
    here = {(before, index)}
    if key == "scaled":
        if scale is not None:
            return Arithmetic([(cell, scale, cell * scale)], cell * scale, here)
        root = math.sqrt(len(stages["q"][0][0]))
        return Arithmetic([(cell, root, cell / root)], cell / root, here)
    if key == "capped":
        assert softcap is not None
        squashed = math.tanh(cell / softcap)
        return Arithmetic([(softcap, squashed, softcap * squashed)], softcap * squashed, here)
    if key == "biased":
        added = _pick(tables["bias"], h, i, j)
        flat = not isinstance(tables["bias"][0][0], list | tuple)
        terms = [(cell, 1.0, cell), (added, 1.0, added)]
        return Arithmetic(terms, cell + added, here | {("bias", (i, j) if flat else index)})
    if key == "masked":
        hidden = causal and j > i + causal_offset
        hidden = hidden or ("mask" in tables and not _pick(tables["mask"], h, i, j))
        if hidden:
            return Arithmetic([(-math.inf, 1.0, -math.inf)], -math.inf, set())
        return Arithmetic([(cell, 1.0, cell)], cell, here)
    row = stages[before][h][i]
    top = max(row)
    if top == -math.inf:
        return Arithmetic([(0.0, 1.0, 0.0)], 0.0, set())
    terms = [(score, top, math.exp(score - top)) for score in row]
    total = terms[j][2] / math.fsum(power for _, _, power in terms)
    return Arithmetic(terms, total, {(before, (h, i, t)) for t in range(len(row))})


def _bias(
    tables: dict[str, Any], name: str, index: tuple[int, ...]
) -> tuple[str, tuple[int, ...], float] | None:
    return (name, index, _at(tables[name], index)) if name in tables else None


def _sum_of_products(
    left: list[tuple[str, tuple[int, ...], float]],
    right: list[tuple[str, tuple[int, ...], float]],
    bias: tuple[str, tuple[int, ...], float] | None,
) -> Arithmetic:
    terms = [(a[2], b[2], a[2] * b[2]) for a, b in zip(left, right, strict=True)]
    operands = {(name, index) for name, index, _ in (*left, *right)}
    if bias is not None:
        terms.append((bias[2], 1.0, bias[2]))
        operands.add(bias[:2])
    return Arithmetic(terms, math.fsum(product for _, _, product in terms), operands)


def _at(array: Any, index: tuple[int, ...]) -> float:
    for place in index:
        array = array[place]
    return array
