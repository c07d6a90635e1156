"""Libraries that single formats need, loaded when such a format is asked for.

`requirements.txt` brings them; where one is missing all else works.
"""

import importlib
from typing import Any

from attnviz.core.errors import FormatError

EXTRAS = {"xlsxwriter": "XlsxWriter", "nbformat": "nbformat", "safetensors": "safetensors"}


def extra(module: str, what: str) -> Any:
    """A module of `EXTRAS`, or one that belongs to it.

    Raises:
        FormatError: it is not installed; the sentence says how to get it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = EXTRAS[module.partition(".")[0]]
        raise FormatError(
            f"the library {name} is not installed",
            where=what,
            hint=f"Install it with: pip install {name}",
        ) from error
