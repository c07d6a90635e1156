"""What is typed and chosen on the page, as changes of a scenario; plain Python."""

from collections.abc import Mapping

from attnviz.core import NumberError, Scenario, edit
from attnviz.core.arrays import Array
from attnviz.core.config import CHOICES, Choice, Config
from attnviz.core.numbers import parse_number

# Tables that are there for every text, and have a part once something is set -> where it is kept.
HELD = {"bias": "bias_edits", "mask": "hidden", "keep": "padding"}
_AT = edit.TABLE_ORDER.index("bias") + 1
TABLES = (*edit.TABLE_ORDER[:_AT], "mask", *edit.TABLE_ORDER[_AT:])
_DEFAULT = Config()


def holds(scenario: Scenario, table: str) -> bool:
    """Whether something is set in a table of `OPTIONAL`, switched off or not."""
    if table in HELD:
        return bool(getattr(scenario, HELD[table]))
    return table in scenario.params.tables()


def numbers(scenario: Scenario, table: str) -> Array | None:
    """A table to edit, whether it has a part or not; the mask as 1 (may attend) and 0."""
    return scenario.mask.astype(float) if table == "mask" else scenario.tables().get(table)


def set_cells(
    scenario: Scenario, table: str, head: int | None, cells: Mapping[tuple[int, int], float]
) -> edit.Change:
    """New numbers in cells (row, column) of an editor; the mask takes 1 and 0."""
    if table == "mask":
        return edit.set_mask(scenario, {at: bool(value) for at, value in cells.items()})
    front = () if head is None else (head,)
    n_axes = scenario.tables()[table].ndim - len(front)  # 1 for a list, edited as one row
    indexed = {(*front, *at[2 - n_axes :]): value for at, value in cells.items()}
    return edit.set_cells(scenario, table, indexed)


def set_variant(scenario: Scenario, name: str, chosen: object) -> edit.Change:
    """A field of `Config` as a widget gives it: a number is a text, and none the default.

    Raises:
        AttnvizError: nothing that can be chosen; the sentence names the choice.
    """
    choice, note = CHOICES[name], ""
    if choice.kind in ("number", "whole"):
        chosen, note = _typed_number(choice, str(chosen), getattr(_DEFAULT, name))
    changed, said = edit.set_config(scenario, **{name: choice.check(choice.label, chosen)})
    return changed, " ".join(filter(None, (note, said)))


def _typed_number(choice: Choice, typed: str, default: object) -> tuple[object, str]:
    if not typed.strip():
        return default, ""
    try:
        parsed = parse_number(typed)
    except NumberError as error:
        raise NumberError(error.message, where=choice.label, hint=error.hint) from error
    return parsed.value, f"{choice.label}: {parsed.note}." if parsed.note else ""
