"""The examples: each opens, in every view, with what it is there to show."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from attnviz import PRESETS
from attnviz.core import GALLERY
from attnviz.figures import MAX_TEXT_CELLS
from attnviz.files.picture import MAX_BYTES
from tests.ui.test_script import APP, go, notes, press, problem, scenario, trace
from tests.ui.test_views import charts, open_view, words

VIEWS = ("Explore", "Step by step", "Compare", "Heads")


@pytest.fixture
def app() -> AppTest:
    test = AppTest.from_file(APP, default_timeout=60).run()
    assert not test.exception
    return test


def open_example(app: AppTest, name: str) -> None:
    app.selectbox(key="preset").set_value(name)
    go(app)
    assert problem(app) == ""
    assert scenario(app).same(PRESETS[name])


def pictures(app: AppTest, kind: str) -> dict[str, Any]:
    return {key: spec for key, spec in charts(app).items() if key.startswith(kind)}


def numbers_in_cells(spec: dict[str, Any]) -> int:
    return sum(len(part["text"]) for part in spec["data"] if part.get("mode") == "text")


def test_examples_go_by_their_titles(app: AppTest) -> None:
    assert app.selectbox(key="preset").options == [preset.title for preset in GALLERY.values()]


@pytest.mark.parametrize("name", GALLERY)
def test_every_example_opens_in_every_view(app: AppTest, name: str) -> None:
    open_example(app, name)
    assert GALLERY[name].says in words(app)
    drawn = charts(app)
    assert sum(map(numbers_in_cells, drawn.values())) <= MAX_TEXT_CELLS
    for key, spec in drawn.items():
        cells = {part["type"] for part in spec["data"] if part.get("meta")}
        if key.startswith(("head", "joint")) and cells and not numbers_in_cells(spec):
            said = " ".join(note["text"] for note in spec["layout"]["annotations"])
            assert "values<br>on hover" in said
    for view in VIEWS[1:]:
        open_view(app, view)
        if view == "Compare":
            press(app, "partner" if GALLERY[name].compare_with else "pin")
            assert pictures(app, "compare_")
        assert charts(app)
    press(app, "present")
    assert charts(app)


@pytest.mark.parametrize("name", ["attention head", "four heads"])
def test_large_tables_carry_no_numbers_in_their_pictures_and_say_so(
    app: AppTest, name: str
) -> None:
    open_example(app, name)
    (strip,) = pictures(app, "head_0").values()
    large = [part for part in strip["data"] if part.get("meta", [""])[0] in ("q", "k", "v")]
    assert len(large) == 3
    assert numbers_in_cells(strip) < 4 * 64
    assert "values<br>on hover" in [note["text"] for note in strip["layout"]["annotations"]]


def test_an_example_is_compared_with_its_partner(app: AppTest) -> None:
    open_view(app, "Compare")
    assert "partner" not in {button.key for button in app.button}
    open_example(app, "with scale")
    assert app.button(key="partner").label == r"Compare with\: Why scale\: without"
    press(app, "partner")
    pinned, before = app.session_state["attnviz"].pinned
    assert pinned.same(PRESETS["without scale"])
    assert scenario(app).same(PRESETS["with scale"])
    assert "scale" in words(app).lower()
    assert before["attention"].max() > trace(app)["attention"].max()


def test_titles_are_ranked_for_the_chosen_search(app: AppTest) -> None:
    assert not pictures(app, "ranking")
    open_example(app, "search")
    (spec,) = pictures(app, "ranking_0").values()
    assert spec["layout"]["annotations"][0]["text"] == "Ranking by PyTorch"
    app.pills(key="token").set_value("generative AI")
    go(app)
    (spec,) = pictures(app, "ranking_0").values()
    said = [note["text"] for note in spec["layout"]["annotations"]]
    assert said[0] == "Ranking by generative AI"
    assert said[2] == "Text-to-Image from Scratch"


def test_attention_lies_over_the_picture_for_the_chosen_patch(app: AppTest) -> None:
    open_example(app, "picture")
    assert len(pictures(app, "picture")) == 5
    app.selectbox(key="token").set_value("r3 c2")
    go(app)
    for head in range(4):
        (spec,) = pictures(app, f"picture_{head}").values()
        weights = trace(app)["attention"][head, 10, 1:].reshape(4, 4)
        np.testing.assert_array_equal(np.array(spec["data"][0]["z"]), weights)
    app.text_area(key="text").set_value("no\npatch")
    go(app)
    assert not pictures(app, "picture")
    assert "Nothing can be laid over the picture." in words(app)


# Uploads.


def upload(app: AppTest, name: str, data: bytes) -> None:
    uploader = next(e for e in app.file_uploader if str(e.key).startswith("upload"))
    uploader.set_value((name, data, "image/png"))
    go(app)


def png(image: Image.Image) -> bytes:
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


def test_a_picture_is_uploaded_and_undone(app: AppTest) -> None:
    assert not app.file_uploader
    open_example(app, "picture")
    upload(app, "red.png", png(Image.new("RGB", (40, 90), (255, 0, 0))))
    assert "The picture is cut into 4 × 4 patches." in notes(app)
    image = scenario(app).image
    assert image is not None
    assert image.shape[2] == 3
    assert (image == [1, 0, 0]).all()
    assert (trace(app)["x"][1:, ::3] == 1).all()
    press(app, "undo")
    assert scenario(app).same(PRESETS["picture"])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("<b>$x$.png", b"<svg onload=alert(1)>"),
        ("cut.png", png(Image.new("RGB", (90, 90)))[:60]),
        ("huge.png", b"\0" * (MAX_BYTES + 1)),
    ],
)
def test_what_cannot_be_read_keeps_the_picture_and_says_why(
    app: AppTest, name: str, data: bytes
) -> None:
    open_example(app, "picture")
    upload(app, name, data)
    assert problem(app).startswith(f"picture {name}: ")
    assert scenario(app).same(PRESETS["picture"])
    assert len(pictures(app, "picture")) == 5
