"""What rows of the table of stages say for a configuration, by field of the row."""

from collections.abc import Mapping
from typing import Any

from attnviz.core.normalise import NORMALISERS
from attnviz.core.numbers import number_text
from attnviz.core.op import Values
from attnviz.core.ops import MatMul
from attnviz.core.positions import POSITIONS
from attnviz.core.stage import Stage, Table
from attnviz.core.text import SUBSCRIPTS

Rows = Mapping[str, Table]
MOST_NAMED = 3  # heads that are all named in a formula
UNSHARED = "A token has no fixed amount of attention to share out: its weights need not sum to 1."


def _named(names: str, values: Values, rows: Rows) -> tuple[str, str]:
    """The symbol of the first of "a|b|c" that is there, as (text, LaTeX)."""
    row = rows[values.pick(names) or names.split("|")[-1]]
    return row.symbol, f"{{{row.latex}}}" if "^" in row.latex else row.latex


def product(stage: Stage, values: Values, rows: Rows) -> Mapping[str, Any]:
    """The formula of a product, with the arrays that it reads and its bias where there is one."""
    op = stage.op
    assert isinstance(op, MatMul)
    (a, a_latex), (b, b_latex) = _named(op.left, values, rows), _named(op.right, values, rows)
    c = values.pick(op.bias)
    plus, plus_latex = ("", "") if c is None else (f" + {rows[c].symbol}", f" + {rows[c].latex}")
    top, turned = r"^{\top}", "ᵀ"
    right = (f"{b}{turned}", f"{b_latex}{top}") if op.transposed else (b, b_latex)
    first = (b, b_latex) if op.transposed else (f"{b}{turned}", f"{b_latex}{top}")
    return {
        "formula": (f"{a} · {right[0]}{plus}", rf"{a_latex}\,{right[1]}{plus_latex}"),
        "formula_columns": (
            f"{first[0]} · {a}{turned}{plus and plus + turned}",
            f"{first[1]} {a_latex}{top}{plus_latex and plus_latex + top}",
        ),
    }


def scaled(stage: Stage, values: Values, rows: Rows) -> Mapping[str, Any]:
    """The factor in use, where it is not 1/√d_k."""
    scale = values.config.scale
    if scale is None:
        return {}
    factor = number_text(scale)
    return {
        "formula": (f"S · {factor}", rf"S \cdot {factor}"),
        "formula_columns": (f"Sᵀ · {factor}", rf"S^{{\top}} \cdot {factor}"),
        "what": f"Every score is multiplied by {factor}."
        if scale != 1
        else "Scores are not scaled.",
    }


def over(stage: Stage, values: Values, rows: Rows) -> Mapping[str, Any]:
    """The formula of a step on single scores, with the step before it by its symbol."""
    symbol, latex = _named(stage.op.inputs(values)[0], values, rows)
    return {
        field: (text.replace("S′", symbol), formula.replace("S'", latex))
        for field, (text, formula) in (
            ("formula", stage.formula),
            ("formula_columns", stage.formula_columns),
        )
    }


def biased(stage: Stage, values: Values, rows: Rows) -> Mapping[str, Any]:
    """Everything that is added to the scores."""
    symbol, latex = _named(stage.op.inputs(values)[0], values, rows)
    kind = POSITIONS[values.config.positions]
    words, columns = [(symbol, latex)], [(f"{symbol}ᵀ", rf"{latex}^{{\top}}")]
    if "bias" in values.arrays:
        words.append(("B", "B"))
        columns.append(("Bᵀ", r"B^{\top}"))
    more = {}
    if kind.distance is not None:
        sloped = (f"slope·{kind.distance_text[0]}", rf"\text{{slope}}\cdot{kind.distance_text[1]}")
        words.append(sloped)
        columns.append(sloped)
        more = {"what": kind.says, "why": "It tells near places from far ones without embeddings."}
    text, columns_text = (
        tuple(" + ".join(parts) for parts in zip(*each, strict=True)) for each in (words, columns)
    )
    return {"formula": text, "formula_columns": columns_text, **more}


def normalised(stage: Stage, values: Values, rows: Rows) -> Mapping[str, Any]:
    """What the chosen normaliser says of itself."""
    kind = NORMALISERS[values.config.normaliser]
    symbol, latex = _named(stage.op.inputs(values)[0], values, rows)
    text, formula = kind.formula
    return {
        "formula": (text.replace("{s}", symbol), formula.replace("{s}", latex)),
        "formula_columns": (
            text.replace("{s}", f"{symbol}ᵀ"),
            formula.replace("{s}", rf"{latex}^{{\top}}"),
        ),
        "what": kind.what,
        "why": kind.warning or (stage.why if kind.sums_to_one else UNSHARED),
        "colour": kind.colour,
    }


def joined(stage: Stage, values: Values, rows: Rows) -> Mapping[str, Any]:
    """The formula with as many heads as there are; of many the first two and the last."""
    source = stage.op.inputs(values)[0]
    symbol, in_latex, count = rows[source].symbol, rows[source].latex, len(values[source])
    shown = [str(head + 1) for head in range(count)]
    if count > MOST_NAMED:
        shown[2:-1] = ["…"]
    text = [head if head == "…" else f"{symbol}{head.translate(SUBSCRIPTS)}" for head in shown]
    turned = [head if head == "…" else f"{head}ᵀ" for head in text]
    latex = r" \mid ".join(r"\dots" if head == "…" else f"{in_latex}_{{{head}}}" for head in shown)
    return {
        "formula": (" | ".join(text), rf"[\,{latex}\,]"),
        "formula_columns": (" over ".join(turned), rf"[\,{latex}\,]^{{\top}}"),
    }


def positioned(stage: Stage, values: Values, rows: Rows) -> Mapping[str, Any]:
    """What the chosen positions say of themselves."""
    return {"what": POSITIONS[values.config.positions].says}
