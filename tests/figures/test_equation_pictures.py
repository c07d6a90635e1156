"""Stages as equations: what stands where, true numbers, sizes for a hall, rows still hidden."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from attnviz import AttnvizError, Config, Params, Trace, multi_head_attention
from attnviz.figures import LARGE, PROJECTOR, Marks, View, equation
from attnviz.figures.labels import cut, escape, text_width
from attnviz.figures.palettes import inks
from tests.figures.support import (
    STRANGE,
    Spec,
    axis,
    cell_texts,
    notes,
    numbers,
    plain,
    traced,
    words,
)
from tests.figures.test_pictures import sent

HALL = View(width=1840, sizes=PROJECTOR, palette="high contrast")
BOTH_WAYS = pytest.mark.parametrize("tokens_as", ["rows", "columns"])
Box = tuple[float, float, float, float]


def biased() -> Trace:
    """Four heads, two for keys and values, every table with a bias, a mask, a cap and a bias."""
    rng = np.random.default_rng(0)
    params = Params(
        w_q=rng.normal(size=(4, 5, 3)),
        w_k=rng.normal(size=(2, 5, 3)),
        w_v=rng.normal(size=(2, 5, 2)),
        w_o=rng.normal(size=(8, 6)),
        b_q=rng.normal(size=(4, 3)),
        b_k=rng.normal(size=(2, 3)),
        b_v=rng.normal(size=(2, 2)),
        b_o=rng.normal(size=6),
    )
    x, bias = rng.normal(size=(3, 5)), rng.normal(size=(3, 3))
    bias[2, 0] = -np.inf
    return multi_head_attention(x, params, Config(causal=True, softcap=2.0), bias=bias)


TRACES = {
    "walkthrough": traced(),
    "causal": traced(causal=True),
    "biased": biased(),
    "8": traced(words(8)),
    "12": traced(words(12), n_heads=3, d_k=5),
    "20": traced(words(20), causal=True),
    "strange": traced(" ".join(STRANGE)),
    "one": traced("word"),
    "256 wide": traced("", d_model=256),
    "12 heads": traced("", n_heads=12, d_k=4, d_v=4),
    "32 heads": traced("", n_heads=32),
}


def test_every_query_head_reads_its_own_keys() -> None:
    for head, own in ((0, 0), (1, 0), (2, 1), (3, 1)):
        for key in ("k", "scores"):
            metas = [heat["meta"] for heat in maps(equation(biased(), key, head, View()))]
            heads = {meta[0]: meta[1] for meta in metas}
            assert heads["k"] == own
            assert heads.get("q", head) == head


def all_of(trace: Trace, view: View, head: int = 1) -> list[tuple[str, Spec]]:
    """Each stage of one head as an equation."""
    return [(stage.key, equation(trace, stage.key, head, view)) for stage in trace.stages]


def maps(spec: Spec) -> list[Spec]:
    """The heatmaps in drawing order, each matrix once."""
    found: dict[str, Spec] = {}
    for trace in plain(spec)["data"]:
        if trace["type"] == "heatmap":
            found.setdefault(trace["xaxis"], trace)
    return list(found.values())


def under(spec: Spec, name: str) -> Spec:
    """An axis, or the one that lies under it."""
    seen = axis(spec, name)
    return axis(spec, seen["overlaying"]) if "overlaying" in seen else seen


def box(spec: Spec, heat: Spec, view: View) -> Box:
    """Left, top, right and bottom of a matrix in px."""
    left, right = under(spec, heat["xaxis"])["domain"]
    bottom, top = under(spec, heat["yaxis"])["domain"]
    height = spec["layout"]["height"]
    return left * view.width, (1 - top) * height, right * view.width, (1 - bottom) * height


def drawn(heat: Spec) -> Any:
    return numbers(heat["z"])


def of(spec: Spec, key: str) -> Spec:
    (heat,) = [h for h in maps(spec) if h.get("meta", [""])[0] == key]
    return heat


def product_of(spec: Spec) -> tuple[Spec, Spec, list[Spec], Spec]:
    """Right operand, left operand, bias (or nothing) and result of a product."""
    heats = maps(spec)
    bias = [h for h in heats if h["meta"][0].startswith("b_")]
    right, left, result = [h for h in heats if h not in bias]
    return right, left, bias, result


PRODUCTS = ["q", "k", "v", "scores", "heads", "output"]
WITHOUT_MASK = ["walkthrough", "biased", "8", "12", "256 wide", "12 heads", "one", "strange"]


# Numbers.


@BOTH_WAYS
@pytest.mark.parametrize("name", TRACES)
def test_every_array_is_drawn_with_exactly_its_numbers(name: str, tokens_as: str) -> None:
    trace = TRACES[name]
    for key, spec in all_of(trace, View(tokens_as=tokens_as)):
        seen = [heat["meta"] for heat in maps(spec) if "meta" in heat]
        assert key in [meta[0] for meta in seen]
        for heat in maps(spec):
            if "meta" not in heat:
                continue
            name_of, own_head, transposed = heat["meta"]
            array = trace[name_of]
            array = np.atleast_2d(array if own_head is None else array[own_head])
            truth = np.where(np.isfinite(array), array, np.nan)
            truth = truth.T if transposed else truth
            shown = drawn(heat)
            exact = not isinstance(heat["z"], dict) or heat["z"]["dtype"] == "f8"
            np.testing.assert_array_equal(shown, truth if exact else truth.astype("f4"))


@BOTH_WAYS
@pytest.mark.parametrize("key", PRODUCTS)
@pytest.mark.parametrize("name", WITHOUT_MASK)
def test_the_operands_as_drawn_multiply_to_the_result(name: str, key: str, tokens_as: str) -> None:
    trace = TRACES[name]
    spec = equation(trace, key, 1, View(tokens_as=tokens_as))
    right, left, bias, result = product_of(spec)
    total = drawn(left) @ drawn(right) + sum(drawn(part) for part in bias)
    np.testing.assert_allclose(total, drawn(result), atol=1e-6)
    assert result["meta"][0] == key


@BOTH_WAYS
def test_softmax_is_exponentials_their_sum_and_the_quotient(tokens_as: str) -> None:
    spec = equation(TRACES["causal"], "attention", 0, View(tokens_as=tokens_as))
    scores, powers, total, weights = map(drawn, maps(spec))
    np.testing.assert_allclose(powers / total, weights, atol=1e-15)
    assert powers.max() == 1.0
    axis_of_sum = 0 if tokens_as == "columns" else 1
    np.testing.assert_allclose(np.nansum(powers, axis_of_sum, keepdims=True), total)
    assert np.isnan(scores).sum() == 3
    assert ["meta" in heat for heat in maps(spec)] == [True, False, False, True]


def test_a_bias_may_hide_a_key() -> None:
    heat = of(equation(TRACES["biased"], "biased", 0, View()), "bias")
    assert np.isnan(drawn(heat)).sum() == 1


# Places.


@BOTH_WAYS
@pytest.mark.parametrize("view", [View(), HALL, View(sizes=LARGE, dark=True)])
@pytest.mark.parametrize("name", TRACES)
def test_a_result_stands_where_row_and_column_meet(name: str, view: View, tokens_as: str) -> None:
    view = View(**{**vars(view), "tokens_as": tokens_as})
    for key in PRODUCTS:
        spec = equation(TRACES[name], key, 1, view)
        right, left, bias, result = product_of(spec)
        over, beside, here = (box(spec, heat, view) for heat in (right, left, result))
        assert (over[0], over[2]) == (here[0], here[2])
        assert (beside[1], beside[3]) == (here[1], here[3])
        assert beside[2] + 10 < here[0]
        assert over[3] + 10 < here[1]
        assert under(spec, right["xaxis"])["range"] == under(spec, result["xaxis"])["range"]
        for part in bias:
            place = box(spec, part, view)
            if tokens_as == "rows":
                assert (place[0], place[2]) == (here[0], here[2])
                assert over[3] + 5 < place[1] < place[3] < here[1] - 5
            else:
                assert (place[1], place[3]) == (here[1], here[3])
                assert beside[2] + 5 < place[0] < place[2] < here[0] - 5


@pytest.mark.parametrize("view", [View(), HALL, View(width=520)])
@pytest.mark.parametrize("name", TRACES)
def test_a_chain_runs_from_left_to_right_on_the_same_rows(name: str, view: View) -> None:
    trace = TRACES[name]
    for key, spec in all_of(trace, view):
        if key in PRODUCTS:
            continue
        boxes = [box(spec, heat, view) for heat in maps(spec)]
        assert {(round(top, 1), round(bottom, 1)) for _, top, _, bottom in boxes} == {
            (round(boxes[0][1], 1), round(boxes[0][3], 1))
        }
        for before, after in pairwise(boxes):
            assert before[2] < after[0]
        assert maps(spec)[-1]["meta"][0] == key
        assert boxes[-1][2] <= view.width


def test_what_is_put_over_each_other_stands_over_each_other() -> None:
    view = View(tokens_as="columns")
    spec = equation(TRACES["biased"], "concat", None, view)
    *heads, result = (box(spec, heat, view) for heat in maps(spec))
    assert len({(left, right) for left, _, right, _ in heads}) == 1
    assert all(a[3] < b[1] for a, b in pairwise(heads))
    assert heads[0][1] == result[1]
    assert heads[0][2] < result[0]


@BOTH_WAYS
@pytest.mark.parametrize("view", [View(), HALL, View(sizes=LARGE), View(width=520)])
@pytest.mark.parametrize("name", TRACES)
def test_everything_is_inside_the_picture(name: str, view: View, tokens_as: str) -> None:
    view = View(**{**vars(view), "tokens_as": tokens_as})
    for _, spec in all_of(TRACES[name], view):
        for heat in maps(spec):
            left, top, right, bottom = box(spec, heat, view)
            assert 0 <= left < right <= view.width
            assert 0 < top < bottom < spec["layout"]["height"]
        for note in plain(spec)["layout"]["annotations"]:
            assert -0.001 <= note["x"] <= 1
            assert 0 < note["y"] <= 1


# Words.


@pytest.mark.parametrize(
    ("key", "name", "tokens_as", "said"),
    [
        ("scores", "walkthrough", "rows", ["S = Q · Kᵀ", "(3×2)·(2×3) = 3×3", "Q", "Kᵀ", "S"]),
        ("scores", "walkthrough", "columns", ["Sᵀ = K · Qᵀ", "(3×2)·(2×3) = 3×3", "K", "Qᵀ"]),
        ("q", "walkthrough", "rows", ["Q = X · W_Q", "(3×4)·(4×2) = 3×2", "query table 4×2"]),
        ("q", "biased", "rows", ["Q = X · W_Q + b_Q", "(3×5)·(5×3) + (1×3) = 3×3"]),
        ("q", "biased", "columns", ["Qᵀ = W_Qᵀ · Xᵀ + b_Qᵀ", "(3×5)·(5×3) + (3×1) = 3×3"]),
        ("scaled", "walkthrough", "rows", ["S′ = S / √d_k", "3×3 → 3×3", "→"]),
        ("attention", "walkthrough", "rows", ["3×3 → 3×3 → 3×1 → 3×3", "e^(score − m)", "Σ"]),
        ("biased", "biased", "rows", ["3×3 + 3×3 = 3×3", "+", "=", "B"]),
        ("concat", "walkthrough", "rows", ["3×2 | 3×2 = 3×4", "H₁", "H₂", "|", "="]),
        ("concat", "walkthrough", "columns", ["2×3 over 2×3 = 4×3", "H₁ᵀ", "H₂ᵀ"]),
        ("concat", "12 heads", "rows", ["3×4 | … | 3×4 = 3×48"]),
        ("x", "walkthrough", "rows", ["X", "embeddings 3×4", "3×4"]),
    ],
)
def test_formulas_shapes_and_signs(key: str, name: str, tokens_as: str, said: list[str]) -> None:
    spec = equation(TRACES[name], key, 0, View(tokens_as=tokens_as))
    shown = notes(spec)
    for text in said:
        assert text in shown or any(note.startswith(f"{text} · ") for note in shown), text


def test_the_convention_and_the_divisor_are_said() -> None:
    shown = notes(equation(TRACES["walkthrough"], "scaled", 0, View()))
    assert "3×3 → 3×3 · rows are queries, columns are keys, ÷ √2 = 1.414" in shown


def test_ranges_are_those_of_the_numbers() -> None:
    trace = TRACES["walkthrough"]
    shown = notes(equation(trace, "scores", 0, View(decimals=3)))
    for key in ("q", "k", "scores"):
        assert f"{trace[key][0].min():.3f} … {trace[key][0].max():.3f}" in shown


@BOTH_WAYS
def test_strange_tokens_stand_letter_for_letter(tokens_as: str) -> None:
    trace = TRACES["strange"]
    labels = [escape(cut(label)) for label in trace.labels("scores")[1]]
    for sizes in (PROJECTOR, LARGE):
        view = View(width=1840, sizes=sizes, tokens_as=tokens_as)
        for key in ("scores", "attention", "heads"):
            spec = equation(trace, key, 0, view)
            for heat in maps(spec):
                for name in (heat["xaxis"], heat["yaxis"]):
                    seen = under(spec, name)
                    assert seen["tickmode"] == "array"
                    if len(seen["tickvals"]) == 15 and seen["showticklabels"] is not False:
                        assert seen["ticktext"] == labels
            json.dumps(spec, allow_nan=False)


def test_names_of_tokens_have_the_colour_of_their_role() -> None:
    ink = inks(True)
    for key, color in (("q", ink.query), ("k", ink.key)):
        spec = equation(TRACES["walkthrough"], key, 0, View(dark=True))
        assert axis(spec, of(spec, "x")["yaxis"])["tickfont"]["color"] == color


def test_dark_pictures_use_the_dark_palette() -> None:
    for dark in (False, True):
        spec = equation(TRACES["biased"], "q", 0, View(dark=dark))
        colors = {n["font"]["color"] for n in plain(spec)["layout"]["annotations"]}
        assert colors == {inks(dark).text, inks(dark).muted}
        assert spec["layout"]["hoverlabel"]["bgcolor"] == inks(dark).page


# Hovers.


def test_hovers_are_sentences() -> None:
    trace = TRACES["biased"]
    spec = equation(trace, "q", 3, View())
    assert of(spec, "q")["hovertext"][1][2].startswith(trace.sentence("q", 3, 1, 2, 4))
    assert of(spec, "w_q")["hovertext"][4][1] == trace.sentence("w_q", 3, 4, 1, None)
    assert of(spec, "b_q")["hovertext"][0][1].startswith("Query bias, head 4: d1 is ")
    assert of(spec, "x")["hovertext"][1][2] == trace.sentence("x", None, 1, 2, None)
    _, powers, total, _ = maps(equation(TRACES["walkthrough"], "attention", 0, View()))
    assert powers["hovertext"][1][2] == "e^(score − m), league, baseball: 1"
    assert total["hovertext"][1][0].startswith("Σ, league: 2.456")


@BOTH_WAYS
def test_large_pictures_have_hovers_that_plotly_fills_in(tokens_as: str) -> None:
    spec = equation(TRACES["20"], "attention", 0, View(tokens_as=tokens_as))
    key, query = ("%{y}", "%{x}") if tokens_as == "columns" else ("%{x}", "%{y}")
    _, powers, _, weights = maps(spec)
    assert f"e^(score − m), {query}, {key}: %{{z" in powers["hovertemplate"]
    assert f"{query} attends to {key} with %{{z" in weights["hovertemplate"]
    table = of(equation(TRACES["256 wide"], "q", 0, View(tokens_as=tokens_as)), "w_q")
    assert table["hovertemplate"].startswith("Query table: row %{" + query[2])


# Marks.


def outlined(spec: Spec, name: str, view: View) -> list[Box]:
    """The px of the shapes of a name, in drawing order."""
    height = spec["layout"]["height"]
    found = []
    for shape in plain(spec)["layout"]["shapes"]:
        if shape["name"] == name:
            left, top, right, bottom = (
                float(part)
                for part in shape["path"]
                .replace("M", "")
                .replace("Z", "")
                .replace("H", ",")
                .replace("V", ",")
                .split(",")[:4]
            )
            assert (shape["xref"], shape["yref"]) == ("paper", "paper")
            found.append((left * view.width, (1 - top) * height, right * view.width, 0.0))
            found[-1] = (*found[-1][:3], (1 - bottom) * height)
    return found


def cell_box(spec: Spec, heat: Spec, view: View, rows: slice, columns: slice) -> Box:
    left, top, right, bottom = box(spec, heat, view)
    n_rows, n_columns = drawn(heat).shape
    wide, high = (right - left) / n_columns, (bottom - top) / n_rows
    first_row, last_row, _ = rows.indices(n_rows)
    first, last, _ = columns.indices(n_columns)
    return left + first * wide, top + first_row * high, left + last * wide, top + last_row * high


def near(a: Box, b: Box) -> bool:
    return all(abs(x - y) < 0.6 for x, y in zip(a, b, strict=True))


ALL, TWO = slice(None), slice(2, 3)


@BOTH_WAYS
def test_the_chosen_cell_and_its_operands_are_outlined_where_they_stand(tokens_as: str) -> None:
    trace, view = TRACES["biased"], View(width=1840, sizes=PROJECTOR, tokens_as=tokens_as)
    operands = trace.explain("q", 3, 1, 2).operands
    marks = Marks(cell=trace.cell("q", (3, 1, 2)), operands=operands)
    spec = equation(trace, "q", 3, view, marks)
    across = tokens_as == "columns"
    one = slice(1, 2)

    def at(key: str, rows: slice, columns: slice) -> Box:
        return cell_box(
            spec, of(spec, key), view, *((columns, rows) if across else (rows, columns))
        )

    (chosen,) = outlined(spec, "chosen", view)
    assert near(chosen, at("q", one, TWO))
    shown = outlined(spec, "operand", view)
    assert len(shown) == 3
    for expected in (at("x", one, ALL), at("w_q", ALL, TWO), at("b_q", ALL, TWO)):
        assert any(near(expected, seen) for seen in shown), expected
    widths = {s["line"]["width"] for s in plain(spec)["layout"]["shapes"] if s["name"] != "halo"}
    assert widths == {PROJECTOR.outline}


def test_the_sum_of_the_chosen_row_is_outlined_too() -> None:
    trace, view = TRACES["walkthrough"], View()
    marks = Marks(cell=trace.cell("attention", (0, 1, 2)), token=1)
    spec = equation(trace, "attention", 0, view, marks)
    heats = maps(spec)
    expected = [
        cell_box(spec, heat, view, slice(1, 2), columns)
        for heat, columns in zip(heats[1:], (TWO, slice(0, 1), TWO), strict=True)
    ]
    assert all(map(near, outlined(spec, "chosen", view), expected))
    assert len(outlined(spec, "token", view)) == 4


# Sizes.


def letters(spec: Spec) -> list[float]:
    """The sizes of all letters of a picture."""
    full = plain(spec)
    sizes = [note["font"]["size"] for note in full["layout"]["annotations"]]
    sizes += [trace["textfont"]["size"] for trace in cell_texts(spec)]
    for name, value in full["layout"].items():
        if name[1:5] == "axis":
            sizes.append(value["tickfont"]["size"])
    return [*sizes, full["layout"]["hoverlabel"]["font"]["size"]]


@BOTH_WAYS
@pytest.mark.parametrize("name", TRACES)
def test_nothing_in_a_hall_is_under_20_px_or_higher_than_600(name: str, tokens_as: str) -> None:
    view = View(width=1840, sizes=PROJECTOR, tokens_as=tokens_as)
    for _, spec in all_of(TRACES[name], view):
        assert min(letters(spec)) >= 20
        assert spec["layout"]["height"] <= 600
    for _, spec in all_of(TRACES[name], View(tokens_as=tokens_as)):
        assert min(letters(spec)) >= 13


@BOTH_WAYS
@pytest.mark.parametrize("name", ["walkthrough", "causal"])
def test_the_walkthrough_in_a_hall(name: str, tokens_as: str) -> None:
    view = View(width=1840, sizes=PROJECTOR, tokens_as=tokens_as)
    for key, spec in all_of(TRACES[name], view):
        heats = maps(spec)
        assert len(cell_texts(spec)) == len(heats)
        assert {trace["textfont"]["size"] for trace in cell_texts(spec)} == {32}
        for heat in heats:
            left, top, right, bottom = box(spec, heat, view)
            n_rows, n_columns = drawn(heat).shape
            assert (bottom - top) / n_rows >= 40, key
            assert 110 <= (right - left) / n_columns <= 130, key
        assert 34 in letters(spec)
        names = {v["tickfont"]["size"] for n, v in plain(spec)["layout"].items() if "axis" in n}
        assert names == {28}


@pytest.mark.parametrize(("count", "size"), [(4, 32), (5, 24), (8, 24), (9, 20), (12, 20)])
def test_numbers_get_smaller_with_more_tokens(count: int, size: int) -> None:
    spec = equation(traced(words(count)), "scores", 0, HALL)
    heat = of(spec, "scores")
    (text,) = [t for t in cell_texts(spec) if t["xaxis"] == heat["xaxis"]]
    assert text["textfont"]["size"] == size
    for stage in traced(words(count)).stages:
        spec = equation(traced(words(count)), stage.key, 0, HALL)
        result = maps(spec)[-1]["xaxis"]
        assert result in [t["xaxis"] for t in cell_texts(spec)]


@BOTH_WAYS
@pytest.mark.parametrize("view", [View(), HALL, View(sizes=LARGE), View(decimals=None)])
@pytest.mark.parametrize("name", TRACES)
def test_numbers_fit_their_cells(name: str, view: View, tokens_as: str) -> None:
    view = View(**{**vars(view), "tokens_as": tokens_as})
    for key, spec in all_of(TRACES[name], view):
        heats = {heat["xaxis"]: heat for heat in maps(spec)}
        for written in cell_texts(spec):
            left, top, right, bottom = box(spec, heats[written["xaxis"]], view)
            n_rows, n_columns = drawn(heats[written["xaxis"]]).shape
            size = written["textfont"]["size"]
            longest = max(text_width(text, size) for text in written["text"])
            assert longest <= (right - left) / n_columns, key
            assert size * 1.2 <= (bottom - top) / n_rows, key


@pytest.mark.parametrize(("count", "size"), [(5, 20), (6, 13)])
def test_on_a_page_numbers_get_smaller_before_they_leave(count: int, size: int) -> None:
    view = View(sizes=LARGE, width=1144)
    spec = equation(traced(words(count)), "attention", 0, view)
    assert len(cell_texts(spec)) == len(maps(spec)) == 4
    assert {text["textfont"]["size"] for text in cell_texts(spec)} == {size}


def test_numbers_leave_the_cells_of_many_tokens() -> None:
    spec = equation(traced(words(13)), "scores", 0, HALL)
    assert cell_texts(spec) == []
    assert "values on hover" in " ".join(notes(spec))
    assert cell_texts(equation(TRACES["walkthrough"], "scores", 0, View(cell_text=False))) == []


@BOTH_WAYS
@pytest.mark.parametrize("view", [View(), HALL])
def test_wide_operands_are_narrow_and_the_result_keeps_its_numbers(
    view: View, tokens_as: str
) -> None:
    view = View(**{**vars(view), "tokens_as": tokens_as})
    spec = equation(TRACES["256 wide"], "q", 0, view)
    right, left, _, result = product_of(spec)
    assert [trace["xaxis"] for trace in cell_texts(spec)] == [result["xaxis"]]
    assert "values on hover" in " ".join(notes(spec))
    left_box, right_box = box(spec, left, view), box(spec, right, view)
    assert 60 <= left_box[2] - left_box[0] <= 640
    assert 60 <= right_box[3] - right_box[1] <= 640


# Revealing.


@BOTH_WAYS
@pytest.mark.parametrize("key", ["q", "scores", "scaled", "attention", "heads", "output"])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_only_the_first_queries_are_revealed(key: str, rows: int, tokens_as: str) -> None:
    trace, view = TRACES["walkthrough"], View(tokens_as=tokens_as, decimals=4)
    whole, part = (equation(trace, key, 0, view, rows=n) for n in (None, rows))
    width = trace[key].shape[-1]
    shown = [heat for heat in maps(part) if heat.get("meta", [""])[0] == key]
    hidden = trace[key][0] if trace[key].ndim == 3 else trace[key]
    if rows:
        values = drawn(shown[0])
        np.testing.assert_array_equal(values.T if tokens_as == "columns" else values, hidden[:rows])
        assert np.shape(shown[0]["hovertext"]) == values.shape
    else:
        assert shown == []
    count = sum(len(t["text"]) for t in cell_texts(part))
    assert sum(len(t["text"]) for t in cell_texts(whole)) - count == (3 - rows) * width
    others = [heat["z"] for heat in maps(whole)][:-1]
    assert [heat["z"] for heat in maps(part)][: len(others)] == others
    (blank,) = [s for s in part["layout"]["shapes"] if s["name"] == "blank"]
    assert blank["path"].count("M") == (3 - rows + 1) + width + 1
    own = maps(whole)[-1]
    for name in (own["xaxis"], own["yaxis"]):
        assert axis(whole, name) == axis(part, name)
    assert sum(note == "Σ = 1" for note in notes(part)) == (rows if key == "attention" else 0)


def test_a_range_does_not_tell_what_is_still_hidden() -> None:
    trace = TRACES["walkthrough"]
    for key in ("scores", "scaled", "attention"):
        first = trace[key][0, :1]
        text = f"{first.min():.4f} … {first.max():.4f}"
        assert text in notes(equation(trace, key, 0, View(decimals=4), rows=1))
    largest = f"{trace['scores'].max():.4f}"
    sent = json.dumps(equation(trace, "scores", 0, View(decimals=4), rows=1)["data"])
    assert largest not in sent


def test_when_all_is_revealed_the_picture_is_the_whole_one() -> None:
    trace = TRACES["causal"]
    for key in ("scores", "masked", "attention"):
        whole = equation(trace, key, 0, HALL)
        for rows in (3, 99):
            assert equation(trace, key, 0, HALL, rows=rows) == whole


def test_large_pictures_hide_their_rows_in_one_box() -> None:
    spec = equation(traced(words(64)), "scores", 0, View(), rows=10)
    (blank,) = [s for s in spec["layout"]["shapes"] if s["name"] == "blank"]
    assert blank["path"].count("M") == 4
    assert drawn(of(spec, "scores")).shape == (10, 64)


# Refusals.


@pytest.mark.parametrize(
    ("key", "head", "said"),
    [("nothing", 0, "nothing"), ("w_q", 0, "w_q"), ("scores", 2, "no such cell")],
)
def test_what_is_no_stage_is_refused_by_name(key: str, head: int, said: str) -> None:
    with pytest.raises(AttnvizError, match=said):
        equation(TRACES["walkthrough"], key, head, View())


@pytest.mark.parametrize("rows", [None, 0, 1])
def test_plotly_accepts_every_part_and_little_is_sent(rows: int | None) -> None:
    for stage in TRACES["walkthrough"].stages:
        assert len(sent(equation(TRACES["walkthrough"], stage.key, 0, HALL, rows=rows))) < 12_000
