"""A picture on one pair of axes is the picture on many: same numbers, words and places."""

import re

import pytest

from attnviz.core.expr import Cell
from attnviz.figures import Marks, View, flat, head_strip, joint_strip
from tests.figures.support import Spec, axis, heatmaps, notes, traced, words

VIEW = View(width=1144)
MARKS = Marks(cell=Cell("scores", (1, 1, 0), 0.0), token=2)
Box = tuple[float, float, float, float]


def corners(spec: Spec, heat: Spec, width: float) -> Box:
    """Left, right, top and bottom of a heatmap among many, in px."""
    height = spec["layout"]["height"]
    left, right = axis(spec, heat["xaxis"])["domain"]
    bottom, top = axis(spec, heat["yaxis"])["domain"]
    return left * width, right * width, (1 - top) * height, (1 - bottom) * height


def cells(heat: Spec) -> Box:
    """The same of a heatmap that counts in px."""
    rows, columns = len(heat["z"]), len(heat["z"][0])
    left, top = heat["x0"] - heat["dx"] / 2, heat["y0"] - heat["dy"] / 2
    return left, left + columns * heat["dx"], top, top + rows * heat["dy"]


def written(spec: Spec) -> list[str]:
    """All texts of a picture, wherever Plotly is given them."""
    found = [text for trace in spec["data"] for text in trace.get("text", ())] + notes(spec)
    for name, part in spec["layout"].items():
        if re.match(r"[xy]axis", name) and part.get("showticklabels"):
            found += part["ticktext"]
    return sorted(found)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
def test_everything_keeps_its_place(tokens_as: str, causal: bool) -> None:
    trace, view = traced("a b c", causal=causal), View(width=1144, tokens_as=tokens_as)
    for spec in (head_strip(trace, 1, view, MARKS), joint_strip(trace, view, MARKS)):
        one = flat(spec, view.width)
        assert [name for name in one["layout"] if "axis" in name] == ["xaxis", "yaxis"]
        assert written(one) == written(spec)
        before, after = heatmaps(spec), heatmaps(one)
        assert list(before) == list(after)
        for place, heat in before.items():
            assert cells(after[place]) == pytest.approx(corners(spec, heat, view.width), abs=0.2)
            moved = {"x0", "y0", "dx", "dy", "xaxis", "yaxis"}
            same = [{k: v for k, v in h.items() if k not in moved} for h in (heat, after[place])]
            assert same[0] == same[1]
        assert len(one["layout"]["shapes"]) == len(spec["layout"]["shapes"])


def test_an_outline_lies_around_its_cell() -> None:
    one = flat(head_strip(traced(), 1, VIEW, MARKS), VIEW.width)
    (chosen,) = [shape for shape in one["layout"]["shapes"] if shape["name"] == "chosen"]
    left, top, right, bottom, _ = map(float, re.findall(r"[\d.]+", chosen["path"]))
    heat = heatmaps(one)["scores", 1]
    assert (left + right) / 2 == pytest.approx(heat["x0"], abs=0.1)
    assert (top + bottom) / 2 == pytest.approx(heat["y0"] + heat["dy"], abs=0.1)
    assert right - left == pytest.approx(heat["dx"], abs=0.1)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(words(40), id="hovers filled in from the axes"),
        pytest.param("Donaudampfschifffahrtsgesellschaft " * 4, id="upright labels"),
    ],
)
def test_what_needs_its_axes_stays_as_it_is(text: str) -> None:
    spec = head_strip(traced(text), 0, View(width=600), MARKS)
    assert flat(spec, 600) is spec
