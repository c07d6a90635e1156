"""Where matrices stand on a picture: left to right, in as few lines as can be read, in px."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from attnviz.figures.labels import text_width
from attnviz.figures.panel import Panel
from attnviz.figures.places import (
    Layout,
    Placed,
    header,
    label_width,
    sums_width,
    widest_label,
    words_width,
)
from attnviz.figures.view import Sizes, View

GAP = 14
SQUEEZE = 1.08  # a line may be so much too wide: widths are estimated with room to spare
LINE_GAP = 10
GROWTH = 1.3  # how much wider than needed cells with numbers become where there is room
MAX_SIDE = 640  # px of a matrix without numbers
SIDE = 400  # px that such a matrix should have at least, so that cells can be told apart
MAX_FLOOR = 16  # px of its cells from which on every label has room
FEW, FEW_FLOOR = 4, 20  # columns that are few have room for flat labels


@dataclass(frozen=True)
class Style:
    """How the numbers and column labels of a picture are written."""

    text_size: int
    flat: bool


def arrange(
    panels: Sequence[Panel], view: View, caption: tuple[str, ...] = (), *, snug: bool = False
) -> Layout:
    """Panels in reading order -> their places.

    As few lines as fit the width; for the same number of lines first flat labels and large
    numbers, then upright labels, then small numbers.

    Args:
        panels: what is drawn.
        view: how it is shown.
        caption: the picture's name and further lines, at its upper left.
        snug: whether the picture is only as wide as what is in it.
    """
    sizes = view.sizes
    tight = Style(sizes.small_cell, False)
    panels = [_without_text_where_too_wide(panel, view, tight) for panel in panels]
    if not view.cell_text or any(panel.texts is None for panel in panels):
        caption = (*caption, "values", "on hover")
    styles = (Style(sizes.cell, True), Style(sizes.cell, False), tight)
    for count in range(1, len(panels) + 1):
        for style in styles:
            fit = _Fit(panels, view, style, caption)
            lines = fit.lines(count)
            last = count == len(panels) and style is tight
            if last or fit.width(lines) <= view.width * SQUEEZE:
                return fit.place(lines, snug)
    raise AssertionError("a picture has at least one panel")


def _without_text_where_too_wide(panel: Panel, view: View, style: Style) -> Panel:
    if panel.texts is None:
        return panel
    alone = _Fit([panel], view, style, ())
    too_wide = alone.width([[0]]) > view.width
    return replace(panel, texts=None) if too_wide else panel


class _Fit:
    """Panels in one style: how wide lines of them are, and where they then stand."""

    def __init__(
        self, panels: Sequence[Panel], view: View, style: Style, caption: tuple[str, ...]
    ) -> None:
        self.panels, self.view, self.style, self.caption = panels, view, style, caption
        self.sizes = view.sizes
        self.lead = max(
            [text_width(caption[0], self.sizes.title) * 1.1 if caption else 0.0]
            + [text_width(text, self.sizes.detail) + 6 for text in caption[1:]]
        )
        self.first_pair = next((i for i, p in enumerate(panels) if _is_pair(p)), None)
        self.titles = [self._title_width(index) for index in range(len(panels))]
        self.heights = [self._cell_height(panel) for panel in panels]
        self.cells = [self._cell_width(panel) for panel in panels]

    # One panel.

    def _title_width(self, index: int) -> float:
        """What the words over and under a panel need; the first of scores says what rows are."""
        panel, sizes = self.panels[index], self.sizes
        axes = panel.conventions[-1] if index == self.first_pair else panel.axes
        details = words_width((panel.subtitle, axes, panel.extent), sizes)
        return max(details, text_width(panel.title, sizes.title) * 1.08)

    def _cell_width(self, panel: Panel, bare: float | None = None) -> float:
        """The width of a cell: what its number and label need, or `bare` without numbers."""
        sizes, count = self.sizes, len(panel.columns)
        if panel.texts is None:
            sums = sums_width(panel, sizes.label * 1.2, sizes)
            room = self.view.width - max(self.lead, label_width(panel, sizes)) - sums
            wanted = FEW_FLOOR if count <= FEW else MAX_FLOOR
            floor = min(wanted, max(1.0, SIDE / count), room / count)
            ceiling = max(floor, min(sizes.row * 0.8, MAX_SIDE / count))
            return floor if bare is None else min(max(bare, floor), ceiling)
        number = text_width(panel.widest, self.style.text_size) + self.style.text_size * 0.5
        width = max(sizes.row * (1.13 if self.style.text_size == sizes.cell else 0.9), number)
        return max(width, widest_label(panel, sizes) + 4) if self.style.flat else width

    def _cell_height(self, panel: Panel) -> float:
        sizes, count = self.sizes, len(panel.rows)
        if any(p.texts is not None for p in self.panels if len(p.rows) == count):
            tall = sizes.row if count <= 5 else sizes.row * (0.8 if count <= 8 else 0.7)
            return max(tall, self.style.text_size * 1.3)
        floor = self._cell_width(panel) if len(panel.columns) == count else 1.0
        return max(floor, min(sizes.row * 0.8, sizes.label * 1.2, SIDE / count))

    def _labelled(self, line: Sequence[int], place: int) -> bool:
        """Whether a panel has row labels of its own: not where its left neighbour has the same."""
        if place == 0:
            return True
        here, before = line[place], line[place - 1]
        return (
            self.panels[here].rows != self.panels[before].rows
            or self.heights[here] != self.heights[before]
        )

    def _before(self, line: Sequence[int], place: int) -> float:
        """Px between the left end of a panel and its cells, as far as labels need them."""
        label = 0.0
        if self._labelled(line, place):
            label = label_width(self.panels[line[place]], self.sizes)
        return max(label, self.lead) if place == 0 else label

    def _after(self, index: int) -> float:
        return sums_width(self.panels[index], self.heights[index], self.sizes)

    # Lines.

    def _line_width(self, line: Sequence[int], cells: Sequence[float]) -> float:
        width = GAP * (len(line) - 1.0)
        for place, index in enumerate(line):
            panel = self.panels[index]
            own = cells[index] * len(panel.columns)
            width += self._before(line, place) + max(own, self.titles[index])
            width += self._after(index)
        return width

    def width(self, lines: Sequence[Sequence[int]], cells: Sequence[float] = ()) -> float:
        """The width of the widest line."""
        return max(self._line_width(line, cells or self.cells) for line in lines)

    def lines(self, count: int) -> list[list[int]]:
        """The panels in so many lines, broken where the widest line is narrowest."""
        return min(_breaks(len(self.panels), count), key=self.width)

    def _grown(self, lines: Sequence[Sequence[int]]) -> list[float]:
        """Cell widths that make use of the room that is left."""
        low, high = 0.0, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            fits = self.width(lines, self._cells(middle)) <= self.view.width
            low, high = (middle, high) if fits else (low, middle)
        return self._cells(low)

    def _cells(self, share: float) -> list[float]:
        return [
            self._cell_width(panel, MAX_SIDE * share)
            if panel.texts is None
            else width * (1 + (GROWTH - 1) * share)
            for panel, width in zip(self.panels, self.cells, strict=True)
        ]

    def place(self, lines: Sequence[Sequence[int]], snug: bool) -> Layout:
        """Give every panel its place."""
        cells, sizes, panels = self._grown(lines), self.sizes, self.panels
        spare = max(0.0, self.view.width - self.width(lines, cells))
        gap = GAP + min(GAP, spare / max(1, max(map(len, lines)) - 1))
        lead = max(self._before(line, 0) for line in lines)
        placed: list[Placed] = []
        bottom, used = -float(LINE_GAP), 0.0
        upright = self._upright(cells)
        for line in lines:
            top = bottom + LINE_GAP
            labels = max(
                widest_label(panels[i], sizes) + 8 if upright[i] else sizes.label * 1.45
                for i in line
            )
            cells_top = top + header(sizes) + labels
            x = 0.0
            for place, index in enumerate(line):
                panel, cell = panels[index], cells[index]
                own = cell * len(panel.columns)
                x += lead if place == 0 else self._before(line, place)
                side = max(0.0, (self.titles[index] - own) / 2)
                axes = panel.axes
                if index == self.first_pair:
                    axes = _sentence(panel, max(own, self.titles[index]) + gap / 2, sizes)
                placed.append(
                    Placed(
                        panel,
                        x + side,
                        cells_top,
                        top,
                        cell,
                        self.heights[index],
                        row_labels=self._labelled(line, place),
                        same_rows=not self._labelled(line, place),
                        upright=upright[index],
                        every=self._every(index, cell, upright[index]),
                        text_size=None if panel.texts is None else self.style.text_size,
                        axes=axes,
                    )
                )
                x += own + 2 * side + self._after(index)
                used, x = max(used, x), x + gap
                foot = sizes.detail * (2.8 if panel.sums and panel.transposed else 1.45)
                bottom = max(bottom, cells_top + placed[-1].height + foot)
        used = int(used + 1)
        width = used if snug else max(self.view.width, used)
        return Layout(tuple(placed), self.caption, width, int(bottom + 2))

    def _upright(self, cells: Sequence[float]) -> list[bool]:
        """Which panels have upright labels: all with the same columns, if one of them must."""
        turned = {
            panel.columns
            for panel, cell in zip(self.panels, cells, strict=True)
            if widest_label(panel, self.sizes) + 3 > cell
        }
        return [panel.columns in turned for panel in self.panels]

    def _every(self, index: int, cell: float, upright: bool) -> tuple[int, int]:
        pitch = self.sizes.label * 1.1
        rows = max(1, -int(-pitch // self.heights[index]))
        return rows, max(1, -int(-pitch // cell)) if upright else 1


def _breaks(n_panels: int, n_lines: int) -> Iterator[list[list[int]]]:
    for cuts in combinations(range(1, n_panels), n_lines - 1):
        ends = (0, *cuts, n_panels)
        yield [list(range(a, b)) for a, b in pairwise(ends)]


def _is_pair(panel: Panel) -> bool:
    return {panel.row_axis, panel.column_axis} == {"query", "key"}


def _sentence(panel: Panel, room: float, sizes: Sizes) -> str:
    """What rows and columns are, as a sentence as long as the room."""
    longest, shortest = panel.conventions
    return longest if text_width(longest, sizes.detail) <= room else shortest
