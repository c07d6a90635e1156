"""Numbers and tables as people type and paste them; nothing is ever evaluated."""

import re
from dataclasses import dataclass

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.errors import FormatError, NumberError
from attnviz.core.numbers import number_text

_MINUS_SIGNS = str.maketrans(dict.fromkeys("−–‒﹣－", "-"))
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_FRACTION = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*/\s*([+-]?[0-9]+(?:\.[0-9]+)?)")
_NOT_FINITE = {"inf", "infinity", "∞", "nan", "none", "null"}
_HOW = "Type a number such as 0.5, -3, 1e-3 or 1/3."
MAX_PASTE = 2_000_000  # characters


@dataclass(frozen=True)
class Parsed:
    """A number that was read, and a note where reading it took a decision."""

    value: float
    note: str = ""


def parse_number(text: str) -> Parsed:
    """Text -> one finite float64.

    Accepts a decimal point or a single decimal comma, exponents, fractions such as 1/3, any
    minus sign and blanks around. A comma is always read as a decimal comma, with a note.

    Raises:
        NumberError: anything else; the sentence says what came and what to type.
    """
    stripped = text.strip().translate(_MINUS_SIGNS)
    shown = _shown(text)
    if not stripped:
        raise NumberError("the cell is empty", hint="Type 0 for zero.")
    if stripped.lower().lstrip("+-") in _NOT_FINITE:
        raise NumberError(f"“{shown}” is not a finite number", hint=_HOW)
    if match := _FRACTION.fullmatch(stripped):
        above, below = float(match[1]), float(match[2])
        if below == 0:
            raise NumberError(f"“{shown}” divides by zero", hint=_HOW)
        return Parsed(_finite(above / below, shown, above == 0))
    if not _NUMBER.fullmatch(stripped):
        raise NumberError(f"“{shown}” is not a number", hint=_refusal_hint(stripped))
    digits = re.split("[eE]", stripped)[0]
    value = float(stripped.replace(",", "."))
    value = _finite(value, shown, not re.search("[1-9]", digits))
    if "," not in stripped:
        return Parsed(value)
    return Parsed(value, f"“{shown}” was read with a decimal comma, as {number_text(value)}")


def _finite(value: float, shown: str, is_zero: bool) -> float:
    if np.isinf(value):
        raise NumberError(f"“{shown}” is larger than float64 can hold, 1.8e308", hint=_HOW)
    if value == 0 and not is_zero:
        raise NumberError(
            f"“{shown}” is so small that float64 makes it zero", hint="Type 0 if zero is meant."
        )
    return value


def _refusal_hint(text: str) -> str:
    if has_thousands(text):
        return "Leave out the signs between thousands: 1234.5."
    return _HOW


def has_thousands(text: str) -> bool:
    """Whether a text looks like one number with signs between its thousands: 1 000, 1,234.5."""
    grouped = r"[+-]?[0-9]{1,3}(?:[.,'’\s_][0-9]{3})+(?:[.,][0-9]+)?"
    return re.fullmatch(grouped, text.strip().translate(_MINUS_SIGNS)) is not None


def _shown(text: str, limit: int = 40) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


@dataclass(frozen=True)
class Block:
    """A table that was read, (rows, columns), and notes where reading it took decisions."""

    values: Array
    notes: tuple[str, ...] = ()


_WRAPPERS = re.compile(r"\b(?:np\.|numpy\.|torch\.|jnp\.)?(?:array|tensor|asarray|matrix)\s*\(")
_LATEX_BEGIN = re.compile(r"\\begin\{(?:[bpvBV]?matrix|smallmatrix|array)\*?\}(?:\{[^{}]*\})?")
_LATEX_END = re.compile(r"\\end\{(?:[bpvBV]?matrix|smallmatrix|array)\*?\}")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")


def parse_block(text: str) -> Block:
    r"""Text of a table -> its numbers.

    Reads cells from a spreadsheet (tabs), CSV (comma or semicolon), Markdown rows, lines of
    numbers, NumPy and torch prints, Python and JSON lists, MATLAB [1 2; 3 4] and LaTeX matrices.
    A first row or column without any number is taken as labels and left out, with a note.

    Raises:
        FormatError: rows of different lengths, or no table; the sentence names the line.
        NumberError: an item that is no number; the sentence names line and item.
    """
    if len(text) > MAX_PASTE:
        raise FormatError(
            "the text is too long", where="pasted table", expected=f"at most {MAX_PASTE:,} letters"
        )
    if "..." in text or "…" in text or r"\dots" in text or r"\ldots" in text:
        raise FormatError(
            "values are left out (…)",
            where="pasted table",
            hint="Print the whole table first, in NumPy with np.set_printoptions(threshold=10**9).",
        )
    text = text.lstrip("\ufeff").translate(_MINUS_SIGNS)
    rows, labelled = _rows(text.strip("\r\n"))
    if not rows:
        raise FormatError("there is no table in it", where="pasted table", hint=_HOW)
    rows, labels = _without_labels(rows) if labelled else (rows, [])
    width = len(rows[0])
    notes: dict[str, None] = dict.fromkeys(labels)
    values = np.empty((len(rows), width))
    for i, row in enumerate(rows):
        if len(row) != width:
            raise FormatError(
                f"row {i + 1} has {len(row)} numbers, row 1 has {width}",
                where="pasted table",
                hint="All rows must have the same length.",
            )
        for j, item in enumerate(row):
            try:
                parsed = parse_number(item)
            except NumberError as error:
                where = f"pasted table, row {i + 1}, item {j + 1}"
                raise NumberError(error.message, where=where, hint=error.hint) from error
            values[i, j] = parsed.value
            if parsed.note:
                notes["decimal commas were read as points"] = None
    return Block(values, tuple(notes))


def _rows(text: str) -> tuple[list[list[str]], bool]:
    """The items of a table, and whether its form may have labels in it."""
    if _LATEX_BEGIN.search(text):
        return _latex_rows(text), False
    if re.match(r"\s*\(\s*\(", text):  # tuples of tuples
        text = text.translate(str.maketrans("()", "[]"))
    wrapped = bool(_WRAPPERS.search(text))
    text = _WRAPPERS.sub("", text)
    if "[" in text or wrapped:
        body = re.sub(r"^\s*[A-Za-z_]\w*\s*=(?!=)", "", text)
        body = re.sub(r",\s*(?:dtype|device|requires_grad|grad_fn)\s*=[^,)]*", "", body)
        body = body.strip().rstrip(";").rstrip().rstrip(")").strip()
        return _bracket_rows(body), False
    lines = [line.strip() if "\t" not in line else line for line in text.splitlines()]
    lines = [
        line
        for line in lines
        if line.strip() and not re.fullmatch(r"\|?[\s:|-]*-[\s:|-]*\|?", line)
    ]
    return _line_rows(lines), True


def _line_rows(lines: list[str]) -> list[list[str]]:
    if lines and all(line.startswith("|") for line in lines):
        return [[item.strip() for item in line.strip("|").split("|")] for line in lines]
    parts = lines[0].strip(";").split(";") if len(lines) == 1 else []
    if len(parts) > 1 and all(len(part.split()) > 1 for part in parts):
        return [_split_items(part) for part in parts]  # MATLAB's rows without its brackets
    for separator in ("\t", ";"):
        if any(separator in line for line in lines):
            return [[_unquoted(item) for item in line.split(separator)] for line in lines]
    return [_split_items(line) for line in lines]


def _unquoted(item: str) -> str:
    item = item.strip()
    quoted = len(item) > 1 and item[0] == item[-1] and item[0] in "\"'"
    return item[1:-1].strip() if quoted else item


def _split_items(line: str) -> list[str]:
    """Items of one line: by comma where commas separate, by blanks otherwise.

    Raises:
        FormatError: a comma could be a decimal comma as well as a separator.
    """
    line = line.strip()
    blanks = re.split(r"\s+(?!/)(?<!/\s)", line)
    if "," not in line or not any(item[0] == "," or item[-1] == "," for item in blanks):
        if len(blanks) > 1 and all(map(_is_number, blanks)):
            return blanks
        if "," not in line:
            return [_unquoted(item) for item in blanks]
    spaced = len(re.findall(r",\s|\s,", line))
    bare = re.fullmatch(r"[+-]?[0-9]+,[0-9]+", line)
    if bare or (0 < spaced < line.count(",") and "." not in line):
        raise FormatError(
            f"the commas in “{_shown(line)}” may be decimal commas or separators",
            where="pasted table",
            hint="Put tabs, semicolons or blanks between the numbers, or type decimal points.",
        )
    return [_unquoted(item) for item in line.split(",")]


def _bracket_rows(text: str) -> list[list[str]]:
    if text.count("[") != text.count("]"):
        raise FormatError(
            "opening and closing brackets do not match",
            where="pasted table",
            expected=f"{text.count('[')} closing",
            got=str(text.count("]")),
        )
    if ";" in text or (text.count("[") == 1 and "\n" in text):  # MATLAB
        inner = text.replace("[", "").replace("]", "")
        return [_split_items(line) for line in re.split(r"[;\n]", inner) if line.strip()]
    if re.search(r"\[\s*\[\s*\[", text):
        raise FormatError(
            "this has three levels of brackets",
            where="pasted table",
            expected="a table of rows",
            hint="Paste one head at a time.",
        )
    if len(re.findall(r"\[\s*\[", text)) > 1:
        raise FormatError(
            "there are several tables", where="pasted table", hint="Paste one head at a time."
        )
    rows = re.findall(r"\[([^\[\]]*)\]", text)
    rest = re.sub(r"\[[^\[\]]*\]", "", text)
    if re.sub(r"[\[\],\s]", "", rest):
        raise FormatError(
            f"“{_shown(rest)}” stands between the rows", where="pasted table", hint=_HOW
        )
    return [_split_items(" ".join(row.split()).rstrip(", ")) for row in rows if row.strip()]


def _latex_rows(text: str) -> list[list[str]]:
    body = _LATEX_END.split(_LATEX_BEGIN.split(text, maxsplit=1)[1], maxsplit=1)[0]
    body = _LATEX_FRACTION.sub(r"\1/\2", body)
    body = re.sub(r"\\(?:hline|,|;|!|quad|left|right|text|mathrm)", " ", body)
    body = re.sub(r"[{}$]", "", body)
    rows = re.split(r"\\\\(?:\s*\[[^\]]*\])?", body)
    return [[item.strip() for item in row.split("&")] for row in rows if row.strip()]


def _is_number(item: str) -> bool:
    try:
        parse_number(item)
    except NumberError:
        return False
    return True


def _is_label(item: str) -> bool:
    """Whether an item may name a row or column: a word, never a number gone wrong."""
    return not item or ((item[0].isalpha() or item[0] == "_") and item.lower() not in _NOT_FINITE)


def _without_labels(rows: list[list[str]]) -> tuple[list[list[str]], list[str]]:
    notes = []
    if len(rows) > 1 and all(map(_is_label, rows[0])) and any(map(_is_number, rows[1])):
        rows = rows[1:]
        notes.append("the first line was taken as column names")
    has_more = all(len(row) > 1 for row in rows)
    if has_more and all(row[0] and _is_label(row[0]) for row in rows) and _is_number(rows[0][1]):
        rows = [row[1:] for row in rows]
        notes.append("the first column was taken as row names")
    return rows, notes
