"""A picture that a person uploads: checked, decoded and made small."""

import io
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from attnviz.core.arrays import Array
from attnviz.core.errors import AttnvizError, FormatError, LimitError
from attnviz.core.picture import DOTS, GRID

FORMATS = ("PNG", "JPEG")
ENDINGS = ("png", "jpg", "jpeg")
MAX_MEGABYTES = 4
MAX_BYTES = MAX_MEGABYTES * 2**20
MAX_DECODED = 25_000_000  # pixels; a small file can be made that would fill the memory
MAX_SIDE = 128  # px of what is kept, enough for what is cut into a few patches
WHERE = "picture"


def read_picture(data: bytes, name: str = "", grid: tuple[int, int] = GRID) -> Array:
    """The bytes of a PNG or JPEG -> (height, width, 3) brightness from 0 to 1.

    What the file says of its size is believed before anything is decoded, and is checked against
    the limits first. The longer side becomes at most `MAX_SIDE`, both a multiple of what `grid`
    asks for; transparent pixels lie on white, and a camera's upright mark is heeded.

    Args:
        data: the whole file.
        name: of the file, for sentences.
        grid: into how many rows and columns of patches it will be cut.

    Raises:
        LimitError: too many bytes or pixels.
        FormatError: no such picture, or a broken one.
    """
    where = f"{WHERE} {name}".strip()
    if len(data) > MAX_BYTES:
        raise LimitError(
            "the file is too large",
            where=where,
            expected=f"at most {MAX_MEGABYTES} MB",
            got=f"{len(data) / 2**20:.1f} MB",
        )
    try:
        with _opened(data) as image:
            _check_size(image.size, where)
            image.verify()
        with _opened(data) as image:  # a picture that was verified cannot be decoded any more
            return _small(image, grid)
    except AttnvizError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many(where, "far more") from None
    except Exception as error:  # a broken file may fail anywhere in a decoder
        raise FormatError(
            "this is no picture that can be read, or a broken one",
            where=where,
            expected=" or ".join(FORMATS),
        ) from error


def _opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data), formats=FORMATS)


def _check_size(size: tuple[int, int], where: str) -> None:
    if size[0] * size[1] > MAX_DECODED:
        raise _too_many(where, f"{size[0]:,} × {size[1]:,}")


def _too_many(where: str, got: str) -> LimitError:
    return LimitError(
        "too many pixels",
        where=where,
        expected=f"at most {MAX_DECODED // 10**6} million",
        got=got,
        hint="Save it smaller.",
    )


def _small(image: Image.Image, grid: tuple[int, int]) -> Array:
    image.draft("RGB", (2 * MAX_SIDE, 2 * MAX_SIDE))  # a JPEG is decoded at about this size
    upright = ImageOps.exif_transpose(image)
    width, height = upright.size
    scale = min(1.0, MAX_SIDE / max(width, height))
    rows, cols = (count * DOTS for count in grid)
    size = _side(width * scale, cols), _side(height * scale, rows)
    pixels: Any = np.asarray(_rgb(upright).resize(size, Image.Resampling.LANCZOS))
    return np.asarray(pixels / 255.0)


def _side(length: float, step: int) -> int:
    """The nearest multiple of a step, at least one and at most `MAX_SIDE`."""
    return min(max(step, round(length / step) * step), MAX_SIDE // step * step or step)


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):  # 16 bits of grey, which Pillow would cut off at 255
        grey = np.asarray(image, dtype=np.float64) / 257
        return Image.fromarray(grey.clip(0, 255).astype(np.uint8)).convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    white = Image.new("RGBA", clear.size, "white")
    return Image.alpha_composite(white, clear).convert("RGB")
