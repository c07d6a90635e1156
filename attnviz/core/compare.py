"""What differs between two scenarios, in words and in numbers."""

from dataclasses import fields

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.errors import ScenarioError
from attnviz.core.numbers import number_text
from attnviz.core.scenario import Scenario
from attnviz.core.stages import TABLES
from attnviz.core.text import visible
from attnviz.core.trace import Trace


def differences(a: Scenario, b: Scenario) -> tuple[str, ...]:
    """Every way in which b differs from a, a sentence each; empty where they are the same."""
    found: list[str] = []
    if a.tokens != b.tokens:
        mine, theirs = (" ".join(map(visible, s.tokens)) for s in (a, b))
        found.append(f"tokens: {mine} → {theirs}")
    found += [
        f"{item.name}: {getattr(a.sizes, item.name)} → {getattr(b.sizes, item.name)}"
        for item in fields(a.sizes)
        if getattr(a.sizes, item.name) != getattr(b.sizes, item.name)
    ]
    found += [
        f"{item.name}: {_choice(getattr(a.config, item.name))}"
        f" → {_choice(getattr(b.config, item.name))}"
        for item in fields(a.config)
        if getattr(a.config, item.name) != getattr(b.config, item.name)
    ]
    tables = {"x": (a.x, b.x)} if a.tokens == b.tokens else {}
    theirs_by_name = b.params.tables()
    for name, table in a.params.tables().items():
        if name in theirs_by_name:
            tables[name] = (table, theirs_by_name[name])
    for name, (mine_table, their_table) in tables.items():
        if mine_table.shape == their_table.shape:
            found += _changed_cells(name, mine_table, their_table)
    only = set(a.params.tables()) ^ set(theirs_by_name)
    found += [
        f"{TABLES[name].symbol}: {'removed' if name in a.params.tables() else 'added'}"
        for name in sorted(only)
    ]
    return tuple(found)


def _choice(value: object) -> str:
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "on" if value else "off"
    return number_text(value) if isinstance(value, float) else str(value)


def _changed_cells(name: str, a: Array, b: Array) -> list[str]:
    title = "X" if name == "x" else TABLES[name].symbol
    parts = [(title, a, b)]
    if a.ndim == 3:
        parts = [(f"{title} head {h + 1}", a[h], b[h]) for h in range(len(a))]
    sentences = []
    for where, mine, theirs in parts:
        changed = np.argwhere(mine != theirs)
        if len(changed) == 1:
            index = tuple(changed[0])
            place = ", ".join(f"{i + 1}" for i in index)
            sentences.append(
                f"{where}: cell ({place}) {number_text(mine[index])} → {number_text(theirs[index])}"
            )
        elif len(changed):
            sentences.append(f"{where}: {len(changed)} of {mine.size} cells")
    return sentences


def difference(a: Trace, b: Trace, key: str) -> Array:
    """B - A of one array, cell by cell; where both are minus infinity the difference is 0.

    Raises:
        ScenarioError: one of them has no such array, or their shapes differ.
    """
    for name, trace in (("A", a), ("B", b)):
        if key not in trace:
            raise ScenarioError("is not computed there", where=f"{name}, {key}")
    mine, theirs = a[key], b[key]
    if mine.shape != theirs.shape:
        raise ScenarioError(
            "A and B have different shapes, so there is no difference cell by cell",
            where=a.info(key).title,
            expected=f"shape {mine.shape}",
            got=f"shape {theirs.shape}",
        )
    with np.errstate(invalid="ignore"):
        return np.where(mine == theirs, 0.0, theirs - mine)
