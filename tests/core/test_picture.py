"""A picture is cut into patches and attention is laid over it again, place by place."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import PRESETS, Params, Scenario, run
from attnviz.core import LimitError, NumberError, ScenarioError, ShapeError, edit
from attnviz.core.compare import differences
from attnviz.core.edit import PLACES
from attnviz.core.examples import landscape
from attnviz.core.picture import (
    CLS_VALUE,
    MAX_PATCHES,
    MAX_PIXELS,
    as_picture,
    cut,
    dot_names,
    over_picture,
    patch_name,
    place_of,
)
from tests.core.support import assert_close, assert_stages, golden_arrays, golden_params
from tests.core.test_golden import TOLERANCE, named_stages

START = PRESETS["picture"]


# Cutting.


def test_dots_are_the_pixels_from_minus_one_to_one_row_by_row() -> None:
    image = np.arange(24).reshape(4, 6) / 23
    tokens, vectors = cut(image, (2, 3), dots=2)
    assert tokens == ("CLS", "r1 c1", "r1 c2", "r1 c3", "r2 c1", "r2 c2", "r2 c3")
    assert vectors[0].tolist() == [CLS_VALUE] * 4
    expected = [image[r : r + 2, c : c + 2].ravel() * 2 - 1 for r in (0, 2) for c in (0, 2, 4)]
    assert_close(vectors[1:], expected, rel=0, abs_=1e-15)


@pytest.mark.parametrize("colours", [(), (3,)])
def test_larger_patches_are_averaged_and_colours_stand_together(colours: tuple[int, ...]) -> None:
    image = np.random.RandomState(0).uniform(size=(12, 16, *colours))
    _, vectors = cut(image, (2, 2), dots=2)
    width = 4 * (3 if colours else 1)
    assert vectors.shape == (5, width)
    for number in range(4):
        for dot in range(4):
            (r, c), (dr, dc) = divmod(number, 2), divmod(dot, 2)
            top, left = 6 * r + 3 * dr, 8 * c + 4 * dc
            mean = image[top : top + 3, left : left + 4].mean(axis=(0, 1)) * 2 - 1
            n = width // 4
            assert_close(
                vectors[1 + number, n * dot : n * dot + n], np.atleast_1d(mean), rel=0, abs_=1e-14
            )


def test_dots_have_names_in_the_order_of_the_vector() -> None:
    image = np.zeros((4, 4, 3))
    image[1, 2, 1] = 1.0
    _, vectors = cut(image, (1, 1))
    assert [dot_names()[i] for i in np.flatnonzero(vectors[1] == 1)] == ["green 2,3"]


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "one axis": (np.zeros(4), ShapeError, "picture: wrong number of axes"),
    "four colours": (np.zeros((8, 8, 4)), ShapeError, r"picture.*height, width, 3.*\(8, 8, 4\)"),
    "wide": (np.zeros((8, MAX_PIXELS + 1)), LimitError, f"at most {MAX_PIXELS} x {MAX_PIXELS}"),
    "bytes": (np.full((8, 8), 255), NumberError, "picture, row 1, column 1: .*255.0"),
    "negative": (np.full((8, 8), -0.1), NumberError, "row 1, column 1"),
    "nan": (np.full((8, 8), np.nan), NumberError, "not a finite number"),
    "text": ([["a"]], NumberError, "not real numbers"),
    "nothing": (np.zeros((0, 8)), ShapeError, "nothing in it"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("way", [as_picture, cut, lambda image: replace(START, image=image)])
def test_what_is_no_picture_is_refused(name: str, way: Any) -> None:
    image, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        way(image)


@pytest.mark.parametrize(
    ("shape", "grid", "where", "nearest"),
    [
        ((30, 32), (4, 4), "height", "32"),
        ((32, 41), (4, 4), "width", "48"),
        ((3, 16), (4, 4), "height", "16"),
    ],
)
def test_a_picture_that_cannot_be_cut_evenly_names_the_nearest_size(
    shape: tuple[int, int], grid: tuple[int, int], where: str, nearest: str
) -> None:
    with pytest.raises(ShapeError, match=f"^{where}: .*nearest is {nearest}"):
        cut(np.zeros(shape), grid)


@pytest.mark.parametrize("grid", [(0, 4), (4, MAX_PATCHES + 1)])
def test_too_many_patches_or_none_are_refused(grid: tuple[int, int]) -> None:
    with pytest.raises(LimitError, match=f"1 to {MAX_PATCHES}"):
        cut(np.zeros((64, 64)), grid)


def test_a_scenario_keeps_a_copy_of_its_picture() -> None:
    image = np.zeros((8, 8))
    scenario = replace(START, image=image)
    image[:] = 1
    assert scenario.image is not None
    assert scenario.image.max() == 0
    assert not scenario.image.flags.writeable
    assert not scenario.same(replace(START, image=None))
    assert not replace(START, image=None).same(scenario)
    assert replace(START, image=np.array(landscape())).same(START)


def test_another_picture_is_a_difference_that_is_said() -> None:
    for image, says in (
        (None, "in colour .* → none"),
        (np.zeros((8, 8)), "→ 8 × 8 in grey"),
        (landscape()[::-1], r"64 × 64 in colour \(\w{6}\) → 64 × 64 in colour \(\w{6}\)"),
    ):
        [told] = differences(START, replace(START, image=image))
        assert told.startswith("picture: ")
        assert re.search(says, told), told


# Laying attention over it.


def test_places_of_patches_are_read_back() -> None:
    for at in np.ndindex(MAX_PATCHES, MAX_PATCHES):
        assert place_of(patch_name(*at)) == at
    for token in ("CLS", "r0 c1", "r1c1", "r1 c1 ", "r17 c1", "r1 c999999", "r1１ c1", "r01 c1"):
        assert place_of(token) is None


def test_attention_over_the_picture_is_the_row_of_the_query() -> None:
    trace = run(START)
    for query in (0, 7):
        over = over_picture(trace, query)
        assert over.shape == (4, 4, 4)
        assert (over.reshape(4, 16) == trace["attention"][:, query, 1:]).all()
        given = over.sum(axis=(1, 2)) + trace["attention"][:, query, 0]
        assert_close(given, np.ones(4), rel=1e-12, abs_=0)


def test_patches_find_their_place_whatever_their_order() -> None:
    text = "r2 c1\nCLS\nr1 c2\nr2 c1"
    trace = run(edit.set_text(START, text)[0])
    over, row = over_picture(trace, 1), trace["attention"][:, 1]
    assert over.shape == (4, 2, 2)
    assert np.isnan(over[:, 0, 0]).all()
    assert np.isnan(over[:, 1, 1]).all()
    assert (over[:, 0, 1] == row[:, 2]).all()
    assert (over[:, 1, 0] == row[:, 0] + row[:, 3]).all()


def test_what_cannot_lie_over_a_picture_is_refused() -> None:
    trace = run(START)
    with pytest.raises(ScenarioError, match="no such query"):
        over_picture(trace, 17)
    with pytest.raises(ScenarioError, match="no key is a patch"):
        over_picture(run(PRESETS["walkthrough"]))


def test_the_transformer_of_random_numbers_agrees_with_what_was_worked_out_elsewhere() -> None:
    arrays = golden_arrays("vit_17x32")
    tokens = ["CLS", *(patch_name(*at) for at in np.ndindex(4, 4))]
    scenario = Scenario(
        "\n".join(tokens),
        golden_params(arrays),
        tokenizer="lines",
        lexicon={token: tuple(row) for token, row in zip(tokens, arrays["x"], strict=True)},
    )
    trace = run(scenario)
    assert trace.tokens == tuple(tokens)
    assert_stages(trace, named_stages(arrays), **TOLERANCE)
    assert_close(over_picture(trace), arrays["cls_grid"], **TOLERANCE)


# The preset.


def test_the_preset_is_its_picture() -> None:
    assert START.image is not None
    assert (START.image == landscape()).all()
    tokens, vectors = cut(START.image)
    assert START.tokens == tokens
    assert (START.x == vectors.round(PLACES)).all()
    trace = run(START)
    assert trace["output"].shape == trace["x"].shape == (17, 48)
    assert trace.labels("x")[1] == dot_names()
    assert trace.explain("x", row=1, col=0).explanation.note.startswith("The pixels of this patch")


SKY, GRASS, ROOF, WALL, SUN = (0, 0), (3, 2), (1, 1), (2, 1), (0, 3)


def row_of(place: tuple[int, int]) -> int:
    return START.tokens.index(patch_name(*place))


def test_heads_look_for_like_colours_like_edges_and_opposites() -> None:
    trace = run(START)
    like, edges, opposite, _ = over_picture(trace, row_of(SKY))
    assert like[0, :3].sum() > 0.6
    assert like[3].sum() < 0.01
    assert edges.ravel().tolist() == pytest.approx([1 / 17] * 16)
    assert opposite[:2, [0, 2]].sum() < 0.01
    assert opposite[WALL] == opposite.max()
    like, _, opposite, _ = over_picture(trace, row_of(GRASS))
    assert like[3].sum() > 0.7
    assert opposite[0].sum() > 0.4
    for place in (ROOF, SUN):
        edges = over_picture(trace, row_of(place))[1]
        assert edges[place] > 0.9


def test_cls_looks_for_light_with_one_head_and_for_dark_with_another() -> None:
    light, edges, dark, _ = over_picture(run(START))
    assert light[SKY] > 5 * light[GRASS]
    assert dark[GRASS] > 5 * dark[SKY]
    assert edges.ravel().tolist() == pytest.approx([1 / 17] * 16)


def test_the_output_is_a_mean_of_patches_again() -> None:
    """A head that attends to one patch alone gives that patch, in four quarters."""
    quarters = START.x[1:].reshape(-1, 2, 2, 2, 2, 3).mean(axis=(2, 4))
    whole = np.repeat(np.repeat(quarters, 2, axis=1), 2, axis=2).reshape(16, 48)
    w_v, w_o = START.params.w_v, START.params.w_o
    assert w_o is not None
    for head in range(4):
        drawn = START.x[1:] @ w_v[head] @ (4 * w_o[12 * head : 12 * head + 12])
        assert_close(drawn, whole, rel=0, abs_=1e-14)


def test_another_picture_takes_the_place_of_the_old_one() -> None:
    edited = edit.set_cells(START, "x", {(1, 0): 9.0})[0]
    image = np.random.RandomState(1).uniform(size=(12, 8))
    changed, note = edit.set_picture(edited, image, (3, 2))
    coloured = np.stack([image] * 3, axis=-1)
    tokens, vectors = cut(coloured, (3, 2))
    assert changed.tokens == tokens
    assert (changed.x == vectors.round(PLACES)).all()
    assert changed.image is not None
    assert (changed.image == coloured).all()
    assert changed.params is START.params
    assert note == "The picture is cut into 3 × 2 patches. 1 cells typed into X are gone."
    assert over_picture(run(changed)).shape == (4, 3, 2)


def test_any_scenario_can_be_given_a_picture() -> None:
    start = edit.start_from_qkv(PRESETS["walkthrough"])[0]
    changed, note = edit.set_picture(start, landscape())
    assert (run(changed)["x"] == START.x).all()
    assert changed.sizes.d_model == 48
    assert "d_model 4 → 48" in note
    assert "computed from embeddings again" in note
    assert Params(**changed.params.tables()).sizes.n_heads == 2
