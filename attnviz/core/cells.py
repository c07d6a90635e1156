"""Changes of single cells and whole tables, of the mask and of the padding."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.core.arrays import Array, as_floats, check_cell, place
from attnviz.core.errors import NumberError, ScenarioError, ShapeError
from attnviz.core.model import Params
from attnviz.core.scenario import EDITS, Scenario
from attnviz.core.stages import ROWS

Change = tuple[Scenario, str]
TABLE_ORDER = (
    "x",
    "positions",
    "context",
    "context_positions",
    "w_q",
    "b_q",
    "w_k",
    "b_k",
    "w_v",
    "b_v",
    "q",
    "k",
    "v",
    "bias",
    "w_o",
    "b_o",
)


def editable(scenario: Scenario) -> tuple[str, ...]:
    """The tables of numbers that take part in the computation, in its order.

    The score bias takes part once a cell of it is not zero; it can be edited before that.
    """
    used = scenario.inputs().keys() - set(scenario.config.off)
    if not scenario.config.project:
        used -= {"w_o", "b_o"}
    return tuple(name for name in TABLE_ORDER if name in used)


def set_cells(scenario: Scenario, table: str, cells: Mapping[tuple[int, ...], float]) -> Change:
    """New numbers in single cells of one table.

    Args:
        scenario: the scenario to change.
        table: one of `Scenario.tables`, such as "x", "w_q" or "bias".
        cells: index -> number, with as many places as the table has axes: (row, column) for x,
            (head, row, column) for w_q.

    Raises:
        ScenarioError: no such table or cell.
        NumberError: no finite number.
    """
    old = _table(scenario, table)
    new = np.array(old)
    for index, value in cells.items():
        check_cell(index, new.shape, _title(table))
        if not isinstance(value, int | float | np.integer | np.floating) or not np.isfinite(value):
            raise NumberError(
                "not a finite number", where=place(index, _title(table)), got=repr(value)
            )
        new[index] = value
    return _with_table(scenario, table, new), ""


def set_table(scenario: Scenario, table: str, array: ArrayLike, head: int | None = None) -> Change:
    """A whole new table, or that of one head.

    Args:
        scenario: the scenario to change.
        table: one of `Scenario.tables`.
        array: numbers of the table's shape; with `head` without its first axis.
        head: which key/value or query head of it, from 0; None for the whole table.

    Raises:
        ScenarioError: no such table or head.
        ShapeError: another shape; the sentence names both.
        NumberError: a cell that is no finite number.
    """
    old = _table(scenario, table)
    n_heads = len(old) if ROWS[table].has_heads else 0
    if head is not None and not 0 <= head < n_heads:
        raise ScenarioError(
            "there is no such head",
            where=_title(table),
            got=str(head),
            expected=f"0 to {n_heads - 1}" if n_heads else "none; the table has no heads",
        )
    target = old if head is None else old[head]
    given = as_floats(array, _title(table), target.ndim)
    if given.shape != target.shape:
        raise ShapeError(
            "the table has another shape",
            where=_title(table),
            expected=f"shape {target.shape}",
            got=f"shape {given.shape}",
        )
    new = np.array(old)
    new[... if head is None else head] = given
    return _with_table(scenario, table, new), ""


def _title(table: str) -> str:
    return ROWS[table].symbol


def _table(scenario: Scenario, table: str) -> Array:
    tables = scenario.tables()
    if table not in tables:
        raise ScenarioError(
            "there is no such table", where=table, expected="one of " + ", ".join(tables)
        )
    return tables[table]


def _with_table(scenario: Scenario, table: str, new: Array) -> Scenario:
    if table in scenario.qkv:
        return replace(scenario, qkv={**scenario.qkv, table: new})
    if table not in EDITS:
        return replace(scenario, params=Params(**(scenario.params.tables() | {table: new})))
    changed = np.argwhere(new != scenario.tables()[table])
    edits = dict(getattr(scenario, EDITS[table]))
    edits |= {(int(r), int(c)): float(new[r, c]) for r, c in changed}
    if table == "bias":  # a cell that adds nothing is no edit
        edits = {cell: value for cell, value in edits.items() if value}
    changes: dict[str, Any] = {EDITS[table]: edits}
    return replace(scenario, **changes)


def set_mask(scenario: Scenario, cells: Mapping[tuple[int, int], bool]) -> Change:
    """Cells of the mask, (query, key) -> whether the query may attend to the key.

    Raises:
        ScenarioError: no such cell.
    """
    for cell in cells:
        check_cell(cell, scenario.mask.shape, "mask")
    shown = {cell for cell, allowed in cells.items() if allowed}
    return replace(scenario, hidden=(scenario.hidden | cells.keys()) - shown), ""


def set_padding(scenario: Scenario, keys: Iterable[int]) -> Change:
    """The keys that are hidden from every query, by their places from 0; none for no padding.

    Raises:
        ScenarioError: no such key.
    """
    chosen = frozenset(keys)
    for key in chosen:
        if not 0 <= key < len(scenario.key_tokens):
            raise ScenarioError(
                "there is no such key",
                where="key padding",
                got=str(key),
                expected=f"0 to {len(scenario.key_tokens) - 1}",
            )
    return replace(scenario, padding=chosen), ""
