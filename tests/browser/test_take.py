"""Reload, the back button, another server, downloads and uploads, as a browser does them."""

import io
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, Download

from attnviz import PRESETS, run
from attnviz.core import Scenario, edit
from attnviz.core.resize import resize
from attnviz.files import from_json, to_json
from attnviz.files.exports import FORMATS_OUT, export
from attnviz.files.link import encode
from tests.browser.driver import Driver
from tests.browser.serve import free_port, serving, watch
from tests.browser.test_audit import overlapping, too_faint, too_small

START = PRESETS["walkthrough"]
EDITED = edit.set_cells(START, "w_q", {(1, 0, 0): 0.123456789012345})[0]
TRACE = run(EDITED)


def attention(driver: Driver, scenario: Scenario) -> None:
    np.testing.assert_array_equal(
        driver.matrix("head_1", "attention"), run(scenario)["attention"][1]
    )


def query(driver: Driver) -> str:
    return urlsplit(driver.page.url).query


def reload(driver: Driver) -> None:
    driver.page.reload()
    driver.wait_idle()


def back(driver: Driver) -> None:
    driver.page.go_back()
    driver.page.wait_for_timeout(600)
    driver.wait_idle()


def download(driver: Driver, press: Callable[[], None]) -> tuple[Download, bytes]:
    with driver.page.expect_download() as caught:
        press()
    return caught.value, Path(caught.value.path()).read_bytes()


def button(driver: Driver, name: str) -> Callable[[], None]:
    return driver.page.get_by_role("button", name=name, exact=True).click


def upload(driver: Driver, field: str, name: str, data: bytes) -> None:
    driver.page.locator(f'[class*="st-key-{field}_"] input[type=file]').set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )
    driver.page.wait_for_timeout(600)
    driver.wait_idle()


def test_a_reload_gives_the_same_numbers(driver: Driver) -> None:
    assert query(driver) == ""
    driver.type_cell("w_q_1", 0, 0, "0.123456789012345")
    attention(driver, EDITED)
    before = query(driver)
    assert before
    reload(driver)
    attention(driver, EDITED)
    assert query(driver) == before
    driver.type_cell("w_q_1", 0, 1, "0.5")
    attention(driver, edit.set_cells(EDITED, "w_q", {(1, 0, 1): 0.5})[0])


def test_the_back_button_goes_back_and_forward_again(driver: Driver) -> None:
    driver.type_cell("w_q_1", 0, 0, "0.123456789012345")
    driver.set_text("one two")
    assert driver.matrix("head_1", "attention").shape == (2, 2)
    back(driver)
    attention(driver, EDITED)
    assert driver.page.get_by_label("Text", exact=True).input_value() == "major league baseball"
    assert driver.read_cell("w_q_1", 0, 0) == "0.123456789012345"
    back(driver)
    attention(driver, START)
    assert query(driver) == ""
    assert driver.read_cell("w_q_1", 0, 0) == "0.3"
    driver.page.go_forward()
    driver.page.wait_for_timeout(600)
    driver.wait_idle()
    attention(driver, EDITED)
    driver.press("Undo")
    attention(driver, START)


def test_the_back_button_leaves_a_view(driver: Driver) -> None:
    driver.open_view("Heads")
    driver.open_view("Step by step")
    back(driver)
    assert driver.page.locator(".st-key-chart_flow").count() == 1
    back(driver)
    attention(driver, START)


PACE = 600  # ms between edits; the grid loses keys while the page is being drawn


def test_edits_that_follow_each_other_are_all_kept(driver: Driver) -> None:
    driver.select_cell("w_q_1", 0, 0)
    for text in ("0.11", "0.22", "0.33", "0.44"):
        driver.type_here(text)
        driver.page.wait_for_timeout(PACE)
    driver.wait_idle()
    cells = {(1, row, 0): value for row, value in enumerate((0.11, 0.22, 0.33, 0.44))}
    wanted = edit.set_cells(START, "w_q", cells)[0]
    attention(driver, wanted)
    reload(driver)
    attention(driver, wanted)


def test_a_damaged_link_opens_the_default_and_says_so(open_app: Callable[..., Driver]) -> None:
    driver = open_app(query=f"?s={encode(EDITED)[:-5]}")
    attention(driver, START)
    assert "This address cannot be opened: link: this is damaged" in driver.answer()
    driver.type_cell("w_q_1", 0, 0, "0.123456789012345")
    assert query(driver).startswith(f"s={encode(EDITED)}")


def test_a_copied_link_opens_for_the_projector(open_app: Callable[..., Driver]) -> None:
    driver = open_app(query=f"?s={encode(EDITED)}")
    driver.open_view("Take away")
    driver.page.locator(".st-key-link_opens button", has_text="Present").click()
    driver.page.wait_for_timeout(400)
    driver.wait_idle()
    code = driver.page.locator("[data-testid=stCode]")
    code.hover()
    code.locator("button").click()
    link = driver.page.evaluate("() => navigator.clipboard.readText()")
    driver.page.goto(link)
    driver.wait_idle()
    np.testing.assert_array_equal(driver.matrix("step", "attention"), TRACE["attention"][1])


def test_the_title_says_what_a_link_opens(open_app: Callable[..., Driver]) -> None:
    driver = open_app(query=f"?s={encode(EDITED)}")
    assert (
        driver.page.title() == "walkthrough: “major league baseball”, 2 heads, d_model 4 – attnviz"
    )
    driver.set_text("one two")
    assert driver.page.title().startswith("walkthrough: “one two”")


def large() -> Scenario:
    numbers = np.random.RandomState(0).standard_normal((2, 64, 32))
    cells = {index: float(numbers[index]) for index in np.ndindex(*numbers.shape)}
    return edit.set_cells(resize(START, d_model=64, d_k=32)[0], "w_q", cells)[0]


def test_another_server_opens_small_and_large_states(browser: Browser, tmp_path: Path) -> None:
    wanted = large()
    with serving(cache=tmp_path) as first:
        watched = watch(browser, first.address)
        watched.page.goto(first.address)
        driver = Driver(watched.page)
        driver.wait_idle()
        driver.type_cell("w_q_1", 0, 0, "0.123456789012345")
        small = query(driver)
        driver.open_view("Take away")
        upload(driver, "open", "large.json", to_json(wanted))
        driver.open_view("Explore")
        kept = query(driver)
        watched.close()
    assert kept.startswith("id=")
    assert len(kept) < 60
    with serving(cache=tmp_path) as second:
        watched = watch(browser, second.address)
        driver = Driver(watched.page)
        for asked, scenario in ((small, EDITED), (kept, wanted)):
            watched.page.goto(f"{second.address}/?{asked}")
            driver.wait_idle()
            attention(driver, scenario)
        assert watched.errors == []
        watched.close()


def test_a_page_goes_on_with_a_server_that_was_started_anew(
    browser: Browser, tmp_path: Path
) -> None:
    port = free_port()
    with serving(cache=tmp_path, port=port) as first:
        watched = watch(browser, first.address)
        watched.page.goto(f"{first.address}/?view=take-away")
        driver = Driver(watched.page)
        driver.wait_idle()
        upload(driver, "open", "mine.json", to_json(EDITED))
        asked = query(driver)
    loads: list[object] = []
    watched.page.on("load", lambda _: loads.append(None))
    with serving(cache=tmp_path, port=port):
        for _ in range(600):
            if not loads:
                watched.page.wait_for_timeout(100)
        assert loads
        driver.wait_idle()
        assert query(driver) == asked
        for name in ("Save", *(FORMATS_OUT[name].label for name in ("csv", "npz"))):
            _, data = download(driver, button(driver, name))
            assert data == to_json(EDITED) if name == "Save" else data
        driver.open_view("Explore")
        attention(driver, EDITED)
        watched.close()


def test_the_tool_bar_gives_a_link_to_what_is_shown(open_app: Callable[..., Driver]) -> None:
    driver = open_app()
    driver.type_cell("w_q_1", 0, 0, "0.9")
    driver.click_matrix("head_0", "scores", 2, 1)
    driver.press("Link")
    box = driver.page.locator("[data-testid=stPopoverBody]")
    assert "Explore" in box.inner_text()
    link = box.locator("code").inner_text()
    other = open_app(query="?" + link.partition("?")[2])
    assert other.read_cell("w_q_0", 0, 0) == driver.read_cell("w_q_0", 0, 0)
    np.testing.assert_array_equal(other.matrix("head_1", "q"), driver.matrix("head_1", "q"))
    assert other.answer() == driver.answer()


@pytest.fixture
def taking(open_app: Callable[..., Driver]) -> Driver:
    return open_app(query=f"?s={encode(EDITED)}&view=take-away")


def test_every_file_arrives(taking: Driver) -> None:
    for name, entry in FORMATS_OUT.items():
        file, data = download(taking, button(taking, entry.label))
        assert file.suggested_filename.endswith(entry.suffix)
        if name not in ("npz", "xlsx", "notebook"):  # these hold times or random ids
            assert data == export(name, TRACE, EDITED), name
        if name == "npz":
            arrays = np.load(io.BytesIO(data))
            for key, array in TRACE.values.arrays.items():
                np.testing.assert_array_equal(arrays[key], array)


def test_a_saved_state_opens_again(taking: Driver) -> None:
    _, data = download(taking, button(taking, "Save"))
    assert from_json(data).same(EDITED)
    taking.press("Reset")
    upload(taking, "open", "mine.json", data)
    assert "Opened mine.json." in taking.answer()
    taking.open_view("Explore")
    attention(taking, EDITED)
    taking.press("Undo")
    attention(taking, START)


@pytest.mark.parametrize(("kind", "begins"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_a_picture_is_saved_without_a_network(taking: Driver, kind: str, begins: bytes) -> None:
    taking.page.locator(".st-key-camera button", has_text=kind).click()
    taking.page.wait_for_timeout(400)
    taking.wait_idle()
    camera = taking.page.locator(".st-key-chart_joint .modebar-btn")
    file, data = download(taking, camera.click)
    assert file.suggested_filename == f"attnviz-joint.{kind.lower()}"
    assert data.startswith(begins)
    assert len(data) > 5000


def test_every_picture_can_have_a_camera(taking: Driver) -> None:
    taking.page.locator(".st-key-cameras label").first.click()
    taking.page.wait_for_timeout(400)
    taking.open_view("Explore")
    for chart in ("head_0", "joint"):
        taking.page.locator(f".st-key-chart_{chart}").hover()
        camera = taking.page.locator(f".st-key-chart_{chart} .modebar-btn")
        file, data = download(taking, camera.click)
        assert file.suggested_filename == f"attnviz-{chart}.png"
        assert data.startswith(b"\x89PNG")


def test_a_layer_is_imported(taking: Driver) -> None:
    rng = np.random.RandomState(1)
    data = io.BytesIO()
    tables = {f"{n}_proj.weight": rng.standard_normal((4, 4)) for n in ("q", "k", "v", "o")}
    np.savez(data, **tables)
    upload(taking, "import", "layer.npz", data.getvalue())
    page = taking.page.locator("[data-testid=stMain]")
    assert "Square tables cannot show whether they are transposed." in page.inner_text()
    taking.press("Use this layer")
    assert "Undo brings the old ones back." in taking.answer()
    taking.open_view("Explore")
    reload(taking)
    wanted = run(START).values.arrays["x"] @ tables["q_proj.weight"].T
    np.testing.assert_allclose(taking.matrix("head_0", "q"), wanted, atol=1e-12)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (1440, 900)])
def test_texts_can_be_read(
    open_app: Callable[..., Driver], size: tuple[int, int], dark: bool
) -> None:
    driver = open_app(*size, dark, "?view=take-away")
    upload(driver, "import", "one.csv", b"1,2\n3,4\n5,6\n7,8\n")
    texts = driver.texts()
    assert too_small(texts) == []
    assert too_faint(texts) == []
    assert overlapping([t for t in texts if t["chart"]]) == []
    main = driver.page.locator("[data-testid=stMain]")
    assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") <= 1
