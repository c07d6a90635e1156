"""Pictures that a person uploads: what is taken, and what is refused before it can do harm."""

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attnviz import PRESETS, run
from attnviz.core import FormatError, LimitError, edit
from attnviz.core.picture import cut
from attnviz.files import picture
from attnviz.files.picture import MAX_BYTES, MAX_DECODED, MAX_SIDE, read_picture

RED_LEFT = np.zeros((48, 64, 3), np.uint8)
RED_LEFT[:, :32, 0] = 255


def written(image: Image.Image, kind: str = "PNG", **more: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, kind, **more)
    return held.getvalue()


def of(array: np.ndarray[Any, Any], kind: str = "PNG", **more: Any) -> bytes:
    return written(Image.fromarray(array), kind, **more)


def claiming(width: int, height: int) -> bytes:
    """A PNG that says it has so many pixels, and has next to none."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        whole = kind + body
        return struct.pack(">I", len(body)) + whole + struct.pack(">I", zlib.crc32(whole))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    body = header + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_a_png_is_read_to_the_pixel() -> None:
    np.testing.assert_array_equal(read_picture(of(RED_LEFT)), RED_LEFT / 255)


def test_a_jpeg_is_read_nearly_so() -> None:
    found = read_picture(of(RED_LEFT, "JPEG", quality=95))
    assert found.shape == (48, 64, 3)
    assert abs(found[:, :28] - RED_LEFT[:, :28] / 255).max() < 0.05


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("size", [(1, 1), (17, 5), (300, 200), (2000, 100), (5, 3000), (1200, 900)])
def test_every_size_becomes_one_that_can_be_cut(kind: str, size: tuple[int, int]) -> None:
    found = read_picture(written(Image.new("RGB", size, (10, 200, 30)), kind))
    assert max(found.shape) <= MAX_SIDE
    assert len(cut(found)[0]) == 17
    np.testing.assert_allclose(found, np.array([10, 200, 30]) / 255 + 0 * found, atol=0.02)
    assert found.shape[0] <= found.shape[1] if size[0] >= size[1] else True


def test_other_grids_get_sizes_of_their_own() -> None:
    assert len(cut(read_picture(of(RED_LEFT), grid=(3, 5)), (3, 5))[0]) == 16


@pytest.mark.parametrize(
    ("image", "corner"),
    [
        (Image.new("L", (32, 32), 51), (0.2, 0.2, 0.2)),
        (Image.new("1", (32, 32), 1), (1, 1, 1)),
        (Image.new("P", (32, 32), 0), (0, 0, 0)),
        (Image.new("RGBA", (32, 32), (255, 0, 0, 0)), (1, 1, 1)),
        (Image.new("LA", (32, 32), (0, 51)), (0.8, 0.8, 0.8)),
        (Image.fromarray(np.full((32, 32), 13107, np.uint16)), (0.2, 0.2, 0.2)),
    ],
    ids=lambda value: value.mode if isinstance(value, Image.Image) else "",
)
def test_every_kind_of_pixel_becomes_red_green_and_blue(
    image: Image.Image, corner: tuple[float, ...]
) -> None:
    found = read_picture(written(image))
    assert found.shape == (32, 32, 3)
    np.testing.assert_allclose(found[0, 0], corner, atol=1e-9)


def test_a_camera_held_upright_is_heeded() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    found = read_picture(of(RED_LEFT, "JPEG", exif=exif, quality=95))
    assert found.shape == (64, 48, 3)
    assert found[:28, :, 0].min() > 0.9


def test_a_file_of_too_many_bytes_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "_opened", None)
    with pytest.raises(LimitError, match=r"big.png: the file is too large .*at most 4 MB, got 4.0"):
        read_picture(b"\0" * (MAX_BYTES + 1), "big.png")


@pytest.mark.parametrize("size", [(MAX_DECODED // 1000 + 1, 1000), (12000, 12000), (60000, 60000)])
def test_a_bomb_is_refused_before_it_is_decoded(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "_small", None)
    monkeypatch.setattr(Image.Image, "verify", None)
    with pytest.raises(LimitError, match=r"too many pixels \(expected at most 25 million"):
        read_picture(claiming(*size), "bomb.png")


WHOLE = of(np.random.RandomState(0).randint(0, 256, (64, 64, 3)).astype(np.uint8))
BROKEN = {
    "empty": b"",
    "text": b"<script>alert(1)</script>",
    "cut off": WHOLE[: len(WHOLE) // 2],
    "a byte changed": WHOLE[:500] + bytes([WHOLE[500] ^ 255]) + WHOLE[501:],
    "few pixels of many": claiming(1000, 1000),
    "GIF": of(RED_LEFT, "GIF"),
    "BMP": of(RED_LEFT, "BMP"),
    "cut off JPEG": of(RED_LEFT, "JPEG")[:200],
    "no side": claiming(0, 5),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_broken_or_something_else_gives_one_sentence(kind: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_picture(BROKEN[kind], "x.png")
    assert str(caught.value) == (
        "picture x.png: this is no picture that can be read, or a broken one "
        "(expected PNG or JPEG)."
    )


def test_what_was_read_is_cut_and_computed() -> None:
    changed, note = edit.set_picture(PRESETS["picture"], read_picture(of(RED_LEFT)))
    assert "4 × 4 patches" in note
    assert run(changed)["attention"].shape == (4, 17, 17)
