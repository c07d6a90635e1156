"""Text to tokens to embedding rows; all of it depends on the text and the seed alone."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.errors import TextError

_JOINER = "\u200d"
_STAND_INS = {"\n": "⏎", "\r": "␍", "\t": "⇥"}
_BLANKS = {" ": "␣", "\u00a0": "⍽"}  # inside a word a blank can be seen, alone it cannot
# Characters that draw nothing although they are no format characters: fillers and blanks.
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for code in (*range(0x180B, 0x1810), *range(0x1D173, 0x1D17B))
}
# Format characters that show, or shape the letters and the emoji around them.
_SHOWN_FORMATS = (
    frozenset("\u200c\u200d\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
    | {chr(code) for code in range(0x0600, 0x0606)}
    | {chr(code) for code in range(0xE0020, 0xE0080)}
)
_HIDDEN_KINDS = ("Cc", "Cf", "Cs", "Zl", "Zp")
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def graphemes(text: str) -> list[str]:
    """Split text into what a reader sees as single characters.

    Follows the parts of Unicode Standard Annex 29 that the standard library can decide: marks
    and variation selectors stay with their base, joined emoji and skin tones stay together,
    regional indicators pair into flags, Hangul jamo into syllables, CR LF into one.
    """
    clusters: list[str] = []
    for char in text:
        if clusters and _continues(clusters[-1], char):
            clusters[-1] += char
        else:
            clusters.append(char)
    return clusters


def _continues(cluster: str, char: str) -> bool:
    last = cluster[-1]
    if last in "\r\n" or char in "\r\n":
        return last == "\r" and char == "\n"
    if unicodedata.category(char).startswith("M") or char in (_JOINER, "\u200c"):
        return True
    if 0x1F3FB <= ord(char) <= 0x1F3FF or 0xE0020 <= ord(char) <= 0xE007F:
        return True  # skin tones; tag characters of regional flags
    if last == _JOINER:
        return unicodedata.category(char) == "So"
    if _is_flag_half(last) and _is_flag_half(char):
        return sum(map(_is_flag_half, cluster)) % 2 == 1
    return _hangul(last, char)


def _is_flag_half(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF


def _hangul(last: str, char: str) -> bool:
    def kind(c: str) -> str:
        code = ord(c)
        if 0x1100 <= code <= 0x115F:
            return "L"
        if 0x1160 <= code <= 0x11A7:
            return "V"
        if 0x11A8 <= code <= 0x11FF:
            return "T"
        if 0xAC00 <= code <= 0xD7A3:
            return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
        return ""

    after = {"L": ("L", "V", "LV", "LVT"), "LV": ("V", "T"), "V": ("V", "T")}
    after |= {"LVT": ("T",), "T": ("T",)}
    return kind(char) in after.get(kind(last), ())


def _words_and_punctuation(text: str) -> tuple[str, ...]:
    tokens: list[str] = []
    for word in text.split():
        run = ""
        for cluster in graphemes(word):
            if re.match(r"\w", cluster):
                run += cluster
            else:
                tokens += [run, cluster] if run else [cluster]
                run = ""
        if run:
            tokens.append(run)
    return tuple(tokens)


TOKENIZERS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "words": lambda text: tuple(text.split()),
    "words and punctuation": _words_and_punctuation,
    "characters": lambda text: tuple(graphemes(text)),
    "lines": lambda text: tuple(filter(None, map(str.strip, text.splitlines()))),
}


def tokenize(text: str, tokenizer: str = "words") -> tuple[str, ...]:
    """Text -> tokens by a named entry of `TOKENIZERS`.

    Raises:
        TextError: there is no such tokenizer.
    """
    if tokenizer not in TOKENIZERS:
        raise TextError(
            "unknown tokenizer", where="tokens", got=tokenizer, expected=" or ".join(TOKENIZERS)
        )
    return TOKENIZERS[tokenizer](text)


def visible(token: str) -> str:
    """A token as it can be seen: letter for letter, with a stand-in where nothing would show."""
    if token and not token.strip():
        return "".join(_BLANKS.get(char) or _STAND_INS.get(char) or _code(char) for char in token)
    shown = "".join(_STAND_INS.get(char, _code(char) if _hides(char) else char) for char in token)
    if shown and all(unicodedata.category(char)[0] in "MCZ" and char not in "⟨⟩" for char in shown):
        shown = "".join(map(_code, shown))
    return shown or "∅"


def _code(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"


def _hides(char: str) -> bool:
    if char in _FILLERS:
        return True
    return unicodedata.category(char) in _HIDDEN_KINDS and char not in _SHOWN_FORMATS


def unique_labels(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Tokens -> names that differ: a word that occurs twice carries its position, from 1."""
    labels = [visible(token) for token in tokens]
    while True:
        looks = [unicodedata.normalize("NFC", label) for label in labels]
        repeated = {look for look, count in Counter(looks).items() if count > 1}
        if not repeated:
            return tuple(labels)
        labels = [
            label + str(place).translate(SUBSCRIPTS) if look in repeated else label
            for place, (label, look) in enumerate(zip(labels, looks, strict=True), start=1)
        ]


def seeded_row(seed: int, *name: str, n: int) -> Array:
    """Seed and name -> (n,) standard normal values; a longer row begins with the shorter one.

    The stream is `numpy.random.RandomState`, which NumPy keeps frozen (NEP 19), started from a
    SHA-256 of seed and name, so the numbers are the same on every machine and for ever.
    """
    words = [str(seed), *name]
    message = "".join(f"{len(word)}:{word}" for word in words).encode("utf-8", "surrogatepass")
    key = np.frombuffer(hashlib.sha256(message).digest(), dtype="<u4")
    return np.random.RandomState(key).standard_normal(n)


def embedding_row(token: str, seed: int, n: int) -> Array:
    """Token and seed -> (n,) embedding with two decimals, so that it can be followed by hand."""
    return np.round(seeded_row(seed, "token", token, n=n), 2) + 0.0
