"""Every matrix of a trace as LaTeX."""

from typing import Any

from numpy.typing import NDArray

from attnviz.core.derivation import latex_text
from attnviz.core.numbers import format_number
from attnviz.core.scenario import Scenario
from attnviz.core.trace import Trace

_BEGIN = r"""% With XeLaTeX or LuaLaTeX every script shows.
\documentclass{article}
\usepackage{amsmath}
\begin{document}
\setlength{\parindent}{0pt}
"""


def matrix(values: NDArray[Any], decimals: int | None = None) -> str:
    """(row, column) or (column,) -> a matrix; with None every digit."""
    rows = values.reshape(-1, values.shape[-1]).tolist()
    body = " \\\\\n".join(" & ".join(_number(v, decimals) for v in row) for row in rows)
    columns = "r" * values.shape[-1]
    return f"\\left[\\begin{{array}}{{{columns}}}\n{body}\n\\end{{array}}\\right]"


def _number(value: float, decimals: int | None) -> str:
    text = format_number(float(value), decimals).replace("−", "-").replace("∞", r"\infty")
    mantissa, e, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else text


def stage_latex(
    trace: Trace, key: str, head: int | None = None, decimals: int | None = None
) -> str:
    """One matrix with its name: W_Q = [...]; of one head, or of all one below the other."""
    array, info = trace[key], trace.info(key)
    if array.ndim < 3:
        return f"{{{info.latex}}} = {matrix(array, decimals)}"
    heads = range(len(array)) if head is None else [head]
    return "\n".join(
        rf"\[ {{{info.latex}}}_{{({h + 1})}} = {matrix(array[h], decimals)} \]"
        if head is None
        else f"{{{info.latex}}}_{{({h + 1})}} = {matrix(array[h], decimals)}"
        for h in heads
    )


def write_matrix(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """One stage or table with every digit, each matrix of it as a display of its own."""
    text = stage_latex(trace, key)
    return (text if trace[key].ndim == 3 else rf"\[ {text} \]").encode() + b"\n"


def write_latex(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """A document with every table and stage, their formulas and, for tokens, their names."""
    parts = [_BEGIN]
    stages = {stage.key: stage for stage in trace.stages}
    order = [*(k for k in trace.values.arrays if k not in stages), *stages]
    for name in order:
        info, stage = trace.info(name), stages.get(name)
        parts.append(f"\n\\section*{{{info.title}}}")
        if stage is not None and stage.formula[1] != info.latex:
            parts.append(rf"\[ {{{info.latex}}} = {stage.formula[1]} \]")
        for axis, labels in zip(trace.axes(name), trace.labels(name), strict=True):
            if axis in ("token", "query", "key"):
                word = "Columns" if axis == trace.axes(name)[-1] else "Rows"
                parts.append(f"{word}: {', '.join(map(latex_text, labels))}\n")
        text = stage_latex(trace, name)
        parts.append(text if trace[name].ndim == 3 else rf"\[ {text} \]")
    return ("\n".join(parts) + "\n\\end{document}\n").encode("utf-8", "replace")
