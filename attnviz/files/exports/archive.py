"""The whole trace as .npz and as JSON."""

import io
import json
from typing import Any

import numpy as np

from attnviz.core.config import Config
from attnviz.core.scenario import Scenario
from attnviz.core.trace import Trace
from attnviz.files.plain import fields_to_plain, to_plain
from attnviz.files.scenario_json import written

FORMAT, VERSION = "attnviz trace", 1
MAX_TOLD = 500_000  # numbers of tables that the scenario repeats


def _told(scenario: Scenario) -> dict[str, Any]:
    many = sum(table.size for table in scenario.params.tables().values()) > MAX_TOLD
    return fields_to_plain(scenario, ("params",) if many else ())


def about(trace: Trace, scenario: Scenario | None) -> dict[str, Any]:
    """What a trace is besides its arrays: names, choices, and the scenario where there is one."""
    found = {
        "format": FORMAT,
        "version": VERSION,
        "tokens": list(trace.tokens),
        "key_tokens": list(trace.key_tokens),
        "config": to_plain(trace.values.config, Config),
        "stages": [stage.key for stage in trace.stages],
        "axes": {key: list(trace.axes(key)) for key in trace.values.arrays},
    }
    return found if scenario is None else found | {"scenario": _told(scenario)}


def write_npz(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """Every array by its key, and "about" as a JSON text; opens with `numpy.load`.

    The scenario in "about" has its tables too, unless they hold more than `MAX_TOLD`
    numbers: they are arrays of their own.
    """
    data = io.BytesIO()
    arrays: dict[str, Any] = {**trace.values.arrays, "about": json.dumps(about(trace, scenario))}
    np.savez_compressed(data, allow_pickle=False, **arrays)
    return data.getvalue()


def write_json(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """The same as readable JSON; minus infinity is the text "-inf"."""
    arrays = {name: _finite(array.tolist()) for name, array in trace.values.arrays.items()}
    text = written({**about(trace, scenario), "arrays": arrays})
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return "-inf" if value == -np.inf else value
