"""Share links: a scenario as a short text, only what differs from an example and the seed.

A link is its version, "1", and then compressed JSON in base64 as addresses allow it.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.draw import drawn, shape_of
from attnviz.core.errors import AttnvizError, FormatError, LimitError
from attnviz.core.model import Params, Sizes
from attnviz.core.presets import PRESETS, WALKTHROUGH
from attnviz.core.scenario import Scenario
from attnviz.files.plain import fields_of, from_plain, made, read_fields, to_plain
from attnviz.files.scenario_json import parsed

VERSION = "1"
MAX_LENGTH = 4096  # letters of a link's text; longer addresses are cut by some programs
MAX_UNPACKED = 1_000_000  # bytes
MAX_NUMBERS = 50_000  # of one table, before they are compressed
WHERE = "link"
_NESTED = ("config", "params")
_OPTIONAL = tuple(n for n in fields_of(Params) if n not in ("w_q", "w_k", "w_v"))


def encode(scenario: Scenario) -> str:
    """Scenario -> the text of a link, letters that an address takes as they are.

    Raises:
        LimitError: longer than `MAX_LENGTH`; a file holds it.
    """
    name = scenario.preset if scenario.preset in PRESETS else WALKTHROUGH
    preset = PRESETS[name]
    base, plain = _plain_preset(name), _plain(scenario)
    found = _different(plain, base) | ({} if name == WALKTHROUGH else {"base": name})
    config = _different(plain["config"], base["config"])
    found |= {"config": config} if config else {}
    found |= _params(scenario, preset)
    text = json.dumps(found, separators=(",", ":"), allow_nan=False)
    packed = zlib.compress(text.encode(), 9)
    link = VERSION + base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(link) > MAX_LENGTH or len(text) > MAX_UNPACKED:
        raise _too_much(f"{len(link):,}")
    return link


def decode(text: str) -> Scenario:
    """What `encode` gave, now or in an older version -> the scenario.

    Raises:
        AttnvizError: damaged, of a newer version, or of an example that is no longer there.
    """
    plain = parsed(_unpacked(text.strip()), WHERE)
    if not isinstance(plain, dict):
        raise _damaged()
    preset = _base(plain)
    base = _plain(preset)
    check, sizes = plain.pop("check", None), plain.pop("sizes", None)
    seed = from_plain(plain.get("seed", base["seed"]), int, f"{WHERE}, seed")
    config, tables = (_fields(plain.pop(name, {}), name) for name in _NESTED)
    params = _read_params(tables, sizes, seed, preset)
    plain |= {"config": base["config"] | config}
    read = read_fields({**base, **plain}, Scenario, WHERE, given=("params",))
    scenario: Scenario = made(Scenario, read | {"params": params}, WHERE)
    if check != digest(scenario):
        raise FormatError(
            "what it gives is not what it was made of",
            where=WHERE,
            hint="It is damaged, or this attnviz has another form of the example it builds on.",
        )
    return scenario


def preview(scenario: Scenario) -> str:
    """What a link opens, as a line: 'walkthrough: “major league baseball”, 2 heads, d_model 4'."""
    text = " ".join(scenario.text.split())
    text = text if len(text) <= 60 else text[:59] + "…"
    sizes = scenario.sizes
    heads = "1 head" if sizes.n_heads == 1 else f"{sizes.n_heads} heads"
    name = f"{scenario.preset}: " if scenario.preset else ""
    return f"{name}“{text}”, {heads}, d_model {sizes.d_model}"


def digest(scenario: Scenario) -> str:
    """A few letters that differ when anything of a scenario does.

    Fields as by default have no part, so that a field that is new leaves older links as they are.
    """
    found = hashlib.sha256()
    for name, table in scenario.params.tables().items():
        found.update(f"{name}{table.shape}".encode())
        found.update(table.astype("<f8").tobytes())
    default, plain = _plain_preset(""), _plain(scenario)
    told = _different(plain, default), _different(plain["config"], default["config"])
    found.update(json.dumps(told, sort_keys=True).encode())
    return found.hexdigest()[:10]


def _plain(scenario: Scenario) -> dict[str, Any]:
    """Every field but the tables, which may be large."""
    kinds = fields_of(Scenario)
    return {n: to_plain(getattr(scenario, n), k) for n, k in kinds.items() if n != "params"}


@lru_cache(maxsize=64)
def _plain_preset(name: str) -> dict[str, Any]:
    """The same of an example; of a scenario in which all is as by default without a name."""
    return _plain(PRESETS[name] if name else Scenario("", PRESETS[WALKTHROUGH].params))


def _different(plain: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    written = {name: json.dumps(value) for name, value in base.items()}
    return {
        name: value
        for name, value in plain.items()
        if name not in _NESTED and json.dumps(value) != written[name]
    }


def _params(scenario: Scenario, preset: Scenario) -> dict[str, Any]:
    """The sizes and tables as far as they differ from what the example and the seed give."""
    params, sizes = scenario.params, scenario.sizes
    found: dict[str, Any] = {"check": digest(scenario)}
    if sizes != preset.sizes:
        found["sizes"] = list(asdict(sizes).values())
    tables: dict[str, Any] = {}
    for name in fields_of(Params):
        table: Array | None = getattr(params, name)
        written = None
        if table is not None:
            written = _shortest(table, _bases(name, scenario.seed, sizes, preset))
        untouched = None if getattr(preset.params, name) is None else {"of": "p"}
        if written != untouched:
            tables[name] = written
    return found | ({"params": tables} if tables else {})


def _bases(name: str, seed: int, sizes: Sizes, preset: Scenario) -> dict[str, Array]:
    """Tables to begin with: drawn from the seed ("s"), with the example's numbers in it ("p")."""
    fresh = _drawn(name, seed, sizes)
    filled, old = np.array(fresh), getattr(preset.params, name)
    if old is not None:
        shape, old_shape = shape_of(name, sizes), shape_of(name, preset.sizes)
        shared = tuple(slice(min(pair)) for pair in zip(shape, old_shape, strict=True))
        filled[shared] = old.reshape(old_shape)[shared]
    tables = {"p": filled, "s": fresh}
    return {k: t.reshape(-1, t.shape[-1]) for k, t in tables.items()} if name == "w_o" else tables


@lru_cache(maxsize=8)
def _drawn(name: str, seed: int, sizes: Sizes) -> Array:
    table = drawn(name, seed, sizes)
    table.flags.writeable = False
    return table


def _shortest(table: Array, bases: Mapping[str, Array]) -> dict[str, Any]:
    """A table as the cells in which it differs from one of the bases, or as all its numbers."""
    forms: list[dict[str, Any]] = []
    flat = table.ravel()
    for name, base in bases.items():
        other = np.flatnonzero(flat.view(np.int64) != base.ravel().view(np.int64))
        if _cannot_fit(flat[other]):
            continue
        cells = [[int(i), float(flat[i])] for i in other]
        forms.append({"of": name, "cells": cells} if cells else {"of": name})
    if not _cannot_fit(flat):
        forms.append({"all": flat.tolist()})
    if not forms:
        raise _too_much(f"{len(flat):,} numbers")
    return min(forms, key=lambda form: len(json.dumps(form)))


def _cannot_fit(numbers: Array) -> bool:
    """Whether it is plain without writing them out; numbers that differ take a letter at least."""
    return len(numbers) > MAX_NUMBERS or len(np.unique(numbers)) > MAX_LENGTH


def _read_params(plain: dict[str, Any], sizes: Any, seed: int, preset: Scenario) -> Params:
    if sizes is None:
        size = preset.sizes
    else:
        kinds = fields_of(Sizes)
        named = dict(zip(kinds, sizes, strict=False)) if isinstance(sizes, list) else sizes
        size = made(Sizes, read_fields(named, Sizes, WHERE), WHERE)
    names = {item.name: plain.get(item.name, {"of": "p"}) for item in fields(Params)}
    absent = {n for n in _OPTIONAL if n not in plain and getattr(preset.params, n) is None}
    tables = {
        name: _read_table(form, name, _bases(name, seed, size, preset))
        for name, form in names.items()
        if form is not None and name not in absent
    }
    if missing := {"w_q", "w_k", "w_v"} - tables.keys():
        raise FormatError("a table is missing", where=f"{WHERE}, {min(missing)}")
    params: Params = made(Params, tables, WHERE)
    return params


def _read_table(form: Any, name: str, bases: Mapping[str, Array]) -> Array:
    where = f"{WHERE}, {name}"
    form = _fields(form, name)
    if "all" in form:
        values = from_plain(form["all"], tuple[float, ...], where)
        if len(values) != bases["s"].size:
            raise _damaged(name)
        return np.array(values).reshape(bases["s"].shape)
    kind = form.get("of")
    if not isinstance(kind, str) or kind not in bases:
        raise _damaged(name)
    table = np.array(bases[kind])
    for i, value in from_plain(form.get("cells", []), Mapping[int, float], where).items():
        if not 0 <= i < table.size:
            raise _damaged(name)
        table.flat[i] = value
    return table


def _fields(plain: Any, name: str) -> dict[str, Any]:
    if not isinstance(plain, dict):
        raise _damaged(name)
    return plain


def _base(plain: dict[str, Any]) -> Scenario:
    name = plain.pop("base", WALKTHROUGH)
    if not isinstance(name, str) or name not in PRESETS:
        raise FormatError(
            "it builds on an example that is not there",
            where=WHERE,
            got=str(name)[:40],
            expected=" or ".join(PRESETS),
        )
    return PRESETS[name]


def _unpacked(text: str) -> bytes:
    if len(text) > MAX_LENGTH:
        raise LimitError(
            "the text is too long",
            where=WHERE,
            expected=f"at most {MAX_LENGTH:,} letters",
            got=f"{len(text):,}",
        )
    if text[:1] != VERSION:
        if text[:1].isdigit():
            raise FormatError(
                "its version is unknown",
                where=WHERE,
                got=text[:1],
                hint="A newer attnviz may have made it.",
            )
        raise _damaged()
    try:
        packed = base64.b64decode(text[1:] + "=" * (-len(text[1:]) % 4), b"-_", validate=True)
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(packed, MAX_UNPACKED)
    except (ValueError, zlib.error) as error:
        raise _damaged() from error
    if unpacker.unconsumed_tail:
        raise LimitError(
            "it unpacks to too much", where=WHERE, expected=f"at most {MAX_UNPACKED:,} B"
        )
    if not unpacker.eof or unpacker.unused_data:
        raise _damaged()
    return data


def _too_much(got: str) -> LimitError:
    return LimitError(
        "there is too much in it for a link",
        where=WHERE,
        expected=f"at most {MAX_LENGTH:,} letters",
        got=got,
        hint="Save it as a file and share that.",
    )


def _damaged(name: str = "") -> AttnvizError:
    where = f"{WHERE}, {name}" if name else WHERE
    return FormatError(
        "this is damaged", where=where, hint="A part may be missing; copy the whole link again."
    )
