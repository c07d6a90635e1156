"""Tables in brackets: NumPy and torch prints, Python and JSON lists, MATLAB."""

import re
from itertools import accumulate

from attnviz.core.errors import FormatError
from attnviz.core.numbers import HOW_TO_TYPE, quoted
from attnviz.parsing.rows import CUT_OFF, PLACE, Row, besides, tidy

_BEFORE = re.compile(
    r"(?:Parameter containing:\s*)?(?:[A-Za-z_]\w*\s*=\s*)?"
    r"((?:[A-Za-z]+\.)*(?:array|asarray|tensor|matrix)\s*\(\s*)?",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s*[;,]?")
_AFTER_CALL = re.compile(r"(?:\s*,\s*\w+\s*=[^,()\[\]]+(?:\([^()\[\]]*\))?)*\s*,?\s*\)\s*[;,]?")
_SCALAR = re.compile(r"\b(?:np\.(?:float|int|uint)[0-9]+|tensor)\(([^()\[\]]*)\)")
_ROUND = str.maketrans("()", "[]")
_AROUND = 300  # characters before or after the brackets
_LINE_WIDTH = 74  # where NumPy goes on in the next line


def is_bracketed(text: str) -> bool:
    """Whether a text is a table in brackets; a word in brackets is a label such as [CLS]."""
    if "[" in re.sub(r"\[[A-Za-z]+\]", "", text) or re.match(r"[^\n(]*\(\s*\(", text):
        return True  # the latter for tuples of tuples
    rows = [row.strip() for row in text.strip().removesuffix(";").split(";")]  # 1 2; 3 4
    one_line = "\n" not in text.strip() and "," not in text
    return one_line and len(rows) > 1 and all(" " in row for row in rows)


def bracket_rows(text: str) -> list[Row]:
    """Text with brackets -> rows.

    Raises:
        FormatError: brackets that do not match, too many levels, or something else beside them.
    """
    if ";" in text:  # MATLAB goes on in the next line
        text = re.sub(r"(?<=[0-9;,]) *\.\.\.[ \t]*\n", " ", text)
    if "[" not in text:
        text = text.translate(_ROUND) if "(" in text else f"[{text}]"
    start, end = text.find("["), text.rfind("]") + 1
    depths = list(accumulate((char == "[") - (char == "]") for char in text))
    if depths[-1] or min(depths) < 0:
        raise FormatError(
            "opening and closing brackets do not match",
            where=PLACE,
            expected=f"{text.count('[')} closing",
            got=str(text.count("]")),
            hint=CUT_OFF,
        )
    before, after = text[:start], text[end:]
    call = _BEFORE.fullmatch(before[:_AROUND])
    if not call or len(before) > _AROUND:
        raise besides(before)
    if len(after) > _AROUND or not (_AFTER_CALL if call[1] else _AFTER).fullmatch(after):
        raise besides(after or before)
    inside = _SCALAR.sub(r"\1", text[start:end])
    depth = max(depths)
    several = 0 in depths[start : end - 1]
    if depth > 2 or (several and depth > 1):
        raise FormatError(
            "there are several tables" if several else "this has three levels of brackets",
            where=PLACE,
            hint="Paste one head at a time.",
        )
    if several:  # rows without brackets around them all
        inside, depth = f"[{inside}]", 2
    if depth == 1:
        pieces = _single_bracket(inside[1:-1], before)
    else:
        between = re.sub(r"\[[^\[\]]*\]", "", inside[1:-1])
        if re.sub(r"[,;\s]", "", between):
            raise besides(between)
        pieces = re.findall(r"\[([^\[\]]*)\]", inside)
    pieces = [piece for piece in map(tidy, pieces) if piece]
    return [Row(f"row {i}", _bracket_items(piece, i)) for i, piece in enumerate(pieces, 1)]


def _single_bracket(text: str, before: str) -> list[str]:
    """The rows of [1 2; 3 4], of [1 2 (line) 3 4], or the one row of a long printed vector."""
    if ";" in text:
        return re.split(r"[;\n]", text)
    lines = [line for line in text.splitlines() if line.strip()]
    goes_on = any(line.rstrip().endswith(",") for line in lines)
    is_vector = "(" in before or goes_on or (not before and _is_wrapped(lines))
    return [" ".join(lines)] if is_vector else lines


def _is_wrapped(lines: list[str]) -> bool:
    """Whether NumPy broke a long vector: as many items of one width a line as there is room for."""
    if len(lines) < 2:
        return False
    counts = [len(line.split()) for line in lines]
    parts = [item.partition(".") for item in " ".join(lines).split()]
    width = max(len(p[0]) for p in parts) + max(len(p[1] + p[2]) for p in parts)
    is_even = set(counts[:-1]) == {counts[0]} and counts[-1] <= counts[0]
    return is_even and (counts[0] + 1) * (width + 1) > _LINE_WIDTH


def _bracket_items(row: str, number: int) -> list[str]:
    if ";" in row:
        raise FormatError(f"row {number} has a semicolon in it", where=PLACE, hint=HOW_TO_TYPE)
    if re.search(r"[^, ] [^, ]", row) and re.search(r"[0-9],[0-9]", row):
        raise FormatError(
            f"row {number} has both commas and blanks between numbers, “{quoted(row)}”",
            where=PLACE,
            hint="Use decimal points, and one kind of sign between numbers.",
        )
    row = re.sub(r" ?, ?", ",", row).removesuffix(",")
    return [re.sub(r"\A([\"'])(.*)\1\Z", r"\2", item) for item in re.split("[, ]", row)]
