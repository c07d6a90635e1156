"""Share links: short, exact, and refused in one sentence where they are damaged."""

import base64
import json
import re
import zlib
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import PRESETS, AttnvizError, Params, Scenario, run
from attnviz.core.edit import resize, set_cells, set_config, switch
from attnviz.files import link
from attnviz.files.link import decode, encode, preview
from tests.core.support import DATA, random_params
from tests.files.support import variants
from tests.files.test_scenario_json import assert_identical

START = PRESETS["walkthrough"]
VARIANTS = variants()


def resized() -> Scenario:
    scenario, _ = resize(START, n_heads=8, d_model=32, d_k=16)
    return set_cells(scenario, "w_q", {(7, 3, 2): 0.1 + 0.2})[0]


@pytest.mark.parametrize("name", sorted(VARIANTS.keys() | {"resized"}))
def test_b16_a_link_gives_the_identical_trace(name: str) -> None:
    scenario = {**VARIANTS, "resized": resized()}[name]
    text = encode(scenario)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)
    assert len(text) <= 4096
    assert decode(text).same(scenario)
    assert_identical(run(decode(text)), run(scenario))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("table", ["w_o", "b_q", "b_k", "b_v", "b_o"])
def test_a_table_that_is_switched_on_as_it_was_drawn_comes_back(preset: str, table: str) -> None:
    scenario = set_config(PRESETS[preset], project=True)[0]
    if table != "w_o":
        scenario = switch(scenario, table, True)[0]
    assert table in scenario.params.tables()
    assert decode(encode(scenario)).same(scenario)


@pytest.mark.parametrize("name", PRESETS)
def test_an_example_as_it_is_takes_few_letters(name: str) -> None:
    assert len(encode(PRESETS[name])) < 120


def test_one_cell_and_another_size_take_few_letters() -> None:
    assert len(encode(set_cells(START, "w_o", {(1, 2): 0.123456789012345})[0])) < 160
    assert len(encode(resized())) < 300  # 8 x 32 x 16 numbers a table come from the seed


def test_a_zero_with_a_sign_is_another_zero() -> None:
    changed = set_cells(START, "w_k", {(0, 0, 0): -0.0})[0]
    assert np.signbit(decode(encode(changed)).params.w_k[0, 0, 0])


def test_what_is_too_long_for_a_link_is_sent_to_a_file() -> None:
    with pytest.raises(AttnvizError, match=r"4,096 letters.* file"):
        encode(replace(START, params=random_params(1, d_model=40, d_k=6, d_out=4), x_edits={}))


def test_large_tables_are_sent_to_a_file_before_they_are_written_out() -> None:
    large = replace(START, params=random_params(1, heads=12, d_model=768, d_k=64), x_edits={})
    with pytest.raises(AttnvizError, match=r"589,824 numbers.* file"):
        encode(large)


# Links of version 1, kept as they were made.
V1 = dict(line.split() for line in (DATA / "links_v1.txt").read_text().splitlines())


@pytest.mark.parametrize("name", V1)
def test_links_of_version_1_open(name: str) -> None:
    assert decode(V1[name]).same(VARIANTS[name])


def packed(plain: Any) -> str:
    data = plain if isinstance(plain, bytes) else json.dumps(plain).encode()
    return "1" + base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("=")


GOOD = encode(VARIANTS["full"])
BOMB = packed(b"[" + b" " * 2_000_000 + b"]")
DAMAGED = {
    "empty": ("", "damaged"),
    "cut": (GOOD[:-9], "damaged"),
    "letters": ("1" + "A" * 40, "damaged"),
    "other letters": ("1é%&", "damaged"),
    "newer": ("9" + GOOD[1:], "version is unknown"),
    "long": ("1" * 5000, "too long"),
    "bomb": (BOMB, "unpacks to too much"),
    "a list": (packed([1]), "damaged"),
    "no check": (packed({}), "not what"),
    "preset": (packed({"base": "gone"}), "gone"),
    "preset number": (packed({"base": 1}), "not there"),
    "sizes": (packed({"sizes": [0, 4, 2, 2, 4]}), "out of range"),
    "many sizes": (packed({"sizes": [32, 1024, 1024, 1024, 1024]}), "cells"),
    "few sizes": (packed({"sizes": [2]}), "missing"),
    "sizes text": (packed({"sizes": "2"}), "another kind"),
    "no table": (packed({"params": {"w_q": None}}), "w_q"),
    "table": (packed({"params": {"w_q": 5}}), "w_q"),
    "cells": (packed({"params": {"w_q": {"of": "p", "cells": [[999, 1]]}}}), "w_q"),
    "count": (packed({"params": {"w_q": {"all": [1.0]}}}), "w_q"),
    "number": (packed({"params": {"w_q": {"all": ["a"]}}}), "w_q"),
    "of": (packed({"params": {"w_q": {"of": ["p"]}}}), "w_q"),
    "config": (packed({"config": [1]}), "config"),
    "choice": (packed({"config": {"top_k": 0}}), "top_k"),
    "field": (packed({"colour": 1}), "colour"),
    "nan": (packed(b'{"seed": NaN}'), "finite"),
    "twice": (packed(b'{"seed": 1, "seed": 2}'), "twice"),
    "deep": (packed(b"[" * 100_000), "deep"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_link_is_refused_in_one_sentence(case: str) -> None:
    text, says = DAMAGED[case]
    assert case in ("long",) or len(text) < 4096
    with pytest.raises(AttnvizError, match=re.escape(says)) as error:
        decode(text)
    assert str(error.value).startswith("link")
    assert len(str(error.value)) < 500


@given(st.text(max_size=60))
def test_no_text_gives_anything_but_a_sentence(text: str) -> None:
    with pytest.raises(AttnvizError):
        decode(text)
    with pytest.raises(AttnvizError):
        decode("1" + text)


@given(st.integers(0, len(GOOD) - 1), st.characters(codec="ascii"))
def test_a_link_with_a_wrong_letter_is_refused_or_the_same(at: int, letter: str) -> None:
    with suppress(AttnvizError):
        assert decode(GOOD[:at] + letter + GOOD[at + 1 :]).same(VARIANTS["full"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 99) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
KEYS = [
    "base",
    "preset",
    "seed",
    "sizes",
    "params",
    "config",
    "text",
    "x_edits",
    "check",
    "lexicon",
]


@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3))
def test_any_content_is_read_or_refused(plain: Any) -> None:
    with suppress(AttnvizError):
        decode(packed(plain))


def test_an_example_that_has_changed_since_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = encode(START)
    tables = START.params.tables() | {"w_q": START.params.w_q + 1}
    other = replace(START, params=Params(**tables))
    monkeypatch.setattr(link, "PRESETS", {"walkthrough": other})
    with pytest.raises(AttnvizError, match="another form of the example"):
        decode(text)


def test_preview_says_what_will_open() -> None:
    assert preview(START) == "walkthrough: “major league baseball”, 2 heads, d_model 4"
    assert len(preview(replace(START, text="very " * 100, preset=""))) < 100
