"""Scripts that compute a trace from nothing but its tables, in NumPy or PyTorch."""

from collections.abc import Iterator
from dataclasses import dataclass

from attnviz.core.errors import LimitError
from attnviz.core.ops import Given
from attnviz.core.scenario import Scenario
from attnviz.core.trace import Trace
from attnviz.files.exports.code import NUMPY, TORCH, Library, code, made

MAX_NUMBERS = 500_000  # in the tables of a script


@dataclass(frozen=True)
class Section:
    """A part of a script: its code, and for a stage its title, its formula and what it does."""

    title: str
    code: str
    formula: tuple[str, str] = ("", "")
    what: str = ""


_BEGIN = {
    "np": "import math\n\nimport numpy as np",
    "torch": "import math\n\nimport torch\n\ntorch.set_default_dtype(torch.float64)",
}


def sections(trace: Trace, lib: Library) -> Iterator[Section]:
    """The parts of a script in order: names and tables, then a stage each.

    Raises:
        LimitError: more numbers than a script can hold.
    """
    computed = {s.key for s in trace.stages if not isinstance(s.op, Given)}
    tables = {k: array for k, array in trace.values.arrays.items() if k not in computed}
    count = sum(array.size for array in tables.values())
    if count > MAX_NUMBERS:
        raise LimitError(
            "there are too many numbers for a script",
            where="tables",
            expected=f"at most {MAX_NUMBERS:,}",
            got=f"{count:,}",
            hint="Take the .npz file.",
        )
    names = f"tokens = {list(trace.tokens)!r}"
    if trace.key_tokens != trace.tokens:
        names += f"\nkey_tokens = {list(trace.key_tokens)!r}"
    begin = _BEGIN[lib.name]
    yield Section("Begin", f"{begin}\n\n# Rows are queries, columns are keys.\n{names}")
    for key, array in tables.items():
        info, shape = trace.info(key), " x ".join(map(str, array.shape))
        yield Section(f"{info.title}, {shape}", made(key, array, lib))
    for stage in trace.stages:
        if stage.key in computed:
            lines = "\n".join(code(trace, stage, lib))
            yield Section(stage.title, lines, stage.formula, stage.what)
    yield Section("Result", f"print({trace.result})")


def script(trace: Trace, lib: Library) -> str:
    """The whole script."""
    parts = []
    for section in sections(trace, lib):
        formula = f": {section.formula[0]}" if section.formula[0] else ""
        head = f"# {section.title}{formula}\n" if section.title not in ("Begin", "Result") else ""
        parts.append(head + section.code)
    text = "\n\n".join(parts)
    if "math." not in text:
        text = text.replace("import math\n\n", "", 1)
    name = {"np": "NumPy", "torch": "PyTorch"}[lib.name]
    return (
        f'"""Attention in {name}, from the tables to the result; written by attnviz."""\n\n{text}\n'
    )


def numpy_script(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """A Python file that needs NumPy."""
    return script(trace, NUMPY).encode()


def torch_script(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """A Python file that needs PyTorch."""
    return script(trace, TORCH).encode()
