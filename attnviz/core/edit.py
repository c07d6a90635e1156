"""Changes to a scenario: pure functions that give the new one and a sentence on what happened."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from attnviz.core.arrays import Array, frozen
from attnviz.core.cells import Change, set_cells, set_mask, set_padding, set_table, toggle_mask
from attnviz.core.draw import drawn, drawn_rows, shape_of
from attnviz.core.errors import LimitError, ScenarioError, TextError
from attnviz.core.follow import follow_sizes, follow_words
from attnviz.core.model import MAX_CHARACTERS, MAX_TOKENS, Params, Sizes, check_size
from attnviz.core.run import check_count, max_tokens
from attnviz.core.scenario import EDITS, Scenario
from attnviz.core.stages import ROWS, TABLES
from attnviz.core.text import tokenize, visible
from attnviz.core.variants import remove, start_from_qkv, switch

__all__ = [
    "EDITABLE",
    "TABLE_ORDER",
    "Change",
    "editable",
    "first_tokens",
    "randomise",
    "remove",
    "resize",
    "set_cells",
    "set_config",
    "set_context",
    "set_mask",
    "set_padding",
    "set_table",
    "set_text",
    "set_tokenizer",
    "start_from_qkv",
    "switch",
    "toggle_mask",
    "token_limit",
]

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
EDITABLE = ("x", "w_q", "w_k", "w_v", "w_o")


def set_text(scenario: Scenario, text: str) -> Change:
    """Other text; rows of words that stay keep their embeddings and a person's edits.

    Raises:
        TextError: the text gives no tokens.
        LimitError: too many characters or tokens.
    """
    return _retokenize(scenario, text=text)


def set_tokenizer(scenario: Scenario, tokenizer: str) -> Change:
    """Another way to cut the texts into tokens; see `set_text`."""
    return _retokenize(scenario, tokenizer=tokenizer)


def set_context(scenario: Scenario, text: str | None) -> Change:
    """A second text that gives keys and values, another one, or none; see `set_text`.

    What was set for keys follows its word from the old keys to the new ones. Without a second
    text the key side has the width of the embeddings again.
    """
    note = ""
    if text is None and scenario.sizes.d_context is not None:
        scenario, note = resize(scenario, d_context=None)
    changed, lost = _retokenize(scenario, context_text=text)
    return changed, " ".join(filter(None, (note, lost)))


def _retokenize(scenario: Scenario, **texts: Any) -> Change:
    new = replace(scenario, **texts)
    for where, text in (("text", new.text), ("second text", new.context_text)):
        if text is not None:
            _check_text(where, text, new)
    queries = _moved_rows(scenario.tokens, new.tokens)
    keys = queries
    if scenario.context_text is not None or new.context_text is not None:
        keys = _moved_rows(scenario.key_tokens, new.key_tokens)
    return follow_words(scenario, new, queries, keys)


def _check_text(where: str, text: str, scenario: Scenario) -> None:
    if len(text) > MAX_CHARACTERS:
        raise LimitError(
            "too many characters",
            where=where,
            expected=f"at most {MAX_CHARACTERS:,}",
            got=f"{len(text):,}",
            hint=f"Use the first {MAX_TOKENS} tokens, or a shorter text.",
        )
    tokens = tokenize(text, scenario.tokenizer)
    if not tokens:
        raise TextError("there are no tokens yet", where=where, hint="Type a word.")
    check_count(len(tokens), scenario.sizes.n_heads, where)


def _moved_rows(old: tuple[str, ...], new: tuple[str, ...]) -> dict[int, int]:
    """Old row -> new row of every token that stays: a longest common subsequence.

    What both texts begin and end with is matched first, so that one word put in or taken out
    moves no other row, however often words repeat.
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
    return moved


def editable(scenario: Scenario) -> tuple[str, ...]:
    """The tables of numbers that take part in the computation, in its order.

    The score bias takes part once a cell of it is not zero; it can be edited before that.
    """
    used = scenario.inputs().keys() - set(scenario.config.off)
    if not scenario.config.project:
        used -= {"w_o", "b_o"}
    return tuple(name for name in TABLE_ORDER if name in used)


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


def resize(scenario: Scenario, **sizes: int | None) -> Change:
    """Other sizes: what still overlaps is kept, the rest is filled from the seed.

    With a second text its width stays when only d_model changes.

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
    old = scenario.sizes
    wanted = {item.name: getattr(old, item.name) for item in fields(Sizes)}
    if scenario.context_text is not None:
        wanted["d_context"] = old.context_width
    new = Sizes(**(wanted | sizes))
    if new.kv_heads == new.n_heads:
        new = replace(new, n_kv_heads=None)
    if new.context_width == new.d_model:
        new = replace(new, d_context=None)
    if new.d_context is not None and scenario.context_text is None:
        raise ScenarioError("there is no second text whose width it could be", where="d_context")
    if new == old:
        return scenario, ""
    if scenario.params.w_o is None and new.d_out != old.d_out:
        raise ScenarioError("there is no output projection whose width it could be", where="d_out")
    check_count(max(len(scenario.tokens), len(scenario.key_tokens)), new.n_heads)
    notes: list[str] = []
    seen = editable(scenario)
    tables = {
        name: _refit(scenario, name, old_table, new, notes if name in seen else [])
        for name, old_table in scenario.params.tables().items()
    }
    edits = {(r, c): v for (r, c), v in scenario.x_edits.items() if c < new.d_model}
    if len(edits) < len(scenario.x_edits):
        notes.append("X loses cells that were typed into dropped columns")
    elif new.d_model != old.d_model and "x" in seen:
        notes.append("X keeps its first columns")
    what = ", ".join(
        f"{name} {_effective(old, name)} → {_effective(new, name)}"
        for name in sizes
        if _effective(old, name) != _effective(new, name)
    )
    changed = replace(scenario, params=Params(**tables), x_edits=edits)
    changed = follow_sizes(scenario, changed, notes)
    told = f"{what}. {'; '.join(notes)}." if notes else f"{what}."
    return changed, f"{told} Undo brings the old sizes back."


def _effective(sizes: Sizes, name: str) -> int:
    """A size as a number, also where None stands for that of another."""
    also = {"n_kv_heads": sizes.kv_heads, "d_context": sizes.context_width}
    return also.get(name) or int(getattr(sizes, name))


def _check_names(given: Mapping[str, object], names: list[str], what: str) -> None:
    for name in given:
        if name not in names:
            raise ScenarioError(
                f"there is no such {what}", where=name, expected="one of " + ", ".join(names)
            )


def _refit(scenario: Scenario, name: str, table: Array, sizes: Sizes, notes: list[str]) -> Array:
    """A table in its new shape; notes get what was kept and what is new."""
    old_shape, shape = shape_of(name, scenario.sizes), shape_of(name, sizes)
    if shape == old_shape:
        return table
    new = drawn(name, scenario.seed, sizes).reshape(shape)
    overlap = tuple(slice(0, min(a, b)) for a, b in zip(old_shape, shape, strict=True))
    new[overlap] = table.reshape(old_shape)[overlap]
    kept = int(np.prod([s.stop for s in overlap]))
    fresh = new.size - kept
    note = f"{TABLES[name].symbol} keeps {kept} of {table.size} cells"
    notes.append(note + (f" and gets {fresh} new from seed {scenario.seed}" if fresh else ""))
    return frozen(new.reshape(-1, sizes.d_out) if name == "w_o" else new)


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
        name: drawn(name, seed, sizes).reshape(table.shape)
        for name, table in scenario.params.tables().items()
    }
    cleared: dict[str, Any] = {EDITS[name]: {} for name in EDITS if name != "bias"}
    qkv = {
        name: drawn_rows(
            name,
            seed,
            len(table),
            scenario.tokens if name == "q" else scenario.key_tokens,
            table.shape[2],
        )
        for name, table in scenario.qkv.items()
    }
    new = replace(scenario, seed=seed, params=Params(**tables), qkv=qkv, **cleared)
    if scenario.config.start == "qkv":
        tables = {**qkv, **{name: table for name, table in tables.items() if name[-1] == "o"}}
    note = f"{', '.join(ROWS[name].symbol for name in tables)} drawn from seed {seed}."
    texts = (*scenario.tokens, *scenario.key_tokens)
    kept = [visible(token) for token in dict.fromkeys(texts) if token in new.lexicon]
    if kept and scenario.config.start == "x":
        note += f" X keeps the example's embeddings of {', '.join(kept)}."
    for name in EDITS:
        typed = getattr(scenario, EDITS[name])
        if typed and name != "bias":
            note += f" {len(typed)} cells typed into {ROWS[name].symbol} are gone."
    return new, f"{note} Undo brings the old numbers back."


def set_config(scenario: Scenario, **choices: Any) -> Change:
    """Other choices of `Config`; `start` "qkv" makes the tables that it needs.

    Raises:
        ScenarioError: no such choice.
        NumberError: a choice that is no usable number.
    """
    _check_names(choices, [item.name for item in fields(scenario.config)], "choice")
    config = replace(scenario.config, **choices)
    note = ""
    if config.start != scenario.config.start:
        scenario, note = start_from_qkv(scenario, config.start == "qkv")
    return replace(scenario, config=config), note
