"""Text in pictures: escaped for Plotly, cut to fit, and measured without a browser."""

import html
import unicodedata
from functools import lru_cache

from attnviz.core.text import graphemes

MAX_LETTERS = 10
MAX_LINE = 84  # letters of a hover's line


def escape(text: str) -> str:
    """Text that Plotly shows letter for letter; it reads tags, entities and $math$ otherwise."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def cut(text: str, letters: int = MAX_LETTERS) -> str:
    """A label of at most so many letters, cut in the middle."""
    if len(text) <= letters:
        return text
    clusters = graphemes(text)
    if len(clusters) <= letters:
        return text
    tail = (letters - 1) // 2
    return "".join(clusters[: letters - 1 - tail]) + "…" + "".join(clusters[len(clusters) - tail :])


def wrapped(text: str) -> str:
    """A hover's text, escaped, in lines that fit beside the cell; no letter is torn apart."""
    if len(text) <= MAX_LINE:
        return escape(text)
    lines, line = [], ""
    for word in text.split(" "):
        pieces = [word]
        if len(word) > MAX_LINE:
            letters = graphemes(word)
            steps = range(0, len(letters), MAX_LINE)
            pieces = ["".join(letters[i : i + MAX_LINE]) for i in steps]
        for piece in pieces:
            if line and len(line) + len(piece) >= MAX_LINE:
                lines.append(line)
                line = piece
            else:
                line = f"{line} {piece}" if line else piece
    return "<br>".join(map(escape, [*lines, line]))


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in px, by kinds of letters of a common sans-serif face."""
    return size * _ems(text)


@lru_cache(maxsize=4096)
def _ems(text: str) -> float:
    return sum(map(_em, text))


def _em(char: str) -> float:
    if char in "ijl.,:;'|! ":
        return 0.27
    if char in "frt-()[]/I":
        return 0.36
    if char in "mwMW@%…":
        return 0.84
    if char.isascii() and char.isupper():
        return 0.62
    if unicodedata.category(char).startswith("M"):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(char) in "WF" else 0.54
