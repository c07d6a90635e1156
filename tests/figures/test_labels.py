"""Text in pictures: letter for letter, cut so that it fits, measured well enough."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.core.text import graphemes
from attnviz.figures.labels import MAX_LETTERS, MAX_LINE, cut, escape, text_width, wrapped
from tests.figures.support import STRANGE


def shown(text: str) -> str:
    """What Plotly writes for a text: tags act and vanish, entities are read once."""
    return html.unescape(re.sub(r"<br>", "\n", text))


@pytest.mark.parametrize("token", STRANGE)
def test_escaped_text_has_no_tag_and_reads_as_it_was(token: str) -> None:
    assert "<" not in escape(token)
    assert "$" not in escape(token)  # two of them would begin a formula
    assert shown(escape(token)) == token


@given(st.text())
def test_any_text_survives_escaping(text: str) -> None:
    assert shown(escape(text)) == text


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("strawberry", "strawberry"),
        ("blackberries", "black…ries"),
        ("Donaudampfschifffahrtsgesellschaft", "Donau…haft"),
        ("e\u0301" * 10, "e\u0301" * 10),
        ("e\u0301" * 11, "e\u0301" * 5 + "…" + "e\u0301" * 4),
        ("", ""),
    ],
)
def test_long_labels_are_cut_in_the_middle(label: str, expected: str) -> None:
    assert cut(label) == expected


@given(st.text(max_size=40))
def test_cut_labels_have_at_most_so_many_letters(text: str) -> None:
    assert len(graphemes(cut(text))) <= max(MAX_LETTERS, 1)


@given(st.text(alphabet="ab <&$", max_size=300))
def test_wrapping_loses_nothing_and_keeps_lines_short(text: str) -> None:
    lines = shown(wrapped(text)).split("\n")
    assert all(len(line) <= MAX_LINE for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_wrapping_tears_no_letter_apart() -> None:
    flag = "🇩🇪"
    lines = wrapped(flag * 100).split("<br>")
    assert all(line == flag * (len(line) // 2) for line in lines)


@pytest.mark.parametrize(
    ("text", "width"),  # measured in Chromium: Source Sans, regular, 100 px
    [
        ("baseball", 351),
        ("strawberry", 452),
        ("major", 247),
        ("0.46", 174),
        ("−1.23e−18", 422),
        ("WWW", 236),
        ("日本語", 300),
        ("attention weights 3×3", 899),
    ],
)
def test_widths_are_estimated_with_little_to_spare(text: str, width: float) -> None:
    assert width <= text_width(text, 100) <= 1.2 * width
