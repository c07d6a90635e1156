"""Scenarios as readable JSON files; what is opened gives the same trace, bit for bit."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from attnviz.core.arrays import Array
from attnviz.core.errors import AttnvizError, FormatError, LimitError
from attnviz.core.scenario import EDITS, Scenario
from attnviz.files.plain import made, read_fields, to_plain

FORMAT, VERSION = "attnviz scenario", 1
MAX_BYTES = 64 * 2**20  # of a file
MAX_VALUES = 4_000_000  # numbers, texts and brackets in it; each takes some 60 bytes of memory
_NEARLY = 0.97  # of a limit: what is estimated may be a little off
_SAMPLE = 2000  # numbers of a table that tell how long they all are
_CELL, _ROW = 60, 16  # letters of a cell that was set apart, and around a row

# What turns a file of a version into one of the next: version -> function of its fields.
UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def to_json(scenario: Scenario) -> bytes:
    """Scenario -> a JSON text: format, version, what it is about, and every field.

    Raises:
        LimitError: more than may be opened again.
    """
    about: dict[str, Any] = {"note": "tokens and sizes follow from the fields below"}
    about |= {"tokens": list(scenario.tokens), "sizes": asdict(scenario.sizes)}
    if scenario.context_text is not None:
        about["key_tokens"] = list(scenario.key_tokens)
    fields = to_plain(scenario, Scenario)
    text = written({"format": FORMAT, "version": VERSION, "about": about, **fields})
    data = f"{text}\n".encode("utf-8", "backslashreplace")  # half a surrogate pair as \ud800
    check_volume(data, "scenario")
    return data


def from_json(data: bytes, where: str = "scenario file") -> Scenario:
    """What `to_json` gave, now or in an older version -> the scenario.

    Raises:
        AttnvizError: damaged, too large, of a newer version or of another kind; the sentence
            names the place.
    """
    plain = parsed(data, where)
    if not isinstance(plain, dict) or plain.pop("format", None) != FORMAT:
        raise FormatError(
            "this is no scenario file", where=where, expected=f'"format": "{FORMAT}" in it'
        )
    version = plain.pop("version", None)
    if type(version) is not int or not 1 <= version <= VERSION:
        raise FormatError(
            "the version is unknown",
            where=where,
            expected=f"1 to {VERSION}",
            got=str(version)[:40],
            hint="A newer attnviz may have written it.",
        )
    plain.pop("about", None)
    for number in range(version, VERSION):
        plain = UPGRADES[number](plain)
    scenario: Scenario = made(Scenario, read_fields(plain, Scenario, where), where)
    return scenario


def check_savable(scenario: Scenario) -> None:
    """Refuse what `to_json` would, from a sample of its numbers and so at once.

    Raises:
        LimitError: the file would be larger than may be opened again, or nearly so.
    """
    tables = [*scenario.params.tables().values(), *scenario.qkv.values()]
    cells = [getattr(scenario, name) for name in (*EDITS.values(), "hidden")]
    size = sum(map(len, cells)) * _CELL + sum(map(_letters, tables))
    if scenario.image is not None:
        size += _letters(scenario.image)
    values = sum(table.size for table in tables)
    for kind, got, most in (("B", size, MAX_BYTES), ("numbers", values, MAX_VALUES)):
        if got > _NEARLY * most:
            raise LimitError(
                "it would become too large to be opened again",
                where="saved file",
                expected=f"at most {most:,} {kind}",
                got=f"about {got:,} {kind}",
                hint="Take the NumPy archive; its tables can be read in as Tables from elsewhere.",
            )


def _letters(table: Array) -> int:
    """About how long a table is as text."""
    some = table.ravel()[:: max(1, table.size // _SAMPLE)].tolist()
    each = sum(len(repr(number)) + 2 for number in some) / max(1, len(some))
    return int(each * table.size) + _ROW * table[..., 0].size


def save(scenario: Scenario, path: str | os.PathLike[str]) -> None:
    """Write a scenario to a file; an older file is replaced as a whole or not at all."""
    write_whole(Path(path), to_json(scenario), 0o644)


def write_whole(target: Path, data: bytes, mode: int = 0o600) -> None:
    """A file as a whole or not at all: written beside its place, then moved there."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> Scenario:
    """Open a scenario file.

    Raises:
        AttnvizError: as `from_json`, with the file's name.
        OSError: there is no such file, or it may not be read.
    """
    with Path(path).open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    return from_json(data, Path(path).name)


def check_volume(data: bytes, where: str) -> None:
    """Refuse more than can be opened without filling the memory."""
    if len(data) > MAX_BYTES:
        raise LimitError("the file is too large", where=where, expected=f"at most {MAX_BYTES:,} B")
    values = sum(map(data.count, (b",", b"[", b"{")))
    if values > MAX_VALUES:
        raise LimitError(
            "there is too much in the file",
            where=where,
            expected=f"at most {MAX_VALUES:,} values",
            got=f"{values:,}",
        )


def parsed(data: bytes, where: str) -> Any:
    """JSON from an unknown source -> plain values; refused as `from_json` does."""
    check_volume(data, where)
    try:
        return json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_number
        )
    except AttnvizError as error:
        error.where = where
        error.args = (str(error),)
        raise
    except json.JSONDecodeError as error:
        raise FormatError(
            "this is no complete JSON",
            where=f"{where}, line {error.lineno}, column {error.colno}",
            hint="The file may be cut off or damaged.",
        ) from error
    except UnicodeDecodeError as error:
        raise FormatError("this is no UTF-8 text", where=where) from error
    except RecursionError as error:
        raise FormatError("brackets are nested too deeply", where=where) from error
    except ValueError as error:  # a whole number of thousands of digits
        raise FormatError("a number has too many digits", where=where) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"the name “{twice[:40]}” occurs twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise FormatError("not a finite number", got=text)


def written(value: Any, indent: str = "") -> str:
    """JSON with one row of numbers a line."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        items = [f"{_text(name)}: {written(item, deeper)}" for name, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        items = [written(item, deeper) for item in value]
    else:
        return _text(value)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{deeper}" + f",\n{deeper}".join(items) + f"\n{indent}{end}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
