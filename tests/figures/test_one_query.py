"""What one query makes of the keys: as bars in their order, and over the picture they are of."""

import base64
import html
import io
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from attnviz import PRESETS, AttnvizError, Trace, run
from attnviz.core import edit
from attnviz.core.picture import grid_of
from attnviz.figures import View, picture_overlay, ranking_bars
from attnviz.figures.bars import LETTERS, MAX_BARS
from attnviz.figures.labels import cut, text_width
from attnviz.figures.palettes import contrast, inks, luminance, rgb
from tests.figures.support import STRANGE, Spec, notes, plain, traced, words

SEARCH, PICTURE = run(PRESETS["search"]), run(PRESETS["picture"])
IMAGE = PRESETS["picture"].image
assert IMAGE is not None


def bars(spec: Spec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The bars, and the rows that are pointed at."""
    go.Figure(plain(spec))  # Plotly takes it
    seen, pointed = spec["data"]
    return seen, pointed


def test_bars_are_as_long_as_the_weights_the_best_first() -> None:
    for query in (0, 1):
        spec = ranking_bars(SEARCH, query, 0, View())
        seen, pointed = bars(spec)
        weights = np.sort(SEARCH["attention"][0, query])[::-1]
        lengths = np.array(seen["x"])
        np.testing.assert_allclose(lengths / lengths[0], weights / weights[0], atol=1e-12)
        assert seen["y"] == sorted(seen["y"]) == pointed["y"]
        best = SEARCH["attention"][0, query].argmax()
        title = SEARCH.key_tokens[best]
        exact = repr(float(SEARCH["attention"][0, query, best]))
        assert (
            pointed["hovertext"][0] == f"1. {SEARCH.tokens[query]} attends to {title} with {exact}"
        )


def test_bars_name_query_head_and_keys() -> None:
    said = notes(ranking_bars(SEARCH, 0, 0, View()))
    assert said[:2] == ["Ranking by generative AI", "weights of head 1, best first"]
    assert said[2:6] == [
        "Text-to-Image from Scratch",
        "0.62",
        cut("Generative Models in Practice", LETTERS),
        "0.35",
    ]


@pytest.mark.parametrize("width", [200, 560, 1144])
def test_nothing_leaves_the_picture(width: int) -> None:
    spec = ranking_bars(SEARCH, 1, 0, View(width=width))
    layout = spec["layout"]
    for note in layout["annotations"]:
        reach = text_width(html.unescape(note["text"]), note["font"]["size"])
        left = note["x"] * width - (reach if note["xanchor"] == "right" else 0)
        assert left >= -4, note["text"]
        if note is not layout["annotations"][0]:
            assert left + reach <= width + 4, note["text"]
    seen, _ = bars(spec)
    assert max(seen["x"]) + seen["base"] <= width


def test_of_many_keys_the_first_are_shown_and_the_rest_is_said() -> None:
    trace = traced(words(40))
    spec = ranking_bars(trace, 3, 1, View())
    assert len(bars(spec)[0]["x"]) == MAX_BARS
    rest = np.sort(trace["attention"][1, 3])[::-1][MAX_BARS]
    assert f"and {40 - MAX_BARS} more keys, none above {rest:.2f}" in notes(spec)


def test_a_query_that_attends_to_nothing_says_so() -> None:
    start = PRESETS["walkthrough"]
    hidden = edit.set_mask(start, {(1, key): False for key in range(3)})[0]
    spec = ranking_bars(run(hidden), 1, 0, View())
    assert "nothing to attend to" in notes(spec)
    assert set(bars(spec)[0]["x"]) == {0.0}


def test_negative_weights_go_to_the_left_of_zero() -> None:
    start = edit.set_config(PRESETS["word order"], normaliser="division")[0]
    trace = run(start)
    weights = trace["attention"]
    head, query = np.argwhere((weights < 0).any(axis=-1) & (weights > 0).any(axis=-1))[0]
    seen, _ = bars(ranking_bars(trace, int(query), int(head), View()))
    assert min(seen["x"]) < 0 < max(seen["x"])
    assert seen["base"] + min(seen["x"]) > 0


def test_strange_words_stay_letter_for_letter() -> None:
    start = edit.set_tokenizer(PRESETS["walkthrough"], "lines")[0]
    trace = run(edit.set_text(start, "\n".join(STRANGE[:MAX_BARS]))[0])
    spec = ranking_bars(trace, 0, 0, View())
    said = [text for part in (*notes(spec), *spec["data"][1]["hovertext"]) for text in (part,)]
    assert not any(re.search(r"<(?!br>)", text) or "$" in text for text in said)
    assert any("&lt;script&gt;" in text for text in said)


@pytest.mark.parametrize("dark", [False, True])
def test_letters_stand_out_from_the_page(dark: bool) -> None:
    ink = inks(dark)
    page = luminance(rgb(ink.page))
    for spec in (
        ranking_bars(SEARCH, 0, 0, View(dark=dark)),
        picture_overlay(PICTURE, IMAGE, 5, 0, View(dark=dark, width=220)),
    ):
        for note in plain(spec)["layout"]["annotations"]:
            assert contrast(luminance(rgb(note["font"]["color"])), page) >= 4.5
            assert note["font"]["size"] >= 13


@pytest.mark.parametrize(("query", "head"), [(9, 0), (0, 4), (-1, 0)])
def test_what_is_not_there_is_refused(query: int, head: int) -> None:
    with pytest.raises(AttnvizError, match="no such"):
        ranking_bars(SEARCH, query, head, View())
    with pytest.raises(AttnvizError, match="no such"):
        picture_overlay(PICTURE, IMAGE, query * 3, head, View())


# Over the picture.


def heat(spec: Spec) -> dict[str, Any]:
    go.Figure(plain(spec))
    (found,) = (part for part in spec["data"] if part["type"] == "heatmap")
    return dict(found)


def pixels(spec: Spec) -> np.ndarray[Any, Any]:
    """The picture that lies below, as another decoder reads it."""
    (image,) = spec["layout"]["images"]
    kind, data = image["source"].split(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def overlay(trace: Trace, query: int, head: int | None, **more: Any) -> Spec:
    return picture_overlay(trace, IMAGE, query, head, View(width=220), **more)


def test_each_patch_has_its_weight_and_its_sentence() -> None:
    for head in range(4):
        found = heat(overlay(PICTURE, 7, head))
        weights = PICTURE["attention"][head, 7]
        np.testing.assert_array_equal(np.array(found["z"]).ravel(), weights[1:])
        said = [text for row in found["hovertext"] for text in row]
        expected = [PICTURE.sentence("attention", head, 7, key, None) for key in range(1, 17)]
        assert said == expected
        assert "meta" not in found  # no click takes a patch for a cell of an array


def test_colours_run_from_zero_to_the_largest_of_all_heads_and_say_so() -> None:
    most = PICTURE["attention"][:, 7, 1:].max()
    for head in range(4):
        spec = overlay(PICTURE, 7, head)
        assert (heat(spec)["zmin"], heat(spec)["zmax"]) == (0, most)
        assert f"colours: 0 … {most:.2f}" in notes(spec)
    opaque = [float(c.split(", ")[-1][:-1]) for _, c in heat(overlay(PICTURE, 7, 0))["colorscale"]]
    assert opaque == sorted(opaque)
    assert 0 < opaque[0] < opaque[-1] < 1


def test_the_weight_of_cls_is_written_below() -> None:
    assert f"CLS: {PICTURE['attention'][1, 7, 0]:.2f}" in notes(overlay(PICTURE, 7, 1))


def test_the_picture_lies_below_in_grey_and_alone_in_its_colours() -> None:
    np.testing.assert_array_equal(pixels(overlay(PICTURE, 7, None)), np.round(IMAGE * 255))
    grey = pixels(overlay(PICTURE, 7, 0))
    assert grey.shape == IMAGE.shape[:2]
    assert abs(grey - IMAGE @ [0.2126, 0.7152, 0.0722] * 255).max() <= 0.5 + 1e-9


def test_the_own_patch_is_outlined_and_cls_has_none() -> None:
    def outlined(query: int) -> list[tuple[int, int]]:
        shapes = overlay(PICTURE, query, 0)["layout"]["shapes"]
        return [(round(s["y0"]), round(s["x0"])) for s in shapes if s.get("name") == "query"]

    assert outlined(0) == []
    assert outlined(7) == [(1, 2)]
    assert PICTURE.tokens[7] == "r2 c3"


def test_patches_that_are_no_keys_carry_no_colour_and_the_others_keep_their_place() -> None:
    start = PRESETS["picture"]
    trace = run(edit.set_text(start, "CLS\nr1 c2\nr2 c1\nr2 c1")[0])
    spec = overlay(trace, 1, 2, grid=grid_of(start.lexicon))
    z = np.array(heat(spec)["z"], dtype=float)
    assert z.shape == (4, 4)
    assert np.argwhere(~np.isnan(z)).tolist() == [[0, 1], [1, 0]]
    assert z[1, 0] == trace["attention"][2, 1, 2:].sum()
    assert heat(spec)["hovertext"][1][0].count("<br>") == 1
    assert heat(spec)["hoverongaps"] is False


def test_patches_keep_the_shape_of_a_picture_that_is_no_square() -> None:
    wide, _ = edit.set_picture(PRESETS["picture"], IMAGE[:32])
    trace = run(wide)
    for width in (150, 500):
        assert wide.image is not None
        layout = picture_overlay(trace, wide.image, 1, 0, View(width=width))["layout"]
        (left, right), (low, high) = layout["xaxis"]["domain"], layout["yaxis"]["domain"]
        assert (right - left) * width / ((high - low) * layout["height"]) == pytest.approx(2, 0.01)
        assert layout["yaxis"]["scaleratio"] == pytest.approx(0.5)


def test_without_patches_there_is_nothing_to_lay_over() -> None:
    with pytest.raises(AttnvizError, match="no key is a patch"):
        overlay(SEARCH, 0, 0)
