"""Where matrices stand on a picture: left to right, wrapped like words, in px."""

from dataclasses import dataclass

from attnviz.figures.labels import cut, text_width
from attnviz.figures.panel import Panel
from attnviz.figures.view import Sizes, View

GAP = 14
SQUEEZE = 1.08  # a line may be so much too wide: widths are estimated with room to spare
MIN_CELL = 34


@dataclass(frozen=True)
class Placed:
    """A panel with its place: px from the left and from the top of the picture.

    Args:
        panel: what is drawn.
        left, top: the corner of the cells (titles and labels stand above and to the left).
        cell_width, cell_height: one cell.
        row_labels: whether labels stand to its left.
        upright: whether the column labels are turned upright.
        every: every how many-th label is written, so that they do not overlap.
        text_size: of the numbers in the cells, None where they do not fit.
    """

    panel: Panel
    left: float
    top: float
    cell_width: float
    cell_height: float
    row_labels: bool
    upright: bool
    every: tuple[int, int]
    text_size: int | None

    @property
    def width(self) -> float:
        return self.cell_width * len(self.panel.columns)

    @property
    def height(self) -> float:
        return self.cell_height * len(self.panel.rows)


@dataclass(frozen=True)
class Layout:
    """All panels of a picture and its size in px."""

    placed: tuple[Placed, ...]
    width: int
    height: int


def header(sizes: Sizes) -> float:
    """The height of a panel's title lines."""
    return sizes.title * 1.35 + 2 * sizes.detail * 1.35 + 4


def arrange(panels: list[Panel], view: View, head_label: str = "") -> Layout:
    """Panels in reading order -> their places; a line is as wide as the view."""
    sizes, placed = view.sizes, list[Placed]()
    top = 0.0
    line: list[Placed] = []
    x = 0.0
    bottom = 0.0
    for panel in panels:
        same_rows = bool(line) and line[-1].panel.rows == panel.rows
        draft = _measure(panel, view, not same_rows)
        label = _label_width(panel, sizes) if draft.row_labels else 0.0
        if draft.row_labels and not line and head_label:
            label = max(label, text_width(head_label, sizes.title) * 1.1)
        width = label + max(draft.width, _title_width(panel, sizes))
        if line and x + width + _sums_width(panel, sizes) > view.width * SQUEEZE:
            top, x, line = bottom + 10, 0.0, []
            draft = _measure(panel, view, True)
            label = _label_width(panel, sizes)
            width = label + max(draft.width, _title_width(panel, sizes))
        spare = max(0.0, (width - label - draft.width) / 2)
        upright = _upright_height(panel, sizes) if draft.upright else sizes.label * 1.45
        cells_top = top + header(sizes) + upright
        here = _moved(draft, x + label + spare, cells_top)
        line.append(here)
        placed.append(here)
        x += width + _sums_width(panel, sizes) + GAP
        bottom = max(bottom, cells_top + here.height + sizes.detail * 1.45)
    height = int(bottom + 2)
    used = max(p.left + p.width + _sums_width(p.panel, sizes) for p in placed)
    return Layout(tuple(placed), max(view.width, int(used + 1)), height)


def _moved(draft: Placed, left: float, top: float) -> Placed:
    return Placed(
        draft.panel,
        left,
        top,
        draft.cell_width,
        draft.cell_height,
        draft.row_labels,
        draft.upright,
        draft.every,
        draft.text_size,
    )


def _measure(panel: Panel, view: View, row_labels: bool) -> Placed:
    sizes = view.sizes
    n_rows, n_columns = len(panel.rows), len(panel.columns)
    room = view.width - _label_width(panel, sizes) - _sums_width(panel, sizes)
    longest = max((len(text) for row in panel.texts or [] for text in row), default=0)
    text_width_px = longest * sizes.cell * 0.58 + 6
    small_width_px = longest * sizes.small_cell * 0.58 + 4
    label_px = max(text_width(cut(label), sizes.label) for label in panel.columns) + 4
    flat = max(MIN_CELL, text_width_px, label_px)
    upright = flat * n_columns > room
    size: int | None = sizes.cell
    if not upright:
        cell_width = flat
    elif max(MIN_CELL * 0.8, text_width_px) * n_columns <= room:
        cell_width = max(MIN_CELL * 0.8, text_width_px)
    elif longest and small_width_px * n_columns <= room:
        cell_width, size = small_width_px, sizes.small_cell
    else:
        cell_width, size = min(MIN_CELL * 0.8, room / n_columns), None
    tall = sizes.row if n_rows <= 8 else max(sizes.row * 0.7, sizes.small_cell + 6)
    cell_height = tall if n_rows * tall <= 640 else max(640 / n_rows, 1.0)
    if panel.texts is None or cell_height < sizes.small_cell + 3:
        size = None
    every = (
        max(1, -int(-sizes.label * 1.15 // cell_height)),
        max(1, -int(-sizes.label * 1.15 // cell_width)) if upright else 1,
    )
    return Placed(panel, 0, 0, cell_width, cell_height, row_labels, upright, every, size)


def _label_width(panel: Panel, sizes: Sizes) -> float:
    return max(text_width(cut(label), sizes.label) for label in panel.rows) + 10


def _upright_height(panel: Panel, sizes: Sizes) -> float:
    return max(text_width(cut(label), sizes.label) for label in panel.columns) + 10


def _title_width(panel: Panel, sizes: Sizes) -> float:
    details = max(text_width(text, sizes.detail) for text in (panel.subtitle, panel.axes))
    return max(details, text_width(panel.title, sizes.title) * 1.08)


def _sums_width(panel: Panel, sizes: Sizes) -> float:
    if not panel.sums or panel.transposed:
        return 0.0
    return max(text_width(f"Σ {total}", sizes.detail) for total in panel.sums) + 6
