"""The one place where attention is computed."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.core.arrays import as_bools, as_floats, frozen, place
from attnviz.core.config import Config
from attnviz.core.errors import LimitError, NumberError, ScenarioError, ShapeError, TextError
from attnviz.core.masks import fitted
from attnviz.core.model import MAX_CELLS, MAX_TOKENS, Params
from attnviz.core.op import Values
from attnviz.core.picture import place_of
from attnviz.core.positions import POSITIONS
from attnviz.core.scenario import EDITS, Scenario
from attnviz.core.stages import ROWS, STAGES, Stage
from attnviz.core.trace import Trace

_DEFAULT = Config()


def run(scenario: Scenario) -> Trace:
    """Scenario -> every intermediate array of its attention.

    Raises:
        TextError: the text gives no tokens.
        LimitError: more tokens than `MAX_TOKENS`, or too many for the number of heads.
        ScenarioError, ShapeError: tables that do not fit to the texts, or cells outside them.
        NumberError: a number outgrew float64; the sentence names stage and cell.
    """
    tokens, key_tokens = scenario.tokens, scenario.key_tokens
    n_heads = scenario.sizes.n_heads
    for where, names in (("text", tokens), ("second text", key_tokens)):
        if not names:
            raise TextError("there are no tokens yet", where=where, hint="Type a word.")
        check_count(len(names), n_heads, where)
    arrays = scenario.inputs()
    if "x" in arrays:
        _check_width("x", arrays["x"], "w_q", arrays["w_q"])
        source = "context" if "context" in arrays else "x"
        _check_width(source, arrays[source], "w_k", arrays["w_k"])
    origin = partial(_origin, scenario)
    return _compute(arrays, scenario.config, tokens, key_tokens, origin, features=scenario.features)


def max_tokens(n_heads: int) -> int:
    """How many tokens can be computed and drawn at once with so many heads."""
    return min(MAX_TOKENS, int((MAX_CELLS / n_heads) ** 0.5))


def check_count(n_tokens: int, n_heads: int, where: str = "text") -> None:
    """Refuse more tokens than can be drawn and computed at once.

    Raises:
        LimitError: the sentence states the limit.
    """
    limit = max_tokens(n_heads)
    if n_tokens > limit:
        raise LimitError(
            "too many tokens",
            where=where,
            expected=f"at most {limit} with {n_heads} heads",
            got=f"{n_tokens:,}",
            hint=f"Use the first {limit} tokens, or a shorter text.",
        )


def multi_head_attention(
    x: ArrayLike,
    params: Params,
    config: Config = _DEFAULT,
    *,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    keep: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    context_positions: ArrayLike | None = None,
    tokens: Sequence[str] | None = None,
    context_tokens: Sequence[str] | None = None,
) -> Trace:
    """(Tq, d_model) -> a trace whose result is (Tq, d_out), or (Tq, n_heads * d_v) without W_O.

    Args:
        x: embeddings that give the queries, and without `context` keys and values too.
        params: the tables.
        config: the choices.
        context: (Tk, d_model of the key side) for cross-attention.
        mask: bool, (Tq, Tk) or (head, Tq, Tk); True = may attend, as in torch's
            scaled_dot_product_attention. An axis of length 1 stands for the whole axis.
        keep: bool, (Tk,); False = padding, a key that no query may attend to.
        bias: numbers added to the scaled scores, shaped like a mask; -inf hides a key.
        positions: (Tq or more, d_model) rows for places, with `Config.positions` "learned".
        context_positions: (Tk or more, d_model of the key side), the same for `context`.
        tokens: names of the rows of x.
        context_tokens: names of the rows of context.

    Raises:
        ShapeError, NumberError: the sentence names the array and the place.
    """
    arrays: dict[str, NDArray[Any]] = {"x": as_floats(x, "x", 2), **params.tables()}
    _check_width("x", arrays["x"], "w_q", params.w_q)
    if context is not None:
        arrays["context"] = as_floats(context, "context", 2)
    source = "context" if context is not None else "x"
    _check_width(source, arrays[source], "w_k", params.w_k)
    names = _token_names("token", tokens, len(arrays["x"]), "tokens")
    key_names = names
    if context is not None:
        key_names = _token_names("key", context_tokens, len(arrays["context"]), "context_tokens")
    n_heads = params.w_q.shape[0]
    _add_mask_and_bias(arrays, mask, keep, bias, (n_heads, len(names), len(key_names)))
    for name, table in (("positions", positions), ("context_positions", context_positions)):
        if table is not None:
            arrays[name] = as_floats(table, name, 2)
    _check_positions(arrays, config)
    return _compute(arrays, config, names, key_names)


def scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    keep: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    causal: bool = False,
    causal_offset: int = 0,
    scale: float | None = None,
    softcap: float | None = None,
    **choices: Any,
) -> Trace:
    """q (H, Tq, d_k), k (Hkv, Tk, d_k), v (Hkv, Tk, d_v) -> a trace with concat (Tq, H * d_v).

    Args:
        q, k, v: queries, keys, values; Hkv divides H, and query head h reads key/value head
            h // (H // Hkv).
        mask: bool, (Tq, Tk) or (H, Tq, Tk); True = may attend. An axis of length 1 stands for
            the whole axis.
        keep: bool, (Tk,); False = padding, a key that no query may attend to.
        bias: numbers added to the scaled scores, shaped like a mask; -inf hides a key.
        causal: key j is hidden from query i when j > i + causal_offset; offset 0 is torch's
            is_causal, Tk - Tq aligns the last query with the last key.
        scale: factor on the scores, None for 1/sqrt(d_k).
        softcap: c in c * tanh(scores / c).
        choices: further fields of `Config`, such as normaliser, temperature or positions.

    Raises:
        ShapeError, NumberError: the sentence names the array and the place.
    """
    arrays: dict[str, NDArray[Any]] = {
        name: as_floats(array, name, 3) for name, array in (("q", q), ("k", k), ("v", v))
    }
    (heads, n_queries, d_k), (kv_heads, n_keys, _) = arrays["q"].shape, arrays["k"].shape
    if arrays["k"].shape[2] != d_k:
        raise ShapeError(
            f"does not fit to q of shape {arrays['q'].shape}",
            where="k",
            expected=f"shape ({kv_heads}, {n_keys}, {d_k})",
            got=f"shape {arrays['k'].shape}",
        )
    if arrays["v"].shape[:2] != (kv_heads, n_keys):
        raise ShapeError(
            f"does not fit to k of shape {arrays['k'].shape}",
            where="v",
            expected=f"shape ({kv_heads}, {n_keys}, d_v)",
            got=f"shape {arrays['v'].shape}",
        )
    if heads % kv_heads:
        raise ShapeError(f"{kv_heads} heads do not divide the {heads} heads of q", where="k")
    _add_mask_and_bias(arrays, mask, keep, bias, (heads, n_queries, n_keys))
    config = Config(scale, softcap, causal, causal_offset, **choices)
    if POSITIONS[config.positions].added:
        raise ScenarioError(
            "these positions are added to embeddings, and here are none",
            where="positions",
            got=config.positions,
        )
    names = _token_names("query", None, n_queries, "q")
    key_names = _token_names("key", None, n_keys, "k")
    return _compute(arrays, config, names, key_names)


def _compute(
    arrays: Mapping[str, NDArray[Any]],
    config: Config,
    tokens: tuple[str, ...],
    key_tokens: tuple[str, ...],
    origin: Callable[[str, int, int], str] | None = None,
    features: tuple[str, ...] = (),
) -> Trace:
    unused = {*config.off, *(() if config.project else ("w_o", "b_o"))}
    known = {name: array for name, array in arrays.items() if name not in unused}
    values = Values(known, config)
    stages: list[Stage] = []
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for stage in STAGES:
            if stage.key in known:
                stages.append(stage.given())
            elif stage.op.active(values):
                known[stage.key] = frozen(stage.op.apply(values))
                _check_finite(stage, known)
                stages.append(stage.for_values(values, ROWS))
    return Trace(values, tuple(stages), tokens, key_tokens, origin, features)


def _check_finite(stage: Stage, known: Mapping[str, NDArray[Any]]) -> None:
    array = known[stage.key]
    bad = ~np.isfinite(array)
    if stage.key == "biased":  # -inf may only come from the bias itself
        bad &= ~np.isneginf(known.get("bias", 0.0))
    elif stage.key == "masked":
        bad &= ~np.isneginf(array)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise NumberError(
            "the number grows beyond what float64 can hold",
            where=place(index, stage.title),
            expected="sizes below 1.8e308",
            got=str(float(array[index])),
            hint="Make the numbers in the tables smaller.",
        )


def _origin(scenario: Scenario, key: str, row: int, col: int) -> str:
    """Where a cell of a table comes from, for tables that are made anew; else nothing."""
    if key not in EDITS:
        return ""
    if (row, col) in getattr(scenario, EDITS[key]):
        return f"Typed into the table {ROWS[key].symbol}."
    if key == "bias":
        return "Nothing was typed here, so nothing is added."
    if key in ("positions", "context_positions"):
        return f"Drawn from seed {scenario.seed} for this place."
    token = (scenario.tokens if key == "x" else scenario.key_tokens)[row]
    if col < len(scenario.lexicon.get(token, ())):
        if scenario.image is not None and place_of(token):
            return "The pixels of this patch, from −1 (black) to 1 (white)."
        return "The example's own embedding of this word."
    return f"Drawn from seed {scenario.seed} for this word."


def _check_width(name: str, rows: NDArray[Any], table_name: str, table: NDArray[Any]) -> None:
    if rows.shape[1] != table.shape[1]:
        raise ShapeError(
            f"does not fit to {table_name} of shape {table.shape}",
            where=name,
            expected=f"shape ({rows.shape[0]}, {table.shape[1]})",
            got=f"shape {rows.shape}",
        )


def _check_positions(arrays: Mapping[str, NDArray[Any]], config: Config) -> None:
    """Refuse learned positions without a row for each place, or with rows of another width."""
    if not POSITIONS[config.positions].learned:
        if "positions" in arrays or "context_positions" in arrays:
            raise ScenarioError(
                "a table of positions is only used when they are learned",
                where="positions",
                got=config.positions,
                hint='Take Config(positions="learned").',
            )
        return
    for name, table in (("x", "positions"), ("context", "context_positions")):
        if name not in arrays:
            continue
        n, width = arrays[name].shape
        got = arrays[table].shape if table in arrays else None
        if got is None or got[0] < n or got[1] != width:
            raise ShapeError(
                f"learned positions need a row for each row of {name}",
                where=table,
                expected=f"shape ({n}, {width}) or more rows",
                got="none" if got is None else f"shape {got}",
            )


def _token_names(word: str, names: Sequence[str] | None, count: int, where: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{word} {i + 1}" for i in range(count))
    if len(names) != count:
        raise ShapeError(
            "one name is needed for each row", where=where, expected=str(count), got=str(len(names))
        )
    if not all(isinstance(name, str) for name in names):
        raise ShapeError("names of rows are texts", where=where, got=repr(list(names)[:3]))
    return tuple(names)


def _add_mask_and_bias(
    arrays: dict[str, NDArray[Any]],
    mask: ArrayLike | None,
    keep: ArrayLike | None,
    bias: ArrayLike | None,
    scores: tuple[int, int, int],
) -> None:
    if keep is not None:
        arrays["keep"] = as_bools(keep, "keep", 1)
        if arrays["keep"].shape != scores[2:]:
            raise ShapeError(
                "one answer is needed for each key",
                where="keep",
                expected=f"shape {scores[2:]}",
                got=f"shape {arrays['keep'].shape}",
            )
    if mask is not None:
        arrays["mask"] = fitted("mask", as_bools(mask, "mask"), scores)
    if bias is not None:
        floats = as_floats(bias, "bias", (2, 3), minus_inf=True)
        arrays["bias"] = fitted("bias", floats, scores)
