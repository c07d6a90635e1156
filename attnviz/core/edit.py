"""Changes to a scenario: pure functions that give the new one and a sentence on what happened."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.core.arrays import Array, as_floats, frozen, place
from attnviz.core.errors import (
    AttnvizError,
    LimitError,
    NumberError,
    ScenarioError,
    ShapeError,
    TextError,
)
from attnviz.core.model import MAX_CHARACTERS, MAX_TOKENS, Params, Scenario, Sizes, check_size
from attnviz.core.run import check_count, max_tokens
from attnviz.core.stages import TABLES
from attnviz.core.text import seeded_row, tokenize, visible

Change = tuple[Scenario, str]
EDITABLE = ("x", "w_q", "w_k", "w_v", "w_o")


def set_text(scenario: Scenario, text: str) -> Change:
    """Other text; rows of words that stay keep their embeddings and a person's edits.

    Raises:
        TextError: the text gives no tokens.
        LimitError: too many characters or tokens.
    """
    return _retokenize(scenario, text, scenario.tokenizer)


def set_tokenizer(scenario: Scenario, tokenizer: str) -> Change:
    """Another way to cut the text into tokens; see `set_text`."""
    return _retokenize(scenario, scenario.text, tokenizer)


def _retokenize(scenario: Scenario, text: str, tokenizer: str) -> Change:
    if len(text) > MAX_CHARACTERS:
        raise LimitError(
            "too many characters",
            where="text",
            expected=f"at most {MAX_CHARACTERS:,}",
            got=f"{len(text):,}",
            hint=f"Use the first {MAX_TOKENS} tokens, or a shorter text.",
        )
    tokens = tokenize(text, tokenizer)
    if not tokens:
        raise TextError("there are no tokens yet", where="text", hint="Type a word.")
    check_count(len(tokens), scenario.sizes.n_heads)
    moved = _moved_rows(scenario.tokens, tokens)
    edits = {
        (moved[row], col): value for (row, col), value in scenario.x_edits.items() if row in moved
    }
    lost = sorted({scenario.tokens[row] for row, _ in scenario.x_edits if row not in moved})
    note = ""
    if lost:
        names = ", ".join(visible(token) for token in lost)
        note = f"The cells typed into X for {names} went with the word; undo brings them back."
    return replace(scenario, text=text, tokenizer=tokenizer, x_edits=edits), note


def _moved_rows(old: tuple[str, ...], new: tuple[str, ...]) -> dict[int, int]:
    """Old row -> new row of every token that stays: a longest common subsequence.

    What both texts begin and end with is matched first, so that one word put in or taken out
    moves no other row, however often words repeat. A word that went elsewhere is found there.
    """
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            longer = max(lengths[i + 1][j], lengths[i][j + 1])
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if a[i] == b[j] else longer
    moved = {i: i for i in range(start)}
    moved |= {len(old) - 1 - i: len(new) - 1 - i for i in range(end)}
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            moved[start + i] = start + j
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    free = [place for place in range(len(new)) if place not in set(moved.values())]
    for row in (row for row in range(len(old)) if row not in moved):
        place = next((place for place in free if new[place] == old[row]), None)
        if place is not None:
            moved[row] = place
            free.remove(place)
    return moved


def token_limit(scenario: Scenario) -> int:
    """How many tokens a scenario of these sizes may have."""
    return max_tokens(scenario.sizes.n_heads)


def first_tokens(text: str, tokenizer: str, count: int = MAX_TOKENS) -> str:
    """The text up to the end of its token number `count`."""
    tokens = tokenize(text[:MAX_CHARACTERS], tokenizer)[:count]
    end = 0
    for token in tokens:
        end = text.index(token, end) + len(token)
    return text[:end]


def set_cells(scenario: Scenario, table: str, cells: Mapping[tuple[int, ...], float]) -> Change:
    """New numbers in single cells of one table.

    Args:
        scenario: the scenario to change.
        table: "x", "w_q", "w_k", "w_v", "w_o" or a bias.
        cells: index -> number; (row, column) for x and w_o, (head, row, column) for w_q, w_k, w_v.

    Raises:
        ScenarioError: no such table or cell.
        NumberError: no finite number.
    """
    old = _table(scenario, table)
    new = np.array(old)
    for index, value in cells.items():
        inside = len(index) == new.ndim and all(
            0 <= i < n for i, n in zip(index, new.shape, strict=True)
        )
        if not inside:
            raise ScenarioError(
                "there is no such cell",
                where=_title(table),
                got=str(index),
                expected=f"shape {new.shape}",
            )
        if not isinstance(value, int | float | np.integer | np.floating) or not np.isfinite(value):
            raise NumberError(
                "not a finite number", where=place(index, _title(table)), got=repr(value)
            )
        new[index] = value
    return _with_table(scenario, table, new), ""


def set_table(scenario: Scenario, table: str, array: ArrayLike, head: int | None = None) -> Change:
    """A whole new table, or that of one head.

    Raises:
        ScenarioError: no such table.
        ShapeError: another shape; the sentence names both.
        NumberError: a cell that is no finite number.
    """
    old = _table(scenario, table)
    if head is not None and (old.ndim < 3 or not 0 <= head < len(old)):
        raise ScenarioError(
            "there is no such head", where=_title(table), got=str(head), expected=_heads(old)
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


def _heads(table: Array) -> str:
    return f"0 to {len(table) - 1}" if table.ndim == 3 else "none; the table has no heads"


def _title(table: str) -> str:
    return "X" if table == "x" else TABLES[table].symbol


def _table(scenario: Scenario, table: str) -> Array:
    tables = {"x": scenario.x, **scenario.params.tables()}
    if table not in tables:
        raise ScenarioError(
            "there is no such table", where=table, expected="one of " + ", ".join(tables)
        )
    return tables[table]


def _with_table(scenario: Scenario, table: str, new: Array) -> Scenario:
    if table != "x":
        return replace(scenario, params=Params(**(scenario.params.tables() | {table: new})))
    changed = np.argwhere(new != scenario.x)
    edits = {(int(r), int(c)): float(new[r, c]) for r, c in changed}
    return replace(scenario, x_edits={**scenario.x_edits, **edits})


def resize(scenario: Scenario, **sizes: int | None) -> Change:
    """Other sizes: what still overlaps is kept, the rest is filled from the seed.

    Args:
        scenario: the scenario to change.
        sizes: any fields of `Sizes`.

    Raises:
        LimitError, ShapeError: an illegal size; the sentence gives the nearest legal ones.
        ScenarioError: no such size.
    """
    _check_names(sizes, [item.name for item in fields(Sizes)], "size")
    for name, value in sizes.items():
        if value is not None:
            check_size(name, value)
    old, new = scenario.sizes, _new_sizes(scenario, sizes)
    if new.kv_heads == new.n_heads:
        new = replace(new, n_kv_heads=None)
    if new == old:
        return scenario, ""
    if scenario.params.w_o is None and new.d_out != old.d_out:
        raise ScenarioError("there is no output projection whose width it could be", where="d_out")
    notes: list[str] = []
    hidden: list[str] = []  # notes on tables that are kept while they are off
    tables = {
        name: _refit(
            scenario,
            name,
            old_table,
            new,
            notes if scenario.config.project or name != "w_o" else hidden,
        )
        for name, old_table in scenario.params.tables().items()
    }
    edits = {(r, c): v for (r, c), v in scenario.x_edits.items() if c < new.d_model}
    if len(edits) < len(scenario.x_edits):
        notes.append("X loses cells that were typed into dropped columns")
    elif new.d_model != old.d_model:
        notes.append("X keeps its first columns")
    what = ", ".join(
        f"{name} {getattr(old, name)} → {getattr(new, name)}"
        for name in sizes
        if getattr(old, name) != getattr(new, name)
    )
    changed = replace(scenario, params=Params(**tables), x_edits=edits)
    return changed, f"{what}. {'; '.join(notes)}. Undo brings the old sizes back."


def _new_sizes(scenario: Scenario, changed: Mapping[str, int | None]) -> Sizes:
    """The sizes after a change, checked with the number of tokens."""
    old = {item.name: getattr(scenario.sizes, item.name) for item in fields(Sizes)}

    def made(**sizes: int | None) -> Sizes:
        new = Sizes(**(old | sizes))
        check_count(len(scenario.tokens), new.n_heads)
        return new

    try:
        return made(**changed)
    except LimitError as error:
        if len(changed) != 1:
            raise
        [(name, value)] = changed.items()
        for smaller in range((value or 1) - 1, 0, -1):
            try:
                made(**{name: smaller})
            except AttnvizError:
                continue
            raise LimitError(
                f"too much for the other sizes and the text: {error.message}",
                where=name,
                expected=f"at most {smaller}",
                got=str(value),
                hint=f"The nearest legal value is {smaller}.",
            ) from error
        raise


def _check_names(given: Mapping[str, object], names: list[str], what: str) -> None:
    for name in given:
        if name not in names:
            raise ScenarioError(
                f"there is no such {what}", where=name, expected="one of " + ", ".join(names)
            )


def _shape(name: str, sizes: Sizes) -> tuple[int, ...]:
    """The shape of a table with the heads of w_o as an axis of their own."""
    if name == "w_o":
        return (sizes.n_heads, sizes.d_v, sizes.d_out)
    axis_sizes = {
        "head": sizes.n_heads,
        "kv_head": sizes.kv_heads,
        "d_model": sizes.d_model,
        "d_k": sizes.d_k,
        "d_v": sizes.d_v,
        "d_out": sizes.d_out,
    }
    return tuple(axis_sizes[axis] for axis in TABLES[name].axes)


def _refit(scenario: Scenario, name: str, table: Array, sizes: Sizes, notes: list[str]) -> Array:
    """A table in its new shape; notes get what was kept and what is new."""
    old_shape, shape = _shape(name, scenario.sizes), _shape(name, sizes)
    if shape == old_shape:
        return table
    new = _drawn(name, scenario.seed, sizes).reshape(shape)
    overlap = tuple(slice(0, min(a, b)) for a, b in zip(old_shape, shape, strict=True))
    new[overlap] = table.reshape(old_shape)[overlap]
    kept = int(np.prod([s.stop for s in overlap]))
    fresh = new.size - kept
    note = f"{TABLES[name].symbol} keeps {kept} of {table.size} cells"
    notes.append(note + (f" and gets {fresh} new from seed {scenario.seed}" if fresh else ""))
    return frozen(new.reshape(-1, sizes.d_out) if name == "w_o" else new)


def _drawn(name: str, seed: int, sizes: Sizes) -> Array:
    """A table from the seed: each row by its own name, so that it does not depend on sizes."""
    shape = _shape(name, sizes)
    fan_in = shape[0] * shape[1] if name == "w_o" else shape[-2] if len(shape) > 1 else 1
    decimals = 2 + int(np.log10(fan_in) / 2)
    rows = [
        seeded_row(seed, name, *map(str, index), n=shape[-1]) for index in np.ndindex(shape[:-1])
    ]
    drawn: Array = np.round(np.stack(rows) / np.sqrt(fan_in), decimals) + 0.0
    return drawn.reshape(shape)


def randomise(scenario: Scenario, seed: int | None) -> Change:
    """All tables, and the embeddings of words that the example does not name, from a seed.

    Raises:
        ScenarioError: the seed is no whole number from 0 on.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ScenarioError(
            "not a whole number from 0 on", where="seed", got=repr(seed), hint="Type 0, 1, 2 …"
        )
    sizes = scenario.sizes
    tables = {
        name: _drawn(name, seed, sizes).reshape(table.shape)
        for name, table in scenario.params.tables().items()
    }
    new = replace(scenario, seed=seed, params=Params(**tables), x_edits={})
    note = f"{', '.join(TABLES[name].symbol for name in tables)} drawn from seed {seed}."
    kept = [visible(token) for token in dict.fromkeys(scenario.tokens) if token in new.lexicon]
    if kept:
        note += f" X keeps the example's embeddings of {', '.join(kept)}."
    if scenario.x_edits:
        note += f" {len(scenario.x_edits)} cells typed into X are gone."
    return new, f"{note} Undo brings the old numbers back."


def set_config(scenario: Scenario, **choices: Any) -> Change:
    """Other choices of `Config`.

    Raises:
        ScenarioError: no such choice.
        NumberError: a choice that is no usable number.
    """
    _check_names(choices, [item.name for item in fields(scenario.config)], "choice")
    changed = replace(scenario, config=replace(scenario.config, **choices))
    projected = changed.config.project or scenario.params.w_o is None
    note = "" if projected else "The concatenated heads are the result; W_O is kept."
    return changed, note
