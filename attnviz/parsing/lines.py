"""Tables as lines: spreadsheet cells, CSV, Markdown rows, columns of numbers."""

import csv
import re

from attnviz.core.errors import FormatError
from attnviz.core.numbers import BLANKS, NOT_FINITE, has_thousands, quoted
from attnviz.parsing.rows import LEFT_OUT, PLACE, Row, is_number, tidy


class CommaError(FormatError):
    """Commas that may all be decimal commas as well as separators."""


def line_rows(text: str, separator: str = "") -> list[Row]:
    """Lines of a text -> rows.

    Args:
        text: the lines.
        separator: what stands between items; found out where it is empty.

    Raises:
        CommaError, FormatError: it is not clear where one number ends and the next begins.
    """
    lines = [(f"line {i}", line) for i, line in enumerate(text.splitlines(), 1)]
    filled = [i for i, (_, line) in enumerate(lines) if line.strip(BLANKS)]
    if not filled:
        return []
    lines = lines[filled[0] : filled[-1] + 1]
    if len(lines) > 1 and re.fullmatch(r"[A-Za-z_]\w* *=", lines[0][1].strip(BLANKS)):
        lines = [pair for pair in lines[1:] if pair[1].strip(BLANKS)]  # MATLAB prints A =
    first = lines[0][1].strip(BLANKS) if lines else ""
    if re.fullmatch(r"Columns? \d+(?: (?:through|and) \d+)?", first):
        raise FormatError(
            f"the table is printed in parts, “{first}”",
            where=PLACE,
            hint="Paste what mat2str prints, or each part by itself without its first line.",
        )
    factor = re.fullmatch(r"1\.0e([-+]\d+) *\*", first)
    if factor and len(lines) > 1:
        rows = line_rows("\n".join(line for _, line in lines[1:]), separator)
        return [Row(r.place, [_times(item, factor[1]) for item in r.items]) for r in rows]
    separator = separator or next((sign for sign in "\t;" if sign in text), "")
    if separator or '"' in text:
        rows = _quoted_rows(lines, separator or ",")
    elif all("|" in line for _, line in lines):
        # Without the line |---|---| below the header of a Markdown table.
        lines = lines[:1] + lines[1 + any(map(_is_rule, lines[1:2])) :]
        rows = [
            Row(place, line.strip(BLANKS).removeprefix("|").removesuffix("|").split("|"))
            for place, line in lines
        ]
    else:
        rows = _plain_rows(lines)
    if max(len(row.items) for row in rows) > 1:  # else it is an empty cell
        rows = [row for row in rows if len(row.items) > 1 or row.items[0].strip(BLANKS)]
    return [Row(row.place, [item.strip(BLANKS) for item in row.items]) for row in rows]


def _quoted_rows(lines: list[tuple[str, str]], separator: str) -> list[Row]:
    """Lines cut at a separator; items may stand in quotes."""
    start = int(lines[0][0].split()[1])
    reader = csv.reader(
        [line + "\n" for _, line in lines],
        delimiter=separator,
        skipinitialspace=separator != "\t",
        strict=True,
    )
    rows, place = [], f"line {start}"
    try:
        for items in reader:
            if any("\n" in item and separator in item for item in items):
                raise csv.Error  # a lone quote, which took the rest of its line along
            rows.append(Row(place, items or [""]))
            place = f"line {start + reader.line_num}"
    except csv.Error as error:
        raise FormatError(
            f"{place} has a quote without its other half",
            where=PLACE,
            hint="Leave out the quotes.",
        ) from error
    return rows


def _plain_rows(lines: list[tuple[str, str]]) -> list[Row]:
    """Lines cut at commas or at blanks, all of them in the same way.

    Raises:
        CommaError, FormatError: a comma could be a decimal comma as well as a separator, all of
            them or some.
    """
    trimmed = [(place, _without_last_comma(tidy(line))) for place, line in lines]
    everything = "\n".join(line for _, line in trimmed)
    commas = [line for _, line in trimmed if "," in line]
    if (len(trimmed) == 1 and has_thousands(everything)) or (
        commas and all(is_number(line) or has_thousands(line) for line in commas)
    ):
        line = quoted(commas[0] if commas else everything)
        raise CommaError(
            f"the commas in “{line}” may be decimal commas or separators"
            if commas
            else f"“{line}” may be one number or several",
            where=PLACE,
            hint="Use decimal points, or put brackets around the numbers of a row: [1 234].",
        )
    blanks = re.search(r"[0-9.] [-+−–.0-9]", everything)
    loose = re.search(r", | ,", everything)
    if "," not in everything or (blanks and not loose):
        rows = [Row(place, line.split(" ")) for place, line in trimmed]
        if lines[0][1][:1].isspace() and len(rows) > 1 and not lines[1][1][:1].isspace():
            names = rows[0].items  # as pandas prints: nothing stands above the names of the rows
            if len(names) == len(rows[1].items) - 1 and _are_names(names):
                rows[0] = Row(rows[0].place, ["", *names])
        return rows
    for place, line in trimmed:
        mixed = re.search(r"[0-9],[0-9]", line) and re.search(r", | ,", line)
        if mixed or re.search(r"[^0-9,] [-+−–]?[0-9]+,[0-9]+(?![0-9.])", line):
            raise FormatError(
                f"the commas in “{quoted(line)}” may be decimal commas or separators",
                where=f"{PLACE}, {place}",
                hint="Use decimal points, or put tabs or semicolons between the numbers.",
            )
    return [Row(place, line.split(",")) for place, line in trimmed]


def _times(item: str, power: str) -> str:
    """A number times a power of ten, digit for digit."""
    return item if re.search("[eE]", item) else f"{item}e{power}"


def _without_last_comma(line: str) -> str:
    return line if line == "," else line.removesuffix(",").rstrip()


def _is_rule(pair: tuple[str, str]) -> bool:
    line = pair[1]
    return not set(line) - set("|:- ") and ("--" in line or ":" in line)


def _is_label(item: str) -> bool:
    """Whether a text is plainly a name; what might be meant as a number is none."""
    if item.lower() in NOT_FINITE | {"true", "false", "na", "n/a", *"-−–—", "--"}:
        return False
    return not (
        re.match(r"[-+−–.,]*[0-9∞]|[-+−–]?(?:inf|nan)\b|#[A-Z]+[/!?0]", item, re.IGNORECASE)
        or LEFT_OUT.search(item)
        or not item
    )


def counts_up(items: list[str]) -> bool:
    """Whether items are 0, 1, 2 and so on, as pandas names columns that have no names."""
    return items == [str(i) for i in range(len(items))]


def _are_names(items: list[str]) -> bool:
    """Whether what stands right of an empty corner names columns."""
    return all(map(_is_label, items)) or counts_up(items)


def without_labels(rows: list[Row], notes: list[str]) -> list[Row]:
    """Rows without a first line and a first column of names.

    Where the first line is empty above the first column, that column holds names, even 0, 1, 2;
    so does then the first line.
    """
    names_rows = False
    if len(rows) > 1 and any(map(is_number, rows[1].items)):
        corner, *others = rows[0].items
        fits = len(others) + 1 == len(rows[1].items)
        named = _is_label(corner) and (fits or not others) and all(map(_is_label, others))
        if named or (not corner and others and fits and _are_names(others)):
            names_rows = not corner
            rows = rows[1:]
            notes.append("the first line was taken as column names")
    long = all(len(row.items) > 1 for row in rows)
    if rows and long and (names_rows or all(_is_label(row.items[0]) for row in rows)):
        rows = [Row(row.place, row.items[1:]) for row in rows]
        notes.append("the first column was taken as row names")
    return rows
