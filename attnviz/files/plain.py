"""Typed values <-> what JSON can hold, by the types of dataclass fields.

One entry of `CODECS` for each kind of type. A new field of a known kind needs nothing here.
"""

import base64
import binascii
import dataclasses
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from attnviz.core.arrays import as_floats
from attnviz.core.errors import AttnvizError, FormatError, NumberError

MAX_AXES = 4


def to_plain(value: Any, kind: Any) -> Any:
    """A value of a type -> dicts, lists, texts and numbers; floats keep every digit."""
    return _codec(kind).write(value, kind)


def from_plain(plain: Any, kind: Any, where: str) -> Any:
    """What `to_plain` gave, read from an unknown file -> the value.

    Raises:
        AttnvizError: anything that is not of the type; the sentence names the place.
    """
    return _codec(kind).read(plain, kind, where)


def fields_to_plain(value: Any, left_out: Collection[str]) -> dict[str, Any]:
    """A dataclass -> a dict of its fields as `to_plain` gives them, without some."""
    own: type = type(value)
    kinds = fields_of(own).items()
    return {n: to_plain(getattr(value, n), kind) for n, kind in kinds if n not in left_out}


@lru_cache(maxsize=64)
def fields_of(kind: type) -> Mapping[str, Any]:
    """The fields of a dataclass that are given when it is made, with their types."""
    hints = get_type_hints(kind)
    return {item.name: hints[item.name] for item in dataclasses.fields(kind) if item.init}


def read_fields(plain: Any, kind: type, where: str, given: Collection[str] = ()) -> dict[str, Any]:
    """An object of a file -> arguments for a dataclass; fields that are absent keep defaults.

    Args:
        plain: the object.
        kind: the dataclass.
        where: what to call the place in a sentence.
        given: fields that come from elsewhere.

    Raises:
        FormatError: no object, unknown or missing fields.
    """
    known = {name: hint for name, hint in fields_of(kind).items() if name not in given}
    if not isinstance(plain, dict):
        raise _unlike(plain, "named fields", where)
    for name in plain:
        if name not in known:
            raise FormatError(
                f"there is no field “{name[:40]}”",
                where=where,
                expected=", ".join(known),
                hint="A newer attnviz may have written it.",
            )
    for item in dataclasses.fields(kind):
        missing = item.default is item.default_factory is dataclasses.MISSING
        if missing and item.name in known and item.name not in plain:
            raise FormatError(f"the field “{item.name}” is missing", where=where)
    return {name: from_plain(plain[name], known[name], _at(where, name)) for name in plain}


@dataclass(frozen=True)
class Codec:
    """How values of one kind of type are written and read."""

    write: Callable[[Any, Any], Any]
    read: Callable[[Any, Any, str], Any]


def _at(where: str, name: object) -> str:
    return f"{where}, {name}" if where else str(name)


def _unlike(plain: Any, expected: str, where: str) -> FormatError:
    names = {dict: "named fields", list: "a list", str: "a text", NoneType: "nothing (null)"}
    got = names.get(type(plain)) or str(plain)[:40]
    return FormatError("this is of another kind", where=where, expected=expected, got=got)


def _exact(kind: type, expected: str) -> Codec:
    def read(plain: Any, _: Any, where: str) -> Any:
        if type(plain) is not kind:
            raise _unlike(plain, expected, where)
        return plain

    return Codec(lambda value, _: kind(value), read)


def _read_float(plain: Any, _: Any, where: str) -> float:
    if type(plain) not in (int, float):
        raise _unlike(plain, "a number", where)
    try:
        value = float(plain)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise NumberError("not a finite number", where=where)
    return value


def _read_bytes(plain: Any, _: Any, where: str) -> bytes:
    try:
        return base64.b64decode(plain, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise _unlike(plain, "base64", where) from error


def _list(plain: Any, where: str) -> list[Any]:
    if not isinstance(plain, list):
        raise _unlike(plain, "a list", where)
    return plain


def _write_tuple(value: Any, kind: Any) -> list[Any]:
    types = get_args(kind)
    if types[-1] is Ellipsis:
        return [to_plain(item, types[0]) for item in value]
    return [to_plain(item, t) for item, t in zip(value, types, strict=True)]


def _read_tuple(plain: Any, kind: Any, where: str) -> tuple[Any, ...]:
    return _read_items(plain, get_args(kind), where)


def _read_items(plain: Any, types: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    items = _list(plain, where)
    if types[-1] is Ellipsis:
        types = (types[0],) * len(items)
    if len(types) != len(items):
        raise _unlike(plain, f"a list of {len(types)}", where)
    pairs = zip(items, types, strict=True)
    return tuple(from_plain(item, t, _at(where, i + 1)) for i, (item, t) in enumerate(pairs))


def _write_set(value: Any, kind: Any) -> list[Any]:
    return [to_plain(item, get_args(kind)[0]) for item in sorted(value)]


def _read_set(plain: Any, kind: Any, where: str) -> frozenset[Any]:
    items = _read_items(plain, (get_args(kind)[0], ...), where)
    if len(set(items)) < len(items):
        raise FormatError("an entry occurs twice", where=where)
    return frozenset(items)


def _write_mapping(value: Any, kind: Any) -> Any:
    key_kind, item_kind = get_args(kind)
    if key_kind is str:
        return {key: to_plain(item, item_kind) for key, item in value.items()}
    return [
        [*_as_list(to_plain(key, key_kind)), to_plain(item, item_kind)]
        for key, item in sorted(value.items())
    ]


def _as_list(plain: Any) -> list[Any]:
    return plain if isinstance(plain, list) else [plain]


def _read_mapping(plain: Any, kind: Any, where: str) -> dict[Any, Any]:
    """An object; or, for other keys than names, rows of key and value: [row, column, value]."""
    key_kind, item_kind = get_args(kind)
    found: dict[Any, Any] = {}
    if key_kind is str:
        if not isinstance(plain, dict):
            raise _unlike(plain, "named fields", where)
        return {k: from_plain(item, item_kind, _at(where, k[:40])) for k, item in plain.items()}
    for i, row in enumerate(_list(plain, where)):
        at = _at(where, f"entry {i + 1}")
        if len(_list(row, at)) < 2:
            raise _unlike(row, "a list of key and value", at)
        several = get_origin(key_kind) is tuple
        key = from_plain(row[:-1] if several else row[0], key_kind, at)
        if key in found or not (several or len(row) == 2):
            raise FormatError("a cell occurs twice", where=at, got=str(key))
        found[key] = from_plain(row[-1], item_kind, at)
    return found


def _write_array(value: Any, _: Any) -> Any:
    return np.asarray(value).tolist()


def _read_array(plain: Any, kind: Any, where: str) -> Any:
    scalar = get_args(get_args(kind)[1])[0]
    items = _list(plain, where)
    for _ in range(MAX_AXES):
        if not any(isinstance(item, list) for item in items):
            break
        items = [i for item in items for i in (item if isinstance(item, list) else [item])]
    wanted = (bool,) if scalar is np.bool_ else (int, float)
    if any(type(item) not in wanted for item in items):
        wrong = next(item for item in items if type(item) not in wanted)
        raise _unlike(wrong, "truth values" if scalar is np.bool_ else "numbers", where)
    axes = tuple(range(1, MAX_AXES + 1))
    if scalar is np.bool_:
        try:
            return np.asarray(plain, np.bool_)
        except ValueError as error:
            raise FormatError("the rows do not all have the same length", where=where) from error
    return as_floats(plain, where, axes, empty=True)


def _write_dataclass(value: Any, kind: Any) -> dict[str, Any]:
    return {name: to_plain(getattr(value, name), t) for name, t in fields_of(kind).items()}


def _read_dataclass(plain: Any, kind: Any, where: str) -> Any:
    return made(kind, read_fields(plain, kind, where), where)


def made(kind: type, arguments: Mapping[str, Any], where: str) -> Any:
    """A dataclass made of arguments from a file; what it refuses is told with the place."""
    try:
        return kind(**arguments)
    except AttnvizError as error:
        error.where = _at(where, error.where) if error.where else where
        error.args = (str(error),)
        raise


def _member(value: Any, kind: Any) -> Any:
    """Which member of a union a value is of; None has its own, and a union has few others."""
    members = [m for m in get_args(kind) if m is not NoneType]
    if len(members) == 1:
        return members[0]
    return next(m for m in members if isinstance(value, get_origin(m) or m))


def _write_union(value: Any, kind: Any) -> Any:
    return None if value is None else to_plain(value, _member(value, kind))


def _read_union(plain: Any, kind: Any, where: str) -> Any:
    members = [m for m in get_args(kind) if m is not NoneType]
    if plain is None and len(members) < len(get_args(kind)):
        return None
    for member in members[:-1]:
        try:
            return from_plain(plain, member, where)
        except AttnvizError:
            continue
    return from_plain(plain, members[-1], where)


def _read_literal(plain: Any, kind: Any, where: str) -> Any:
    options = get_args(kind)
    if not isinstance(plain, str | int) or plain not in options:
        raise _unlike(plain, " or ".join(map(str, options)), where)
    return plain


_UNION = Codec(_write_union, _read_union)
CODECS: Mapping[Any, Codec] = {
    str: _exact(str, "a text"),
    int: _exact(int, "a whole number"),
    bool: _exact(bool, "true or false"),
    float: Codec(lambda value, _: float(value), _read_float),
    bytes: Codec(lambda value, _: base64.b64encode(value).decode(), _read_bytes),
    tuple: Codec(_write_tuple, _read_tuple),
    frozenset: Codec(_write_set, _read_set),
    Mapping: Codec(_write_mapping, _read_mapping),
    np.ndarray: Codec(_write_array, _read_array),
    Literal: Codec(lambda value, _: value, _read_literal),
    Union: _UNION,
    UnionType: _UNION,
}
_DATACLASS = Codec(_write_dataclass, _read_dataclass)


def _codec(kind: Any) -> Codec:
    if dataclasses.is_dataclass(kind):
        return _DATACLASS
    return CODECS[get_origin(kind) or kind]
