"""Where things stand: nothing crosses, nothing is too small, heads line up."""

from dataclasses import replace
from itertools import combinations

import pytest

from attnviz import Trace
from attnviz.figures import LARGE, PAGE, PROJECTOR, View
from attnviz.figures.labels import cut, text_width
from attnviz.figures.layout import SQUEEZE, arrange
from attnviz.figures.panel import head_keys, joint_keys, resolve
from attnviz.figures.places import Layout, Placed, header
from attnviz.figures.thumbs import arrange_small
from tests.figures.support import STRANGE, traced, words

TEXTS = {
    "walkthrough": ("", {}),
    "one": ("word", {}),
    "repeated": ("the cat the", {}),
    "ten letters": ("strawberry blackberry watermelon elderberry", {}),
    "strange": (" ".join(STRANGE), {}),
    "long": ("Donaudampfschifffahrtsgesellschaft " * 3, {}),
    "5": (words(5), {"n_heads": 4}),
    "8": (words(8), {}),
    "15": (words(15), {}),
    "17": (words(17), {}),
    "64": (words(64), {}),
    "d_k 8": ("", {"d_k": 8, "d_v": 8}),
    "d_k 64": (words(4), {"d_k": 64, "d_v": 64, "d_out": 64}),
    "12 heads": ("", {"n_heads": 12}),
}


def layouts(trace: Trace, view: View) -> list[Layout]:
    strip = resolve(trace, [(key, 0) for key in head_keys(trace)], view)
    joint = resolve(trace, [(key, None) for key in joint_keys(trace)], view)
    return [arrange(strip, view, ("Head 1",)), arrange(joint, view, ("All heads",))]


def box(placed: Placed, view: View) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a panel with its titles and labels."""
    panel, sizes = placed.panel, view.sizes
    label = 0.0
    if placed.row_labels:
        label = max(text_width(cut(text), sizes.label) for text in panel.rows)
    middle = placed.left + placed.width / 2
    half = max(text_width(t, sizes.detail) for t in (panel.subtitle, placed.axes, panel.extent)) / 2
    sums = max((text_width(t, sizes.detail) for t in panel.sums), default=0.0)
    beside = 4 + sums if not panel.transposed and placed.cell_height >= sizes.detail else 0.0
    return (
        min(placed.left - label, middle - half),
        placed.title_top,
        max(placed.left + placed.width + beside, middle + half),
        placed.top + placed.height + sizes.detail,
    )


@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
@pytest.mark.parametrize("causal", [False, True], ids=["", "causal"])
@pytest.mark.parametrize("name", TEXTS)
def test_panels_do_not_cross_and_stay_inside(name: str, causal: bool, tokens_as: str) -> None:
    text, sizes = TEXTS[name]
    view = View(tokens_as=tokens_as)
    for layout in layouts(traced(text, causal=causal, **sizes), view):
        boxes = [box(placed, view) for placed in layout.placed]
        for a, b in combinations(boxes, 2):
            wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            assert wide <= 8 or high <= 0, (a, b)
        assert min(left for left, *_ in boxes) >= -1
        assert max(right for _, _, right, _ in boxes) <= layout.width + 8
        assert max(bottom for *_, bottom in boxes) <= layout.height
        assert layout.width <= view.width * SQUEEZE + 1


@pytest.mark.parametrize("view", [View(), View(width=1872, sizes=PROJECTOR), View(sizes=LARGE)])
@pytest.mark.parametrize("name", TEXTS)
def test_numbers_and_labels_fit_their_cells(name: str, view: View) -> None:
    text, sizes = TEXTS[name]
    for layout in layouts(traced(text, **sizes), view):
        for placed in layout.placed:
            panel = placed.panel
            labels = [cut(label) for label in panel.columns][:: placed.every[1]]
            room = placed.cell_width * placed.every[1]
            if placed.upright:
                assert room >= view.sizes.label or len(labels) == 1
                longest = max(text_width(label, view.sizes.label) for label in labels)
                assert placed.top - placed.title_top >= header(view.sizes) + longest
            else:
                assert all(text_width(label, view.sizes.label) <= room for label in labels)
            assert placed.cell_height * placed.every[0] >= view.sizes.label
            if placed.text_size is not None and panel.texts is not None:
                assert placed.text_size in (view.sizes.cell, view.sizes.small_cell)
                longest = max(text_width(t, placed.text_size) for row in panel.texts for t in row)
                assert longest <= placed.cell_width
                assert placed.cell_height >= placed.text_size * 1.25


def test_the_walkthrough_stands_as_planned() -> None:
    trace, view = traced(), View()
    strip, joint = layouts(trace, view)
    assert strip.height <= 192
    assert joint.height <= 220
    assert len({placed.title_top for placed in strip.placed}) == 1
    assert {placed.text_size for placed in strip.placed} == {15}
    assert not any(placed.upright for placed in strip.placed)
    lefts = [placed.left for placed in strip.placed]
    assert lefts == sorted(lefts)
    assert [placed.axes for placed in strip.placed if "columns" in placed.axes]


def test_sizes_have_no_letters_under_13_and_none_under_20_for_a_hall() -> None:
    for sizes, least in ((PAGE, 13), (LARGE, 13), (PROJECTOR, 20)):
        letters = (sizes.title, sizes.detail, sizes.label, sizes.cell, sizes.small_cell)
        assert min(letters) >= least
    assert (PAGE.title, PAGE.cell, PAGE.label) == (16, 15, 14)
    assert (PROJECTOR.title, PROJECTOR.cell, PROJECTOR.label) == (34, 32, 28)
    assert (PAGE.outline, PROJECTOR.outline) == (2.5, 4)


@pytest.mark.parametrize("name", ["walkthrough", "5", "8", "64", "12 heads"])
def test_all_heads_have_the_same_columns(name: str) -> None:
    text, sizes = TEXTS[name]
    trace, view = traced(text, **sizes), View()
    places = set()
    for head in range(len(trace["attention"])):
        panels = resolve(trace, [(key, head) for key in head_keys(trace)], view)
        widths = tuple(round(p.cell_width) for p in arrange(panels, view, ("Head 1",)).placed)
        places.add(widths)
    assert len(places) == 1


@pytest.mark.parametrize(("heads", "tokens"), [(2, 5), (3, 3), (12, 5), (32, 3), (4, 64)])
def test_thumbnails_are_small_and_apart(heads: int, tokens: int) -> None:
    trace, view = traced(words(tokens), n_heads=heads), View()
    places = [("attention", head) for head in range(heads)]
    panels = [replace(p, title="Head 1") for p in resolve(trace, places, view, small=True)]
    layout = arrange_small(panels, view, ("Attention", "0 … 1"))
    assert len(layout.placed) == heads
    for a, b in combinations(layout.placed, 2):
        apart_x = a.left + a.width < b.left or b.left + b.width < a.left
        apart_y = a.top + a.height < b.title_top or b.top + b.height < a.title_top
        assert apart_x or apart_y
    assert all(50 <= placed.width <= 110 for placed in layout.placed)
    assert layout.placed[-1].left + layout.placed[-1].width <= view.width
    assert layout.height <= 150 * (1 + heads // 9)
