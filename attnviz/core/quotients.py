"""The arithmetic of one attention weight: a power over a sum of powers, a share, a sigmoid."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.expr import Cell, Const, Div, Expr, Func, Max, Neg, Sub, Sum
from attnviz.core.op import Explanation, Index, Names

ZERO, ONE = Const(0.0, "0", "0"), Const(1.0, "1", "1")


def only_largest(scores: Array, k: int) -> Array:
    """(…, key) scores -> the same, -inf but for the k largest and what ties with the last."""
    if k >= scores.shape[-1]:
        return scores
    least = np.partition(scores, -k, axis=-1)[..., -k, None]
    return np.where(scores >= least, scores, -np.inf)


def _along(names: Names, source: str, index: Index) -> list[Index]:
    """The places of the row that a cell is in."""
    return [(*index[:-1], j) for j in range(names.values[source].shape[-1])]


def explain_softmax(names: Names, source: str, index: Index) -> Explanation:
    """A power over the sum of those of its row."""
    return _explain_powers(names, source, index, _along(names, source, index))


def explain_plus_one(names: Names, source: str, index: Index) -> Explanation:
    """The same with one more score of zero."""
    return _explain_powers(names, source, index, _along(names, source, index), zero=True)


def explain_columns(names: Names, source: str, index: Index) -> Explanation:
    """A power over the sum of those of its column."""
    head, _, key = index
    places = [(head, i, key) for i in range(names.values[source].shape[-2])]
    found = _explain_powers(names, source, index, places, column=True)
    if np.isneginf(names.values[source][head, :, key]).all():
        note = "No query may attend to this key: zero by rule."
        return replace(found, exprs=(ZERO,), note=note)
    return found


def explain_top_k(names: Names, source: str, index: Index) -> Explanation:
    """A power over the sum of those of the k largest scores; zero for the rest."""
    row, k = names.values[source][index[:-1]], names.values.config.top_k
    kept = ~np.isneginf(only_largest(row, k))
    if not kept[index[-1]]:
        why = "hidden" if np.isneginf(row[index[-1]]) else f"not among the {k} largest of its row"
        symbolic = _power_symbols(names, source, index)
        return Explanation(symbolic, (ZERO,), f"This score is {why}: zero by rule.")
    places = [(*index[:-1], int(j)) for j in np.flatnonzero(kept)]
    return _explain_powers(names, source, index, places)


def _explain_powers(
    names: Names,
    source: str,
    index: Index,
    places: Sequence[Index],
    *,
    zero: bool = False,
    column: bool = False,
) -> Explanation:
    """The power of a cell over the sum of those of `places`.

    Args:
        zero: whether one more score of 0 is counted.
        column: whether the places are those of a column and not of a row.
    """
    axis = -2 if column else -1
    here, cells = names.cell(source, index), tuple(names.cell(source, at) for at in places)
    labels = tuple(names.labels(source)[axis][at[axis]] for at in places)
    scores: tuple[Expr, ...] = cells
    if zero:
        scores, labels = (ZERO, *cells), ("zero score", *labels)
    m = Const(Max(scores).value)
    powers = tuple(Func("exp", Sub(score, m)) for score in scores)
    power = Func("exp", Sub(here, m))
    done = tuple(Const(term.value) for term in powers)
    exprs = (
        Div(power, Sum(powers, labels)),
        Div(Const(power.value), Sum(done, labels)),
        Div(Const(power.value), Const(Sum(done).value)),
    )
    note = (
        "m is the largest "
        f"{'of 0 and the scores' if zero else 'score'} of the {'column' if column else 'row'}. "
        "It is taken off first, which leaves the quotient as it is."
    )
    symbolic = _power_symbols(names, source, index, zero=zero, column=column)
    return Explanation(symbolic, exprs, note)


def _power_symbols(
    names: Names, source: str, index: Index, *, zero: bool = False, column: bool = False
) -> tuple[str, str]:
    at, at_latex = names.at(source, index)
    row, row_latex = (names.column if column else names.row)(source, index)
    more, more_latex = ("e^(−m) + ", "e^{-m} + ") if zero else ("", "")
    text = f"Σ e^({row} − m)"
    return (
        f"e^({at} − m) / {f'({more}{text})' if more else text}",
        rf"\frac{{e^{{{at_latex}-m}}}}{{{more_latex}\sum e^{{{row_latex}-m}}}}",
    )


def explain_division(names: Names, source: str, index: Index) -> Explanation:
    """A score over the sum of its row."""
    row = names.values[source][index[:-1]]
    (at, at_latex), (all_, all_latex) = names.at(source, index), names.row(source, index)
    symbolic = (f"{at} / Σ {all_}", rf"\frac{{{at_latex}}}{{\sum {all_latex}}}")
    if np.isneginf(row[index[-1]]):
        return Explanation(symbolic, (ZERO,), "This key is hidden: its share is zero by rule.")
    shown = [int(j) for j in np.flatnonzero(~np.isneginf(row))]
    here = names.cell(source, index)
    cells: tuple[Cell, ...] = tuple(names.cell(source, (*index[:-1], j)) for j in shown)
    labels = tuple(names.labels(source)[-1][j] for j in shown)
    whole = Sum(cells, labels)
    return Explanation(symbolic, (Div(here, whole), Div(here, Const(whole.value))))


def explain_sigmoid(names: Names, source: str, index: Index) -> Explanation:
    """1 / (1 + e^-score), of a negative score as e^score / (1 + e^score)."""
    here, (at, latex) = names.cell(source, index), names.at(source, index)
    if here.value < 0:
        power: Expr = Func("exp", here)
        symbolic = (f"e^({at}) / (1 + e^({at}))", rf"\frac{{e^{{{latex}}}}}{{1+e^{{{latex}}}}}")
    else:
        power = Func("exp", Neg(here))
        symbolic = (f"1 / (1 + e^(−{at}))", rf"\frac{{1}}{{1+e^{{-{latex}}}}}")

    def share(power: Expr) -> Expr:
        below = Sum((ONE, power), ("one", "power"))
        return Div(power if here.value < 0 else ONE, below)

    return Explanation(symbolic, (share(power), share(Const(power.value))))
