"""Arrays as the core keeps them: float64, finite, read-only, and refused by name otherwise."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.core.errors import NumberError, ScenarioError, ShapeError

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, made read-only."""
    array.setflags(write=False)
    return array


def place(index: tuple[int, ...], name: str) -> str:
    """A place in an array in words, counted from 1: 'W_Q, head 1, row 2, column 3'."""
    words = {1: ("entry",), 2: ("row", "column"), 3: ("head", "row", "column")}
    names = words.get(len(index), tuple(f"axis {i}" for i in range(len(index))))
    return ", ".join([name, *(f"{w} {i + 1}" for w, i in zip(names, index, strict=True))])


def check_cell(index: tuple[int, ...], shape: tuple[int, ...], name: str) -> None:
    """Refuse an index that has not one place, from 0 on, for each axis of a shape.

    Raises:
        ScenarioError: the sentence names the array and its shape.
    """
    inside = len(index) == len(shape) and all(0 <= i < n for i, n in zip(index, shape, strict=True))
    if not inside:
        raise ScenarioError(
            "there is no such cell", where=name, got=str(index), expected=f"shape {shape}"
        )


def _regular(values: ArrayLike, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ShapeError("the rows do not all have the same length", where=name) from error


def _check_axes(array: NDArray[Any], allowed: tuple[int, ...], name: str) -> None:
    if array.ndim not in allowed:
        raise ShapeError(
            "wrong number of axes",
            where=name,
            expected=" or ".join(map(str, allowed)),
            got=f"shape {array.shape}",
        )


def as_floats(
    values: ArrayLike,
    name: str,
    ndim: int | tuple[int, ...],
    *,
    minus_inf: bool = False,
    empty: bool = False,
) -> Array:
    """Anything array-like -> a read-only float64 copy.

    Args:
        values: numbers; booleans, text and complex numbers are refused.
        name: how to call the array in a sentence.
        ndim: the number of axes it must have, or several that are allowed.
        minus_inf: whether -inf is allowed (an additive mask).
        empty: whether axes of length 0 are allowed.

    Raises:
        ShapeError: wrong number of axes, ragged rows, or nothing in it.
        NumberError: a cell that is no finite number; the sentence names the cell.
    """
    raw = _regular(values, name)
    if raw.dtype.kind not in "iuf":
        raise NumberError(
            "these are not real numbers", where=name, expected="floats", got=str(raw.dtype)
        )
    _check_axes(raw, (ndim,) if isinstance(ndim, int) else ndim, name)
    if not empty and raw.size == 0:
        raise ShapeError("there is nothing in it", where=name, got=f"shape {raw.shape}")
    with np.errstate(over="ignore"):
        array = np.array(raw, dtype=np.float64, order="C")
    bad = np.isnan(array) | np.isposinf(array)
    if not minus_inf:
        bad |= np.isneginf(array)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise NumberError(
            "not a finite number",
            where=place(index, name),
            got=str(float(array[index])),
            hint="Give a finite number there.",
        )
    frozen(array)
    return array


def as_bools(values: ArrayLike, name: str, *ndims: int) -> BoolArray:
    """A mask -> a read-only boolean copy with so many axes (2 or 3); True means: may attend.

    Raises:
        NumberError: not boolean (an additive mask of numbers is a bias).
        ShapeError: another number of axes.
    """
    raw = _regular(values, name)
    if raw.dtype.kind != "b":
        raise NumberError(
            "a mask holds True (may attend) or False",
            where=name,
            got=str(raw.dtype),
            hint="Numbers that are added to the scores are a bias.",
        )
    _check_axes(raw, ndims or (2, 3), name)
    mask = np.array(raw, dtype=np.bool_)
    frozen(mask)
    return mask
