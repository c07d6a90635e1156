"""Traces out into files: one table of formats, `FORMATS_OUT`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from attnviz.core.errors import LimitError, ScenarioError
from attnviz.core.scenario import Scenario
from attnviz.core.trace import Trace
from attnviz.files.exports.archive import write_json, write_npz
from attnviz.files.exports.handout import write_handout
from attnviz.files.exports.latex import write_latex, write_matrix
from attnviz.files.exports.notebook import write_notebook
from attnviz.files.exports.script import check_numbers, numpy_script, torch_script
from attnviz.files.exports.sheet import check_width, write_xlsx
from attnviz.files.exports.table import write_csv
from attnviz.files.extras import extra
from attnviz.files.scenario_json import MAX_VALUES

__all__ = ["FORMATS_OUT", "Export", "check", "export"]


@dataclass(frozen=True)
class Export:
    """One format.

    Args:
        label: its name in words.
        suffix: how the file's name ends.
        mime: its media type.
        write: (trace, its scenario or None, the key of the stage on the screen) -> the file.
        says: a line on what is in it.
        one_stage: whether it holds that stage only.
        max_cells: the most numbers it takes, in all arrays together; 0 for as many as there are.
        library: one of `EXTRAS` that it needs.
        check: refuses what it cannot hold for another reason.
    """

    label: str
    suffix: str
    mime: str
    write: Callable[[Trace, Scenario | None, str], bytes]
    says: str
    one_stage: bool = False
    max_cells: int = 0
    library: str = ""
    check: Callable[[Trace], object] | None = None


FORMATS_OUT: Mapping[str, Export] = MappingProxyType(
    {
        "csv": Export(
            "CSV of one stage",
            ".csv",
            "text/csv",
            write_csv,
            "The numbers of one stage with every digit, a line for each head and row.",
            one_stage=True,
        ),
        "npz": Export(
            "NumPy archive",
            ".npz",
            "application/zip",
            write_npz,
            "Every table and stage by name; opens with numpy.load.",
        ),
        "json": Export(
            "JSON",
            ".json",
            "application/json",
            write_json,
            "Every table and stage by name, the tokens and all choices.",
            max_cells=MAX_VALUES // 2,
        ),
        "xlsx": Export(
            "Spreadsheet",
            ".xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            write_xlsx,
            "A sheet for each stage with formulas that compute, for Excel and LibreOffice.",
            max_cells=300_000,
            library="xlsxwriter",
            check=check_width,
        ),
        "latex": Export(
            "LaTeX",
            ".tex",
            "application/x-tex",
            write_latex,
            "Every table and stage as a matrix, with its formula.",
            max_cells=300_000,
        ),
        "matrix": Export(
            "LaTeX of one stage",
            ".tex",
            "application/x-tex",
            write_matrix,
            "One stage or table as a matrix, to paste into a document that uses amsmath.",
            one_stage=True,
        ),
        "numpy": Export(
            "NumPy script",
            ".py",
            "text/x-python",
            numpy_script,
            "Computes the result from the tables alone, with NumPy.",
            check=check_numbers,
        ),
        "torch": Export(
            "PyTorch script",
            ".py",
            "text/x-python",
            torch_script,
            "Computes the result from the tables alone, with PyTorch.",
            check=check_numbers,
        ),
        "notebook": Export(
            "Jupyter notebook",
            ".ipynb",
            "application/x-ipynb+json",
            write_notebook,
            "A cell for each stage, with its formula and the NumPy lines that compute it.",
            library="nbformat",
            check=check_numbers,
        ),
        "handout": Export(
            "Handout",
            ".html",
            "text/html",
            write_handout,
            "One page without a network: every step, the arithmetic of each cell, printable.",
        ),
    }
)


def export(
    name: str, trace: Trace, scenario: Scenario | None = None, key: str | None = None
) -> bytes:
    """A trace as a file.

    Args:
        name: an entry of `FORMATS_OUT`.
        trace: what is written.
        scenario: what it was computed from; the formats that can keep it do.
        key: the stage, for formats of one stage; the result otherwise.

    Raises:
        ScenarioError: no such format or stage.
        FormatError: a library is missing; the sentence says how to get it.
        LimitError: too large for this format.
    """
    key = trace.result if key is None else key
    check(name, trace)
    trace.info(key)
    return FORMATS_OUT[name].write(trace, scenario, key)


def check(name: str, trace: Trace) -> None:
    """Refuse what a format cannot hold, before anything is written; raises as `export` does."""
    if name not in FORMATS_OUT:
        raise ScenarioError(
            "there is no such format", where="export", got=name, expected=", ".join(FORMATS_OUT)
        )
    entry, cells = FORMATS_OUT[name], sum(array.size for array in trace.values.arrays.values())
    if entry.max_cells and cells > entry.max_cells:
        raise LimitError(
            "there are too many numbers for this format",
            where=entry.label,
            expected=f"at most {entry.max_cells:,}",
            got=f"{cells:,}",
            hint="Take the .npz file.",
        )
    if entry.library:
        extra(entry.library, entry.label)
    if entry.check:
        entry.check(trace)
