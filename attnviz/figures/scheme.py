"""A product as Falk's scheme: left operand left, right one above, the result where they meet."""

from collections.abc import Sequence
from dataclasses import replace

from attnviz.figures.blocks import Parts
from attnviz.figures.fit import Cells, band, joined, names_width, spread
from attnviz.figures.sheet import GAP, Arranged, Boxes, Sheet, fitting, width_of
from attnviz.figures.view import Sizes, View

LEFT, RIGHT, BIAS = 0, 1, 2


def product(parts: Parts, view: View, sizes: Sizes, cells: Cells, must: bool) -> Arranged | None:
    """A product in px; None where such cells have no room.

    A bias stands between an operand and the result: as a row, or as a column where tokens are
    columns.

    Args:
        parts: the matrices.
        view: how they are shown.
        sizes: of letters.
        cells: how cells are drawn.
        must: whether they have to do with any room.
    """
    return fitting(lambda letters: _Scheme(parts, view, letters, cells, must), sizes)


class _Scheme:
    """First the widths of left operand, result and bias, then the heights of right one and result.

    The right operand is as wide as the result, the left one as high.
    """

    def __init__(self, parts: Parts, view: View, sizes: Sizes, cells: Cells, must: bool) -> None:
        self.sheet = Sheet(parts, view, sizes, cells)
        self.view, self.sizes, self.must = view, sizes, must
        self.left, self.right, *more = parts.operands
        self.result, self.last = parts.result, len(parts.operands)
        self.bias = more[0] if more else None
        self.beside = self.bias is not None and view.transposed
        self.under = self.bias is not None and not view.transposed
        self.widths = self.heights = [0.0]

    def columns(self) -> bool:
        """Find the widths of cells."""
        sheet, sizes = self.sheet, self.sizes
        self.labels = names_width(self.left, sizes)
        self.inner = names_width(self.right, sizes)
        if self.bias is not None and self.under:
            self.inner = max(self.inner, names_width(self.bias, sizes))
        over_left = replace(self.left, extent="")
        self.title, self.title_height = sheet.block(over_left)
        self.notes = GAP + max(sheet.block(panel)[0] for panel in (self.right, self.result))
        counts = [len(self.left.columns), len(self.result.columns), int(self.beside)]
        ends = [sheet.wide(LEFT), joined(sheet.wide(RIGHT), sheet.wide(self.last))]
        ends.append(sheet.wide(BIAS) if self.beside else (0.0, 0.0))
        self.gap = max(GAP + self.inner, GAP * 2.0)
        room = self.view.width - self.labels - self.gap - self.notes - GAP * (1 + self.beside)
        widths = spread(counts, ends, room, self.must)
        if widths is None:
            return False
        self.widths = widths
        self.own, across, aside = (n * width for n, width in zip(counts, widths, strict=True))
        spare = max(0.0, room - self.own - across - aside)
        wanted = self.title - self.labels - self.own + self.inner + GAP
        self.gap = max(self.gap, min(wanted, self.gap + spare))
        self.x = self.labels + self.own + self.gap
        if self.beside:
            self.x = max(self.x, self.labels + self.own + aside + 2 * GAP)
        self.end = self.x + across + GAP
        return True

    def rows(self) -> bool:
        """Find the heights of cells."""
        sheet = self.sheet
        self.right_top = sheet.top + band(self.right, self.widths[1], self.sizes)
        self.left_band = band(self.left, self.widths[0], self.sizes)
        self.between = GAP + (self.sizes.label * 1.45 if self.beside else 0.0)
        counts = [len(self.right.rows), len(self.result.rows), int(self.under)]
        ends = [sheet.high(RIGHT), joined(sheet.high(LEFT), sheet.high(self.last))]
        ends.append(sheet.high(BIAS) if self.under else (0.0, 0.0))
        fixed = self.right_top + self.between * (1 + self.under) + sheet.detail + sheet.foot
        heights = spread(counts, ends, sheet.limit - fixed, self.must)
        if heights is None:
            return False
        over = self._stand(counts, heights)
        if over > 0:  # words stand higher than cells: all shrink, and then the result alone
            less = spread(counts, ends, sheet.limit - fixed - over, self.must)
            heights = less or heights
            over = self._stand(counts, heights)
        if over > 0:
            heights[1] = max(heights[1] - over / counts[1], 0.2)
            if self._stand(counts, heights) > 1 and not self.must:
                return False
        return self.must or heights[1] >= ends[1][0]

    def _stand(self, counts: Sequence[int], heights: list[float]) -> float:
        """Set what stands how high; gives how much too high the picture is."""
        sheet = self.sheet
        self.heights = heights
        self.bias_top = self.right_top + counts[0] * heights[0] + self.between
        self.top = max(
            self.bias_top + (heights[2] + self.between) * self.under,
            sheet.top + self.title_height + self.left_band,
            self.right_top + sheet.block(self.right)[1] + GAP,
        )
        self.end_of_cells = self.top + counts[1] * heights[1]
        self.bottom = max(self.end_of_cells + sheet.detail, self.top + sheet.block(self.result)[1])
        return self.bottom + sheet.foot - sheet.limit

    def place(self) -> Arranged:
        """Put everything where it belongs."""
        sheet, widths, heights = self.sheet, self.widths, self.heights
        boxes: Boxes = {
            RIGHT: (self.x, self.right_top, widths[1], heights[0]),
            LEFT: (self.labels, self.top, widths[0], heights[1]),
            self.last: (self.x, self.top, widths[1], heights[1]),
        }
        order = [RIGHT, LEFT, self.last]
        if self.under:
            boxes[BIAS] = (self.x, self.bias_top, widths[1], heights[2])
            order = [RIGHT, BIAS, LEFT, self.last]
        elif self.beside:
            boxes[BIAS] = (self.labels + self.own + GAP, self.top, widths[2], heights[1])
            order = [RIGHT, LEFT, BIAS, self.last]
        start = self.labels + (self.own - self.title) / 2
        start = max(0.0, min(start, self.x - GAP - self.inner - self.title))
        above = self.top - self.left_band - self.title_height
        words = sheet.said(replace(self.left, extent=""), start + self.title / 2, above, True)
        words += sheet.said(self.right, self.end, self.right_top)
        words += sheet.said(self.result, self.end, self.top)
        wide = width_of(self.left.extent, self.sizes.detail)
        middle = max(self.labels + self.own / 2, wide / 2)
        words.append(sheet.detailed(self.left.extent, middle, self.end_of_cells + 2))
        return sheet.finish(boxes, order, words, self.end - GAP + self.notes, self.bottom)
