"""A Jupyter notebook that computes a trace from its tables, a cell for each stage."""

from attnviz.core.scenario import Scenario
from attnviz.core.trace import Trace
from attnviz.files.exports.code import NUMPY
from attnviz.files.exports.script import sections
from attnviz.files.extras import extra


def write_notebook(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """Markdown with each formula, the NumPy lines under it, and the array they give.

    Raises:
        FormatError: nbformat is not installed.
        LimitError: more numbers than a script can hold.
    """
    library = extra("nbformat", "notebook")
    v4 = library.v4
    cells = [v4.new_markdown_cell("# Attention, step by step\n\nRows are queries, columns keys.")]
    for section in sections(trace, NUMPY):
        if section.what:
            text = f"## {section.title}\n\n${section.formula[1]}$\n\n{section.what}"
            cells.append(v4.new_markdown_cell(text))
            last = section.code.splitlines()[-1].split(" = ")[0].split("[")[0]
            cells.append(v4.new_code_cell(f"{section.code}\n{last}"))
        else:
            cells.append(v4.new_code_cell(section.code))
    for i, cell in enumerate(cells):  # not drawn at random, so that equal traces give equal files
        cell["id"] = f"cell-{i}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    written: str = library.writes(book)
    return f"{written}\n".encode()
