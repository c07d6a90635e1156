"""Changes to a scenario: pure functions that give the new one and a sentence on what happened."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.core.cells import (
    TABLE_ORDER,
    Change,
    editable,
    set_cells,
    set_mask,
    set_padding,
    set_table,
)
from attnviz.core.draw import drawn, drawn_rows
from attnviz.core.errors import LimitError, ScenarioError, TextError, check_names
from attnviz.core.follow import follow_words
from attnviz.core.model import MAX_CHARACTERS, MAX_TOKENS, Params
from attnviz.core.picture import COLOURS, GRID, as_picture, cut, dot_names
from attnviz.core.resize import resize
from attnviz.core.run import check_count, max_tokens
from attnviz.core.scenario import EDITS, Scenario
from attnviz.core.stages import ROWS
from attnviz.core.text import tokenize, visible
from attnviz.core.variants import start_from_qkv, switch

__all__ = [
    "TABLE_ORDER",
    "Change",
    "editable",
    "first_tokens",
    "randomise",
    "resize",
    "set_cells",
    "set_config",
    "set_context",
    "set_mask",
    "set_padding",
    "set_picture",
    "set_table",
    "set_text",
    "set_tokenizer",
    "start_from_qkv",
    "switch",
    "token_limit",
]

PLACES = 6  # decimals of a patch's numbers: short to read, far finer than the steps of a pixel


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


def set_picture(scenario: Scenario, image: ArrayLike, grid: tuple[int, int] = GRID) -> Change:
    """Another picture, whose patches become the tokens; grey is taken as three equal colours.

    The numbers of the patches are rounded to `PLACES` decimals, as they then stand in the table.

    Args:
        scenario: the scenario to change.
        image: (H, W) or (H, W, 3) brightness from 0 to 1.
        grid: the number of rows and of columns of patches.

    Raises:
        ShapeError, LimitError, NumberError: no such picture, or one that cannot be cut so; see
            `attnviz.core.picture.cut`.
    """
    picture = as_picture(image)
    if picture.ndim == 2:
        picture = np.stack([picture] * len(COLOURS), axis=-1)
    tokens, vectors = cut(picture, grid)
    vectors = np.round(vectors, PLACES)
    begun, started = start_from_qkv(scenario, False)
    resized, note = resize(begun, d_model=vectors.shape[1])
    lexicon = {token: tuple(row.tolist()) for token, row in zip(tokens, vectors, strict=True)}
    fresh = replace(resized, lexicon=lexicon, features=dot_names(), image=picture, x_edits={})
    changed, lost = _retokenize(fresh, text="\n".join(tokens), tokenizer="lines")
    told = f"The picture is cut into {grid[0]} × {grid[1]} patches."
    if scenario.x_edits:
        told += f" {len(scenario.x_edits)} cells typed into X are gone."
    return changed, " ".join(filter(None, (told, started, note, lost)))


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
    """Other choices of `Config`; `start` "qkv" and `project` make the tables that they need.

    Raises:
        ScenarioError: no such choice.
        NumberError: a choice that is no usable number.
    """
    check_names(choices, [item.name for item in fields(scenario.config)], "choice")
    config = replace(scenario.config, **choices)
    note = ""
    if choices.get("project") and scenario.params.w_o is None:
        scenario, note = _with_output(scenario)
    elif scenario.config.project and not config.project:
        note = "The concatenated heads are the result; W_O is kept."
    elif config.project and not scenario.config.project and scenario.params.w_o is not None:
        rows, columns = scenario.params.w_o.shape
        note = f"W_O is applied again, {rows} × {columns}; what sizes added is from the seed."
    if config.start != scenario.config.start:
        scenario, note = start_from_qkv(scenario, config.start == "qkv")
    return replace(scenario, config=config), note


def _with_output(scenario: Scenario) -> Change:
    """An output table drawn from the seed, back to the width of the embeddings where there are."""
    sizes = scenario.sizes
    if scenario.config.start == "x":
        sizes = replace(sizes, d_out=sizes.d_model)
    w_o = drawn("w_o", scenario.seed, sizes).reshape(-1, sizes.d_out)
    params = Params(**scenario.params.tables(), w_o=w_o)
    rows, columns = w_o.shape
    return replace(scenario, params=params), (
        f"W_O drawn from seed {scenario.seed}, {rows} × {columns}."
    )
