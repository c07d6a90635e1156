"""Variants of attention as a person sets them: the side bar, the tables, the pictures."""

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator

from attnviz import PRESETS, run
from tests.browser.driver import Driver
from tests.browser.test_audit import overlapping, too_faint, too_small

START = run(PRESETS["walkthrough"])


@pytest.fixture
def variants(driver: Driver) -> Driver:
    return opened(driver)


def opened(driver: Driver) -> Driver:
    driver.page.get_by_text("Variants", exact=True).click()
    last = driver.page.locator(".st-key-variant_top_k")
    last.wait_for()
    still(last)
    return driver


def still(field: Locator) -> dict[str, float]:
    """Where it stands once nothing moves it any more; the group opens in steps."""
    held, box = 0, None
    while held < 5:
        field.page.wait_for_timeout(100)
        before, box = box, field.bounding_box()
        held = held + 1 if box == before else 0
    return dict(box)


def settle(driver: Driver) -> None:
    driver.page.wait_for_timeout(500)
    driver.wait_idle()


def toggle(driver: Driver, key: str) -> None:
    box = driver.page.locator(f".st-key-{key} input")
    before = box.is_checked()
    label = driver.page.locator(f".st-key-{key} label").first
    label.scroll_into_view_if_needed()
    still(label)
    label.click()
    settle(driver)
    assert box.is_checked() != before


def fill(driver: Driver, key: str, text: str) -> None:
    field = driver.page.locator(f".st-key-{key}").locator("input, textarea").first
    field.fill(text)
    field.press("Enter")
    settle(driver)


def pick(driver: Driver, key: str, option: str) -> None:
    field = driver.page.locator(f".st-key-{key} input").first
    field.scroll_into_view_if_needed()
    box = still(field)
    driver.click(box["x"] + 20, box["y"] + box["height"] / 2)
    driver.page.wait_for_timeout(400)
    driver.page.get_by_role("option", name=option, exact=True).click()
    settle(driver)


def words(driver: Driver, chart: str) -> str:
    return str(driver.page.locator(f".st-key-chart_{chart}").text_content())


def test_causal_mask_hides_and_undo_shows_again(variants: Driver) -> None:
    toggle(variants, "variant_causal")
    weights = variants.matrix("head_0", "attention")
    assert (weights[np.triu_indices(3, 1)] == 0).all()
    assert np.isnan(variants.matrix("head_0", "masked")[0, 1])
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    variants.press("Undo")
    np.testing.assert_array_equal(variants.matrix("head_0", "attention"), START["attention"][0])
    assert not variants.page.locator(".st-key-variant_causal input").is_checked()


def test_b23_a_second_text_is_rectangular_and_its_table_takes_an_edit(variants: Driver) -> None:
    toggle(variants, "crossed")
    fill(variants, "context_text", "the cat sat on it")
    for head in (0, 1):
        variants.page.get_by_text(f"head {head + 1}", exact=True).click()
        settle(variants)
        assert variants.matrix(f"head_{head}", "scores").shape == (3, 5)
        assert variants.matrix(f"head_{head}", "v").shape == (5, 2)
        labels = variants.labels(f"head_{head}")
        assert {"the", "cat", "sat", "on", "it"} <= set(labels["x"])
        assert {"major", "league", "baseball"} <= set(labels["y"])
    variants.type_cell("context", 1, 0, "0.125")
    assert variants.matrix("inputs", "context")[1, 0] == 0.125
    assert variants.matrix("joint", "output").shape == (3, 4)
    fill(variants, "context_text", "")
    assert "second text: there are no tokens yet" in variants.answer()
    assert variants.matrix("inputs", "context").shape == (5, 4)


def test_a_bias_stands_beside_its_table_and_takes_an_edit(variants: Driver) -> None:
    toggle(variants, "variant_b_q")
    w_q, b_q = (variants.grid(table).bounding_box() for table in ("w_q_1", "b_q_1"))
    assert 0 < b_q["x"] - w_q["x"] - w_q["width"] < 30
    assert abs(b_q["y"] - w_q["y"]) < 2
    variants.type_cell("b_q_1", 0, 1, "2.5")
    q = variants.matrix("head_1", "q")
    np.testing.assert_allclose(q[:, 1], START["q"][1, :, 1] + 2.5)
    assert "Q = X·W_Q + b_Q" in words(variants, "head_1")
    variants.click_matrix("head_1", "q", 0, 1)
    assert "+ 2.5" in variants.explanation()


def test_b09_a_row_that_may_attend_to_nothing(variants: Driver) -> None:
    toggle(variants, "variant_mask")
    variants.paste_cell("mask", 2, 0, "0\t0\t0")
    assert variants.matrix("head_0", "attention")[2].tolist() == [0, 0, 0]
    assert variants.matrix("head_0", "heads")[2].tolist() == [0, 0]
    assert "nothing to attend to" in words(variants, "head_0")
    variants.type_cell("mask", 2, 1, "0.5")
    assert "mask, row baseball, column league: 0.5 is neither 1" in variants.answer()
    assert variants.read_cell("mask", 2, 1) == "0"
    variants.type_cell("mask", 2, 1, "1")
    assert variants.matrix("head_0", "attention")[2].tolist() == [0, 1, 0]


def test_a_mistake_on_purpose_says_so_and_shows_the_sums(variants: Driver) -> None:
    pick(variants, "variant_normaliser", "softmax down the columns (a mistake)")
    assert "rows do not" in variants.page.locator(".warning").inner_text()
    weights = variants.matrix("head_0", "attention")
    np.testing.assert_allclose(weights.sum(axis=0), 1)
    for total in weights.sum(axis=1):
        assert f"Σ = {total:.2f}" in words(variants, "head_0")


def test_a_refused_number_keeps_the_picture_and_one_comma_is_read(variants: Driver) -> None:
    fill(variants, "variant_temperature", "-1")
    assert "temperature: must be above 0" in variants.answer()
    assert "last good state" in variants.answer()
    assert variants.page.locator(".st-key-variant_temperature input").input_value() == "1"
    fill(variants, "variant_temperature", "0,5")
    assert "decimal comma" in variants.answer()
    np.testing.assert_allclose(variants.matrix("head_0", "tempered"), START["scaled"][0] * 2)


def test_rotated_queries_and_shared_keys_have_pictures_of_their_own(variants: Driver) -> None:
    fill(variants, "size_n_kv_heads", "1")
    pick(variants, "variant_positions", "rotary, half-split")
    assert variants.matrix("head_1", "q_rotated").shape == (3, 2)
    assert "heads 1, 2" in words(variants, "head_1")
    assert variants.page.get_by_text("W_K heads 1, 2").is_visible()


def busy(driver: Driver) -> None:
    """Many variants at once."""
    for key in ("variant_b_q", "variant_b_o", "variant_causal", "variant_keep", "variant_bias"):
        toggle(driver, key)
    toggle(driver, "crossed")
    fill(driver, "context_text", "the cat the dog")
    pick(driver, "variant_positions", "learned table")
    fill(driver, "variant_softcap", "2")
    fill(driver, "variant_top_k", "1")


@pytest.mark.parametrize(("width", "dark"), [(1280, True), (1440, False)])
def test_texts_can_be_read_with_many_variants(
    open_app: Callable[..., Driver], width: int, dark: bool
) -> None:
    driver = opened(open_app(width, 900, dark))
    busy(driver)
    texts = driver.texts()
    assert too_small(texts) == []
    assert too_faint(texts) == []
    for chart in sorted({t["chart"] for t in texts if t["chart"]}):
        assert overlapping([t for t in texts if t["chart"] == chart]) == [], chart
    box = driver.page.locator(".st-key-variants").bounding_box()
    assert box is not None
    inside = (
        (axis, box[axis], box[axis] + box[size]) for axis, size in (("x", "width"), ("y", "height"))
    )
    for axis, start, end in inside:
        texts = [t for t in texts if start <= t[axis] < end]
    assert len(texts) > 20
    assert overlapping(texts) == []
