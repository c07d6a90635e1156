"""States as they are kept for an address: the same numbers, and nothing that damage can do."""

import json
from dataclasses import replace

import numpy as np
import pytest

from attnviz.core import PRESETS, AttnvizError, LimitError, Params, Scenario
from attnviz.files import scenario_json, to_json
from attnviz.files.packed import FORM, pack, packed_size, unpack
from attnviz.files.scenario_json import check_savable
from tests.files.support import variants

START, VARIANTS = PRESETS["walkthrough"], variants()
EVERY = pytest.mark.parametrize("scenario", VARIANTS.values(), ids=list(VARIANTS))


def wide(width: int = 768, heads: int = 12) -> Scenario:
    """A scenario with tables as those of a layer of BERT-base, which single precision holds."""
    rng = np.random.RandomState(0)
    shape = (heads, width, width // heads)
    tables = {n: rng.standard_normal(shape) for n in ("w_q", "w_k", "w_v")}
    tables["w_o"] = rng.standard_normal((width, width))
    single = {n: (0.02 * t).astype(np.float32).astype(np.float64) for n, t in tables.items()}
    return replace(START, params=Params(**single), lexicon={}, features=())


def bits(scenario: Scenario) -> dict[str, bytes]:
    tables = {**scenario.params.tables(), **scenario.qkv}
    return {name: table.tobytes() for name, table in tables.items()}


@EVERY
def test_what_is_packed_is_the_same_bit_for_bit(scenario: Scenario) -> None:
    back = unpack(pack(scenario), "state")
    assert back.same(scenario)
    assert bits(back) == bits(scenario)
    assert pack(back) == pack(scenario)


def test_a_layer_of_bert_is_packed_and_can_be_saved() -> None:
    scenario = wide()
    data = pack(scenario)
    assert packed_size(scenario) <= len(data) < packed_size(scenario) + 2_000
    assert bits(unpack(data, "state")) == bits(scenario)
    check_savable(scenario)
    assert bits(scenario_json.from_json(to_json(scenario))) == bits(scenario)


def test_what_older_versions_kept_opens_too() -> None:
    assert unpack(to_json(START), "state").same(START)


@EVERY
def test_what_can_be_saved_is_told_before(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(to_json(scenario))
    monkeypatch.setattr(scenario_json, "MAX_BYTES", 2 * size + 2_000)
    check_savable(scenario)
    monkeypatch.setattr(scenario_json, "MAX_BYTES", size // 20)
    with pytest.raises(LimitError, match="NumPy archive; its tables can be read in"):
        check_savable(scenario)


def test_too_many_numbers_are_told_before_they_are_written() -> None:
    with pytest.raises(LimitError, match="at most 67,108,864 B, got about 9"):
        check_savable(wide(1024, 16))


DATA = pack(START)
LINE = DATA[len(FORM) :].partition(b"\n")[0]
HEAD = json.loads(LINE)


def changed(**parts: object) -> bytes:
    head = json.dumps({**HEAD, **parts}).encode()
    return FORM + head + DATA[len(FORM) + len(LINE) :]


@pytest.mark.parametrize(
    "data",
    [
        DATA[:-1],
        DATA + b"\0",
        DATA[: len(FORM)],
        DATA[: len(FORM) + 9],
        FORM + b"[]\n",
        FORM + b"[" * 100_000 + b"\n",
        DATA.replace(b"version 1", b"version 2", 1),
        changed(more=1),
        changed(shapes={"w_q": [10**12]}),
        changed(shapes={"w_q": [2, 4, 2]}),
        changed(shapes={**HEAD["shapes"], "w_q": [-2, 4, -2]}),
        changed(shapes={**HEAD["shapes"], "w_q": [2, 2, 4]}),
        changed(
            shapes={**{n: s for n, s in HEAD["shapes"].items() if n != "w_q"}, "no": [2, 4, 2]}
        ),
        changed(fields={**HEAD["fields"], "seed": "x"}),
        changed(fields={**HEAD["fields"], "params": {}}),
        DATA[:-8] + np.array([np.nan], "<f8").tobytes(),
        DATA[:-8] + np.array([np.inf], "<f8").tobytes(),
        b"\x80\x04.",
        b"",
    ],
)
def test_damage_is_one_sentence(data: bytes) -> None:
    with pytest.raises(AttnvizError, match=r"^state") as caught:
        unpack(data, "state")
    assert "\n" not in str(caught.value)
