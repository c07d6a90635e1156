"""Scenarios as they are kept for an address: their tables as bytes, which is fast for large ones.

A line that names the form, a line of JSON with every field but the tables and with their shapes,
then the numbers of all tables as little-endian float64. Nothing in it is ever run or unpacked.
"""

import json
import math
from collections.abc import Mapping

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.errors import FormatError
from attnviz.core.model import MAX_HEADS, MAX_SIZE, Params
from attnviz.core.scenario import Scenario
from attnviz.files.plain import fields_of, fields_to_plain, from_plain, made, read_fields
from attnviz.files.scenario_json import from_json, parsed

FORM = b"attnviz scenario, packed, version 1\n"
HINT = "It is damaged; a saved file opens under Take away."
_NUMBER = np.dtype("<f8")
_APART = ("params", "qkv")
_AXES = 3


def pack(scenario: Scenario) -> bytes:
    """Scenario -> bytes, 8 for each number of its tables and some for all else."""
    tables = _tables(scenario)
    fields = fields_to_plain(scenario, _APART)
    head = {"fields": fields, "shapes": {name: list(t.shape) for name, t in tables.items()}}
    text = json.dumps(head, separators=(",", ":"), allow_nan=False)  # no line break in it
    numbers = [table.astype(_NUMBER).tobytes() for table in tables.values()]
    return b"".join([FORM, text.encode("ascii"), b"\n", *numbers])


def packed_size(scenario: Scenario) -> int:
    """Bytes of its tables when it is packed, which is all but little of the whole."""
    return sum(table.nbytes for table in _tables(scenario).values())


def unpack(data: bytes, where: str) -> Scenario:
    """What `pack` gave, or `to_json` as older versions kept it -> the scenario, bit for bit.

    Raises:
        AttnvizError: damaged, too large, of a newer version or of another kind; the sentence
            names the place.
    """
    if not data.startswith(FORM):
        return from_json(data, where)
    line, found, _ = data[len(FORM) :].partition(b"\n")
    head = parsed(line, where)
    if not found or not isinstance(head, dict) or head.keys() != {"fields", "shapes"}:
        raise FormatError("it is not complete", where=where, hint=HINT)
    shapes = from_plain(head["shapes"], Mapping[str, tuple[int, ...]], where)
    tables = _read_tables(memoryview(data)[len(FORM) + len(line) + 1 :], shapes, where)
    qkv = {name.partition(".")[2]: t for name, t in tables.items() if name.startswith("qkv.")}
    given = {name: t for name, t in tables.items() if "." not in name}
    if unknown := given.keys() - fields_of(Params).keys():
        raise FormatError("there is no such table", where=where, got=min(unknown)[:40])
    if missing := {"w_q", "w_k", "w_v"} - given.keys():
        raise FormatError("a table is missing", where=where, expected=min(missing), hint=HINT)
    fields = read_fields(head["fields"], Scenario, where, given=_APART)
    scenario: Scenario = made(
        Scenario, {**fields, "params": made(Params, given, where), "qkv": qkv}, where
    )
    return scenario


def _tables(scenario: Scenario) -> dict[str, Array]:
    own = {name: getattr(scenario.params, name) for name in fields_of(Params)}
    found = {name: table for name, table in own.items() if table is not None}
    return found | {f"qkv.{name}": table for name, table in scenario.qkv.items()}


def _read_tables(
    numbers: memoryview, shapes: Mapping[str, tuple[int, ...]], where: str
) -> dict[str, Array]:
    """The tables in the order of their shapes, which tell how many bytes there have to be."""
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        if not 0 < len(shape) <= _AXES or any(not 0 < n <= MAX_HEADS * MAX_SIZE for n in shape):
            raise FormatError("a table has no such shape", where=where, got=str(shape)[:40])
        sizes[name] = math.prod(shape)
    expected = sum(sizes.values()) * _NUMBER.itemsize
    if len(numbers) != expected:
        raise FormatError(
            "it is not complete",
            where=where,
            expected=f"{expected:,} B of numbers",
            got=f"{len(numbers):,} B",
            hint=HINT,
        )
    flat, start = np.frombuffer(numbers, _NUMBER), 0
    tables: dict[str, Array] = {}
    for name, size in sizes.items():
        tables[name] = flat[start : start + size].reshape(shapes[name]).astype(np.float64)
        start += size
    return tables
