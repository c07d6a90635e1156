"""How numbers are written: every digit where they are kept, few where they are shown."""

import math

_BIG = 1e5  # from here on a fixed number of decimals no longer fits a cell


def number_text(x: float) -> str:
    """The shortest text that reads back to the same float64: 0.5, 1e-300."""
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text


def format_number(x: float, decimals: int | None, *, trim: bool = False) -> str:
    """A number as it is shown, with a true minus sign.

    A number that is not zero never shows as zero: where the decimals do not suffice it is
    written with an exponent. No SI prefixes, no thousands separators.

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
        text = f"{x:.{decimals}f}"
        if (x and not text.strip("-0.")) or abs(float(text)) >= _BIG:
            mantissa, exponent = f"{x:.{decimals}e}".split("e")
            text = f"{_trimmed(mantissa)}e{int(exponent)}"
        elif trim:
            text = _trimmed(text)
    return text.replace("-", "−")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
