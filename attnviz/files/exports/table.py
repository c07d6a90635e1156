"""One stage or table as CSV, and back to the same numbers."""

import codecs
import csv
import io

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.compare import difference
from attnviz.core.errors import FormatError
from attnviz.core.model import AXES, HEAD_AXES
from attnviz.core.scenario import Scenario
from attnviz.core.trace import Trace


def names(trace: Trace, axis: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The names of an axis as they were typed: tokens letter for letter, without stand-ins."""
    if axis in ("query", "token"):
        return trace.tokens
    return trace.key_tokens if axis == "key" else labels


def write_csv(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """A line for each row with its head and its name, and every digit of its numbers.

    The first names of the header are axes, those of the lines; an array of one axis is one line.
    """
    return _written(trace, key, np.asarray(trace[key], np.float64))


def write_difference(before: Trace, trace: Trace, key: str) -> bytes:
    """B - A of one stage or table in the same form; of words only those that both have.

    Raises:
        ScenarioError: one of them has no such array, or their shapes differ.
    """
    return _written(trace, key, difference(before, trace, key))


def _written(trace: Trace, key: str, array: Array) -> bytes:
    """An array in the form of one of a trace, as far as it goes."""
    axes = trace.axes(key)
    labels = [names(trace, a, found) for a, found in zip(axes, trace.labels(key), strict=True)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*(axes[:-1] or (key,)), *labels[-1][: array.shape[-1]]])
    for index in np.ndindex(array.shape[:-1]):
        picked = [names[i] for names, i in zip(labels, index, strict=False)]
        writer.writerow([*(picked or [key]), *array[index].tolist()])
    return codecs.BOM_UTF8 + text.getvalue().encode("utf-8", "surrogatepass")  # for Excel


def is_ours(header: list[str]) -> bool:
    """Whether the first line of a CSV is one of `write_csv`."""
    return bool(header) and header[0] in (*AXES, "b_o", "keep")


def read_csv(data: bytes, where: str = "CSV") -> Array:
    """What `write_csv` gave -> the array, heads first.

    Raises:
        FormatError: it is not, or lines are missing or damaged; the sentence names the line.
    """
    text = io.StringIO(
        data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogatepass"), newline=""
    )
    try:
        header, *lines = list(csv.reader(text, strict=True))
    except (csv.Error, ValueError) as error:
        raise FormatError("this is no CSV", where=where) from error
    n_names = 2 if header[0] in HEAD_AXES and len(header) > 1 and header[1] in AXES else 1
    rows: list[list[float]] = []
    heads: list[str] = []
    for number, line in enumerate(lines, 2):
        if len(line) != len(header):
            raise FormatError(
                "another number of items than in the first line",
                where=f"{where}, record {number}",
                expected=str(len(header)),
                got=str(len(line)),
            )
        try:
            rows.append([float(item) for item in line[n_names:]])
        except ValueError as error:
            raise FormatError("not a number", where=f"{where}, record {number}") from error
        heads.append(line[0])
    array = np.array(rows)
    if not rows or not array.size:
        raise FormatError("there is nothing in it", where=where)
    if n_names == 2:
        count = len(set(heads))
        if len(rows) % count or heads != sorted(heads, key=heads.index):
            raise FormatError("the heads do not have equally many rows", where=where)
        return array.reshape(count, -1, array.shape[1])
    return array[0] if header[0] not in AXES else array
