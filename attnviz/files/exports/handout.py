"""The whole computation as one HTML page that needs no network and no attnviz."""

from collections.abc import Mapping
from functools import partial
from html import escape
from importlib.resources import files

import numpy as np

from attnviz.core.html import tables
from attnviz.core.scenario import Scenario
from attnviz.core.stages import Stage
from attnviz.core.text import visible
from attnviz.core.trace import Trace

MAX_COST = 1_000_000  # of the arithmetic of all cells; beyond, cells keep their numbers alone
CELL_COST = 20  # of a cell's words beside its operands, in operands
MAX_CELLS = 60_000  # on the page; larger arrays are left out, with a sentence
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_KEYS = (
    "Click or hover a cell for its arithmetic. Keys: n and p (or → and ←) for the next and the "
    "previous step, Tab into a table, arrows from cell to cell, Escape to let go."
)


def write_handout(trace: Trace, scenario: Scenario | None, key: str) -> bytes:
    """A page with every table and step; a click, a key or the pointer explains any cell."""
    tokens = " ".join(map(visible, trace.tokens))
    stages = {stage.key: stage for stage in trace.stages}
    order = [*(k for k in trace.values.arrays if k not in stages), *stages]
    first = tuple(dict.fromkeys(("attention", trace.result, *stages, *order)))
    drawn = _fitting({name: trace[name].size for name in first}, MAX_CELLS)
    costs = {name: _cost(trace, name) for name in first if name in drawn}
    told = _shares(costs, {name: trace[name].size for name in costs}, MAX_COST)
    bare = [trace.info(n).symbol for n in order if n in drawn and not told[n]]
    partly = [n for n in order if n in drawn and 0 < told[n] < trace[n].size]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Attention: {escape(tokens[:80])}</title>",
        f"<style>{_asset('handout.css')}</style></head><body>",
        f"<h1>Attention, step by step: <bdi>{escape(tokens[:2000])}</bdi></h1>",
        f'<p id="keys">{_KEYS}</p>',
        "<p>Rows are queries, columns are keys; tables are used as x · W.</p>",
    ]
    if bare:
        parts.append(
            f"<p>There is no arithmetic behind the cells of {escape(', '.join(bare))}, which "
            "would be too much for a page.</p>"
        )
    if partly:
        firsts = ", ".join(f"{trace.info(n).symbol} ({told[n]:,})" for n in partly)
        parts.append(f"<p>Arithmetic stands behind the first cells of {escape(firsts)} only.</p>")
    parts += [_section(trace, n, stages.get(n), told.get(n)) for n in order]
    says = "Click a cell." if any(told.values()) else ""
    parts.append(f'<div id="says" role="status" aria-live="polite">{says}</div>')
    parts.append(f"<script>{_asset('handout.js')}</script></body></html>\n")
    return "\n".join(parts).encode("utf-8", "xmlcharrefreplace")


def _fitting(costs: Mapping[str, int], room: int) -> set[str]:
    """Those, the first ones above all, that cost no more together than there is room for."""
    found: set[str] = set()
    for name, cost in costs.items():
        if cost <= room:
            found.add(name)
            room -= cost
    return found


def _shares(costs: Mapping[str, int], sizes: Mapping[str, int], room: int) -> dict[str, int]:
    """How many cells of each array are explained: all where there is room, else an equal share."""
    whole = _fitting(costs, room)
    rest = [name for name in costs if name not in whole]
    room -= sum(costs[name] for name in whole)
    part = {name: room // len(rest) * sizes[name] // costs[name] for name in rest}
    return {name: sizes[name] if name in whole else part[name] for name in costs}


def _cost(trace: Trace, key: str) -> int:
    """What the arithmetic of all cells of an array costs, in operands."""
    array = trace[key]
    if array.dtype.kind == "b":
        return 0
    return int(array.size) * (CELL_COST + len(trace.explain(key).operands))


def _asset(name: str) -> str:
    return files("attnviz.files.exports").joinpath(name).read_text("utf-8")


def _section(trace: Trace, key: str, stage: Stage | None, explained: int | None) -> str:
    """One array; `explained` of its cells with their arithmetic, None where it is left out."""
    info, array = trace.info(key), trace[key]
    shape = " × ".join(map(str, array.shape))
    step = " data-step" if stage is not None else ""
    parts = [f"<section{step}><h2>{escape(info.title)} {escape(info.symbol)}, {shape}</h2>"]
    if stage is not None:
        detail = stage.detail(trace.values)
        made = "" if stage.formula[0] == info.symbol else f" = {stage.formula[0]}"
        formula = escape(f"{info.symbol}{made}{f', {detail}' if detail else ''}")
        parts.append(f'<p><span class="formula">{formula}</span><br>{escape(stage.what)} ')
        parts.append(f'<span class="why">{escape(stage.why)}</span></p>')
    if explained is None:
        return "".join([*parts, "<p>Too large for this page.</p></section>"])
    first = 0 if array.dtype.kind == "b" else explained
    told = partial(_explained, trace, key, first)
    return "".join([*parts, f'<div class="tables">{tables(trace, key, told)}</div></section>'])


def _explained(trace: Trace, key: str, first: int, index: tuple[int, ...]) -> str:
    """What a cell's tag holds for the script: title and arithmetic, of so many cells."""
    if np.ravel_multi_index(index, trace[key].shape) >= first:
        return ""
    head = index[0] if trace.has_heads(key) else None
    row, col = (0, 0, *index[head is not None :])[-2:]
    found = trace.explain(key, head, row, col)
    words = "\n".join(part for part in (found.text(None), found.note) if part)
    return f' tabindex="0" data-t="{escape(found.title)}" data-e="{escape(words)}"'
