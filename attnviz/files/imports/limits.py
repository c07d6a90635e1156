"""What every reader of files keeps to: what it gives, how much it reads, how it refuses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from attnviz.core.errors import AttnvizError, FormatError, LimitError

MAX_BYTES = 200_000_000  # of a file, and of all arrays unpacked from it
PICKLE = (
    "attnviz never reads pickles, which can run anything. In Python: "
    "safetensors.torch.save_file(torch.load(path, weights_only=True), 'tables.safetensors')"
)


@dataclass(frozen=True)
class Found:
    """What was in a file: arrays by name, as they were stored, and a sentence on each decision."""

    arrays: Mapping[str, NDArray[Any]]
    notes: tuple[str, ...] = field(default=())


def guarded(data: bytes, where: str, read: Callable[[bytes, str], Found]) -> Found:
    """A reader with the limits around it; whatever a library says of damage is one sentence.

    Raises:
        AttnvizError: too large, damaged, or not what it should be.
    """
    if len(data) > MAX_BYTES:
        raise LimitError("the file is too large", where=where, expected=f"at most {MAX_BYTES:,} B")
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
