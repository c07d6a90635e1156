"""A, B and B − A of a stage: true numbers, shared ranges, and a sentence where there is none."""

import numpy as np
import pytest

from attnviz import AttnvizError, Trace, run
from attnviz.core import edit
from attnviz.core.numbers import format_number
from attnviz.figures import PROJECTOR, View, difference_picture
from attnviz.figures.palettes import PALETTES, colorscale, inks
from tests.figures.support import (
    STRANGE,
    Spec,
    axis,
    cell_texts,
    notes,
    numbers,
    plain,
    scenario,
    traced,
    words,
)
from tests.figures.test_pictures import sent

BASE = scenario()
A = run(BASE)
NO_SCALING = run(edit.set_config(BASE, scale=1.0)[0])
OTHER_WORD = run(edit.set_text(BASE, "major league cricket")[0])
LONGER = run(edit.set_text(BASE, "major league baseball game")[0])
WIDER = run(edit.resize(BASE, d_k=4)[0])
CAUSAL = run(edit.set_config(BASE, causal=True)[0])
LATER = run(edit.set_config(BASE, causal=True, causal_offset=1)[0])
ONE_HEAD = run(edit.resize(BASE, n_heads=1)[0])
BOTH_WAYS = pytest.mark.parametrize("tokens_as", ["rows", "columns"])


def maps(spec: Spec) -> dict[str, Spec]:
    """The first heatmap of A, B and B − A."""
    found: dict[str, Spec] = {}
    for trace in plain(spec)["data"]:
        if trace["type"] == "heatmap":
            found.setdefault(trace["meta"][3], trace)
    return found


def of_head(trace: Trace, key: str, head: int) -> np.ndarray:
    return trace[key][head] if trace[key].ndim == 3 else trace[key]


@BOTH_WAYS
@pytest.mark.parametrize("other", [NO_SCALING, OTHER_WORD, A], ids=["scale", "word", "same"])
def test_every_stage_is_drawn_with_its_numbers_and_their_difference(
    other: Trace, tokens_as: str
) -> None:
    for stage in A.stages:
        spec = difference_picture(A, other, stage.key, 1, View(tokens_as=tokens_as))
        heats = maps(spec)
        assert list(heats) == ["A", "B", "B − A"]
        a, b = of_head(A, stage.key, 1), of_head(other, stage.key, 1)
        for name, truth in (("A", a), ("B", b), ("B − A", b - a)):
            shown = numbers(heats[name]["z"])
            shown = shown.T if tokens_as == "columns" else shown
            np.testing.assert_array_equal(shown, truth)
            own_head = 1 if A[stage.key].ndim == 3 else None
            assert heats[name]["meta"] == [stage.key, own_head, tokens_as == "columns", name]


def test_a_and_b_share_one_range_and_the_difference_has_its_own() -> None:
    for key in ("q", "scaled", "output"):
        heats = maps(difference_picture(A, NO_SCALING, key, 0, View()))
        a, b, change = ((heats[name]["zmin"], heats[name]["zmax"]) for name in heats)
        assert a == b
        assert a[1] >= max(np.abs(A[key]).max(), np.abs(NO_SCALING[key]).max())
        assert change[0] == -change[1] < 0
    change = maps(difference_picture(A, NO_SCALING, "scaled", 0, View()))["B − A"]
    assert change["zmax"] == np.abs(NO_SCALING["scaled"] - A["scaled"]).max()
    weights = maps(difference_picture(A, NO_SCALING, "attention", 0, View(dark=True)))
    assert (weights["A"]["zmin"], weights["B"]["zmax"]) == (0, 1)
    palette = PALETTES[View().palette]
    assert weights["A"]["colorscale"] == colorscale(palette.stops("attention", True))
    assert weights["B − A"]["colorscale"] == colorscale(palette.stops("signed", True))


@BOTH_WAYS
def test_they_stand_side_by_side_on_the_same_rows(tokens_as: str) -> None:
    for trace, other in ((A, NO_SCALING), (traced(words(64)), traced(words(64), causal=True))):
        spec = difference_picture(trace, other, "attention", 0, View(tokens_as=tokens_as))
        heats = maps(spec)
        xs = [axis(spec, heat["xaxis"]) for heat in heats.values()]
        domains = [x["domain"] for x in xs]
        assert all(a[1] < b[0] for a, b in ((domains[0], domains[1]), (domains[1], domains[2])))
        assert domains[2][1] <= 1
        np.testing.assert_allclose(np.diff(domains)[:, 0], np.diff(domains)[0, 0], atol=2e-4)
        ys = {tuple(axis(spec, heat["yaxis"])["domain"]) for heat in heats.values()}
        assert len(ys) == 1


def test_titles_ranges_and_convention_are_written() -> None:
    spec = difference_picture(A, NO_SCALING, "scores", 1, View(decimals=3))
    shown = notes(spec)
    for text in ("A", "B", "B − A", "Raw scores, head 2", "difference 3×3"):
        assert text in shown
    low, high = A["scores"][1].min(), A["scores"][1].max()
    assert shown.count(f"{low:.3f} … {high:.3f}") == 2
    assert "no difference" in shown
    assert "rows are queries, columns are keys" in shown
    change = (NO_SCALING["scaled"] - A["scaled"])[0]
    shown = notes(difference_picture(A, NO_SCALING, "scaled", 0, View(decimals=3)))
    assert f"{change.min():.3f} … {change.max():.3f}" in shown
    assert "Output" in notes(difference_picture(A, NO_SCALING, "output", None, View()))


@BOTH_WAYS
def test_hovers_say_a_b_and_the_difference(tokens_as: str) -> None:
    spec = difference_picture(A, NO_SCALING, "attention", 0, View(tokens_as=tokens_as))
    change = float((NO_SCALING["attention"] - A["attention"])[0, 1, 2])
    row, column = (2, 1) if tokens_as == "columns" else (1, 2)
    for heat in maps(spec).values():
        assert heat["hovertext"][row][column].split("<br>") == [
            f"A: {A.sentence('attention', 0, 1, 2, None)}",
            f"B: {NO_SCALING.sentence('attention', 0, 1, 2, None)}",
            f"B − A: {format_number(change, None)}",
        ]


@BOTH_WAYS
def test_large_pictures_have_hovers_that_plotly_fills_in(tokens_as: str) -> None:
    a, b = traced(words(20)), traced(words(20), causal=True)
    heats = maps(difference_picture(a, b, "attention", 0, View(tokens_as=tokens_as)))
    change = heats["B − A"]
    assert "A %{customdata[0]}, B %{customdata[1]}, B − A %{z" in change["hovertemplate"]
    row, column = (2, 5) if tokens_as == "columns" else (5, 2)
    assert change["customdata"][row][column] == [
        format_number(float(trace["attention"][0, 5, 2]), None) for trace in (a, b)
    ]
    assert "customdata" not in heats["A"]
    wide = traced(words(80))
    change = maps(difference_picture(wide, wide, "scores", 0, View()))["B − A"]
    assert "customdata" not in change
    assert "customdata" not in change["hovertemplate"]


def test_other_words_are_named_both() -> None:
    spec = difference_picture(A, OTHER_WORD, "scores", 0, View())
    names = {name: axis(spec, heat["xaxis"])["ticktext"][2] for name, heat in maps(spec).items()}
    assert names == {"A": "baseball", "B": "cricket", "B − A": "baseb…cket"}
    text = maps(spec)["B − A"]["hovertext"][0][2]
    assert "baseball" in text.split("<br>")[0]
    assert "cricket" in text.split("<br>")[1]


def test_hidden_cells_differ_only_where_one_is_hidden() -> None:
    spec = difference_picture(CAUSAL, LATER, "masked", 0, View())
    shown = numbers(maps(spec)["B − A"]["z"])
    assert np.isnan(shown[0, 1])  # only A hides it: the difference is infinite
    assert shown[0, 2] == 0  # both hide it
    assert "0.00 … 0.00, some hidden in one of them" in notes(spec) or (
        "no difference, some hidden in one of them" in notes(spec)
    )
    texts = cell_texts(spec)[-1]["text"]
    assert texts[1] == "∞"


# Where there is no difference.


def test_other_shapes_show_a_and_b_and_say_why() -> None:
    spec = difference_picture(A, WIDER, "q", 0, View())
    assert list(maps(spec)) == ["A", "B"]
    text = " ".join(notes(spec))
    assert "A and B have different shapes, so there is no difference cell by cell" in text
    assert "3 × 2 as in A" in text
    assert numbers(maps(spec)["B"]["z"]).shape == (3, 4)
    assert maps(spec)["A"]["hovertext"][0][1].startswith("A: major's query, d1: ")


@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
@pytest.mark.parametrize("key", ["q", "attention", "output"])
def test_of_other_words_those_are_compared_that_both_begin_with(key: str, tokens_as: str) -> None:
    head = None if key == "output" else 0
    spec = difference_picture(A, LONGER, key, head, View(tokens_as=tokens_as))
    assert list(maps(spec)) == ["A", "B", "B − A"]
    own = (A[key], LONGER[key]) if head is None else (A[key][0], LONGER[key][0])
    n_rows, n_columns = own[0].shape
    change = own[1][:n_rows, :n_columns] - own[0]
    drawn = numbers(maps(spec)["B − A"]["z"])
    np.testing.assert_array_equal(drawn, change.T if tokens_as == "columns" else change)
    assert any("words that both have" in text for text in notes(spec))
    for panel in maps(spec).values():
        assert np.array(panel["hovertext"]).shape == numbers(panel["z"]).shape
    assert "A: " not in maps(spec)["B"]["hovertext"][-1][-1] or key != "attention"


def test_long_sentences_are_broken_into_lines() -> None:
    spec = difference_picture(A, WIDER, "q", 0, View(width=300))
    said = [n for n in notes(spec) if "different" in n or "cell by cell" in n or "shape" in n]
    assert len(said) > 1


@pytest.mark.parametrize(
    ("a", "b", "key", "head", "shown", "sentence"),
    [
        (A, CAUSAL, "masked", 0, "B", "A has no masked scores, so there is no difference."),
        (CAUSAL, A, "masked", 0, "A", "B has no masked scores, so there is no difference."),
        (A, ONE_HEAD, "scores", 1, "A", "B has no head 2, so there is no difference."),
    ],
)
def test_what_only_one_of_them_has_is_shown_alone(
    a: Trace, b: Trace, key: str, head: int, shown: str, sentence: str
) -> None:
    spec = difference_picture(a, b, key, head, View())
    assert list(maps(spec)) == [shown]
    assert sentence in " ".join(notes(spec))


@pytest.mark.parametrize(("key", "head"), [("masked", 0), ("scores", 2), ("w_q", 0), ("no", 0)])
def test_what_neither_has_is_refused(key: str, head: int) -> None:
    with pytest.raises(AttnvizError):
        difference_picture(A, NO_SCALING, key, head, View())


def test_strange_tokens_and_a_hall() -> None:
    trace = traced(" ".join(STRANGE))
    for view in (View(), View(width=1840, sizes=PROJECTOR, dark=True)):
        spec = difference_picture(trace, trace, "scores", 0, view)
        text = sent(spec)
        for tag in ("<s>", "<script", "$x$", "<b>x"):
            assert tag not in text.replace("\\u003c", "<").replace("\\u003e", ">")
        sizes = [n["font"]["size"] for n in plain(spec)["layout"]["annotations"]]
        assert min(sizes) >= (20 if view.sizes is PROJECTOR else 13)
        assert spec["layout"]["font"]["color"] == inks(view.dark).text
    spec = difference_picture(A, NO_SCALING, "attention", 0, View(width=1840, sizes=PROJECTOR))
    assert {text["textfont"]["size"] for text in cell_texts(spec)} == {32}
    assert spec["layout"]["height"] <= 600
