"""What stands where on a picture, in px, and how much room words need."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from attnviz.figures.labels import cut, text_width
from attnviz.figures.panel import Panel
from attnviz.figures.view import Sizes


@dataclass(frozen=True)
class Placed:
    """A panel with its place: px from the left and from the top of the picture.

    Args:
        panel: what is drawn.
        left, top: the corner of the cells.
        title_top: where its title lines begin.
        cell_width, cell_height: one cell.
        row_labels, column_labels: whether labels stand there.
        same_rows: whether its rows go on those of its left neighbour.
        upright: whether the column labels are turned upright.
        every: every how many-th row and column label is written, so that they do not overlap.
        text_size: of the numbers in the cells, None where there are none.
        axes: what rows and columns are, in words; as a sentence where there is room.
    """

    panel: Panel
    left: float
    top: float
    title_top: float
    cell_width: float
    cell_height: float
    row_labels: bool = True
    column_labels: bool = True
    same_rows: bool = False
    upright: bool = False
    every: tuple[int, int] = (1, 1)
    text_size: int | None = None
    axes: str = ""

    @property
    def width(self) -> float:
        return self.cell_width * len(self.panel.columns)

    @property
    def height(self) -> float:
        return self.cell_height * len(self.panel.rows)


@dataclass(frozen=True)
class Layout:
    """All panels of a picture, its caption (a name and further lines) and its size in px."""

    placed: tuple[Placed, ...]
    caption: tuple[str, ...]
    width: int
    height: int


def place_of(axis: str) -> int:
    """The place among the panels of the one on an axis, or on one over it: "x4", "x1004" -> 3."""
    return (int(axis[1:] or 1) - 1) % 1000


def header(sizes: Sizes) -> float:
    """The height of a panel's title lines."""
    return sizes.title * 1.35 + 2 * sizes.detail * 1.35 + 4


def widest_label(panel: Panel, sizes: Sizes) -> float:
    """Px of the widest name of a column."""
    return _widest(panel.columns, sizes.label)


def label_width(panel: Panel, sizes: Sizes) -> float:
    """Px that the names of rows take at the left of the cells."""
    return _widest(panel.rows, sizes.label) + 10


@lru_cache(maxsize=64)
def _widest(labels: tuple[str, ...], size: int) -> float:
    return max(text_width(cut(label), size) for label in labels)


def words_width(texts: Sequence[str], sizes: Sizes) -> float:
    """Px of the widest line of details."""
    return max((text_width(text, sizes.detail) for text in texts), default=0.0)


def sums_width(panel: Panel, cell_height: float, sizes: Sizes) -> float:
    """The width of the sums at the right of each row; 0 where they are not written there."""
    if not panel.sums or panel.transposed or cell_height < sizes.detail:
        return 0.0
    return max(text_width(total, sizes.detail) for total in panel.sums) + 6
