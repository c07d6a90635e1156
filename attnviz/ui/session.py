"""What one visitor's page holds, and how it changes; plain Python without Streamlit."""

import secrets
from dataclasses import dataclass, field

import numpy as np

from attnviz.core import PRESETS, Scenario, Trace, edit, run
from attnviz.core.config import OPTIONAL
from attnviz.core.expr import Cell
from attnviz.core.model import HEAD_AXES
from attnviz.core.ops import head_of
from attnviz.core.presets import WALKTHROUGH
from attnviz.core.stages import ROWS
from attnviz.figures import Spec, View
from attnviz.ui.editor import Editor
from attnviz.ui.held import Draft, Upload
from attnviz.ui.inputs import TABLES, holds, numbers

MAX_HISTORY = 200
ROOMY_HEADS, ROOMY_TOKENS = 2, 4  # up to here all heads are shown in full


@dataclass
class Session:
    """One visitor's page.

    Args:
        scenario, trace: what is shown, and its computation: always the last good one.
        past, future: for undo and redo.
        revisions: for each table how often its editor had to begin anew.
        editors: the editors on the page, by key.
        refused: the one sentence on a change that was not made; refused_at: the widget of the
            side bar that asked for it.
        notes: sentences on what a change did.
        draft: a text that was refused and still stands in its field.
        draft_is_last: whether nothing was changed since.
        opened: those of `HELD` that a person has opened, before anything is set there.
        chosen: the cell whose arithmetic is open; trail: the cells on the way to it.
        transposable: a square table just pasted, that may be meant the other way round.
        side_shows: what the side bar showed when it was drawn last; see `side`.
        tools_show, body_shows: the same of the tool bar and of the tables.
        shown_heads: the heads that are shown in full.
        turn: how often another state was put on the page.
        room: width of the pictures and height of the page, in px, as the browser tells.
        head: the head that was looked at last.
        aim: row and column of the cell that was chosen last, which a step may be too small for.
        revealed: how many rows of the step's result are shown, None for all.
        token: the token whose rows are marked and read out.
        pinned: the scenario to compare with, and its computation.
        ready: what the last ready-made comparison began with, and its B.
        linked, linked_pinned: a scenario and its part of the address.
        address: what stands in the address bar, and since when; shown_as: what the page gives.
        uploads: how many files were taken; each begins its field anew.
        found: the file whose tables are looked at.
        visit: tells it apart from that of another server or of an earlier connection.
        pictures: what was drawn last of what, so that a click draws nothing anew.
    """

    scenario: Scenario
    trace: Trace
    chosen: Cell
    past: list[Scenario] = field(default_factory=list)
    future: list[Scenario] = field(default_factory=list)
    revisions: dict[str, int] = field(default_factory=dict)
    editors: dict[str, Editor] = field(default_factory=dict)
    refused: str = ""
    refused_at: str = ""
    notes: tuple[str, ...] = ()
    draft: Draft | None = None
    draft_is_last: bool = False
    opened: frozenset[str] = frozenset()
    trail: tuple[Cell, ...] = ()
    transposable: tuple[str, int | None] | None = None
    side_shows: tuple[object, ...] = ()
    tools_show: tuple[object, ...] = ()
    body_shows: tuple[object, ...] = ()
    shown_heads: list[int] = field(default_factory=list)
    turn: int = 0
    room: tuple[int, int] = (1144, 900)
    head: int = 0
    aim: tuple[int, int] | None = None
    revealed: int | None = None
    token: int | None = None
    pinned: tuple[Scenario, Trace] | None = None
    ready: tuple[Scenario, Scenario] | None = None
    linked: tuple[Scenario, dict[str, str]] | None = None
    linked_pinned: tuple[Scenario, dict[str, str]] | None = None
    address: dict[str, str] | None = None
    shown_as: dict[str, str] | None = None
    addressed_at: float = 0.0
    uploads: int = 0
    found: Upload | None = None
    visit: str = field(default_factory=lambda: secrets.token_hex(8))
    pictures: dict[str, tuple[tuple[Trace, View, int | None], Spec]] = field(default_factory=dict)

    @classmethod
    def new(cls) -> "Session":
        """The walkthrough, as the page opens."""
        scenario = PRESETS[WALKTHROUGH]
        trace = run(scenario)
        return cls(scenario, trace, opening_cell(trace), head=scenario.sizes.n_heads - 1)

    @property
    def problem(self) -> str:
        """The one sentence on what is not as it was asked for; empty when all is well."""
        return self.refused or (str(self.draft.error) if self.draft and self.waiting else "")

    @property
    def hint(self) -> bool:
        """Whether the problem is no mistake, such as an empty text."""
        return not self.refused and self.waiting and self.draft is not None and self.draft.hint

    @property
    def waiting(self) -> bool:
        """Whether a refused text is the last that was done, so that undo takes it back."""
        return self.draft is not None and self.draft_is_last

    @property
    def query(self) -> int:
        """The query that is looked at: the chosen token, else the row of the chosen cell."""
        if self.token is not None:
            return self.token
        places = dict(zip(self.trace.axes(self.chosen.key), self.chosen.index, strict=True))
        return places.get("query", places.get("token", 0))

    def side(self) -> tuple[object, ...]:
        """What the side bar is to show."""
        now = self.scenario
        switched = tuple(map(self.is_on, OPTIONAL))
        texts = (now.preset, now.text, now.context_text, now.tokenizer, self.draft)
        picture = now.image is not None, self.revisions.get("picture", 0)
        refused = self.refused if self.refused_at else ""
        return (*texts, *picture, now.sizes, now.seed, now.config, now.padding, switched, refused)

    def tools(self, *settings: object) -> tuple[object, ...]:
        """What the tool bar is to show; settings: what widgets add to it."""
        ways = bool(self.past or self.waiting), bool(self.future)
        sizes, names = self.scenario.sizes, self.shown_tables()
        return (*ways, sizes, names, self.room, self.near_head, *settings)

    def tables(self) -> tuple[object, ...]:
        """What the tables are to show."""
        return self.turn, tuple(self.revisions.items())

    @property
    def table_head(self) -> int:
        """The head whose tables are shown: the one that is large, or that of the chosen cell."""
        return self.near_head if len(self.shown_heads) != 1 else self.shown_heads[0]

    @property
    def near_head(self) -> int:
        """The head whose tables go with the chosen cell: that looked at last, if it has a part."""
        own = heads_of(self.trace, self.chosen)
        return self.head if self.head in own else own[0]

    def is_on(self, table: str) -> bool:
        """Whether a table of `OPTIONAL` is there to be edited or has a part."""
        return table not in self.scenario.config.off and (
            table in self.opened or holds(self.scenario, table)
        )

    def shown_tables(self) -> tuple[str, ...]:
        """The tables to edit, in the order of the computation."""
        found = {*edit.editable(self.scenario), *filter(self.is_on, ("bias", "mask"))}
        return tuple(name for name in TABLES if name in found)

    def quiet(self) -> None:
        """Forget the sentences on earlier changes."""
        self.refused, self.refused_at, self.notes, self.transposable = "", "", (), None

    def take(self, changed: edit.Change, typed_into: str = "") -> None:
        """Go on with a changed scenario, and remember the way back.

        Args:
            changed: the scenario and the sentence on what changed.
            typed_into: the table whose own editor made the change and already shows it.

        Raises:
            AttnvizError: it cannot be computed; the old state stays.
        """
        scenario, note = changed
        trace = run(scenario)
        if note:
            self.notes += (note,)
        self.draft_is_last = False
        if not scenario.same(self.scenario):
            self.past = [*self.past[-MAX_HISTORY + 1 :], self.scenario]
            self.future = []
        self.show(scenario, trace, typed_into)

    def undo(self) -> None:
        """Back to the scenario before the last change."""
        if self.waiting:
            self.quiet()
            self.draft, self.notes = None, ("Undone.",)
        elif self.past:
            self.future.append(self.scenario)
            self._go(self.past.pop(), "Undone.")

    def redo(self) -> None:
        """Forward again after undo."""
        if self.future:
            self.past.append(self.scenario)
            self._go(self.future.pop(), "Done again.")

    def _go(self, scenario: Scenario, note: str) -> None:
        self.quiet()
        self.notes = (note,)
        old = self.scenario
        if (scenario.text, scenario.context_text) != (old.text, old.context_text):
            self.draft = None
        self.show(scenario, run(scenario))

    def show(self, scenario: Scenario, trace: Trace, typed_into: str = "") -> None:
        """Put another state on the page; editors of tables that changed begin anew."""
        for table in TABLES:
            if table != typed_into and not _same_table(self.scenario, scenario, table):
                self.begin_anew(table)
        if trace.tokens != self.trace.tokens:
            self.token = None
        self.scenario, self.trace = scenario, trace
        self.turn += 1
        self.head = min(self.head, scenario.sizes.n_heads - 1)
        self.revealed = None
        self.chosen = still(trace, self.chosen) or opening_cell(trace)
        kept = (still(trace, cell) for cell in self.trail)
        self.trail = tuple(cell for cell in kept if cell is not None)

    def begin_anew(self, table: str) -> None:
        """Let the editors of a table forget what was typed and show the table as it is."""
        self.revisions[table] = self.revisions.get(table, 0) + 1

    def choose(self, cell: Cell, *, deeper: bool = False) -> None:
        """Open the arithmetic of a cell; `deeper` keeps the way back."""
        found = still(self.trace, cell)
        if found is None:
            return
        self.trail = (*self.trail, self.chosen) if deeper else ()
        self.chosen = found
        self.aim = place(found)[1:]
        if self.trace.axes(found.key)[0] == "head":
            self.head = found.index[0]
        self.quiet()

    def look_at(self, head: int) -> None:
        """Open a cell of this head, when the open one belongs to a head that is not shown."""
        self.head = head
        if head not in heads_of(self.trace, self.chosen):
            self.chosen, self.trail = opening_cell(self.trace, head), ()

    # Step by step: the step is the stage of the chosen cell.

    @property
    def step(self) -> int:
        """The place of the chosen cell's stage; a table belongs to the stage that reads it."""
        key, stages = self.chosen.key, self.trace.stages
        for step, stage in enumerate(stages):
            if stage.key == key:
                return step
        readers = (key in stage.op.inputs(self.trace.values) for stage in stages)
        return next((step for step, reads in enumerate(readers) if reads), 0)

    def go_to(self, step: int, head: int | None = None) -> None:
        """Open the same place in another stage, or another head."""
        stages, (row, col) = self.trace.stages, self.aim or place(self.chosen)[1:]
        key = stages[min(max(step, 0), len(stages) - 1)].key
        self.head = self.head if head is None else head % self.scenario.sizes.n_heads
        array = self.trace[key]
        own = head_of(array, self.head, self.scenario.sizes.n_heads) if array.ndim == 3 else None
        rows, columns = array.shape[-2:]
        at = self.trace.index(key, own, min(row, rows - 1), min(col, columns - 1))
        self.choose(self.trace.cell(key, at))
        self.aim, self.revealed = (row, col), None

    def reveal(self) -> None:
        """Show one row more of the step's result, with its arithmetic; after the last one, none."""
        rows = self.trace[self.trace.stages[self.step].key].shape[-2]
        shown = rows if self.revealed is None else self.revealed
        revealed = 0 if shown >= rows else shown + 1
        *head, _, col = self.chosen.index
        self.choose(self.trace.cell(self.chosen.key, (*head, max(revealed - 1, 0), col)))
        self.revealed = revealed

    def back_to(self, place: int) -> None:
        """Back along the way to an earlier cell."""
        self.chosen, self.trail = self.trail[place], self.trail[:place]


def opening_cell(trace: Trace, head: int = -1) -> Cell:
    """The largest weight of the second query of a head, the last one as a rule."""
    weights = trace["attention"]
    head, row = head % len(weights), min(1, weights.shape[1] - 1)
    return trace.cell("attention", (head, row, int(weights[head, row].argmax())))


def still(trace: Trace, cell: Cell) -> Cell | None:
    """The same cell in a trace, or None where there is none."""
    if cell.key not in trace:
        return None
    shape = trace[cell.key].shape
    inside = len(shape) == len(cell.index) and all(
        0 <= i < n for i, n in zip(cell.index, shape, strict=True)
    )
    return trace.cell(cell.key, cell.index) if inside else None


def heads_of(trace: Trace, cell: Cell) -> range:
    """The query heads that a cell belongs to: one, those that share a key head, or all."""
    n_heads = len(trace["attention"])
    if not trace.has_heads(cell.key):
        return range(n_heads)
    share = n_heads // len(trace[cell.key])
    return range(cell.index[0] * share, (cell.index[0] + 1) * share)


def roomy(trace: Trace) -> bool:
    """Whether there is room for all heads in full."""
    n_tokens = max(len(trace.tokens), len(trace.key_tokens))
    return len(trace["attention"]) <= ROOMY_HEADS and n_tokens <= ROOMY_TOKENS


def place(cell: Cell) -> tuple[int | None, int, int]:
    """A cell's head (None where it has none), row and column; a list is one row."""
    axes = ROWS[cell.key].axes
    has_head = axes[0] in HEAD_AXES or len(cell.index) > len(axes)
    *rows, column = cell.index[has_head:]
    return cell.index[0] if has_head else None, rows[0] if rows else 0, column


def _same_table(old: Scenario, new: Scenario, table: str) -> bool:
    """Whether an editor would show the same: numbers, and names of rows and columns."""
    before, after = numbers(old, table), numbers(new, table)
    if before is None or after is None:
        return before is after
    names = {"token": "tokens", "query": "tokens", "key": "key_tokens"}
    axes = [names[axis] for axis in ROWS[table].axes if axis in names]
    return np.array_equal(before, after) and all(
        getattr(old, axis) == getattr(new, axis) for axis in axes
    )
