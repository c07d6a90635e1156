"""A chain: matrices one after the other that lead to the result, with signs between them."""

from collections.abc import Sequence

from attnviz.figures.blocks import Parts
from attnviz.figures.fit import SIDE, Cells, band, joined, names_width, spread
from attnviz.figures.places import sums_width
from attnviz.figures.sheet import GAP, Arranged, Boxes, Sheet, Word, fitting, width_of
from attnviz.figures.view import Sizes, View

UNDER = GAP / 2  # px between matrices that stand under each other


def chain(parts: Parts, view: View, sizes: Sizes, cells: Cells, must: bool) -> Arranged | None:
    """A chain in px; None where such cells have no room.

    Args:
        parts: the matrices.
        view: how they are shown.
        sizes: of letters.
        cells: how cells are drawn.
        must: whether they have to do with any room.
    """
    return fitting(lambda letters: _Line(parts, view, letters, cells, must), sizes)


def _stacks(parts: Parts, transposed: bool) -> list[list[int]]:
    """Which panels stand under each other: where tokens are columns, what is put together."""
    last = len(parts.operands)
    if not transposed:
        return [[index] for index in range(last + 1)]
    if parts.sign == "|":
        return [list(range(last)), [last]]
    stacks: list[list[int]] = []
    for index, panel in enumerate((*parts.operands, parts.result)):
        if stacks and index < last and parts.steps[index] and len(panel.rows) == 1:
            stacks[-1].append(index)
        else:
            stacks.append([index])
    return stacks


class _Line:
    """First the widths of the stacks' cells, then the one height that all cells have."""

    def __init__(self, parts: Parts, view: View, sizes: Sizes, cells: Cells, must: bool) -> None:
        self.sheet = Sheet(parts, view, sizes, cells)
        self.parts, self.view, self.sizes, self.must = parts, view, sizes, must
        self.panels = self.sheet.panels
        self.stacks = _stacks(parts, view.transposed)
        self.firsts = [self.panels[stack[0]] for stack in self.stacks]
        self.titles = [width_of(panel.title, sizes.title, True) for panel in self.panels]
        self.sign = width_of(parts.sign, sizes.title, True) + 2 * GAP
        self.sign = min(self.sign, view.width / 4 / len(self.stacks))
        self.height = 0.0

    @property
    def heights(self) -> list[float]:
        """Px of the rows that have names."""
        return [self.height]

    def _joins(self, stack: Sequence[int]) -> bool:
        """Whether a stack is one matrix over another, each with its name at its side."""
        return len(stack) > 1 and self.parts.sign == "|"

    def columns(self) -> bool:
        """Find the widths of cells, and of the slots that they and their words have."""
        sheet, sizes, firsts = self.sheet, self.sizes, self.firsts
        self.before, self.after = [], []
        for place, stack in enumerate(self.stacks):
            before = self.sign if place else 0.0
            if place == 0 or firsts[place].rows != firsts[place - 1].rows:
                before += max(names_width(self.panels[index], sizes) for index in stack)
            self.before.append(before)
            aside = stack if self._joins(stack) else stack[1:]
            self.after.append(max((self.titles[index] + GAP for index in aside), default=0.0))
            self.after[place] += sums_width(self.panels[stack[-1]], sizes.detail, sizes)
        room = self.view.width - sum(self.before) - sum(self.after) - GAP
        counts = [len(first.columns) for first in firsts]
        ends = [joined(*map(sheet.wide, stack)) for stack in self.stacks]
        if self.parts.sign == "|":  # the same cells as in the result, so as wide as there
            low, high = map(min, zip(*ends, strict=True))
            bare = [not sheet.numbered(stack[0]) for stack in self.stacks]
            leasts = [low if b else least for b, (least, _) in zip(bare, ends, strict=True)]
            ends = [(least, max(least, high)) for least in leasts]
        needs = [sheet.block(first)[0] for first in firsts]
        wanted_all = [n * wanted for n, (_, wanted) in zip(counts, ends, strict=True)]
        if sum(map(max, needs, wanted_all)) > room:
            needs = [self.titles[stack[0]] for stack in self.stacks]
        for needed in (needs, [0.0] * len(needs)):  # at worst, words that do not fit are left out
            extra = 0.0
            for _ in range(3):
                widths = spread(counts, ends, room - extra, self.must)
                if widths is None:
                    return False
                self.widths = widths
                self.owns = [n * width for n, width in zip(counts, widths, strict=True)]
                self.slots = list(map(max, self.owns, needed))
                extra = sum(self.slots) - sum(self.owns)
            if sum(self.slots) <= room + 1:
                return True
            if not self.must:
                return False
        return True

    def rows(self) -> bool:
        """Find the height of cells."""
        sheet, numbered = self.sheet, self.sheet.cells.numbered
        bands = map(band, self.firsts, self.widths, [self.sizes] * len(self.stacks))
        self.top = sheet.top + sheet.title + sheet.detail + max(bands)
        under_cells = self.view.transposed and any(panel.sums for panel in self.panels)
        self.foot = sheet.detail * (1 + under_cells)
        rows = [sum(len(self.panels[index].rows) for index in stack) for stack in self.stacks]
        self.n_rows = max(rows)
        self.gaps = UNDER * (max(map(len, self.stacks)) - 1)
        if any(numbered):
            ends = joined(*(sheet.high(index) for index, shown in enumerate(numbered) if shown))
        else:
            ends = 0.5, min(sheet.cells.height, SIDE / self.n_rows)
        room = sheet.limit - self.top - self.foot - sheet.foot - self.gaps
        found = spread([self.n_rows], [ends], room, self.must)
        if found is not None:
            self.height = found[0]
        return found is not None

    def place(self) -> Arranged:
        """Put everything where it belongs."""
        sheet, sizes, sign = self.sheet, self.sizes, self.parts.sign
        boxes: Boxes = {}
        words: list[Word] = []
        x, bottom = 0.0, self.top
        middle = self.top + (self.n_rows * self.height + self.gaps - sheet.title) / 2
        for place, stack in enumerate(self.stacks):
            if place and 0 < width_of(sign, sizes.title, True) <= self.sign:
                mark = "=" if place == len(self.stacks) - 1 and sign != "→" else sign
                words.append(Word(mark, x + self.sign / 2, middle, sizes.title, True, True))
            x += self.before[place]
            own, slot = self.owns[place], self.slots[place]
            left, y = x + (slot - own) / 2, self.top
            for index in stack:
                end = y + len(self.panels[index].rows) * self.height
                boxes[index] = (left, y, self.widths[place], self.height)
                if index != stack[0] or self._joins(stack):
                    at = (y + end - sheet.title) / 2
                    title = self.panels[index].title
                    words.append(Word(title, left + own + UNDER, at, sizes.title, True))
                y = end + UNDER
            bottom = max(bottom, y - UNDER)
            words += self._said(stack, x + slot / 2, max(slot, own + self.sign / 2), y - UNDER)
            x += slot + self.after[place]
        order = [index for stack in self.stacks for index in stack]
        return sheet.finish(boxes, order, words, x, bottom + self.foot)

    def _said(self, stack: Sequence[int], middle: float, room: float, end: float) -> list[Word]:
        """The words over and under a stack, as far as there is room."""
        sheet, sizes = self.sheet, self.sizes
        first, last = self.panels[stack[0]], self.panels[stack[-1]]
        words = [sheet.detailed(first.subtitle, middle, sheet.top + sheet.title)]
        if not self._joins(stack):
            words.append(Word(first.title, middle, sheet.top, sizes.title, True, True))
        if not self._joins(stack) and not last.sums:
            mine = last is self.parts.result
            words.append(Word(last.extent, middle, end + 2, sizes.detail, False, True, mine))
        return [word for word in words if width_of(word.text, word.size, word.title) <= room + 1]
