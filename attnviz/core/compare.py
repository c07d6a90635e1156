"""What differs between two scenarios, in words and in numbers."""

from dataclasses import fields
from hashlib import sha256
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import Array
from attnviz.core.config import CHOICES, Choice
from attnviz.core.errors import ScenarioError
from attnviz.core.model import HEAD_AXES
from attnviz.core.numbers import number_text
from attnviz.core.scenario import Scenario
from attnviz.core.stages import ROWS
from attnviz.core.text import unique_labels, visible
from attnviz.core.trace import Trace, axis_labels


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
        for item in fields(mine):
            pair = getattr(mine, item.name), getattr(theirs, item.name)
            follows = item.name == "d_out" and a.params.w_o is b.params.w_o is None
            if pair[0] != pair[1] and not follows:
                choice = CHOICES.get(item.name)
                said = " → ".join(_choice(choice, value) for value in pair)
                found.append(f"{choice.label if choice else item.name}: {said}")
    mine_tables, their_tables = _tables(a), _tables(b)
    for name, table in mine_tables.items():
        same_words = (a.tokens, a.key_tokens) == (b.tokens, b.key_tokens)
        if name in their_tables and (same_words or name in a.params.tables()):
            found += _changed_cells(a, name, table, their_tables[name])
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


def _choice(choice: Choice | None, value: object) -> str:
    if value is None:
        return (choice.none if choice else "") or "default"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(ROWS[table].symbol for table in value) or "nothing"
    if choice and str(value) in choice.options:
        return choice.options[str(value)].label
    return number_text(value) if isinstance(value, float) else str(value)


def _changed_cells(scenario: Scenario, name: str, a: NDArray[Any], b: NDArray[Any]) -> list[str]:
    if a.shape != b.shape:
        return []
    title, sizes = ROWS[name].symbol, scenario.sizes
    words = unique_labels(scenario.tokens), unique_labels(scenario.key_tokens)
    labels = [
        axis_labels(axis, size, words, sizes.n_heads, sizes.d_v, scenario.features)
        for axis, size in zip(ROWS[name].axes, a.shape, strict=True)
    ]
    parts = [(title, a, b)]
    if ROWS[name].has_heads:
        parts = [(f"{title} {h}", x, y) for h, x, y in zip(labels.pop(0), a, b, strict=True)]
    sentences = []
    for where, mine, theirs in parts:
        changed = np.argwhere(mine != theirs)
        if len(changed) == 1:
            index = tuple(changed[0])
            place = [names[i] for names, i in zip(labels, index, strict=True)]
            if len(place) == 2:
                place = [f"row {place[0]}", f"column {place[1]}"]
            named = ", ".join((where, *place))
            sentences.append(f"{named}: {_cell(mine[index])} → {_cell(theirs[index])}")
        elif len(changed):
            sentences.append(f"{where}: {len(changed)} of {mine.size} cells")
    return sentences


def _cell(value: Any) -> str:
    if isinstance(value, np.bool_):
        return "shown" if value else "hidden"
    return number_text(value)


def difference(a: Trace, b: Trace, key: str) -> Array:
    """B - A of one array, cell by cell; of two -inf it is 0, and of truth values True counts 1.

    Of heads and words only those count that both have, from the first on.

    Raises:
        ScenarioError: one of them has no such array, or their shapes differ.
    """
    for name, trace in (("A", a), ("B", b)):
        if key not in trace:
            raise ScenarioError("is not computed there", where=f"{name}, {key}")
    mine, theirs = (np.asarray(trace[key], np.float64) for trace in (a, b))
    if a.axes(key) == b.axes(key):
        sizes = zip(a.axes(key), mine.shape, theirs.shape, strict=True)
        shared = tuple(slice(_shared(a, b, axis, *both)) for axis, *both in sizes)
        mine, theirs = mine[shared], theirs[shared]
    if mine.shape != theirs.shape or not mine.size:
        raise ScenarioError(
            "A and B have different shapes, so there is no difference cell by cell",
            where=a.info(key).title,
            expected=f"{_size(mine)} as in A",
            got=f"{_size(theirs)} in B",
        )
    with np.errstate(invalid="ignore"):
        return np.where(mine == theirs, 0.0, theirs - mine)


def _shared(a: Trace, b: Trace, axis: str, mine: int, theirs: int) -> int | None:
    """How many places of an axis both have, from the first on; None for all of them."""
    if axis in HEAD_AXES:
        return min(mine, theirs)
    if axis not in ("query", "token", "key") or mine == theirs:
        return None
    words = (a.key_tokens, b.key_tokens) if axis == "key" else (a.tokens, b.tokens)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*words, strict=False)))


def _size(array: Array) -> str:
    """Rows and columns, as titles have them."""
    return " × ".join(map(str, array.shape[-2:]))
