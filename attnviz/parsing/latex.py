"""Tables as LaTeX matrices."""

import re

from attnviz.core.errors import FormatError
from attnviz.core.numbers import BLANKS
from attnviz.parsing.rows import CUT_OFF, PLACE, Row, besides

_BEGIN = re.compile(r"\\begin\{((?:[bpvBV]?matrix|smallmatrix|array|tabular)\*?)\}")
_NOTHING = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|displaystyle|quad|qquad|left|right|[,;:! ])(?![a-z])"
    r"|\\[hv]?phantom\{[^{}]*\}|~"
)
_AROUND = re.compile(
    r"\\(?:begin|end)\{(?:equation|align|gather|displaymath|math)\*?\}|\\[\[\]()]|[$\[\]().,|&]|\\\\"
)
# A fraction by itself; 2\frac{1}{2} is a product or a mixed number.
_FRAC = re.compile(
    r"(?<![0-9.,}])(?<![0-9.,}] )\\[dt]?frac ?\{([^{}]*)\} ?\{([^{}]*)\}(?! ?[0-9.,])"
)


def latex_rows(text: str) -> list[Row]:
    """The one matrix in a LaTeX text -> rows.

    Raises:
        FormatError: no matrix, several, or arithmetic around it.
    """
    begins = list(_BEGIN.finditer(text))
    if len(begins) != 1:
        problem = "there is more than one matrix in it" if begins else "there is no matrix in it"
        raise FormatError(problem, where=PLACE, hint="Paste one table, and nothing else.")
    begin, name = begins[0], begins[0][1]
    end = text.find(rf"\end{{{name}}}", begin.end())
    if end < 0:
        raise FormatError(
            rf"the end of the matrix is missing, \end{{{name}}}",
            where=PLACE,
            hint=CUT_OFF,
        )
    before, after = text[: begin.start()], text[end + len(rf"\end{{{name}}}") :]
    for part in (before[before.rfind("=") + 1 :], after):
        if _AROUND.sub("", _NOTHING.sub("", part)).strip(BLANKS):
            raise besides(part)
    body = text[begin.end() : end].lstrip()
    if name.startswith(("array", "tabular")):  # [t]{@{}cc@{}}
        body = re.sub(r"\A(?:\[\w*\])?\s*\{(?:[^{}]|\{[^{}]*\})*\}", "", body)
    elif name.endswith("*"):
        body = re.sub(r"\A\[\w*\]", "", body)
    rows = re.split(r"\\\\(?:\[[^\]]*\])?", body)
    if not _NOTHING.sub("", rows[-1]).strip(BLANKS):
        rows.pop()
    return [
        Row(f"row {i}", [_latex_item(item) for item in row.split("&")])
        for i, row in enumerate(rows, 1)
    ]


def _latex_item(item: str) -> str:
    item = _NOTHING.sub(" ", item)
    item = re.sub(_FRAC, r"\1/\2", " ".join(item.split()))
    item = re.sub(r" ?\\(?:times|cdot) ?10 ?\^ ?\{? ?([-+−]?[0-9]+) ?\}?", r"e\1", item)
    return re.sub(r"\A([-+−]) ", r"\1", re.sub(r"[{}$]", "", item).strip())
