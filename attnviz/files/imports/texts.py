"""Texts of a file, CSV and JSON, to named arrays."""

import codecs
import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.errors import AttnvizError, FormatError
from attnviz.files.exports.archive import FORMAT as TRACE
from attnviz.files.exports.table import is_ours, read_csv
from attnviz.files.imports.limits import MAX_TEXT, Found, check_text
from attnviz.files.scenario_json import FORMAT as SCENARIO
from attnviz.files.scenario_json import from_json, parsed
from attnviz.parsing import CommaError, parse_block
from attnviz.parsing.rows import PLACE

COMMAS = "every comma was taken to stand between two numbers, none as a decimal comma"
MAX_DEPTH = 20  # of names within names


def read_text(data: bytes, where: str) -> Found:
    """One table as CSV or TSV, with or without names of rows and columns."""
    check_text(data, where)
    data = _as_utf_8(data, where)
    check_text(data, where)  # UTF-16 has other bytes for its signs
    text = data.decode("utf-8", "replace")  # half a surrogate pair may stand in a name
    header = re.match(r'"([^"]*)"', text)
    if header and is_ours([header[1]]):
        return Found({"table": read_csv(data, where)})
    try:
        try:
            block = parse_block(text, limit=MAX_TEXT)
        except CommaError:
            if not where.lower().endswith(".csv"):
                raise
            block = parse_block(text, ",", MAX_TEXT)
            block = replace(block, notes=(*block.notes, COMMAS))
    except AttnvizError as error:
        error.where = error.where.replace(PLACE, where)
        error.args = (str(error),)
        raise
    return Found({"table": block.values}, (*block.notes, *_counting(block.values)))


def _as_utf_8(data: bytes, where: str) -> bytes:
    """A text in UTF-8, or in UTF-16 with its mark -> UTF-8 without a mark.

    Raises:
        FormatError: another encoding; the sentence names the first byte that does not fit.
    """
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        if marked:
            return data.decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")
        data = data.removeprefix(codecs.BOM_UTF8)
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"this is no UTF-{16 if marked else 8} text",
            where=where if marked else f"{where}, line {line}",
            got=f"the byte {data[error.start]:02X}",
            hint="Save it as UTF-8, which Excel calls “CSV UTF-8” and editors list as encoding.",
        ) from error
    return data


def _counting(values: NDArray[np.float64]) -> tuple[str, ...]:
    """What to say of a first line 0, 1, 2: pandas writes such names where columns have none."""
    if len(values) == 1 or values.shape[1] == 1 or (values[0] != range(values.shape[1])).any():
        return ()
    last = values.shape[1] - 1
    return (
        f"the first line, 0 to {last}, was taken as numbers; if it holds names of columns, "
        "delete it in the file",
    )


def read_json(data: bytes, where: str) -> Found:
    """A table, tables by name (also names within names), a trace or a scenario."""
    plain = parsed(data, where)  # which has limits of its own
    kind = plain.get("format") if isinstance(plain, dict) else None
    if kind == SCENARIO:
        return Found(from_json(data, where).tables())
    if kind == TRACE:
        plain = plain.get("arrays")
    arrays: dict[str, NDArray[Any]] = {}
    left_out: list[str] = []
    _walk(plain, "", where, arrays, left_out, 0)
    notes = (f"passed over, no tables: {', '.join(left_out[:9])}",) if left_out else ()
    return Found(arrays, notes)


def _walk(
    plain: Any,
    name: str,
    where: str,
    arrays: dict[str, NDArray[Any]],
    left_out: list[str],
    depth: int,
) -> None:
    if depth > MAX_DEPTH:
        raise FormatError("names are nested too deeply", where=where)
    if isinstance(plain, dict):
        for key, item in plain.items():
            inner = f"{name}.{key}" if name else key
            if inner in arrays:
                raise FormatError(f"the name “{inner[:60]}” occurs twice", where=where)
            _walk(item, inner, where, arrays, left_out, depth + 1)
    elif isinstance(plain, list) and _holds_numbers(plain):
        try:
            arrays[name or "table"] = _numbers(plain)
        except (TypeError, ValueError) as error:
            raise FormatError(
                "these are no rows of numbers of equal length", where=f"{where}, {name or 'table'}"
            ) from error
    else:
        left_out.append(name[:60] or "the whole")


def _holds_numbers(plain: list[Any]) -> bool:
    """Whether a number stands in a list or in one within it; else it may hold words or records."""
    rows: list[Any] = plain
    while any(isinstance(item, list) for item in rows):
        if any(isinstance(item, int | float) for item in rows):
            return True
        rows = [inner for item in rows if isinstance(item, list) for inner in item]
    return any(isinstance(item, int | float) or item == "-inf" for item in rows)


def _numbers(plain: list[Any]) -> NDArray[Any]:
    flat: list[Any] = plain
    while any(isinstance(item, list) for item in flat):
        if not all(isinstance(item, list) for item in flat):
            raise ValueError
        flat = [inner for item in flat for inner in item]
    kinds = {type(item) for item in flat if item != "-inf"}
    if kinds == {bool}:
        return np.array(plain, np.bool_)
    if not kinds <= {int, float}:
        raise ValueError
    array = np.array(plain, np.float64)
    if not np.isfinite(array[~np.isneginf(array)]).all():
        raise ValueError
    return array
