"""What the README says is so."""

import contextlib
import io
import re
from pathlib import Path

from attnviz.core.model import MAX_HEADS, MAX_SIZE, MAX_TOKENS
from attnviz.figures import MAX_TEXT_CELLS

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_snippets_run_and_print_what_is_said() -> None:
    snippets = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(snippets) == 2
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for snippet in snippets:
            exec(compile(snippet, "README.md", "exec"), {})
    said = re.search(r"second `print` writes `(.*?)`\.", README)
    assert said is not None
    assert said[1] in printed.getvalue()


def test_limits_are_the_ones_in_force() -> None:
    limits = README.split("## Limits")[1].split("## ")[0]
    for limit in (f"{MAX_TOKENS} tokens", f"{MAX_HEADS} heads", f"{MAX_SIZE:,}"):
        assert limit in limits
    assert f"{MAX_TEXT_CELLS:,} cells" in limits


def test_named_files_are_there() -> None:
    root = Path(__file__).parents[1]
    for path in re.findall(r"`(attnviz/[\w/]+\.py)`", README):
        assert (root / path).is_file(), path
