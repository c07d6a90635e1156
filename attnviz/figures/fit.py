"""How large the cells of an equation are: as planned where there is room, smaller where not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attnviz.figures.blocks import Parts
from attnviz.figures.labels import text_width
from attnviz.figures.panel import Panel
from attnviz.figures.places import label_width, widest_label
from attnviz.figures.view import PAGE, PROJECTOR, Sizes, View

HALL_ROW = 50  # px of a row of cells from which on a picture is meant for a hall
HALL_HEIGHT, PAGE_HEIGHT = 600, 640
HALL_CELLS = (
    (4, (120.0, 84.0)),
    (8, (84.0, 60.0)),
    (12, (60.0, 36.0)),
)  # tokens up to which cells are so large
SIDE = 400  # px of a matrix without numbers
BARE = 2.5  # how many planned cells high and wide it is at least
LEADING = 1.35  # the height of a line of words, in letters
BOLD = 1.06  # how much wider bold letters are
TALL = 1.25  # the height of a cell, in letters, that its number needs


@dataclass(frozen=True)
class Cells:
    """How cells are drawn: their planned width and height, and which panels carry numbers.

    Args:
        width, height: of one cell in px, where there is room.
        letters: the size of the numbers.
        numbered: for each panel, the result last, whether its numbers are written.
    """

    width: float
    height: float
    letters: int
    numbered: tuple[bool, ...]

    def wide(self, panel: Panel, numbered: bool, label: int) -> tuple[float, float]:
        """The least and the wanted width of a panel's cells."""
        if not numbered:
            wanted = min(self.width, SIDE / len(panel.columns))
            return min(wanted, BARE * self.height / len(panel.columns)), wanted
        least = text_width(panel.widest, self.letters) + self.letters * 0.5
        flat = widest_label(panel, Sizes(label=label)) + 4
        return least, max(self.width, least, flat)

    def high(self, panel: Panel, numbered: bool) -> tuple[float, float]:
        """The least and the wanted height of a panel's cells."""
        if numbered:
            return self.letters * TALL, max(self.height, self.letters * TALL)
        wanted = min(self.height, SIDE / len(panel.rows))
        return min(wanted, BARE * self.height / len(panel.rows)), wanted


def is_hall(sizes: Sizes) -> bool:
    """Whether a picture is for a hall: everything in large letters and within a height."""
    return sizes.row >= HALL_ROW


def max_height(sizes: Sizes) -> int:
    """Px that a picture may be high."""
    return int(HALL_HEIGHT * _share(sizes)) if is_hall(sizes) else PAGE_HEIGHT


def _share(sizes: Sizes) -> float:
    """How large a picture for a hall is beside one for 1920x1080; smaller for lower screens."""
    return sizes.row / PROJECTOR.row


def choices(parts: Parts, view: View, tokens: int) -> Iterator[Cells]:
    """How cells could be drawn, the best first; the last one always fits."""
    sizes, panels = view.sizes, (*parts.operands, parts.result)
    if is_hall(sizes):
        fitting = [at for at, (most, _) in enumerate(HALL_CELLS) if tokens <= most]
        wide, high = HALL_CELLS[fitting[0] if fitting else -1][1]
        planned = (wide * _share(sizes), high * _share(sizes))
        letters = (sizes.cell, sizes.detail, sizes.small_cell)
        plans = [(planned, letters[at]) for at in fitting]
    else:
        planned = (sizes.row * 2.0, sizes.row * 1.1)
        small = (sizes.row * 1.5, sizes.row * 0.85)
        plans = [(planned, sizes.cell), (small, sizes.small_cell)]
        if sizes.small_cell > PAGE.small_cell:
            plans.append(((PAGE.row * 1.5, PAGE.row * 0.85), PAGE.small_cell))
    for numbered in _numbered(parts):
        shown = [panel for panel, texts in zip(panels, numbered, strict=True) if texts]
        many = sum(panel.values.size for panel in shown) > view.max_text_cells
        if many or not view.cell_text:
            continue
        yield from (Cells(*cell, size, numbered) for cell, size in plans)
    yield Cells(*planned, sizes.small_cell, (False,) * len(panels))


def _numbered(parts: Parts) -> Iterator[tuple[bool, ...]]:
    """Which panels could carry numbers: all, or some, and the result as long as possible."""
    n_operands = len(parts.operands)
    if parts.kind == "row":
        yield (True,) * (n_operands + 1)
        return
    if parts.kind == "chain":
        yield from ((False,) * k + (True,) * (n_operands - k + 1) for k in range(n_operands + 1))
        return
    bias = (True,) * (n_operands - 1)  # and the result
    yield from ((True, True, *bias), (True, False, *bias), (False, True, *bias))
    yield (False, False, *bias)


def spread(
    counts: Sequence[int], ends: Sequence[tuple[float, float]], room: float, must: bool
) -> list[float] | None:
    """Sizes of cells that fill no more than a room; None where they cannot.

    Args:
        counts: how many cells of each kind.
        ends: the least and the wanted size of each.
        room: px for all of them.
        must: whether even less than the least will do.
    """
    low = sum(n * least for n, (least, _) in zip(counts, ends, strict=True))
    full = sum(n * wanted for n, (_, wanted) in zip(counts, ends, strict=True))
    if low > room:
        return [least * max(room, 1.0) / low for least, _ in ends] if must else None
    share = 1.0 if full <= room else (room - low) / (full - low)
    return [least + share * (wanted - least) for least, wanted in ends]


def joined(*ends: tuple[float, float]) -> tuple[float, float]:
    """The least and the wanted size of cells that stand in one line."""
    return max(least for least, _ in ends), max(wanted for _, wanted in ends)


def with_labels(sizes: Sizes, heights: Sequence[float]) -> Sizes:
    """Labels that stand one under the other in rows so low, as far as they may be small."""
    size = int(min(heights) / 1.1)
    return replace(sizes, label=max(sizes.small_cell, min(sizes.label, size)))


def every(
    panel: Panel, width: float, height: float, upright: bool, sizes: Sizes
) -> tuple[int, int]:
    """Every how many-th row and column is named, so that names do not overlap."""
    pitch = sizes.label * 1.1
    rows = max(1, -int(-pitch // height))
    columns = max(1, -int(-pitch // width)) if upright else 1
    return min(rows, len(panel.rows)), min(columns, len(panel.columns))


def upright(panel: Panel, width: float, sizes: Sizes) -> bool:
    return widest_label(panel, sizes) + 3 > width


def band(panel: Panel, width: float, sizes: Sizes) -> float:
    """The height of the column names over a panel."""
    if not any(name.strip() for name in panel.columns):
        return 0.0
    if upright(panel, width, sizes):
        return widest_label(panel, sizes) + 8
    return sizes.label * 1.45


def names_width(panel: Panel, sizes: Sizes) -> float:
    """The width of the row names at the left of a panel."""
    return label_width(panel, sizes) * BOLD if any(name.strip() for name in panel.rows) else 0.0
