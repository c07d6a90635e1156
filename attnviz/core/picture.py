"""A picture as tokens: cut into patches, and attention laid over it again."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.core.arrays import Array, as_floats, place
from attnviz.core.errors import LimitError, NumberError, ScenarioError, ShapeError
from attnviz.core.trace import Trace

CLS = "CLS"
CLS_VALUE = 0.25
COLOURS = ("red", "green", "blue")
MAX_PIXELS = 256  # of a side
MAX_PATCHES = 16  # along a side
GRID = (4, 4)
DOTS = 4  # numbers along a side of a patch


def patch_name(row: int, col: int) -> str:
    """The token of a patch, from row 0 and column 0: 'r1 c1'."""
    return f"r{row + 1} c{col + 1}"


def place_of(token: str) -> tuple[int, int] | None:
    """The token of a patch -> its row and column from 0; None for every other token."""
    found = re.fullmatch(r"r([1-9]\d?) c([1-9]\d?)", token, re.ASCII)
    if found is None or max(map(int, found.groups())) > MAX_PATCHES:
        return None
    return int(found[1]) - 1, int(found[2]) - 1


def grid_of(tokens: Iterable[str]) -> tuple[int, int] | None:
    """How many rows and columns the patches among some tokens ask for; None without a patch."""
    places = [at for at in map(place_of, tokens) if at is not None]
    if not places:
        return None
    rows, cols = zip(*places, strict=True)
    return 1 + max(rows), 1 + max(cols)


def as_picture(image: ArrayLike) -> Array:
    """(height, width) or (height, width, 3) brightness from 0 to 1 -> a read-only copy.

    Raises:
        ShapeError: other axes, or not three colours.
        LimitError: a side longer than `MAX_PIXELS`.
        NumberError: a number below 0 or above 1.
    """
    picture = as_floats(image, "picture", (2, 3))
    got = f"shape {picture.shape}"
    if picture.ndim == 3 and picture.shape[2] != len(COLOURS):
        expected = "shape (height, width) or (height, width, 3)"
        raise ShapeError("no three colours", where="picture", expected=expected, got=got)
    if max(picture.shape[:2]) > MAX_PIXELS:
        expected = f"at most {MAX_PIXELS} x {MAX_PIXELS} pixels"
        raise LimitError("too large", where="picture", expected=expected, got=got)
    outside = np.argwhere((picture < 0) | (picture > 1))
    if len(outside):
        index = tuple(int(i) for i in outside[0])
        raise NumberError(
            "a pixel out of range",
            where=place(index[:2], "picture"),
            expected="0 (black) to 1 (full)",
            got=str(float(picture[index])),
        )
    return picture


def cut(
    image: ArrayLike, grid: tuple[int, int] = GRID, dots: int = DOTS
) -> tuple[tuple[str, ...], Array]:
    """(H, W) or (H, W, 3) -> the tokens and their (1 + rows * columns, width) vectors.

    A patch is averaged to dots x dots, moved from [0, 1] to [-1, 1] and written in a row, the
    colours of a dot side by side, as patches are in arXiv:2010.11929, section 3.1. The first
    token is CLS, here a light grey patch instead of a learned vector; patches follow row by row.

    Args:
        image: brightness from 0 to 1.
        grid: the number of rows and of columns of patches.
        dots: into how many dots a patch's height and width go; the vectors have dots * dots
            numbers, and three times as many with colours.

    Raises:
        ShapeError: height or width cannot be cut evenly; the sentence gives the nearest size.
        LimitError: more than `MAX_PATCHES` along a side, or none.
        NumberError: no brightness from 0 to 1.
    """
    picture = as_picture(image)
    for name, count in (("rows", grid[0]), ("columns", grid[1]), ("dots", dots)):
        if not 1 <= count <= MAX_PATCHES:
            raise LimitError(
                "out of range", where=name, expected=f"1 to {MAX_PATCHES}", got=str(count)
            )
    (height, width), (rows, cols) = picture.shape[:2], grid
    for name, length, parts in (("height", height, rows * dots), ("width", width, cols * dots)):
        if length % parts:
            nearest = max(1, round(length / parts)) * parts
            raise ShapeError(
                "the picture cannot be cut evenly",
                where=name,
                expected=f"a multiple of {parts} pixels",
                got=str(length),
                hint=f"The nearest is {nearest}.",
            )
    sides = (rows, dots, height // (rows * dots), cols, dots, width // (cols * dots))
    fine = picture.reshape(*sides, -1).mean(axis=(2, 5))  # row, its dots, column, its dots, colour
    patches = fine.transpose(0, 2, 1, 3, 4).reshape(rows * cols, -1)
    tokens = (CLS, *(patch_name(*at) for at in np.ndindex(rows, cols)))
    return tokens, np.concatenate([np.full((1, patches.shape[1]), CLS_VALUE), 2 * patches - 1])


def dot_names() -> tuple[str, ...]:
    """The names of the numbers of a patch's vector: 'red 1,1' is the dot at the top left."""
    return tuple(f"{name} {r + 1},{c + 1}" for r, c in np.ndindex(DOTS, DOTS) for name in COLOURS)


def over_picture(trace: Trace, query: int = 0, grid: tuple[int, int] | None = None) -> Array:
    """(head, query, key) attention weights -> (head, rows, columns): one query's on each patch.

    A patch that is not among the keys is NaN; what stands among them twice is added up.

    Args:
        trace: the computation.
        query: the row, from 0.
        grid: the rows and columns of patches, where the last ones may lack among the keys.

    Raises:
        ScenarioError: no such query, or no patch among the keys.
    """
    if not 0 <= query < len(trace.tokens):
        raise ScenarioError("there is no such query", where="picture", got=str(query))
    places = {j: at for j, at in enumerate(map(place_of, trace.key_tokens)) if at is not None}
    if not places:
        raise ScenarioError(
            "no key is a patch of a picture",
            where="picture",
            expected=f"tokens such as {patch_name(0, 0)}",
            hint='Patches are lines of the text; take the tokenizer "lines".',
        )
    needed = grid_of(trace.key_tokens) or (1, 1)
    rows, cols = map(max, needed, grid or needed)
    weights: NDArray[Any] = trace["attention"][:, query]
    over = np.full((len(weights), rows, cols), np.nan)
    for j, (row, col) in places.items():
        over[:, row, col] = np.nansum([over[:, row, col], weights[:, j]], axis=0)
    return over
