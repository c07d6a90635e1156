"""What a person has set follows its word, or its column, when texts or sizes change."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.core.arrays import Array, frozen
from attnviz.core.draw import drawn_rows
from attnviz.core.scenario import EDITS, Scenario
from attnviz.core.stages import ROWS
from attnviz.core.text import visible

Moves = Mapping[int, int]  # old row -> new row of every token that stays


def follow_words(old: Scenario, new: Scenario, queries: Moves, keys: Moves) -> tuple[Scenario, str]:
    """The new scenario with everything that was set at words that stay, and what was lost.

    Args:
        old: before the texts changed.
        new: with other texts, and otherwise as the old one.
        queries, keys: where the old tokens of the queries and of the keys went.
    """
    lost: dict[str, set[str]] = {}

    def moved(place: tuple[int, ...], table: str, *moves: Moves) -> tuple[int, ...] | None:
        """A place in the new texts; places beyond the moves stay as they are."""
        tokens = [old.tokens if move is queries else old.key_tokens for move in moves]
        gone = [
            names[i] for i, move, names in zip(place, moves, tokens, strict=False) if i not in move
        ]
        if gone:
            lost.setdefault(table, set()).update(gone)
            return None
        ahead = tuple(move[i] for i, move in zip(place, moves, strict=False))
        return (*ahead, *place[len(moves) :])

    def cells(table: str, *moves: Moves) -> dict[Any, float]:
        edits = getattr(old, EDITS[table])
        places = {place: moved(place, table, *moves) for place in edits}
        return {there: edits[here] for here, there in places.items() if there is not None}

    padding = {moved((key,), "keep", keys) for key in old.padding}
    hidden = {moved(cell, "mask", queries, keys) for cell in old.hidden}
    crossed = old.context_text is not None
    changed = replace(
        new,
        x_edits=cells("x", queries),
        context_edits=cells("context", keys) if crossed and new.context_text is not None else {},
        bias_edits=cells("bias", queries, keys),
        padding=frozenset(at[0] for at in padding if at is not None),
        hidden=frozenset((at[0], at[1]) for at in hidden if at is not None),
        qkv={
            name: _rows(new, name, table, queries if name == "q" else keys)
            for name, table in old.qkv.items()
        },
    )
    if old.config.start == "qkv":
        for name in old.qkv:
            tokens, moves = (old.tokens, queries) if name == "q" else (old.key_tokens, keys)
            for row in range(len(tokens)):
                moved((row,), name, moves)
    if not lost:
        return changed, ""
    tables = ", ".join(ROWS[name].symbol for name in ROWS if name in lost)
    names = ", ".join(visible(token) for token in sorted(set.union(*lost.values())))
    note = f"The cells typed into {tables} for {names} went with the word; undo brings them back."
    return changed, note


def _rows(new: Scenario, name: str, table: Array, moves: Moves) -> Array:
    """(head, token, width) for the new tokens: rows that stay, and drawn ones."""
    tokens = new.tokens if name == "q" else new.key_tokens
    rows = drawn_rows(name, new.seed, len(table), tokens, table.shape[2])
    for here, there in moves.items():
        rows[:, there] = table[:, here]
    frozen(rows)
    return rows


def follow_sizes(old: Scenario, new: Scenario, notes: list[str]) -> Scenario:
    """The new scenario with the cells and the Q, K, V tables that still have a place.

    Args:
        old: before the sizes changed.
        new: with other `Params`, and otherwise as the old one.
        notes: gets what was lost.
    """
    sizes = new.sizes
    widths = {"x": sizes.d_model, "context": sizes.context_width, "positions": sizes.d_model}
    widths["context_positions"] = sizes.context_width
    changed: dict[str, Any] = {}
    for table, width in widths.items():
        edits = getattr(old, EDITS[table])
        kept = {(row, col): value for (row, col), value in edits.items() if col < width}
        if len(kept) < len(edits):
            notes.append(f"{ROWS[table].symbol} loses cells that were typed into dropped columns")
        changed[EDITS[table]] = kept
    changed["qkv"] = {
        name: _refit(new, name, table, notes if old.config.start == "qkv" else [])
        for name, table in old.qkv.items()
    }
    return replace(new, **changed)


def _refit(new: Scenario, name: str, table: Array, notes: list[str]) -> Array:
    """Q, K or V in its new shape, what overlaps kept and the rest drawn."""
    sizes = new.sizes
    heads = sizes.n_heads if name == "q" else sizes.kv_heads
    width = sizes.d_v if name == "v" else sizes.d_k
    if table.shape[::2] == (heads, width):
        return table
    tokens = new.tokens if name == "q" else new.key_tokens
    fitted = drawn_rows(name, new.seed, heads, tokens, width)
    overlap = tuple(slice(0, min(a, b)) for a, b in zip(table.shape, fitted.shape, strict=True))
    fitted[overlap] = table[overlap]
    kept = int(np.prod([part.stop for part in overlap]))
    notes.append(f"{ROWS[name].symbol} keeps {kept} of {table.size} cells")
    frozen(fitted)
    return fitted
