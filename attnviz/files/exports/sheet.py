"""All tables and stages as a spreadsheet that computes: one sheet each, a formula in each cell."""

import io
import unicodedata
from typing import Any

import numpy as np

from attnviz.core.bare import tree
from attnviz.core.errors import LimitError
from attnviz.core.expr import Cell
from attnviz.core.masks import Mask
from attnviz.core.normalise import Normalise
from attnviz.core.ops import Given
from attnviz.core.scenario import Scenario
from attnviz.core.text import visible
from attnviz.core.trace import Trace
from attnviz.files.exports.formulas import HIDDEN, MAX_LENGTH, Formulas
from attnviz.files.exports.table import names
from attnviz.files.extras import extra

MAX_FORMULAS = 10_000  # in all; stages that find no room hold values, and the first sheet says so
MAX_TERMS = 3_000_000  # numbers in all formulas together
MAX_COLUMNS = 16_000  # Excel has 16,384
MAX_TEXT = 32_000  # letters in a cell; Excel takes 32,767


def write_xlsx(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """A workbook; tables hold numbers, stages hold formulas and what they gave here.

    Raises:
        FormatError: XlsxWriter is not installed.
        LimitError: wider than a sheet.
    """
    library = extra("xlsxwriter", "spreadsheet")
    check_width(trace)
    data = io.BytesIO()
    # Tokens such as =1+1 or http://... stay texts.
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with library.Workbook(data, options) as book:
        _Writer(trace, book).write()
    return data.getvalue()


def check_width(trace: Trace) -> None:
    """Refuse what is wider than a sheet."""
    width = max(array.shape[-1] for array in trace.values.arrays.values())
    if width > MAX_COLUMNS:
        raise LimitError(
            "a sheet has not enough columns",
            where="spreadsheet",
            expected=f"at most {MAX_COLUMNS:,}",
            got=f"{width:,}",
            hint="Take the .npz file.",
        )


def address(trace: Trace, key: str, index: tuple[int, ...]) -> str:
    """How a cell of an array is called in a formula: 'Raw scores'!C4."""
    row, column = _place(trace, key, index)
    letters, rest = "", column + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(65 + letter) + letters
    return f"'{trace.info(key).title}'!{letters}{row + 1}"


def _place(trace: Trace, key: str, index: tuple[int, ...]) -> tuple[int, int]:
    """Row and column in the sheet, from 0: three lines of words, then head below head."""
    shape = trace[key].shape
    block = index[0] * (shape[1] + 2) if len(shape) == 3 else 0
    return 4 + block + (index[-2] if len(shape) > 1 else 0), 1 + index[-1]


def _name(token: str) -> str:
    """A token letter for letter where a cell shows it and can hold it, else with stand-ins."""
    kinds = {unicodedata.category(char) for char in token}
    inked = any(kind[0] not in "CMZ" for kind in kinds)
    whole = not kinds & {"Cc", "Cn", "Cs", "Zl", "Zp"}
    return token if inked and whole else visible(token)


def live_stages(trace: Trace) -> tuple[str, ...]:
    """The computed stages for whose cells there is room for a formula each.

    Room is given to attention and the result first, then to the others in order; a stage for
    which there is not enough leaves it to those after it.
    """
    stages = {s.key: s for s in trace.stages if not isinstance(s.op, Given)}
    cells, terms, found = MAX_FORMULAS, MAX_TERMS, set()
    for key in dict.fromkeys(("attention", trace.result, *stages)):
        if key not in stages:
            continue
        size = trace[key].size
        needed = size * len(trace.explain(key).operands)
        if size <= cells and needed <= terms:
            cells, terms = cells - size, terms - needed
            found.add(key)
    return tuple(key for key in stages if key in found)


class _Writer:
    def __init__(self, trace: Trace, book: Any) -> None:
        self.trace, self.book, self.live = trace, book, live_stages(trace)
        texts = {k for k, a in trace.values.arrays.items() if np.isneginf(a).any()}
        self.formulas = Formulas(lambda k, i: address(trace, k, i), frozenset(texts))
        self.bold = book.add_format({"bold": True})
        self.grey = book.add_format({"font_color": "#666666"})

    def write(self) -> None:
        trace, about = self.trace, self.book.add_worksheet("About")
        stages = {stage.key: stage for stage in trace.stages}
        order = [*(k for k in trace.values.arrays if k not in stages), *stages]
        about.write_string(0, 0, "Attention, step by step", self.bold)
        about.write_string(1, 0, f"{self._says()} Rows are queries, columns are keys.")
        about.set_column(0, 0, 28)
        for row, key in enumerate(order, 3):
            about.write_string(row, 0, trace.info(key).title)
            if key in stages:
                about.write_string(row, 1, f"{stages[key].formula[0]}. {stages[key].what}")
        for key in order:
            self._sheet(key, stages.get(key))

    def _says(self) -> str:
        trace = self.trace
        bare = [
            trace.info(s.key).title
            for s in trace.stages
            if s.key not in self.live and not isinstance(s.op, Given)
        ]
        if not self.live:
            return "There are too many cells for formulas; every sheet holds values alone."
        zero = "what is zero by rule stays zero."
        if not bare:
            return f"Change a number in a table, and every stage follows; {zero}"
        return (
            f"There are too many cells for formulas in {', '.join(bare)}, which hold values alone. "
            f"Change a number elsewhere, and the other stages follow; {zero}"
        )

    def _sheet(self, key: str, stage: Any) -> None:
        trace, info = self.trace, self.trace.info(key)
        array, axes = trace[key], trace.axes(key)
        sheet = self.book.add_worksheet(info.title)
        sheet.write_string(0, 0, f"{info.title} ({info.symbol})", self.bold)
        if stage is not None:
            sheet.write_string(1, 0, f"{stage.formula[0]}. {stage.what}", self.grey)
        sheet.set_column(0, 0, 16)
        labels = [names(trace, a, n) for a, n in zip(axes, trace.labels(key), strict=True)]
        words = [[_name(name)[:MAX_TEXT] for name in each] for each in labels]
        for head in range(len(array) if array.ndim == 3 else 1):
            top, left = _place(trace, key, (head, 0, 0)[-array.ndim :])
            if array.ndim == 3:
                sheet.write_string(top - 1, 0, words[0][head], self.bold)
            for j, name in enumerate(words[-1]):
                sheet.write_string(top - 1, left + j, name, self.bold)
            for i, name in enumerate(words[-2] if array.ndim > 1 else []):
                sheet.write_string(top + i, 0, name, self.bold)
        computed = key in self.live
        for index in np.ndindex(*array.shape):
            at, value = _place(trace, key, index), array[index]
            formula = self._formula(stage, index) if computed else ""
            if formula and len(formula) <= MAX_LENGTH:
                shown = HIDDEN if np.isneginf(value) else float(value)
                sheet.write_formula(*at, f"={formula}", None, shown)
            elif array.dtype.kind == "b":
                sheet.write_boolean(*at, bool(value))
            elif np.isneginf(value):
                sheet.write_string(*at, HIDDEN)
            else:
                sheet.write_number(*at, float(value))
        sheet.freeze_panes(3, 1)

    def _formula(self, stage: Any, index: tuple[int, ...]) -> str:
        """The formula of a cell; a mask asks its tables, so that they can be changed."""
        trace = self.trace
        if isinstance(stage.op, Mask):
            source, *tables = stage.op.inputs(trace.values)
            at = {name: index[-trace[name].ndim :] for name in tables}
            hidden = np.isneginf(trace[stage.key][index])
            if tables and not (hidden and all(trace[name][at[name]] for name in tables)):
                asked = ",".join(self.formulas.address(name, at[name]) for name in tables)
                source = self.formulas.address(source, index)
                return f'IF(AND({asked}),{source},"{HIDDEN}")'
        if isinstance(stage.op, Normalise) and trace.values.config.normaliser == "top_k":
            (source,) = stage.op.inputs(trace.values)
            row = [Cell(source, (*index[:-1], j), 0.0) for j in range(trace[source].shape[-1])]
            text = self.formulas.top_k(row, index[-1], trace.values.config.top_k)
            if len(text) <= MAX_LENGTH:
                return text
        if np.isneginf(trace[stage.key][index]):
            return f'"{HIDDEN}"'
        return self.formulas.write(tree(trace, stage, index))
