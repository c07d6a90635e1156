"""What a row of the table of stages is, and the arrays that are set and not computed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from attnviz.core.model import HEAD_AXES
from attnviz.core.op import Op, Values
from attnviz.core.ops import Given


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

    @property
    def has_heads(self) -> bool:
        """Whether it has a part for each head, or for each key/value head."""
        return self.axes[0] in HEAD_AXES


_NO_OP = Given("")


def no_detail(values: Values) -> str:
    """Nothing to add to a title."""
    return ""


def as_it_is(stage: "Stage", values: Values, rows: Mapping[str, Table]) -> Mapping[str, Any]:
    """Nothing to change in a row."""
    return {}


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
        adapt: what else of the row reads otherwise for a configuration, by field.
    """

    op: Op = _NO_OP
    formula: tuple[str, str] = ("", "")
    formula_columns: tuple[str, str] = ("", "")
    what: str = ""
    why: str = ""
    colour: Literal["signed", "attention"] = "signed"
    detail: Callable[[Values], str] = no_detail
    adapt: Callable[["Stage", Values, Mapping[str, Table]], Mapping[str, Any]] = as_it_is

    def given(self) -> "Stage":
        """The row as it reads where its array is set and not computed."""
        if isinstance(self.op, Given):
            return self
        return replace(
            self,
            op=Given(self.key),
            formula=(self.symbol, self.latex),
            formula_columns=(f"{self.symbol}ᵀ", rf"{self.latex}^{{\top}}"),
            what=f"{self.title} are given as a table and not computed.",
        )

    def for_values(self, values: Values, rows: Mapping[str, Table]) -> "Stage":
        """The row as it reads for a configuration: its formula names the arrays that it uses."""
        return replace(self, **self.adapt(self, values, rows))


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
            _table("positions", "Positions", "P", "P", "place", "d_model"),
            _table("context_positions", "Context positions", "P_C", "P_C", "place", "d_model"),
            _table("keep", "Key padding", "padding", r"\mathrm{padding}", "key"),
            _table("mask", "Mask", "mask", r"\mathrm{mask}", "query", "key"),
            _table("bias", "Score bias", "B", "B", "query", "key"),
        )
    }
)
