"""How pictures are drawn: what a person chose, and what is marked in them."""

from dataclasses import dataclass, fields
from typing import Any

from attnviz.core.errors import ScenarioError
from attnviz.core.expr import Cell
from attnviz.figures.palettes import DEFAULT_PALETTE, PALETTES

MAX_TEXT_CELLS = 1000  # more cells than this on a page carry no numbers
MAX_DECIMALS = 17
TOKENS_AS = ("rows", "columns")
Spec = dict[str, Any]  # of a Plotly figure or a part of one


@dataclass(frozen=True)
class Sizes:
    """Sizes of letters and cells in px.

    Args:
        title, detail, label: the formula, what stands around it, names of rows and columns.
        cell, small_cell: numbers, and numbers where there are many.
        row: the height of a row of cells.
        outline: the width of the line around a marked cell.
    """

    title: int = 16
    detail: int = 13
    label: int = 14
    cell: int = 15
    small_cell: int = 13
    row: int = 30
    outline: float = 2.5

    def scaled(self, factor: float) -> "Sizes":
        """All of them larger or smaller."""
        whole = {f.name: round(getattr(self, f.name) * factor) for f in fields(self)}
        return Sizes(**whole | {"outline": self.outline * factor})


PAGE = Sizes()
LARGE = Sizes(title=20, detail=15, label=17, cell=20, small_cell=15, row=44, outline=3)
PROJECTOR = Sizes(title=34, detail=24, label=28, cell=32, small_cell=20, row=84, outline=4)


@dataclass(frozen=True)
class View:
    """What a person chose to see.

    Args:
        decimals: digits after the point, None for all.
        palette: an entry of `PALETTES`.
        cell_text: whether cells carry their numbers, where there are not too many for it.
        tokens_as: "rows", or "columns": every picture is transposed, the arrays are not.
        dark: whether the page is dark.
        sizes: letters and cells.
        width: the width in px that the picture is laid out for; it scales from there.
        max_text_cells: how many numbers one picture may carry; the largest matrices go first.

    Raises:
        ScenarioError: no such palette or choice; the sentence lists them.
    """

    decimals: int | None = 2
    palette: str = DEFAULT_PALETTE
    cell_text: bool = True
    tokens_as: str = "rows"
    dark: bool = False
    sizes: Sizes = PAGE
    width: int = 1040
    max_text_cells: int = MAX_TEXT_CELLS

    def __post_init__(self) -> None:
        for name, choices in (("palette", tuple(PALETTES)), ("tokens_as", TOKENS_AS)):
            if getattr(self, name) not in choices:
                raise ScenarioError(
                    "no such choice",
                    where=name,
                    expected=" or ".join(choices),
                    got=repr(getattr(self, name)),
                )
        if self.decimals is not None and not 0 <= self.decimals <= MAX_DECIMALS:
            raise ScenarioError(
                "out of range",
                where="decimals",
                expected=f"0 to {MAX_DECIMALS}, or None for all",
                got=repr(self.decimals),
            )

    @property
    def transposed(self) -> bool:
        return self.tokens_as == "columns"

    @property
    def cell_decimals(self) -> int | None:
        """Digits of the numbers that cells have room for; the usual ones where they carry none."""
        return self.decimals if self.cell_text else View.decimals


@dataclass(frozen=True)
class Marks:
    """What is outlined.

    Args:
        cell: the chosen cell; its row and column are set in bold wherever they occur.
        operands: the cells that it is made of.
        token: the place of a chosen token: its rows are outlined, its names set in bold.
    """

    cell: Cell | None = None
    operands: tuple[Cell, ...] = ()
    token: int | None = None


NO_MARKS = Marks()
