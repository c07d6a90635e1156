"""What all equations share: words and their places, the names and ranges of their matrices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from attnviz.figures.blocks import Parts, written
from attnviz.figures.fit import LEADING, Cells, every, is_hall, max_height, upright, with_labels
from attnviz.figures.labels import text_width
from attnviz.figures.panel import Panel
from attnviz.figures.places import Placed
from attnviz.figures.view import Sizes, View

GAP = 14
Boxes = dict[int, tuple[float, float, float, float]]  # panel -> left, top, cell width and height


@dataclass(frozen=True)
class Word:
    """A line of words: its place is the upper left, or the middle of its upper end.

    Args:
        text: what it says.
        x, y: the place in px.
        size: of the letters.
        title: whether it is a name, in bold.
        center: whether x is its middle.
        range_of_result: whether it is the range of the result's numbers.
    """

    text: str
    x: float
    y: float
    size: int
    title: bool = False
    center: bool = False
    range_of_result: bool = False


@dataclass(frozen=True)
class Arranged:
    """A picture in px; the panels stand in the order of drawing, the result last.

    Args:
        placed: the panels.
        words: all words that do not belong to a panel's own axes.
        sizes: of letters, with labels as small as the rows ask for.
        steps: the places of panels that are steps in between.
        width, height: of the picture.
    """

    placed: tuple[Placed, ...]
    words: tuple[Word, ...]
    sizes: Sizes
    steps: frozenset[int]
    width: float
    height: int


def width_of(text: str, size: int, title: bool = False) -> float:
    """About how wide a line of words is, in px."""
    return text_width(text, size) * (1.1 if title else 1.0)


def _details(panel: Panel) -> list[str]:
    return [text for text in (panel.subtitle, panel.extent) if text]


def _lines(said: Sequence[str], view: View) -> list[str]:
    """What stands under the picture, in lines that it has room for."""
    size, room = view.sizes.detail, view.width
    whole = " · ".join(said)
    if width_of(whole, size) <= room:
        return [whole]
    lines = []
    for text in said:
        line = ""
        for word in text.split(" "):
            longer = f"{line} {word}".strip()
            if line and width_of(longer, size) > room:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


class Sheet:
    """What stands over and under the matrices, and how words are put together."""

    def __init__(self, parts: Parts, view: View, sizes: Sizes, cells: Cells) -> None:
        self.parts, self.view, self.sizes, self.cells = parts, view, sizes, cells
        self.panels = (*parts.operands, parts.result)
        self.title, self.detail = sizes.title * LEADING, sizes.detail * LEADING
        self.top = self.title + 8
        bare = view.cell_text and not all(cells.numbered)
        self.lines = _lines((*parts.said, *(["values on hover"] * bare)), view)
        self.foot = 6 + len(self.lines) * self.detail
        self.limit = max_height(sizes)

    def numbered(self, index: int) -> bool:
        return self.cells.numbered[index]

    def wide(self, index: int) -> tuple[float, float]:
        return self.cells.wide(self.panels[index], self.numbered(index), self.sizes.label)

    def high(self, index: int) -> tuple[float, float]:
        return self.cells.high(self.panels[index], self.numbered(index))

    def block(self, panel: Panel) -> tuple[float, float]:
        """The width and height of a panel's title with what is said of it under it."""
        said = _details(panel)
        widths = [width_of(text, self.sizes.detail) for text in said]
        width = max(width_of(panel.title, self.sizes.title, True), *widths, 0.0)
        return width, self.title + len(said) * self.detail

    def said(self, panel: Panel, x: float, y: float, center: bool = False) -> list[Word]:
        words = [Word(panel.title, x, y, self.sizes.title, True, center)]
        for line, text in enumerate(_details(panel)):
            below = y + self.title + line * self.detail
            ends = panel is self.parts.result and text == panel.extent
            words.append(Word(text, x, below, self.sizes.detail, False, center, ends))
        return words

    def detailed(self, text: str, middle: float, y: float) -> Word:
        return Word(text, middle, y, self.sizes.detail, center=True)

    def finish(
        self, boxes: Boxes, order: Sequence[int], words: list[Word], used: float, bottom: float
    ) -> Arranged:
        """Put the formula above and the shapes below, and all in the middle of a hall's wall."""
        sizes, view = self.sizes, self.view
        hall, whole = is_hall(sizes), max(float(view.width), used)
        aside = max(0.0, (view.width - used) / 2) if hall else 0.0
        words = [replace(word, x=word.x + aside) for word in words]
        middle = whole / 2 if hall else 0.0
        if self.parts.formula:
            words.append(Word(self.parts.formula, middle, 0, sizes.title, True, hall))
        for line, text in enumerate(self.lines):
            below = bottom + 6 + line * self.detail
            words.append(Word(text, middle, below, sizes.detail, center=hall))
        placed: list[Placed] = []
        for index in order:
            left, top, width, height = boxes[index]
            placed.append(self._place(index, left + aside, top, width, height, placed))
        steps = frozenset(order.index(index) for index, step in enumerate(self.parts.steps) if step)
        return Arranged(tuple(placed), tuple(words), sizes, steps, whole, int(bottom + self.foot))

    def _place(
        self,
        index: int,
        left: float,
        top: float,
        width: float,
        height: float,
        before: list[Placed],
    ) -> Placed:
        panel, sizes = self.panels[index], self.sizes
        turned = upright(panel, width, sizes)
        level = [p.top == top and p.panel.rows == panel.rows for p in before]
        over = any(p.left == left and p.panel.columns == panel.columns for p in before)
        if self.numbered(index):
            panel = written(panel, self.view)
        keeps_extent = bool(panel.sums)
        panel = replace(panel, title="", subtitle="", extent=panel.extent if keeps_extent else "")
        return Placed(
            panel,
            left,
            top,
            top,
            width,
            height,
            row_labels=not any(level),
            column_labels=not over,
            same_rows=bool(level) and level[-1],
            upright=turned,
            every=every(panel, width, height, turned, sizes),
            text_size=self.cells.letters if self.numbered(index) else None,
        )


class Arranger(Protocol):
    """First the widths of cells, then their heights; False where there is no room."""

    @property
    def heights(self) -> Sequence[float]: ...

    def columns(self) -> bool: ...

    def rows(self) -> bool: ...

    def place(self) -> Arranged: ...


def fitting(made: Callable[[Sizes], Arranger], sizes: Sizes) -> Arranged | None:
    """What is arranged with these letters, or with smaller names where rows are low."""
    arranger = made(sizes)
    if not arranger.columns() or not arranger.rows():
        return None
    smaller = with_labels(sizes, arranger.heights[:2])
    if smaller != sizes:
        arranger = made(smaller)
        if not arranger.columns() or not arranger.rows():
            return None
    return arranger.place()
