"""The examples with large tables and pictures of their own, as a browser shows them."""

import io
from collections.abc import Callable

import pytest
from PIL import Image

from attnviz.core import GALLERY
from tests.browser.driver import Driver
from tests.browser.test_audit import overlapping, too_faint, too_small

WIDTHS = (
    "() => { const m = document.querySelector('[data-testid=stMain]');"
    " return [m.scrollWidth, m.clientWidth]; }"
)


def open_example(driver: Driver, name: str) -> None:
    field = driver.page.locator(".st-key-preset input")
    field.click()
    driver.page.wait_for_timeout(300)
    field.fill(GALLERY[name].title)
    driver.page.keyboard.press("Enter")
    driver.page.get_by_text(GALLERY[name].says).wait_for()
    driver.wait_idle()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_wider_than_the_page_and_all_can_be_read(
    open_app: Callable[..., Driver], dark: bool
) -> None:
    driver = open_app(dark=dark)
    for name, own in (("picture", "picture"), ("search", "ranking"), ("four heads", "")):
        open_example(driver, name)
        if own:
            driver.page.locator(f'[class*="st-key-chart_{own}"] .main-svg').first.wait_for()
        needed, room = driver.page.evaluate(WIDTHS)
        assert needed <= room, name
        texts = driver.texts()
        assert too_small(texts) == [], name
        assert too_faint(texts) == [], name
        charts = {t["chart"] for t in texts if own and t["chart"].startswith(f"st-key-chart_{own}")}
        assert charts or not own
        for chart in charts:
            assert overlapping([t for t in texts if t["chart"] == chart]) == [], chart


def test_a_picture_of_ones_own_takes_the_place_of_the_old_one(driver: Driver) -> None:
    open_example(driver, "picture")
    held = io.BytesIO()
    Image.new("RGB", (320, 160), (200, 30, 30)).save(held, "PNG")
    field = driver.page.locator('[class*="st-key-upload_"] input[type=file]')
    for name, data, said in (
        ("red.png", held.getvalue(), "The picture is cut into 4 × 4 patches."),
        ("bad.png", b"<b>no</b>", "picture bad.png: this is no picture that can be read"),
    ):
        field.set_input_files({"name": name, "mimeType": "image/png", "buffer": data})
        driver.page.locator(".st-key-answer", has_text=said).wait_for()
        driver.wait_idle()
        assert driver.read_cell("x", 1, 0) == "0.568627"  # 2 · 200/255 − 1
