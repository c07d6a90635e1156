"""Other sizes: what still overlaps is kept, the rest is filled from the seed."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from attnviz.core.arrays import Array, frozen
from attnviz.core.cells import Change, editable
from attnviz.core.draw import drawn, shape_of
from attnviz.core.errors import AttnvizError, LimitError, ScenarioError, ShapeError, check_names
from attnviz.core.follow import follow_sizes
from attnviz.core.model import MAX_HEADS, Params, Sizes, check_size
from attnviz.core.run import check_count
from attnviz.core.scenario import Scenario
from attnviz.core.stages import TABLES


def resize(scenario: Scenario, **sizes: int | None) -> Change:
    """Other sizes: what still overlaps is kept, the rest is filled from the seed.

    With a second text its width stays when only d_model changes.

    Args:
        scenario: the scenario to change.
        sizes: any fields of `Sizes`.

    Raises:
        LimitError, ShapeError: an illegal size; the sentence gives the nearest legal ones.
        ScenarioError: no such size.
    """
    check_names(sizes, [item.name for item in fields(Sizes)], "size")
    for name, value in sizes.items():
        if value is not None:
            check_size(name, value, _legal(scenario.sizes, name) if len(sizes) == 1 else ())
    old, new = scenario.sizes, _new_sizes(scenario, sizes)
    if new.kv_heads == new.n_heads:
        new = replace(new, n_kv_heads=None)
    if new.context_width == new.d_model:
        new = replace(new, d_context=None)
    if new.d_context is not None and scenario.context_text is None:
        raise ScenarioError("there is no second text whose width it could be", where="d_context")
    if new == old:
        return scenario, ""
    if scenario.params.w_o is None and new.d_out != old.d_out:
        raise ScenarioError("there is no output projection whose width it could be", where="d_out")
    notes: list[str] = []
    seen = editable(scenario)
    tables = {
        name: _refit(scenario, name, old_table, new, notes if name in seen else [])
        for name, old_table in scenario.params.tables().items()
    }
    what = ", ".join(
        f"{name} {_effective(old, name)} → {_effective(new, name)}"
        for name in sizes
        if _effective(old, name) != _effective(new, name)
    )
    changed = follow_sizes(scenario, replace(scenario, params=Params(**tables)), notes)
    if new.d_model != old.d_model and "x" in seen and len(changed.x_edits) == len(scenario.x_edits):
        fresh = new.d_model - old.d_model
        more = f" and gets {fresh} new from seed {scenario.seed}" if fresh > 0 else ""
        notes.append(f"X keeps its {'first ' if fresh < 0 else ''}columns{more}")
    told = f"{what}. {'; '.join(notes)}." if notes else f"{what}."
    return changed, f"{told} Undo brings the old sizes back."


def _legal(sizes: Sizes, name: str) -> Sequence[int]:
    """The values of a number of heads that go with the other one; nothing for other sizes."""
    shared = sizes.n_kv_heads or 1
    if name == "n_heads":
        return range(shared, MAX_HEADS + 1, shared)
    if name == "n_kv_heads":
        return [n for n in range(1, sizes.n_heads + 1) if sizes.n_heads % n == 0]
    return ()


def _effective(sizes: Sizes, name: str) -> int:
    """A size as a number, also where None stands for that of another."""
    also = {"n_kv_heads": sizes.kv_heads, "d_context": sizes.context_width}
    return also.get(name) or int(getattr(sizes, name))


def _new_sizes(scenario: Scenario, changed: Mapping[str, int | None]) -> Sizes:
    """The sizes after a change, checked with the number of tokens."""
    old = {item.name: getattr(scenario.sizes, item.name) for item in fields(Sizes)}
    if scenario.context_text is not None:
        old["d_context"] = scenario.sizes.context_width
    n_tokens = max(len(scenario.tokens), len(scenario.key_tokens))

    def made(**sizes: int | None) -> Sizes:
        new = Sizes(**(old | sizes))
        check_count(n_tokens, new.n_heads)
        return new

    try:
        return made(**changed)
    except ShapeError as error:
        name, wanted = next(iter(changed.items()))
        legal = _legal(scenario.sizes, name)
        if wanted is None or len(changed) != 1 or not legal:
            raise
        nearest = sorted(sorted(legal, key=lambda n: abs(n - wanted))[:2])
        raise ShapeError(
            error.message,
            where=name,
            expected=f"a multiple of {legal[0]}" if name == "n_heads" else error.expected,
            got=str(wanted),
            hint=f"The nearest legal values are {' and '.join(map(str, nearest))}.",
        ) from error
    except LimitError as error:
        if len(changed) != 1:
            raise
        [(name, value)] = changed.items()
        for smaller in range((value or 1) - 1, 0, -1):
            try:
                made(**{name: smaller})
            except AttnvizError:
                continue
            raise LimitError(
                f"too much for the other sizes and the text: {error.message}",
                where=name,
                expected=f"at most {smaller}",
                got=str(value),
                hint=f"The nearest legal value is {smaller}.",
            ) from error
        raise


def _refit(scenario: Scenario, name: str, table: Array, sizes: Sizes, notes: list[str]) -> Array:
    """A table in its new shape; notes get what was kept and what is new."""
    old_shape, shape = shape_of(name, scenario.sizes), shape_of(name, sizes)
    if shape == old_shape:
        return table
    new = drawn(name, scenario.seed, sizes).reshape(shape)
    overlap = tuple(slice(0, min(a, b)) for a, b in zip(old_shape, shape, strict=True))
    new[overlap] = table.reshape(old_shape)[overlap]
    kept = int(np.prod([s.stop for s in overlap]))
    fresh = new.size - kept
    note = f"{TABLES[name].symbol} keeps {kept} of {table.size} cells"
    notes.append(note + (f" and gets {fresh} new from seed {scenario.seed}" if fresh else ""))
    return frozen(new.reshape(-1, sizes.d_out) if name == "w_o" else new)
