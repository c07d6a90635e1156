"""Tokens, names of rows, and embeddings that never change."""

import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attnviz.core import TextError
from attnviz.core.text import (
    TOKENIZERS,
    embedding_row,
    graphemes,
    seeded_row,
    tokenize,
    unique_labels,
    visible,
)

texts = st.text(max_size=30)
# Words that are easily taken for each other's names.
alike = st.lists(
    st.sampled_from(["a", "a₁", "a₁₁", "a₂", "", "⟨U+200B⟩", "\u200b", " ", "␣", "é", "e\u0301"]),
    max_size=14,
)


@pytest.mark.parametrize(
    ("tokenizer", "text", "tokens"),
    [
        ("words", "  the  cat\tsat\n\non  ", ["the", "cat", "sat", "on"]),
        ("words", "Don't stop, now!", ["Don't", "stop,", "now!"]),
        ("words", "", []),
        ("words and punctuation", "Stop, now!", ["Stop", ",", "now", "!"]),
        ("words and punctuation", "don't", ["don", "'", "t"]),
        ("words and punctuation", "x_1 = 3.14", ["x_1", "=", "3", ".", "14"]),
        ("words and punctuation", "...", [".", ".", "."]),
        ("words and punctuation", "Straße 日本語", ["Straße", "日本語"]),
        ("words and punctuation", "cafe\u0301!", ["cafe\u0301", "!"]),
        ("words and punctuation", "a🇩🇪b", ["a", "🇩🇪", "b"]),
        ("characters", "ab c", ["a", "b", " ", "c"]),
        ("characters", "e\u0301é", ["e\u0301", "é"]),
        ("characters", "🇩🇪🇫🇷🇩", ["🇩🇪", "🇫🇷", "🇩"]),
        ("characters", "👨‍👩‍👧x", ["👨‍👩‍👧", "x"]),
        ("characters", "👍🏽👍", ["👍🏽", "👍"]),
        ("characters", "1️⃣2", ["1️⃣", "2"]),
        ("characters", "각\u1112\u1161\u11ab", ["각", "\u1112\u1161\u11ab"]),
        ("characters", "a\r\n\nb", ["a", "\r\n", "\n", "b"]),
        ("characters", "नि", ["नि"]),
        (
            "characters",
            "🏴\U000e0067\U000e0062\U000e007f!",
            ["🏴\U000e0067\U000e0062\U000e007f", "!"],
        ),
        ("lines", " Linear  Algebra \n\n\t\r\nr1 c1\u2028CLS", ["Linear  Algebra", "r1 c1", "CLS"]),
    ],
)
def test_tokens(tokenizer: str, text: str, tokens: list[str]) -> None:
    assert list(tokenize(text, tokenizer)) == tokens


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(text=texts)
def test_no_tokenizer_loses_a_character(tokenizer: str, text: str) -> None:
    tokens = tokenize(text, tokenizer)
    assert all(tokens)
    kept, whole = "".join(tokens), text
    if tokenizer == "lines":
        kept = "".join(kept.split())
    if tokenizer != "characters":
        whole = "".join(text.split())
    assert kept == whole


@given(texts)
def test_graphemes_never_split_a_mark_from_its_letter(text: str) -> None:
    clusters = graphemes(text)
    assert "".join(clusters) == text
    for before, cluster in itertools.pairwise(clusters):
        if unicodedata.category(cluster[0])[0] == "M":
            assert before[-1] in "\r\n"


def test_unknown_tokenizer_is_refused_with_those_there_are() -> None:
    with pytest.raises(TextError, match="words or words and punctuation or characters"):
        tokenize("a", "bytes")


@pytest.mark.parametrize(
    ("tokens", "labels"),
    [
        (("the", "cat", "the"), ("the₁", "cat", "the₃")),
        (("a", "b"), ("a", "b")),
        (("a",) * 12, (*(f"a{n}" for n in "₁₂₃₄₅₆₇₈₉"), "a₁₀", "a₁₁", "a₁₂")),
        (("The", "the"), ("The", "the")),
        ((), ()),
    ],
)
def test_only_repeated_words_carry_their_position(
    tokens: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    assert unique_labels(tokens) == labels


@given(alike)
@example(["a", "a", "a₁"])
@example(["a₁", "a", "a", "a₂", "a₃"])
@example(["\u200b", "⟨U+200B⟩"])
def test_names_of_rows_always_differ_to_the_eye(tokens: list[str]) -> None:
    labels = unique_labels(tuple(tokens))
    looks = {unicodedata.normalize("NFC", label) for label in labels}
    assert len(looks) == len(labels) == len(tokens)
    shown = [visible(token) for token in tokens]
    assert all(label.startswith(word) for word, label in zip(shown, labels, strict=True))
    if len({unicodedata.normalize("NFC", word) for word in shown}) == len(shown):
        assert list(labels) == shown


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("league", "league"),
        ("<s>", "<s>"),
        ("&lt;", "&lt;"),
        ("%{z}", "%{z}"),
        (" ", "␣"),
        ("\t", "⇥"),
        ("\n", "⏎"),
        ("\r\n", "␍⏎"),
        ("a\nb", "a⏎b"),
        ("", "∅"),
        ("a b", "a b"),
        ("🇩🇪", "🇩🇪"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_visible(token: str, shown: str) -> None:
    assert visible(token) == shown


INVISIBLE = [
    *("\u00a0", "\u2003", "\u3000", "\u2028", "\x00", "\x1b", "\u00ad", "\u200b", "\u200d"),
    *("\u2060", "\ufeff", "\u202e", "\u2066", "\ufe0f", "\u0301", "\u115f", "\u3164", "\uffa0"),
    *("\u2800", "\U000e0020", "\ud800"),
]


@pytest.mark.parametrize("token", INVISIBLE, ids=lambda t: f"U+{ord(t):04X}")
def test_a_token_that_cannot_be_seen_gets_a_stand_in(token: str) -> None:
    shown = visible(token)
    assert token not in shown
    assert all(unicodedata.category(char)[0] in "LNPS" for char in shown)
    assert shown == "⍽" or f"U+{ord(token):04X}" in shown


HIDDEN = ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u202e", "\x07", "\u3164", "\u034f", "\u2028"]


@pytest.mark.parametrize("char", HIDDEN, ids=lambda t: f"U+{ord(t):04X}")
def test_what_cannot_be_seen_inside_a_word_gets_a_stand_in(char: str) -> None:
    assert visible(f"ab{char}c") == f"ab⟨U+{ord(char):04X}⟩c"


@given(st.text(max_size=4))
def test_every_token_shows_something(token: str) -> None:
    shown = visible(token)
    assert any(unicodedata.category(char)[0] in "LNPS" for char in shown)
    assert visible(shown) == shown
    assert "\n" not in shown


# These numbers are a promise: they are the same for ever and on every machine.
PINNED_ROWS = {
    ("hello", 0): [-1.06, 0.29, 2.27, -0.98, -0.31, -0.79],
    ("hello", 1): [2.03, -0.61, 1.85, -0.09, -2.07, -0.29],
    ("cat", 0): [-0.19, -1.09, -0.49, 0.39, 0.82, -1.41],
    ("the", 0): [-1.71, 1.44, 0.11, -2.41, -0.42, -0.09],
    ("Straße", 7): [-0.77, 1.36, 1.2, 0.29, -1.02, 1.41],
    ("日本語", 7): [-0.47, -0.87, -0.29, -1.21, 1.28, -0.69],
    ("é", 0): [-0.31, 0.21, -1.12, -0.66, -0.63, 0.83],
    ("e\u0301", 0): [-1.03, 1.91, 1.56, 0.0, 0.04, -0.66],
    ("🇩🇪", 2**31): [-0.75, 0.8, 0.49, -0.32, -0.53, -1.67],
}
PINNED_TABLE_ROWS = {
    (0, "w_q", "0", "0"): [1.124295175206875, -1.6053041501296255, 0.38035862918942337],
    (5, "w_o", "1", "0"): [0.4458792486899998, 0.37707946271455545, 1.0996830028747848],
}


@pytest.mark.parametrize("key", PINNED_ROWS, ids=lambda key: f"{key[0]!a}-{key[1]}")
def test_a_token_and_a_seed_give_the_same_row_for_ever(key: tuple[str, int]) -> None:
    row = embedding_row(*key, 6)
    assert row.tolist() == PINNED_ROWS[key]
    assert row.dtype == np.float64


@pytest.mark.parametrize("key", PINNED_TABLE_ROWS, ids=lambda key: "-".join(map(str, key)))
def test_a_name_and_a_seed_give_the_same_row_for_ever(key: tuple[int, ...]) -> None:
    np.testing.assert_allclose(seeded_row(*key, n=3), PINNED_TABLE_ROWS[key], rtol=1e-14)


@given(texts, st.integers(0, 2**70), st.integers(1, 40), st.integers(1, 40))
def test_a_longer_row_begins_with_the_shorter(token: str, seed: int, n: int, m: int) -> None:
    short, long = sorted((n, m))
    row = embedding_row(token, seed, long)
    assert row[:short].tolist() == embedding_row(token, seed, short).tolist()
    assert (np.round(row, 2) == row).all()
    assert not np.signbit(row[row == 0]).any()


def test_rows_do_not_hang_on_the_process_or_on_numpy_s_own_random_state() -> None:
    np.random.seed(1)
    state = np.random.get_state()[1].tolist()
    one = embedding_row("word", 3, 5)
    assert np.random.get_state()[1].tolist() == state
    np.random.seed(2)
    assert embedding_row("word", 3, 5).tolist() == one.tolist()


def test_names_that_join_to_the_same_text_give_other_rows() -> None:
    rows = [
        seeded_row(1, "ab", "c", n=4),
        seeded_row(1, "a", "bc", n=4),
        seeded_row(1, "abc", n=4),
        seeded_row(11, "abc", n=4),
        seeded_row(1, "1abc", n=4),
        seeded_row(1, "2:ab", "c", n=4),
    ]
    assert len({row.tobytes() for row in rows}) == len(rows)


def test_rows_are_spread_as_a_normal_distribution() -> None:
    values = np.concatenate([embedding_row(f"word {i}", 0, 20) for i in range(500)])
    assert abs(values.mean()) < 0.03
    assert abs(values.std() - 1) < 0.03
