"""How numbers are read and written: every digit where they are kept, few where they are shown."""

import math
import re
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from attnviz.core.errors import NumberError
from attnviz.core.text import visible

# All blanks, and marks that show nothing but come along when text is copied.
BLANKS = "".join(c for c in map(chr, range(0x3001)) if c.isspace()) + (
    "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_SIGNS = str.maketrans({**dict.fromkeys("−–‒‐‑﹣－", "-"), "＋": "+", "⁄": "/"})
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_FRACTION = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*/\s*([+-]?[0-9]+(?:\.[0-9]+)?)")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:[.,'’\s_][0-9]{3})+(?:[.,][0-9]+)?")
NOT_FINITE = {"inf", "infinity", "∞", "nan", "none", "null"}
HOW_TO_TYPE = "Type a number such as 0.5, -3, 1e-3 or 1/3."
MAX_LENGTH = 2000  # characters of one number; every float64 written out in full has fewer
MORE = 2  # digits beyond those asked for, before a small number gets an exponent
_UP = 1 + 2**-50  # lifts a number that is as good as halfway, so that it is rounded as by hand
_BIG = 1e5  # from here on a fixed number of decimals no longer fits a cell


def number_text(x: float) -> str:
    """The shortest text that reads back to the same float64: 0.5, 1e-300."""
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text


def format_number(x: float, decimals: int | None, *, trim: bool = False) -> str:
    """A number as it is shown, with a true minus sign.

    A number that is not zero never shows as zero: where the decimals do not suffice it gets up
    to `MORE` digits more, and else an exponent. No SI prefixes, no thousands separators.

    Args:
        x: the number.
        decimals: digits after the point; None shows every digit.
        trim: whether zeros at the end are left out.
    """
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if x == 0:
        x = 0.0  # no negative zero on the screen
    if decimals is None:
        text = number_text(x)
    else:
        lifted = x * _UP if abs(x) < sys.float_info.max / _UP else x
        for digits in range(decimals, decimals + MORE + 1):
            text = f"{lifted:.{digits}f}"
            nothing = x != 0 and not text.strip("-0.")
            if not nothing:
                break
        if nothing or abs(float(text)) >= _BIG:
            mantissa, exponent = f"{lifted:.{decimals}e}".split("e")
            text = f"{_trimmed(mantissa)}e{int(exponent)}"
        elif trim:
            text = _trimmed(text)
    return text.replace("-", "−")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True)
class Parsed:
    """A number that was read, and a note where reading it took a decision."""

    value: float
    note: str = ""


def parse_number(text: str) -> Parsed:
    """Text -> one finite float64.

    Accepts a decimal point or a single decimal comma, exponents, fractions such as 1/3, any minus
    sign and blanks around. A comma is always read as a decimal comma, with a note.

    Raises:
        NumberError: anything else; the sentence says what came and what to type.
    """
    stripped = text.strip(BLANKS).translate(_SIGNS)
    if not stripped:
        raise NumberError("an empty cell is no number", hint="Type 0 for zero.")
    value = _read(stripped)
    if isinstance(value, _Refusal):
        raise NumberError(f"“{quoted(text)}” {value.problem}", hint=value.hint)
    if "," not in stripped:
        return Parsed(value)
    return Parsed(value, f"“{quoted(text)}” was read with a decimal comma, as {number_text(value)}")


class _Refusal(NamedTuple):
    problem: str
    hint: str = HOW_TO_TYPE


_TOO_LARGE = _Refusal("is larger than float64 can hold, 1.8e308")
_TOO_SMALL = _Refusal("is so small that float64 makes it zero", "Type 0 if zero is meant.")


def _read(text: str) -> float | _Refusal:
    if len(text) > MAX_LENGTH:
        return _Refusal("is too long for a number")
    if text.lower().lstrip("+-") in NOT_FINITE:
        return _Refusal("is not a finite number")
    if match := _FRACTION.fullmatch(text):
        return _quotient(Fraction(match[1]), Fraction(match[2]))
    if not _NUMBER.fullmatch(text):
        return _Refusal("is not a number", refusal_hint(text))
    value = float(text.replace(",", "."))
    if math.isinf(value):
        return _TOO_LARGE
    if value == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        return _TOO_SMALL
    return value


def _quotient(above: Fraction, below: Fraction) -> float | _Refusal:
    if below == 0:
        return _Refusal("divides by zero")
    try:
        value = float(above / below)
    except OverflowError:
        return _TOO_LARGE
    return _TOO_SMALL if value == 0 and above else value


def refusal_hint(text: str) -> str:
    """What to type instead of a text that is no number."""
    if has_thousands(text):
        return "Leave out the signs between thousands: 1234.5."
    if any(char.isdecimal() and not char.isascii() for char in text):
        return "Use the digits 0 to 9."
    return HOW_TO_TYPE


def has_thousands(text: str) -> bool:
    """Whether a text looks like one number with signs between its thousands: 1 000, 1,234.5."""
    return _GROUPED.fullmatch(text.strip(BLANKS).translate(_SIGNS)) is not None


def quoted(text: str, limit: int = 40) -> str:
    """A text as a sentence can quote it: short, and with nothing that does not show."""
    flat = " ".join(text[: 4 * limit].split())
    cut = len(flat) > limit or len(text) > 4 * limit
    flat = flat[: limit - 1] + "…" if cut else flat
    return visible(flat) if flat else flat
