"""Small pictures of the same matrix of every head, side by side."""

from collections.abc import Sequence

from attnviz.figures.labels import text_width
from attnviz.figures.panel import Panel
from attnviz.figures.places import Layout, Placed, header, words_width
from attnviz.figures.view import View

GAP, LINE_GAP = 14, 10
SIDE, MIN_SIDE = 104, 52


def arrange_small(panels: Sequence[Panel], view: View, caption: tuple[str, ...]) -> Layout:
    """Panels as small pictures without labels, side by side under their titles."""
    sizes = view.sizes
    lead = max(text_width(caption[0], sizes.title) * 1.1, words_width(caption[1:], sizes))
    n_rows, n_columns = len(panels[0].rows), len(panels[0].columns)
    title = max(text_width(panel.title, sizes.title) * 1.1 for panel in panels)
    for lines in range(1, len(panels) + 1):
        count = -(-len(panels) // lines)
        side = min(SIDE * sizes.title / 16, (view.width - lead) / count - GAP)
        if side >= max(MIN_SIDE, title):
            break
    cell = side / max(n_rows, n_columns)
    cell_width = max(cell, min(side / n_columns, cell * 3))
    cell_height = max(cell, min(side / n_rows, cell * 3))
    step = sizes.title * 1.5 + cell_height * n_rows + LINE_GAP
    placed = tuple(
        Placed(
            panel,
            lead + GAP + place % count * (side + GAP),
            place // count * step + sizes.title * 1.5,
            place // count * step,
            cell_width,
            cell_height,
            row_labels=False,
            column_labels=False,
            same_rows=place % count > 0,
        )
        for place, panel in enumerate(panels)
    )
    lines_height = header(sizes) if len(caption) < 4 else header(sizes) + sizes.detail * 1.35
    return Layout(placed, caption, view.width, int(max(lines * step, lines_height)))
