"""What every reader of files keeps to: what it gives, how much it reads, how it refuses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from attnviz.core.errors import AttnvizError, FormatError, LimitError
from attnviz.files.scenario_json import MAX_BYTES as JSON_BYTES
from attnviz.files.scenario_json import MAX_VALUES as JSON_VALUES

MAX_MEGABYTES = 600  # as Streamlit counts: BERT, GPT-2 and ViT have up to 550 in float32
MAX_BYTES = MAX_MEGABYTES * 2**20  # of a file, and of all arrays unpacked from it
MAX_TEXT = 32_000_000  # bytes of a file of text
MAX_VALUES = 4_000_000  # items in a file of text; each takes some 100 bytes while it is read
MAX_LINES = 200_000  # of a file of text, or rows in brackets; each takes some 600 bytes more
LIMITS = (
    f"Read are at most {MAX_MEGABYTES} MB, packed and unpacked, which takes up to twice that in "
    f"memory. A table as text has at most {MAX_TEXT:,} bytes, {MAX_LINES:,} lines and "
    f"{MAX_VALUES:,} signs between numbers, JSON (a scenario too) at most {JSON_BYTES:,} bytes "
    f"and {JSON_VALUES:,} values."
)
# What may begin a row or an item of a table: brackets, blanks and ends of lines beyond ASCII too.
ROW_SIGNS = b"[(\n\r\x0b\x0c\x1c\x1d\x1e\x85\xa8\xa9"
ITEM_SIGNS = b",;|& \t\x1f\xa0" + ROW_SIGNS
BINARY = "Save large tables with numpy.save or numpy.savez, which also keep every digit."
ONE_LAYER = (  # lines of Python, in the README too
    "from safetensors import safe_open; from safetensors.numpy import save_file",
    'model = safe_open("model.safetensors", "numpy")',
    'save_file({n: model.get_tensor(n) for n in model.keys() if ".3." in n}, "layer.safetensors")',
)
BFLOAT16 = 'With bfloat16 it needs torch: safetensors.torch and "pt".'
SMALLER = f"Take out one layer of a safetensors file, say 3: {'; '.join(ONE_LAYER)}. {BFLOAT16}"
PICKLE = (
    "attnviz never reads pickles, which can run anything. In Python: "
    "safetensors.torch.save_file(torch.load(path, weights_only=True), 'tables.safetensors')"
)


@dataclass(frozen=True)
class Found:
    """What was in a file: arrays by name, as they were stored, and a sentence on each decision."""

    arrays: Mapping[str, NDArray[Any]]
    notes: tuple[str, ...] = field(default=())


def natural(name: str) -> tuple[object, ...]:
    """What names are sorted by so that layer 2 stands before layer 10."""
    parts: list[Any] = re.split("([0-9]+)", name)  # texts and numbers by turns
    parts[1::2] = [(len(digits), digits) for digits in (p.lstrip("0") for p in parts[1::2])]
    return (tuple(parts), name)


def guarded(data: bytes, where: str, read: Callable[[bytes, str], Found]) -> Found:
    """A reader with the limits around it; whatever a library says of damage is one sentence.

    Raises:
        AttnvizError: too large, damaged, or not what it should be.
    """
    if len(data) > MAX_BYTES:
        raise too_large("the file is too large", where, len(data))
    if re.match(rb"\x80[\x02-\x05]", data):
        raise FormatError("this is a pickle", where=where, hint=PICKLE)
    try:
        found = read(data, where)
    except AttnvizError:
        raise
    except Exception as error:  # the libraries raise nearly anything on damaged bytes
        raise FormatError(
            "the file is damaged, cut off, or of another format", where=where
        ) from error
    if not found.arrays:
        raise FormatError("there is no table of numbers in it", where=where)
    return found


def too_large(what: str, where: str, size: int) -> LimitError:
    """The refusal of more than `MAX_BYTES`."""
    return LimitError(
        what,
        where=where,
        expected=f"at most {MAX_BYTES // 2**20:,} MB",
        got=f"{size / 2**20:,.0f} MB",
        hint=SMALLER,
    )


def check_text(data: bytes, where: str) -> None:
    """Refuse a text that would not be read in bounded memory, before anything of it is parsed.

    Raises:
        LimitError: more than `MAX_TEXT` bytes, `MAX_VALUES` items or `MAX_LINES` lines.
    """
    if len(data) > MAX_TEXT:
        raise LimitError(
            "the text is too long",
            where=where,
            expected=f"at most {MAX_TEXT:,} B",
            got=f"{len(data):,} B",
            hint=BINARY,
        )
    for what, signs, limit in (("lines", ROW_SIGNS, MAX_LINES), ("items", ITEM_SIGNS, MAX_VALUES)):
        count = len(data) - len(data.translate(None, signs))
        if count > limit:
            raise LimitError(
                f"there are too many {what} in the text",
                where=where,
                expected=f"at most {limit:,}",
                got=f"{count:,}",
                hint=BINARY,
            )
