"""What the address bar says of the page, and back; plain Python without Streamlit.

A small state is in the address itself, a larger one in a folder under a short id. What is as by
default has no part, so the page opens with a bare address.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from attnviz.core import PRESETS, AttnvizError, LimitError, Scenario
from attnviz.core.expr import Cell
from attnviz.core.presets import WALKTHROUGH
from attnviz.core.stages import STAGES
from attnviz.figures.palettes import DEFAULT_PALETTE, PALETTES
from attnviz.files import store
from attnviz.files.link import MAX_LENGTH, decode, encode
from attnviz.files.packed import pack, packed_size, unpack
from attnviz.ui.session import Session, opening_cell, place, still

# What a person set beside the scenario -> what it can be; the first is how the page opens.
SETTINGS: Mapping[str, tuple[str | bool, ...]] = {
    "view": ("Explore", "Step by step", "Compare", "Heads", "Take away"),
    "presenting": (False, True),
    "decimals": ("2", "3", "4", "5", "6", "all"),
    "palette": (DEFAULT_PALETTE, *(name for name in PALETTES if name != DEFAULT_PALETTE)),
    "cell_text": (True, False),
    "tokens_as": ("rows", "columns"),
    "cameras": (False, True),
    "camera": ("PNG", "SVG"),
    "compared": ("attention", *(row.key for row in STAGES if row.key != "attention")),
}
UNSEEN = ("cameras", "camera", "compared")  # those whose widgets most views do not have
ALL = "all"
LINK, KEPT = "s", "id"  # a state itself, or what it is kept under
PINNED_LINK, PINNED_KEPT = "a", "aid"  # the same of the state to compare with
MAX_PINNED = 1500  # letters of that one, so that both fit into an address
PLACE = ("cell", "head", "heads", "token", "rows")
OURS = (LINK, KEPT, PINNED_LINK, PINNED_KEPT, *SETTINGS, *PLACE)
NOT_KEPT = (
    "This state is too large for the address bar, and a reload loses it; Take away can save it."
)
_CELL = re.compile(r"([a-z0-9_]{1,20})((?:\.[0-9]{1,5}){1,3})")


@dataclass
class Opened:
    """What an address asks for.

    Args:
        scenario: None where it could not be opened.
        settings: of `SETTINGS`.
        heads: which heads are shown in full, "all" or a number from one on; empty for as usual.
        head, token: from zero on.
        rows: how many rows of the step are shown, None for all.
        parts, pinned_parts: the parts of the address that gave the scenarios.
        pinned: the state to compare with.
        problem: a sentence on what could not be read.
    """

    scenario: Scenario | None
    settings: dict[str, str | bool] = field(default_factory=dict)
    heads: str = ""
    head: int | None = None
    cell: Cell | None = None
    token: int | None = None
    rows: int | None = None
    parts: dict[str, str] = field(default_factory=dict)
    pinned: Scenario | None = None
    pinned_parts: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def written(now: Session, setting: Callable[[str], object], heads: str = "") -> dict[str, str]:
    """The parts of the address.

    Args:
        now: the page; it remembers what its scenario gave.
        setting: gives the value of one of `SETTINGS`, None where it was never set.
        heads: which heads are shown in full, where that is not as usual.
    """
    if now.linked is None or now.linked[0] is not now.scenario:
        bare = now.scenario.same(PRESETS[WALKTHROUGH])
        now.linked = (now.scenario, {} if bare else link_parts(now, now.scenario, LINK, KEPT))
    parts = dict(now.linked[1])
    if now.pinned is not None:
        pinned = now.pinned[0]
        if now.linked_pinned is None or now.linked_pinned[0] is not pinned:
            found = link_parts(now, pinned, PINNED_LINK, PINNED_KEPT, MAX_PINNED)
            now.linked_pinned = (pinned, found)
        parts |= now.linked_pinned[1]
    for name, choices in SETTINGS.items():
        value = setting(name)
        if value is not None and value != choices[0]:
            parts[name] = _slug(value)
    if heads:
        parts["heads"] = heads
    opening = opening_cell(now.trace)
    if (now.chosen.key, now.chosen.index) != (opening.key, opening.index):
        parts["cell"] = ".".join(map(str, (now.chosen.key, *now.chosen.index)))
    if place(now.chosen)[0] is None and now.head != now.scenario.sizes.n_heads - 1:
        parts["head"] = str(now.head + 1)
    if now.token is not None:
        parts["token"] = str(now.token + 1)
    if now.revealed is not None:
        parts["rows"] = str(now.revealed)
    return parts


def link_parts(
    now: Session, scenario: Scenario, link: str, kept: str, most: int = MAX_LENGTH
) -> dict[str, str]:
    """A scenario as a link of at most so many letters, or as the id under which it is kept."""
    with suppress(LimitError):
        text = encode(scenario)
        if len(text) <= most:
            return {link: text}
    with suppress(OSError, LimitError):
        store.check_size(packed_size(scenario))
        return {kept: store.put(pack(scenario))}
    now.notes = (*now.notes, NOT_KEPT)
    return {}


def read(parts: Mapping[str, str]) -> Opened:
    """What `written` gave, typed or damaged by anyone; what cannot be read is told of."""
    opened = Opened(None)
    wrong: list[str] = []
    try:
        opened.scenario = _scenario(parts, LINK, KEPT) or PRESETS[WALKTHROUGH]
    except AttnvizError as error:
        wrong.append(f"This address cannot be opened: {error}")
    try:
        opened.pinned = _scenario(parts, PINNED_LINK, PINNED_KEPT)
    except AttnvizError as error:
        wrong.append(f"The state to compare with cannot be opened: {error}")
    for name, choices in SETTINGS.items():
        by_slug = {_slug(choice): choice for choice in choices}
        said = parts.get(name)
        if said is not None and said not in by_slug:
            wrong.append(_none(name, said))
        opened.settings[name] = by_slug.get(said or "", choices[0])
    if opened.scenario is not None:
        opened.parts = {name: parts[name] for name in (LINK, KEPT) if name in parts}
        pinned = (PINNED_LINK, PINNED_KEPT)
        opened.pinned_parts = {name: parts[name] for name in pinned if name in parts}
        _read_place(parts, opened, wrong)
    opened.problem = " ".join(wrong)
    return opened


def _read_place(parts: Mapping[str, str], opened: Opened, wrong: list[str]) -> None:
    heads = parts.get("heads", "")
    opened.heads = heads if heads == ALL or _number(heads) is not None else ""
    opened.head, opened.token = _number(parts.get("head")), _number(parts.get("token"))
    if re.fullmatch(r"[0-9]{1,4}", parts.get("rows", "")):
        opened.rows = int(parts["rows"])
    found = _CELL.fullmatch(parts.get("cell", ""))
    if found:
        index = tuple(map(int, found[2][1:].split(".")))
        opened.cell = Cell(found[1], index, 0.0)
    read = {name: getattr(opened, name) for name in PLACE}
    wrong += [_none(n, parts[n]) for n in PLACE if n in parts and read[n] in (None, "")]


def go_to(now: Session, opened: Opened) -> str:
    """Choose the place that an address asks for -> a sentence on what there is not, or "".

    What is not there is passed over: the place is then as the page opens.
    """
    last, words = now.scenario.sizes.n_heads - 1, len(now.trace.labels("attention")[1])
    cell = opened.cell and still(now.trace, opened.cell)
    now.head = last if opened.head is None else min(opened.head, last)
    now.choose(cell or opening_cell(now.trace))
    now.token = opened.token if opened.token is not None and opened.token < words else None
    rows = now.trace[now.trace.stages[now.step].key].shape[-2]
    now.revealed = None if opened.rows is None else min(opened.rows, rows)
    most = {"head": last, "token": words - 1}
    asked = {name: getattr(opened, name) for name in most}
    if opened.heads not in ("", ALL):
        most["heads"], asked["heads"] = last, int(opened.heads) - 1
    wrong = [
        _none(name, str(number + 1))
        for name, number in asked.items()
        if number is not None and number > most[name]
    ]
    if opened.cell is not None and cell is None:
        wrong.insert(0, _none("cell", ".".join(map(str, (opened.cell.key, *opened.cell.index)))))
    return " ".join(wrong)


def _none(name: str, said: str) -> str:
    return f"The address asks for {name} “{said[:40]}”; there is none."


def _scenario(parts: Mapping[str, str], link: str, kept: str) -> Scenario | None:
    if link in parts:
        return decode(parts[link])
    if kept in parts:
        return unpack(store.get(parts[kept]), store.WHERE)
    return None


def _number(text: str | None) -> int | None:
    """A place from zero on, of a number from one on."""
    return int(text) - 1 if text and re.fullmatch(r"[1-9][0-9]{0,4}", text) else None


def _slug(value: object) -> str:
    return str(value).lower().replace(" ", "-")
