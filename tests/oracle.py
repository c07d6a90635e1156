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

SCORE_STAGES = ("scores", "scaled", "tempered", "capped", "biased", "masked")
ADDED = ("sinusoidal", "sinusoidal_concat", "learned")


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
    learned: Matrix | None = None,
    context_learned: Matrix | None = None,
    **choices: Any,
) -> Stages:
    """(Tq, d_model) -> every stage, by the project's stage keys."""
    stages: Stages = {"x": [list(row) for row in x]}
    if choices.get("positions") in ADDED:
        kind, base = choices["positions"], choices.get("position_base", 10000.0)
        x = stages["x_positioned"] = add_positions(x, kind, base, learned)
        if context is not None:
            context = add_positions(context, kind, base, context_learned)
            stages["context_positioned"] = context
    source = x if context is None else context
    q = [_project(x, table, b_q[h] if b_q else None) for h, table in enumerate(w_q)]
    k = [_project(source, table, b_k[h] if b_k else None) for h, table in enumerate(w_k)]
    v = [_project(source, table, b_v[h] if b_v else None) for h, table in enumerate(w_v)]
    stages |= dot_product(q, k, v, **choices)
    if w_o is not None:
        stages["output"] = _project(stages["concat"], w_o, b_o)
    return stages


def dot_product(
    q: Heads,
    k: Heads,
    v: Heads,
    *,
    mask: Any = None,
    keep: Sequence[bool] | None = None,
    bias: Any = None,
    causal: bool = False,
    causal_offset: int = 0,
    causal_alignment: str = "top-left",
    scale: float | None = None,
    temperature: float = 1.0,
    softcap: float | None = None,
    normaliser: str = "softmax",
    top_k: int = 2,
    positions: str = "none",
    position_base: float = 10000.0,
    rope_dims: int | None = None,
) -> Stages:
    """q [H][Tq][d_k], k [Hkv][Tk][d_k], v [Hkv][Tk][d_v] -> every stage from q to concat."""
    given: Stages = {"q": q, "k": k, "v": v}
    if positions.startswith("rope"):
        q = given["q_rotated"] = rotate(q, positions, position_base, rope_dims)
        k = given["k_rotated"] = rotate(k, positions, position_base, rope_dims)
    n_heads, n_queries, n_keys = len(q), len(q[0]), len(k[0])
    group = n_heads // len(k)
    d_k, d_v = len(q[0][0]), len(v[0][0])
    factor = 1.0 / math.sqrt(d_k) if scale is None else scale
    hide = mask is not None or keep is not None or causal
    shift = causal_offset + (n_keys - n_queries if causal_alignment == "bottom-right" else 0)
    sloped = positions.startswith("alibi")
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
                score /= temperature
                found["tempered"][h][i][j] = score
                if softcap is not None:
                    score = softcap * math.tanh(score / softcap)
                found["capped"][h][i][j] = score
                if bias is not None:
                    score += _pick(bias, h, i, j)
                if sloped:
                    score += slopes(n_heads)[h] * _distance(positions, i, j)
                found["biased"][h][i][j] = score
                if causal and j > i + shift:
                    score = -math.inf
                if keep is not None and not keep[j]:
                    score = -math.inf
                if mask is not None and not _pick(mask, h, i, j):
                    score = -math.inf
                found["masked"][h][i][j] = score
        found["attention"][h] = weigh(found["masked"][h], normaliser, top_k)
        for i in range(n_queries):
            weights = found["attention"][h][i]
            for c in range(d_v):
                heads[h][i][c] = math.fsum(
                    weights[j] * v[h // group][j][c] for j in range(n_keys) if weights[j]
                )
    found["heads"] = heads
    found["concat"] = [
        [heads[h][i][c] for h in range(n_heads) for c in range(d_v)] for i in range(n_queries)
    ]
    unused = {
        "tempered": temperature == 1,
        "capped": softcap is None,
        "biased": bias is None and not sloped,
        "masked": not hide,
    }
    stages = {**given, **found}
    return {name: stage for name, stage in stages.items() if not unused.get(name)}


def softmax(row: Row) -> list[float]:
    """A row of scores -> weights; a row of minus infinities -> zeros."""
    top = max(row)
    if top == -math.inf:
        return [0.0 for _ in row]
    powers = [math.exp(score - top) for score in row]
    total = math.fsum(powers)
    return [power / total for power in powers]


def weigh(scores: Matrix, normaliser: str, top_k: int = 2) -> list[list[float]]:
    """[query][key] scores -> weights, by the name of a normaliser; empty rows give zeros."""
    if normaliser == "softmax_columns":
        columns = [softmax([row[j] for row in scores]) for j in range(len(scores[0]))]
        return [[column[i] for column in columns] for i in range(len(scores))]
    return [_weigh_row(row, normaliser, top_k) for row in scores]


def _weigh_row(row: Row, normaliser: str, top_k: int) -> list[float]:
    if normaliser == "softmax":
        return softmax(row)
    if normaliser == "softmax_plus_one":
        return softmax([*row, 0.0])[:-1]
    if normaliser == "top_k":
        least = sorted(row, reverse=True)[min(top_k, len(row)) - 1]
        return softmax([score if score >= least else -math.inf for score in row])
    if normaliser == "sigmoid":
        return [0.5 * (1.0 + math.tanh(score / 2.0)) for score in row]
    assert normaliser == "division"
    seen = [score for score in row if score != -math.inf]
    return [0.0 if score == -math.inf else score / math.fsum(seen) for score in row]


def add_positions(rows: Matrix, kind: str, base: float, learned: Matrix | None) -> Matrix:
    """[place][column] rows -> the same with the rows of their places added."""
    return [
        [cell + position(kind, base, p, c, len(row), learned) for c, cell in enumerate(row)]
        for p, row in enumerate(rows)
    ]


def position(
    kind: str, base: float, place: int, column: int, width: int, learned: Matrix | None
) -> float:
    """What is added to one cell."""
    if kind == "learned":
        assert learned is not None
        return learned[place][column]
    sines = [c for c in range(width) if c % 2 == 0]
    cosines = [c for c in range(width) if c % 2 == 1]
    if kind == "sinusoidal_concat":
        sines, cosines = list(range(len(sines))), list(range(len(sines), width))
    wave, pair = (math.sin, sines) if column in sines else (math.cos, cosines)
    return wave(place * math.exp(-2.0 * pair.index(column) / width * math.log(base)))


def rotate(heads: Heads, kind: str, base: float, dims: int | None = None) -> Heads:
    """[head][place][column] -> the same, pairs as complex numbers times e^(i angle)."""
    width = len(heads[0][0])
    dims = width - width % 2 if dims is None else dims
    turned = [[list(row) for row in rows] for rows in heads]
    for rows in turned:
        for place, row in enumerate(rows):
            for pair in range(dims // 2):
                a, b, angle = _pair(kind, base, dims, pair, place)
                z = complex(row[a], row[b]) * complex(math.cos(angle), math.sin(angle))
                row[a], row[b] = z.real, z.imag
    return turned


def _pair(kind: str, base: float, dims: int, pair: int, place: int) -> tuple[int, int, float]:
    """The two columns of a pair and its angle."""
    a, b = (2 * pair, 2 * pair + 1) if kind == "rope_interleaved" else (pair, pair + dims // 2)
    return a, b, place * math.exp(-2.0 * pair / dims * math.log(base))


def slopes(n_heads: int) -> list[float]:
    """ALiBi's slopes: a geometric sequence, and for other counts half of a finer one too."""
    if math.log2(n_heads).is_integer():
        first = 2.0 ** (-8.0 / n_heads)
        return [first ** (h + 1) for h in range(n_heads)]
    below = 2 ** math.floor(math.log2(n_heads))
    return slopes(below) + slopes(2 * below)[::2][: n_heads - below]


def _distance(kind: str, i: int, j: int) -> float:
    return float(j - i) if kind == "alibi" else -float(abs(j - i))


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
        above: for a quotient, what the sum of the terms divides.
    """

    terms: list[tuple[float, float, float]]
    total: float
    operands: set[Place]
    above: float | None = None


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
        choices: those of `dot_product` that are no tables, as far as they were given.
    """
    if key in ("x_positioned", "context_positioned"):
        return _explain_position(stages, tables, key, index, **choices)
    if key in ("q_rotated", "k_rotated"):
        return _explain_turn(stages, key, index, **choices)
    if key == "x" or (key in ("q", "k", "v") and "w_q" not in tables):
        value = _at(stages[key], index)
        return Arithmetic([(value, 1.0, value)], value, {(key, index)})
    if key in ("q", "k", "v"):
        h, i, j = index
        source = "context" if key != "q" and "context" in tables else "x"
        rows = tables["context"] if source == "context" else stages["x"]
        if f"{source}_positioned" in stages:
            source += "_positioned"
            rows = stages[source]
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
        q, k = ("q_rotated", "k_rotated") if "q_rotated" in stages else ("q", "k")
        query, match = stages[q][h][i], stages[k][kv][j]
        left = [(q, (h, i, t), query[t]) for t in range(len(query))]
        right = [(k, (kv, j, t), match[t]) for t in range(len(match))]
        return _sum_of_products(left, right, None)
    if key == "heads":
        kv = h // (len(stages["attention"]) // len(stages["v"]))
        weights = stages["attention"][h][i]
        left = [("attention", (h, i, t), weight) for t, weight in enumerate(weights)]
        right = [("v", (kv, t, j), stages["v"][kv][t][j]) for t in range(len(weights))]
        return _sum_of_products(left, right, None)
    return _explain_score(stages, tables, key, (h, i, j), **choices)


def _explain_position(
    stages: Stages,
    tables: dict[str, Any],
    key: str,
    index: tuple[int, ...],
    *,
    positions: str,
    position_base: float = 10000.0,
    **others: Any,
) -> Arithmetic:
    """An embedding and what is added for its place."""
    source = key.removesuffix("_positioned")
    rows = tables["context"] if source == "context" else stages["x"]
    table = "context_positions" if source == "context" else "positions"
    cell, operands = _at(rows, index), {(source, index)}
    added = position(positions, position_base, index[0], index[1], len(rows[0]), tables.get(table))
    if positions == "learned":
        operands.add((table, index))
    return Arithmetic([(cell, 1.0, cell), (added, 1.0, added)], cell + added, operands)


def _explain_turn(
    stages: Stages,
    key: str,
    index: tuple[int, ...],
    *,
    positions: str,
    position_base: float = 10000.0,
    rope_dims: int | None = None,
    **others: Any,
) -> Arithmetic:
    """The two cells of a pair, with the sine and cosine of the angle."""
    source = key.removesuffix("_rotated")
    head, place, column = index
    row = stages[source][head][place]
    dims = len(row) - len(row) % 2 if rope_dims is None else rope_dims
    for pair in range(dims // 2):
        a, b, angle = _pair(positions, position_base, dims, pair, place)
        if column in (a, b):
            operands = {(source, (head, place, a)), (source, (head, place, b))}
            first = (math.cos(angle), -math.sin(angle))
            second = (math.sin(angle), math.cos(angle))
            by = first if column == a else second
            terms = [(row[a], by[0], row[a] * by[0]), (row[b], by[1], row[b] * by[1])]
            return Arithmetic(terms, terms[0][2] + terms[1][2], operands)
    cell = row[column]
    return Arithmetic([(cell, 1.0, cell)], cell, {(source, index)})


def _explain_score(
    stages: Stages,
    tables: dict[str, Any],
    key: str,
    index: tuple[int, int, int],
    *,
    scale: float | None = None,
    temperature: float = 1.0,
    softcap: float | None = None,
    causal: bool = False,
    causal_offset: int = 0,
    causal_alignment: str = "top-left",
    normaliser: str = "softmax",
    top_k: int = 2,
    positions: str = "none",
    **others: Any,
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
    if key == "tempered":
        return Arithmetic([(cell, temperature, cell / temperature)], cell / temperature, here)
    if key == "capped":
        assert softcap is not None
        squashed = math.tanh(cell / softcap)
        return Arithmetic([(softcap, squashed, softcap * squashed)], softcap * squashed, here)
    if key == "biased":
        terms = [(cell, 1.0, cell)]
        if "bias" in tables:
            added = _pick(tables["bias"], h, i, j)
            flat = not isinstance(tables["bias"][0][0], list | tuple)
            terms.append((added, 1.0, added))
            here.add(("bias", (i, j) if flat else index))
        if positions.startswith("alibi"):
            slope, distance = slopes(len(stages["q"]))[h], _distance(positions, i, j)
            terms.append((slope, distance, slope * distance))
        return Arithmetic(terms, math.fsum(product for _, _, product in terms), here)
    if key == "masked":
        n_queries, n_keys = len(stages["scores"][0]), len(stages["scores"][0][0])
        shift = n_keys - n_queries if causal_alignment == "bottom-right" else 0
        hidden = causal and j > i + causal_offset + shift
        hidden = hidden or ("keep" in tables and not tables["keep"][j])
        hidden = hidden or ("mask" in tables and not _pick(tables["mask"], h, i, j))
        if hidden:
            return Arithmetic([(-math.inf, 1.0, -math.inf)], -math.inf, set())
        return Arithmetic([(cell, 1.0, cell)], cell, here)
    return _explain_weight(stages[before][h], before, index, normaliser, top_k)


def _explain_weight(
    scores: Matrix, before: str, index: tuple[int, int, int], normaliser: str, top_k: int
) -> Arithmetic:
    """The arithmetic of one attention weight: the terms are those below the line."""
    h, i, j = index
    nothing = Arithmetic([(0.0, 1.0, 0.0)], 0.0, set())
    line = {(h, i, t): score for t, score in enumerate(scores[i])}
    if max(line.values()) == -math.inf:
        return nothing
    cell = scores[i][j]
    if normaliser == "sigmoid":
        power = math.exp(-abs(cell))
        total = (power if cell < 0 else 1.0) / (1.0 + power)
        terms = [(1.0, 1.0, 1.0), (power, 1.0, power)]
        return Arithmetic(terms, total, {(before, index)}, power if cell < 0 else 1.0)
    if normaliser == "division":
        line = {place: score for place, score in line.items() if score != -math.inf}
        if cell == -math.inf:
            return nothing
        total = cell / math.fsum(line.values())
        terms = [(score, 1.0, score) for score in line.values()]
        return Arithmetic(terms, total, {(before, place) for place in line}, cell)
    if normaliser == "softmax_columns":
        line = {(h, t, j): row[j] for t, row in enumerate(scores)}
        if max(line.values()) == -math.inf:
            return nothing
    if normaliser == "top_k":
        least = sorted(line.values(), reverse=True)[min(top_k, len(line)) - 1]
        line = {p: score for p, score in line.items() if score >= least and score != -math.inf}
        if index not in line:
            return nothing
    operands = {(before, place) for place in line}
    logits = list(line.values())
    if normaliser == "softmax_plus_one":
        logits = [0.0, *logits]
    top = max(logits)
    terms = [(score, top, math.exp(score - top)) for score in logits]
    above = math.exp(cell - top)
    return Arithmetic(terms, above / math.fsum(power for _, _, power in terms), operands, above)


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
