"""Changes that switch parts of the attention on and off."""

import math
from dataclasses import replace

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.cells import Change
from attnviz.core.config import OPTIONAL
from attnviz.core.draw import drawn
from attnviz.core.errors import ScenarioError
from attnviz.core.model import Params
from attnviz.core.run import run
from attnviz.core.scenario import Scenario
from attnviz.core.stages import TABLES

DIGITS = 15  # a decimal number of so many digits is kept by float64 and written as it was


def start_from_qkv(scenario: Scenario, on: bool = True) -> Change:
    """Q, K and V as the tables to edit, without embeddings and projections; or back to these.

    The first time the tables hold the numbers that were computed, rounded to `DIGITS` and said so
    where that changes any; later what they held when they were last left, as far as texts and
    sizes still have the place.

    Raises:
        AttnvizError: the tables cannot be computed.
    """
    if (scenario.config.start == "qkv") == on:
        return scenario, ""
    config = replace(scenario.config, start="qkv" if on else "x")
    if not on:
        return replace(scenario, config=config), "Q, K and V are computed from embeddings again."
    qkv, rounded = scenario.qkv, ""
    if not qkv:
        trace = run(scenario)
        qkv = {name: _rounded(trace[name]) for name in ("q", "k", "v")}
        if any((table != trace[name]).any() for name, table in qkv.items()):
            rounded = f", rounded to {DIGITS} digits"
    note = (
        f"Q, K and V are tables now{rounded}; embeddings and W_Q, W_K, W_V have no part any more."
    )
    return replace(scenario, config=config, qkv=qkv), note


def _rounded(table: Array) -> Array:
    """The numbers to `DIGITS` of the largest, without the last bits of a sum: 0.3 and not
    0.30000000000000004.
    """
    largest = float(np.abs(table).max())
    if not largest:
        return table
    decimals = DIGITS - 1 - math.floor(math.log10(largest))
    numbers = [round(number, decimals) + 0.0 for number in table.ravel().tolist()]
    return np.array(numbers).reshape(table.shape)


def switch(scenario: Scenario, table: str, on: bool) -> Change:
    """One of `OPTIONAL` on or off; off keeps it, and a parameter bias that is new is drawn.

    Raises:
        ScenarioError: no such table, or an output bias without an output table.
    """
    if table not in OPTIONAL:
        raise ScenarioError(
            "this cannot be switched", where=table, expected="one of " + ", ".join(OPTIONAL)
        )
    off = set(scenario.config.off) - {table} if on else {*scenario.config.off, table}
    config = replace(scenario.config, off=tuple(off))
    tables = scenario.params.tables()
    if not (on and table.startswith("b_")) or table in tables:
        return replace(scenario, config=config), ""
    if table == "b_o" and "w_o" not in tables:
        raise ScenarioError("there is no output table that it could belong to", where="b_O")
    new = drawn(table, scenario.seed, scenario.sizes)
    changed = replace(scenario, config=config, params=Params(**tables, **{table: new}))
    return changed, f"{TABLES[table].symbol} drawn from seed {scenario.seed}."
