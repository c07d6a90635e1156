"""What differs between two scenarios, in words and in numbers."""

from dataclasses import fields
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import Array
from attnviz.core.config import CHOICES
from attnviz.core.errors import ScenarioError
from attnviz.core.numbers import number_text
from attnviz.core.scenario import Scenario
from attnviz.core.stages import ROWS
from attnviz.core.text import visible
from attnviz.core.trace import Trace


def differences(a: Scenario, b: Scenario) -> tuple[str, ...]:
    """Every way in which b differs from a, a sentence each; empty where they are the same."""
    found = [
        f"{title}: {mine} → {theirs}"
        for title, mine, theirs in (
            ("tokens", _words(a.tokens), _words(b.tokens)),
            ("second text", *(_words(_context(s)) for s in (a, b))),
            ("example", a.preset or "none", b.preset or "none"),
            ("seed", a.seed, b.seed),
            ("columns of embeddings", *(", ".join(s.features) or "none" for s in (a, b))),
            ("picture", *(_picture(s) for s in (a, b))),
        )
        if mine != theirs
    ]
    for mine, theirs in ((a.sizes, b.sizes), (a.config, b.config)):
        found += [
            f"{item.name}: {_choice(item.name, getattr(mine, item.name))}"
            f" → {_choice(item.name, getattr(theirs, item.name))}"
            for item in fields(mine)
            if getattr(mine, item.name) != getattr(theirs, item.name)
        ]
    mine_tables, their_tables = _tables(a), _tables(b)
    for name, table in mine_tables.items():
        same_words = (a.tokens, a.key_tokens) == (b.tokens, b.key_tokens)
        if name in their_tables and (same_words or name in a.params.tables()):
            found += _changed_cells(ROWS[name].symbol, table, their_tables[name])
    only = (mine_tables.keys() ^ their_tables.keys()) - {"context"}
    found += [
        f"{ROWS[name].symbol}: {'removed' if name in mine_tables else 'added'}"
        for name in sorted(only)
    ]
    return tuple(found)


def _words(tokens: tuple[str, ...]) -> str:
    return " ".join(map(visible, tokens)) or "none"


def _context(scenario: Scenario) -> tuple[str, ...]:
    return () if scenario.context_text is None else scenario.key_tokens


def _picture(scenario: Scenario) -> str:
    if scenario.image is None:
        return "none"
    height, width, *colours = scenario.image.shape
    digest = sha256(scenario.image.tobytes()).hexdigest()[:6]
    return f"{width} × {height} {'in colour' if colours else 'in grey'} ({digest})"


def _tables(scenario: Scenario) -> dict[str, NDArray[Any]]:
    return {**scenario.tables(), "mask": scenario.mask, "keep": scenario.keep}


def _choice(name: str, value: object) -> str:
    if value is None:
        return (CHOICES[name].none if name in CHOICES else "") or "default"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "nothing"
    return number_text(value) if isinstance(value, float) else str(value)


def _changed_cells(title: str, a: NDArray[Any], b: NDArray[Any]) -> list[str]:
    if a.shape != b.shape:
        return []
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
                f"{where}: cell ({place}) {_cell(mine[index])} → {_cell(theirs[index])}"
            )
        elif len(changed):
            sentences.append(f"{where}: {len(changed)} of {mine.size} cells")
    return sentences


def _cell(value: Any) -> str:
    if isinstance(value, np.bool_):
        return "shown" if value else "hidden"
    return number_text(value)


def difference(a: Trace, b: Trace, key: str) -> Array:
    """B - A of one array, cell by cell, of the heads that both have; of two -inf it is 0.

    Raises:
        ScenarioError: one of them has no such array, or their shapes differ.
    """
    for name, trace in (("A", a), ("B", b)):
        if key not in trace:
            raise ScenarioError("is not computed there", where=f"{name}, {key}")
    mine, theirs = a[key], b[key]
    if mine.ndim == theirs.ndim == 3:  # heads that both have
        shared = min(len(mine), len(theirs))
        mine, theirs = mine[:shared], theirs[:shared]
    if mine.shape != theirs.shape:
        raise ScenarioError(
            "A and B have different shapes, so there is no difference cell by cell",
            where=a.info(key).title,
            expected=f"shape {mine.shape}",
            got=f"shape {theirs.shape}",
        )
    with np.errstate(invalid="ignore"):
        return np.where(mine == theirs, 0.0, theirs - mine)
