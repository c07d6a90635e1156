"""What the README says is so."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from attnviz.core import CHOICES, GALLERY
from attnviz.core.config import Variant
from attnviz.core.masks import ALIGNMENTS, MASKS
from attnviz.core.model import MAX_HEADS, MAX_SIZE, MAX_TOKENS
from attnviz.core.normalise import NORMALISERS
from attnviz.core.positions import POSITIONS
from attnviz.figures import MAX_TEXT_CELLS
from attnviz.files import imports, link, scenario_json, store
from attnviz.files.exports import FORMATS_OUT
from attnviz.files.extras import EXTRAS
from attnviz.files.imports import FORMATS_IN
from attnviz.files.picture import MAX_DECODED, MAX_MEGABYTES, MAX_SIDE
from attnviz.parsing.block import MAX_PASTE

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_snippets_run_and_print_what_is_said() -> None:
    snippets = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert snippets.pop(0).splitlines() == list(imports.ONE_LAYER)
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
    assert f"at most {MAX_MEGABYTES} MB and {MAX_DECODED // 10**6} million pixels" in README
    assert f"at most {MAX_SIDE} pixels wide and high" in README


def test_how_long_states_are_kept_is_what_holds() -> None:
    shown = README.split("## What it shows")[1].split("\n## ")[0]
    for limit in (
        f"up to {store.MAX_BYTES // 2**20} MB",
        f"for {store.MAX_DAYS} days after",
        f"no more than {store.MAX_TOTAL // 2**20} MB",
    ):
        assert limit in shown


def rows(table: str) -> list[str]:
    """The rows of the README's table under a heading, without its two lines of heading."""
    text = README.split(f"### {table}\n")[1].split("\n#")[0]
    return [line for line in text.splitlines() if line.startswith("|")][2:]


@pytest.mark.parametrize(
    ("table", "variants"),
    [
        ("Positions", POSITIONS),
        ("Normalisers", NORMALISERS),
        ("Masks", MASKS),
        ("Alignments of the causal mask", ALIGNMENTS),
    ],
)
def test_every_variant_has_its_row(table: str, variants: dict[str, Variant]) -> None:
    expected = [f"| `{name}` | {v.says} | {v.source} |" for name, v in variants.items()]
    assert rows(table) == [row.replace("|j − i|", "\\|j − i\\|") for row in expected]


def test_every_example_has_its_row() -> None:
    expected = [
        f"| `{name}` | {p.title} | {p.says} | {f'`{p.compare_with}`' if p.compare_with else ''} |"
        for name, p in GALLERY.items()
    ]
    text = README.split("## Examples\n")[1].split("\n## ")[0]
    assert [line for line in text.splitlines() if line.startswith("| `")] == expected


def test_every_choice_has_its_row() -> None:
    assert rows("Choices") == [f"| `{name}` | {c.says} |" for name, c in CHOICES.items()]


def test_every_format_has_its_row_and_limits_are_those_in_force() -> None:
    out = [f"| `{name}` | {e.suffix} | {e.says} |" for name, e in FORMATS_OUT.items()]
    into = [f"| `{n}` | {', '.join(e.suffixes)} | {e.says} |" for n, e in FORMATS_IN.items()]
    assert (rows("Out"), rows("In")) == (out, into)
    text = README.split("## Files and links")[1].split("## Limits")[0]
    for limit in (link.MAX_LENGTH, scenario_json.MAX_BYTES, MAX_PASTE):
        assert f"{limit:,}" in text
    assert imports.LIMITS in text
    assert imports.BFLOAT16 in text
    assert f"need a library each: {', '.join(EXTRAS.values())}." in text


def test_named_files_are_there() -> None:
    root = Path(__file__).parents[1]
    for path in re.findall(r"`(attnviz/[\w/]+\.py)`", README):
        assert (root / path).is_file(), path
