"""The steps of attention, one row each. Pictures, explanations, steps and exports walk this."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from attnviz.core.masks import Mask
from attnviz.core.normalise import Normalise
from attnviz.core.numbers import number_text
from attnviz.core.op import Op, Values
from attnviz.core.ops import AddBias, Concat, Given, MatMul, Scale, SoftCap


@dataclass(frozen=True)
class Table:
    """An array that is set and not computed.

    Args:
        key: its name in a trace.
        title: its name in words.
        symbol, latex: how it is written in formulas.
        axes: the names of its axes, see `AXES`.
        says: a cell in a sentence; {row}, {col}, {head} and {value} are filled in.
    """

    key: str
    title: str
    symbol: str
    latex: str
    axes: tuple[str, ...]
    says: str = "{title}: row {row}, column {col} is {value}"


_NO_OP = Given("")


def no_detail(values: Values) -> str:
    """Nothing to add to a title."""
    return ""


@dataclass(frozen=True)
class Stage(Table):
    """One step of attention: an array with the operation that gives it.

    Args:
        op: the operation; it computes the array and explains each cell.
        formula: what is computed, as (text, LaTeX).
        formula_columns: the same where tokens are columns and every array is transposed.
        what: a sentence on what happens.
        why: a sentence on why.
        colour: "signed" (around zero) or "attention" (0 to 1).
        detail: what a title adds for a configuration, such as the divisor in use.
    """

    op: Op = _NO_OP
    formula: tuple[str, str] = ("", "")
    formula_columns: tuple[str, str] = ("", "")
    what: str = ""
    why: str = ""
    colour: Literal["signed", "attention"] = "signed"
    detail: Callable[[Values], str] = no_detail


def _table(key: str, title: str, symbol: str, latex: str, *axes: str) -> Table:
    return Table(key, title, symbol, latex, axes)


TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.key: table
        for table in (
            _table("context", "Context embeddings", "C", "C", "key", "d_model"),
            _table("w_q", "Query table", "W_Q", "W_Q", "head", "d_model", "d_k"),
            _table("w_k", "Key table", "W_K", "W_K", "kv_head", "d_model", "d_k"),
            _table("w_v", "Value table", "W_V", "W_V", "kv_head", "d_model", "d_v"),
            _table("w_o", "Output table", "W_O", "W_O", "concat", "d_out"),
            _table("b_q", "Query bias", "b_Q", "b_Q", "head", "d_k"),
            _table("b_k", "Key bias", "b_K", "b_K", "kv_head", "d_k"),
            _table("b_v", "Value bias", "b_V", "b_V", "kv_head", "d_v"),
            _table("b_o", "Output bias", "b_O", "b_O", "d_out"),
            _table("mask", "Mask", "mask", r"\mathrm{mask}", "query", "key"),
            _table("bias", "Score bias", "B", "B", "query", "key"),
        )
    }
)

_SCALE = Scale("scores", width="q")
_SCORES = ("head", "query", "key")

STAGES: tuple[Stage, ...] = (
    Stage(
        key="x",
        title="Embeddings",
        symbol="X",
        latex="X",
        axes=("token", "d_model"),
        says="{row}'s embedding, {col}: {value}",
        op=Given("x"),
        formula=("X", "X"),
        formula_columns=("Xᵀ", r"X^{\top}"),
        what="Each token becomes a row of d_model numbers, its embedding.",
        why="Attention works on numbers; tokens with like rows are treated alike.",
    ),
    Stage(
        key="q",
        title="Queries",
        symbol="Q",
        latex="Q",
        axes=("head", "query", "d_k"),
        says="{row}'s query, {col}: {value}",
        op=MatMul("x", "w_q", "b_q"),
        formula=("X · W_Q", r"X\,W_Q"),
        formula_columns=("W_Qᵀ · Xᵀ", r"W_Q^{\top} X^{\top}"),
        what="Each embedding times W_Q gives the token's query.",
        why="A query says what this token looks for in the others.",
    ),
    Stage(
        key="k",
        title="Keys",
        symbol="K",
        latex="K",
        axes=("kv_head", "key", "d_k"),
        says="{row}'s key, {col}: {value}",
        op=MatMul("context|x", "w_k", "b_k"),
        formula=("X · W_K", r"X\,W_K"),
        formula_columns=("W_Kᵀ · Xᵀ", r"W_K^{\top} X^{\top}"),
        what="Each embedding times W_K gives the token's key.",
        why="A key says what this token can be found by.",
    ),
    Stage(
        key="v",
        title="Values",
        symbol="V",
        latex="V",
        axes=("kv_head", "key", "d_v"),
        says="{row}'s value, {col}: {value}",
        op=MatMul("context|x", "w_v", "b_v"),
        formula=("X · W_V", r"X\,W_V"),
        formula_columns=("W_Vᵀ · Xᵀ", r"W_V^{\top} X^{\top}"),
        what="Each embedding times W_V gives the token's value.",
        why="A value is what this token hands over when it is attended to.",
    ),
    Stage(
        key="scores",
        title="Raw scores",
        symbol="S",
        latex="S",
        axes=_SCORES,
        says="{row}'s query meets {col}'s key: raw score {value}",
        op=MatMul("q", "k", transposed=True),
        formula=("Q · Kᵀ", r"Q\,K^{\top}"),
        formula_columns=("K · Qᵀ", r"K\,Q^{\top}"),
        what="The dot product of every query with every key gives a table of scores.",
        why="The better a key answers a query, the larger their dot product.",
    ),
    Stage(
        key="scaled",
        title="Scaled scores",
        symbol="S′",
        latex="S'",
        axes=_SCORES,
        says="{row} to {col}: scaled score {value}",
        op=_SCALE,
        detail=_SCALE.divisor,
        formula=("S / √d_k", r"\frac{S}{\sqrt{d_k}}"),
        formula_columns=("Sᵀ / √d_k", r"\frac{S^{\top}}{\sqrt{d_k}}"),
        what="Every score is divided by the square root of d_k.",
        why="Sums over many dimensions grow large; scaling keeps softmax from picking only one.",
    ),
    Stage(
        key="capped",
        title="Capped scores",
        symbol="Sᶜ",
        latex="S^{c}",
        axes=_SCORES,
        says="{row} to {col}: capped score {value}",
        op=SoftCap("scaled"),
        detail=lambda values: f"c = {number_text(values.config.softcap or 0)}",
        formula=("c · tanh(S′ / c)", r"c\,\tanh(S'/c)"),
        formula_columns=("c · tanh(S′ᵀ / c)", r"c\,\tanh(S'^{\top}/c)"),
        what="A smooth cap keeps every score between -c and c.",
        why="No single score can grow without bound and take all the attention.",
    ),
    Stage(
        key="biased",
        title="Biased scores",
        symbol="Sᵇ",
        latex="S^{b}",
        axes=_SCORES,
        says="{row} to {col}: score with bias {value}",
        op=AddBias("capped|scaled", "bias"),
        formula=("S′ + B", "S' + B"),
        formula_columns=("S′ᵀ + Bᵀ", r"S'^{\top} + B^{\top}"),
        what="A bias is added to every score.",
        why="It favours or disfavours pairs of places whatever the words are.",
    ),
    Stage(
        key="masked",
        title="Masked scores",
        symbol="Sᵐ",
        latex="S^{m}",
        axes=_SCORES,
        says="{row} to {col}: score after the mask {value}",
        op=Mask("biased|capped|scaled"),
        formula=("−∞ where hidden", r"-\infty \text{ where hidden}"),
        formula_columns=("−∞ where hidden", r"-\infty \text{ where hidden}"),
        what="Scores of keys that a query may not see become minus infinity.",
        why="Softmax turns minus infinity into a weight of exactly zero.",
    ),
    Stage(
        key="attention",
        title="Attention weights",
        symbol="A",
        latex="A",
        axes=_SCORES,
        says="{row} attends to {col} with {value}",
        op=Normalise("masked|biased|capped|scaled"),
        formula=("softmax", r"\operatorname{softmax}"),
        formula_columns=("softmax", r"\operatorname{softmax}"),
        what="Softmax turns each row of scores into weights between 0 and 1 that sum to 1.",
        why="A token has one unit of attention to share out among all tokens.",
        colour="attention",
    ),
    Stage(
        key="heads",
        title="Head output",
        symbol="H",
        latex="H",
        axes=("head", "query", "d_v"),
        says="{head}'s output for {row}, {col}: {value}",
        op=MatMul("attention", "v"),
        formula=("A · V", r"A\,V"),
        formula_columns=("Vᵀ · Aᵀ", r"V^{\top} A^{\top}"),
        what="Each token receives the values of all tokens, weighted by its attention.",
        why="What a token attends to most shapes its new row most.",
    ),
    Stage(
        key="concat",
        title="Concatenated heads",
        symbol="Z",
        latex="Z",
        axes=("query", "concat"),
        says="{row}, {col}: {value}",
        op=Concat("heads"),
        formula=("H₁ | H₂ | …", r"[\,H_1 \mid H_2 \mid \dots\,]"),
        formula_columns=("H₁ᵀ over H₂ᵀ …", r"[\,H_1 \mid H_2 \mid \dots\,]^{\top}"),
        what="The outputs of the heads are put side by side, head 1 first.",
        why="Several heads look for different things; their findings are kept together.",
    ),
    Stage(
        key="output",
        title="Output",
        symbol="Y",
        latex="Y",
        axes=("query", "d_out"),
        says="{row}'s output, {col}: {value}",
        op=MatMul("concat", "w_o", "b_o"),
        formula=("Z · W_O", r"Z\,W_O"),
        formula_columns=("W_Oᵀ · Zᵀ", r"W_O^{\top} Z^{\top}"),
        what="The concatenated row times W_O gives the token's output.",
        why="The projection mixes what the heads found into one row for the next layer.",
    ),
)
