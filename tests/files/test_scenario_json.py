"""Scenario files: nothing is lost, and whatever is damaged gives one sentence."""

import dataclasses
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnviz
from attnviz import PRESETS, AttnvizError, Config, Params, Scenario, Trace, run
from attnviz.core.errors import FormatError, LimitError
from attnviz.files import from_json, scenario_json, to_json
from attnviz.files.plain import fields_of, from_plain, to_plain
from tests.core.support import DATA
from tests.files.support import full, variants

VARIANTS = variants()


def assert_identical(a: Trace, b: Trace) -> None:
    assert list(a.values.arrays) == list(b.values.arrays)
    assert (a.tokens, a.key_tokens) == (b.tokens, b.key_tokens)
    for key, array in a.values.arrays.items():
        assert array.tobytes() == b[key].tobytes(), key


@pytest.mark.parametrize("name", VARIANTS)
def test_b16_b26_saving_and_opening_gives_the_identical_trace(name: str, tmp_path: Path) -> None:
    scenario = VARIANTS[name]
    attnviz.save(scenario, tmp_path / "s.json")
    opened = attnviz.load(tmp_path / "s.json")
    assert opened.same(scenario)
    assert_identical(run(opened), run(scenario))
    assert to_json(opened) == to_json(scenario)
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


def strategy(kind: Any) -> st.SearchStrategy[Any]:
    """Values of the type of a field."""
    args = get_args(kind)
    origin = get_origin(kind) or kind
    if dataclasses.is_dataclass(kind):
        return st.just(None)  # its own fields are walked by themselves
    if origin is np.ndarray:
        return st.lists(FLOATS, min_size=1).map(np.array)
    if origin is tuple:
        if args[-1] is Ellipsis:
            return st.lists(strategy(args[0])).map(tuple)
        return st.tuples(*map(strategy, args))
    if origin is frozenset:
        return st.frozensets(strategy(args[0]))
    if origin is Mapping:
        return st.dictionaries(strategy(args[0]), strategy(args[1]), max_size=5)
    if origin is Literal:
        return st.sampled_from(args)
    if NoneType in args:
        return st.one_of(*(st.none() if a is NoneType else strategy(a) for a in args))
    simple = {str: TEXTS, int: st.integers(), float: FLOATS, bool: st.booleans()}
    return {**simple, bytes: st.binary()}[kind]


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=()))
FIELDS = [
    (kind.__name__, name, hint)
    for kind in (Scenario, Config, Params)
    for name, hint in fields_of(kind).items()
    if not dataclasses.is_dataclass(hint)
]


@pytest.mark.parametrize(("kind", "name", "hint"), FIELDS, ids=lambda v: str(v)[:30])
@given(data=st.data())
def test_every_field_of_a_scenario_survives(kind: str, name: str, hint: Any, data: Any) -> None:
    value = data.draw(strategy(hint))
    text = json.dumps(to_plain(value, hint))
    back = from_plain(json.loads(text), hint, name)
    assert repr(back) == repr(value) or np.array_equal(back, value) or back == value
    # -0.0 and every last digit:
    assert json.dumps(to_plain(back, hint)) == text


def test_every_field_is_in_the_file() -> None:
    written = json.loads(to_json(full()))
    for kind, at in ((Scenario, written), (Config, written["config"]), (Params, written["params"])):
        names = {item.name for item in dataclasses.fields(kind)}
        assert names <= at.keys()


def test_a_file_of_version_1_opens() -> None:
    old = attnviz.load(DATA / "scenario_v1.json")
    assert old.same(full())


def test_an_older_version_is_upgraded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = to_json(PRESETS["walkthrough"])
    older = json.loads(data)
    older["words"] = older.pop("text")
    monkeypatch.setattr(scenario_json, "VERSION", 2)
    upgrades = {1: lambda plain: {"text": plain.pop("words"), **plain}}
    monkeypatch.setattr(scenario_json, "UPGRADES", upgrades)
    assert from_json(json.dumps(older).encode()).same(PRESETS["walkthrough"])


def changed(**changes: Any) -> bytes:
    plain = json.loads(to_json(PRESETS["walkthrough"])) | changes
    return json.dumps({k: v for k, v in plain.items() if v != "absent"}).encode()


GOOD = to_json(PRESETS["walkthrough"])
PARAMS = json.loads(GOOD)["params"]
DAMAGED = {
    "empty": (b"", "line 1"),
    "cut": (GOOD[:700], "line"),
    "binary": (b"\x80\x04\x95", "UTF-8"),
    "another": (b'{"a": 1}', "no scenario file"),
    "a list": (b"[1, 2]", "no scenario file"),
    "newer": (changed(version=99), "99"),
    "no version": (changed(version="absent"), "version"),
    "true": (changed(version=True), "version"),
    "unknown field": (changed(colour=1), "colour"),
    "no text": (changed(text="absent"), "“text” is missing"),
    "text": (changed(text=5), "text"),
    "seed": (changed(seed=0.5), "seed"),
    "nan": (GOOD.replace(b"0.7", b"NaN", 1), "NaN"),
    "huge": (GOOD.replace(b"0.7", b"1e999", 1), "w_q, head 1, row 3, column 1"),
    "text number": (GOOD.replace(b"0.7", b'"0.7"', 1), "params, w_q"),
    "true number": (GOOD.replace(b"0.7", b"true", 1), "params, w_q"),
    "ragged": (GOOD.replace(b"0.7, 0.2", b"0.7", 1), "params, w_q"),
    "shapes": (changed(params=PARAMS | {"w_k": [[[1.0]]]}), "shape (1, 1, 1)"),
    "twice": (b'{"a": 1, "a": 2}', "“a” occurs twice"),
    "cell twice": (changed(x_edits=[[0, 0, 1], [0, 0, 2]]), "x_edits, entry 2"),
    "short cell": (changed(x_edits=[[0, 1]]), "x_edits, entry 1"),
    "set twice": (changed(padding=[1, 1]), "padding"),
    "choice": (changed(config={"normaliser": "hard"}), "config, normaliser"),
    "deep": (b"[" * 200_000, "deep"),
    "deep table": (changed(params=PARAMS | {"w_q": [[[[[[1]]]]]]}), "params, w_q"),
    "digits": (b"9" * 10_000, "digits"),
    "long": (b" " * (scenario_json.MAX_BYTES + 1), "too large"),
    "many": (b"[" + b"0," * scenario_json.MAX_VALUES + b"0]", "at most"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_refused_in_one_sentence(case: str) -> None:
    data, says = DAMAGED[case]
    with pytest.raises(AttnvizError, match=re.escape(says)) as error:
        from_json(data, "mine.json")
    assert "mine.json" in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


def test_a_file_that_could_not_be_opened_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.json").write_text("kept")
    monkeypatch.setattr(scenario_json, "MAX_BYTES", 100)
    with pytest.raises(LimitError):
        attnviz.save(full(), tmp_path / "s.json")
    assert (tmp_path / "s.json").read_text() == "kept"


@given(st.binary(max_size=200))
def test_no_bytes_give_anything_but_a_sentence(data: bytes) -> None:
    with pytest.raises(AttnvizError):
        from_json(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.data())
def test_any_value_in_any_field_is_read_or_refused(data: Any) -> None:
    plain = json.loads(GOOD)
    at = data.draw(st.sampled_from([plain, plain["config"], plain["params"]]))
    at[data.draw(st.sampled_from(sorted(at)))] = data.draw(JSON)
    with suppress(AttnvizError):
        from_json(json.dumps(plain).encode())


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=3))
def test_one_changed_place_is_read_or_refused(at: int, new: bytes) -> None:
    with suppress(AttnvizError):
        from_json(GOOD[:at] + new + GOOD[at + len(new) :])


def test_refusals_are_format_errors_with_a_place() -> None:
    with pytest.raises(FormatError) as error:
        from_json(changed(config={"scale": []}))
    assert error.value.where == "scenario file, config, scale"
