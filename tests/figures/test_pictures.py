"""The figures themselves: true numbers, resolved values, small payloads."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io
import plotly.tools
import pytest

from attnviz import AttnvizError, Trace, figure, run
from attnviz.core import edit
from attnviz.core import trace as core_trace
from attnviz.core.normalise import NORMALISERS
from attnviz.core.op import Values
from attnviz.core.ops import AddBias
from attnviz.core.positions import POSITIONS
from attnviz.core.stages import Stage
from attnviz.figures import (
    MAX_TEXT_CELLS,
    Marks,
    View,
    cell_count,
    head_strip,
    input_keys,
    joint_strip,
    outlined,
    stage_picture,
    thumbnails,
)
from attnviz.figures.palettes import PALETTES, colorscale, inks
from tests.figures.support import (
    MARKUP,
    Spec,
    axis,
    cell_texts,
    heatmaps,
    notes,
    numbers,
    page,
    plain,
    scenario,
    traced,
    words,
)

VIEW = View()
MAX_PAGE_BYTES = 48_000


def sent(spec: Spec) -> str:
    """What the page sends for a figure; Plotly's own check finds nothing to say of it."""
    go.Figure(**spec)
    text: str = plotly.io.to_json(spec, validate=False)
    return text


def shapes(spec: Spec, name: str) -> list[Spec]:
    return [shape for shape in plain(spec)["layout"]["shapes"] if shape["name"] == name]


# What is drawn.


@pytest.mark.parametrize("tokens_as", ["rows", "columns"])
@pytest.mark.parametrize(
    "trace",
    [traced(), traced(causal=True), traced("the cat the"), traced(words(12), d_k=8, n_heads=3)],
    ids=["walkthrough", "causal", "repeated", "12 tokens"],
)
def test_every_stage_is_drawn_with_exactly_its_numbers(trace: Trace, tokens_as: str) -> None:
    view = View(tokens_as=tokens_as)
    drawn: list[str] = []
    for spec in page(trace, view):
        for (key, head), heat in heatmaps(spec).items():
            drawn.append(key)
            truth = trace[key] if head is None else trace[key][head]
            truth = np.where(np.isfinite(truth), truth, np.nan)
            shown = numbers(heat["z"])
            assert heat["meta"][2] is (tokens_as == "columns")
            np.testing.assert_array_equal(shown.T if tokens_as == "columns" else shown, truth)
    assert list(dict.fromkeys(drawn)) == [stage.key for stage in trace.stages if stage.key != "x"]


CHOICES = [
    {"temperature": 2.0, "softcap": 1.0},
    {"causal": True, "causal_alignment": "bottom-right", "scale": 0.3},
    *({"positions": name} for name, kind in POSITIONS.items() if not kind.added),
    *({"normaliser": name} for name in NORMALISERS),
]


@pytest.mark.parametrize("context", [None, "a second text"])
@pytest.mark.parametrize(
    "choices", CHOICES, ids=lambda choices: "-".join(map(str, choices.values()))
)
def test_every_variant_is_drawn_with_its_numbers_formula_and_sums(
    choices: dict[str, Any], context: str | None
) -> None:
    changed = edit.set_context(scenario("the cat the"), context)[0]
    trace = run(edit.set_config(changed, **choices)[0])
    for head in range(2):
        spec = head_strip(trace, head, VIEW)
        drawn = heatmaps(spec)
        said = " ".join(notes(spec))
        for stage in trace.stages:
            if stage.axes[0] not in ("head", "kv_head"):
                continue
            truth = trace[stage.key][head]
            np.testing.assert_array_equal(
                numbers(drawn[stage.key, head]["z"]), np.where(np.isfinite(truth), truth, np.nan)
            )
            assert stage.formula[0].replace(" · ", "·") in said
        assert "Σ = " in said or "sum to" in said
        low, high = (drawn["attention", head][end] for end in ("zmin", "zmax"))
        weights = trace["attention"]
        assert low <= weights.min()
        assert weights.max() <= high


def varied(context: str | None = None, **choices: Any) -> Trace:
    changed = edit.set_context(scenario("the cat the"), context)[0]
    return run(edit.set_config(changed, **choices)[0])


@pytest.mark.parametrize(
    ("trace", "keys"),
    [
        (varied(), []),
        (varied(positions="rope"), []),
        (varied(positions="sinusoidal"), ["x", "x_positioned"]),
        (varied("a b"), ["x", "context"]),
        (
            varied("a b", positions="learned"),
            ["x", "x_positioned", "context", "context_positioned"],
        ),
        (varied("a b", start="qkv"), []),
    ],
)
def test_what_heads_read_is_drawn_where_it_is_more_than_x(trace: Trace, keys: list[str]) -> None:
    assert input_keys(trace) == keys
    drawn = heatmaps(page(trace, VIEW)[0])
    if keys:
        assert [key for key, _ in drawn] == keys
        for key in keys:
            np.testing.assert_array_equal(numbers(drawn[key, None]["z"]), trace[key])
        assert cell_count(trace, 0) == sum(trace[k].size for k in (*keys, "concat", "output"))
    assert {stage.key for stage in trace.stages} - {"x"} <= {
        key for spec in page(trace, VIEW) for key, _ in heatmaps(spec)
    }


def test_shared_keys_and_values_say_which_heads_share_them() -> None:
    trace = run(edit.resize(scenario(n_heads=4), n_kv_heads=2)[0])
    said = notes(head_strip(trace, 2, VIEW))
    assert sum("heads 3, 4" in note for note in said) == 2
    assert any("values 3×2, heads 3, 4" in note for note in said)
    assert not any("heads" in note for note in notes(head_strip(traced(n_heads=4), 2, VIEW)))


def test_stages_stand_in_the_order_of_the_computation() -> None:
    trace = traced(causal=True)
    keys = [key for key, _ in heatmaps(head_strip(trace, 1, VIEW))]
    assert keys == [stage.key for stage in trace.stages if "head" in stage.axes[0]]


def test_a_new_stage_appears_without_being_named_here(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traced()
    place = [stage.key for stage in trace.stages].index("scaled") + 1
    stage = Stage("doubled", "Doubled scores", "D", "D", ("head", "query", "key"))
    stage = replace(stage, op=AddBias("scaled", "scaled"), formula=("S′ + S′", ""))
    monkeypatch.setitem(core_trace._STAGE_BY_KEY, "doubled", stage)
    arrays = {**trace.values.arrays, "doubled": trace["scaled"] * 2}
    more = replace(
        trace,
        stages=(*trace.stages[:place], stage, *trace.stages[place:]),
        values=Values(arrays, trace.values.config),
    )
    spec = head_strip(more, 0, VIEW)
    assert ("doubled", 0) in heatmaps(spec)
    assert "D = S′ + S′" in notes(spec)
    assert "doubled scores 3×3" in " ".join(notes(spec))


def test_cell_texts_are_those_of_the_numbers_and_stand_on_their_cells() -> None:
    trace = traced()
    spec = head_strip(trace, 0, View(decimals=4))
    texts = {(t["xaxis"], t["yaxis"]): t for t in cell_texts(spec)}
    heat = heatmaps(spec)["attention", 0]
    written = texts[heat["xaxis"], heat["yaxis"]]
    at = dict(zip(zip(written["y"], written["x"], strict=True), written["text"], strict=True))
    assert at[1, 2] == "0.4071"
    assert at[2, 0] == "0.2216"


def test_colours_are_those_of_the_palette() -> None:
    for name, palette in PALETTES.items():
        spec = head_strip(traced(), 0, View(palette=name, dark=True))
        for key, kind in (("scores", "signed"), ("attention", "attention")):
            heat = heatmaps(spec)[key, 0]
            assert heat["colorscale"] == colorscale(palette.stops(kind, True))


def test_colour_ranges_stand_on_the_traces_where_plotly_reads_them() -> None:
    spec = head_strip(traced(causal=True), 0, VIEW)
    for trace in spec["data"]:
        if trace["type"] == "heatmap":
            assert trace["zmin"] < trace["zmax"]


# Axes and labels.


def test_axes_are_numeric_with_every_label_set() -> None:
    for text in ("1 2 10", "2024 is 2025", "1E1 2A1 3E2", "2026-01-01 2026-01-08 2026-01-15"):
        trace = traced(text)
        spec = head_strip(trace, 0, VIEW)
        heat = heatmaps(spec)["scores", 0]
        for name in (heat["xaxis"], heat["yaxis"]):
            seen = axis(spec, name)
            assert seen["tickmode"] == "array"
            assert seen["tickvals"] == [0, 1, 2]
            assert seen["ticktext"] == text.split()


def test_b01_repeated_tokens_keep_a_row_and_a_column_each() -> None:
    trace = traced("the cat the")
    spec = head_strip(trace, 0, VIEW)
    heat = heatmaps(spec)["attention", 0]
    assert numbers(heat["z"]).shape == (3, 3)
    assert axis(spec, heat["yaxis"])["ticktext"] == ["the₁", "cat", "the₃"]
    assert heat["hovertext"][2][0].startswith("the₃ attends to the₁ with ")


def test_names_of_queries_and_keys_have_their_colours() -> None:
    ink = inks(False)
    for sizes in ({}, {"d_k": 8, "d_v": 8}):
        trace = traced("", **sizes)
        spec = head_strip(trace, 0, VIEW)
        heat = heatmaps(spec)["scores", 0]
        assert axis(spec, heat["yaxis"])["tickfont"]["color"] == ink.query
        assert axis(spec, heat["xaxis"])["tickfont"]["color"] == ink.key


def test_rows_run_downwards() -> None:
    spec = head_strip(traced(), 0, VIEW)
    for name, seen in plain(spec)["layout"].items():
        if name.startswith("yaxis"):
            assert seen["range"] == [2.5, -0.5]


@pytest.mark.parametrize("count", [3, 12])
def test_markup_in_tokens_stays_text_everywhere(count: int) -> None:
    trace = traced(" ".join((MARKUP * 2)[:count]))
    for spec in (*page(trace, VIEW), thumbnails(trace, VIEW)):
        allowed = sent(spec).replace("\\u003c", "<").replace("\\u003e", ">")
        for tag in ("<s>", "<script", "%{z}<", "$x$", "<b>x"):
            assert tag not in allowed


def test_long_labels_are_cut_and_whole_in_the_hover() -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    spec = head_strip(traced(f"{word} is long"), 0, VIEW)
    heat = heatmaps(spec)["scores", 0]
    assert axis(spec, heat["yaxis"])["ticktext"][0] == "Donau…haft"
    assert word in heat["hovertext"][0][1]


def test_long_labels_are_whole_in_the_hovers_of_large_pictures_too() -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    spec = head_strip(traced(f"{word} {words(40)}"), 0, VIEW)
    heat = heatmaps(spec)["attention", 0]
    assert "%{y} attends to %{x} with %{z" in heat["hovertemplate"]
    for name in (heat["xaxis"], heat["yaxis"]):
        whole = axis(spec, name)
        assert len(whole["ticktext"]) == 41
        assert whole["ticktext"][0] == word
        assert whole["showticklabels"] is False
        seen = axis(spec, whole["overlaying"])
        assert seen["ticktext"][0] == "Donau…haft"
        assert seen["range"] == whole["range"]
        assert seen["domain"] == whole["domain"]


# Hover.


@pytest.mark.parametrize("key", ["q", "scores", "scaled", "masked", "attention", "heads"])
def test_hover_is_the_sentence_and_the_arithmetic_of_the_cell(key: str) -> None:
    trace = traced(causal=True)
    heat = heatmaps(head_strip(trace, 1, View(decimals=3)))[key, 1]
    rows, columns = trace[key].shape[1:]
    for row in range(rows):
        for column in range(columns):
            sentence, *more = heat["hovertext"][row][column].split("<br>= ")
            assert sentence == trace.sentence(key, 1, row, column, 4)
            derivation = trace.explain(key, 1, row, column)
            steps = derivation.steps(4, limit=6)
            for step in " = ".join(more).split(" = ") if more else []:
                assert step in steps


def test_hover_reads_as_a_sentence_whose_number_is_that_of_the_arithmetic() -> None:
    heat = heatmaps(head_strip(traced(), 0, VIEW))["attention", 0]
    text = heat["hovertext"][1][2]
    assert text.startswith("league attends to baseball with 0.4071<br>= ")
    scores = heatmaps(head_strip(traced(), 0, VIEW))["scores", 0]["hovertext"][1][0]
    assert scores.endswith("<br>= 0.58·0.37 + 1.11·0.49")
    assert text.endswith("<br>= 1 / (0.5849 + 0.8718 + 1) = 1 / 2.4567")


def test_numbers_filled_in_by_plotly_have_no_si_prefix() -> None:
    for count in (12, 64):
        for heat in heatmaps(head_strip(traced(words(count)), 0, VIEW)).values():
            assert "~g}" in heat["hovertemplate"]
            assert "~s}" not in heat["hovertemplate"]


def test_masked_cells_of_large_pictures_say_what_they_are() -> None:
    spec = head_strip(traced(words(20), causal=True), 0, VIEW)
    layers = [t for t in plain(spec)["data"] if t.get("meta", [""])[0] == "masked"]
    assert [layer["hoverongaps"] for layer in layers] == [False, False]
    assert "−∞" in layers[1]["hovertemplate"]
    shown, hidden = (~np.isnan(numbers(layer["z"])) for layer in layers)
    np.testing.assert_array_equal(shown, ~hidden)


# Marks.


def test_masked_cells_are_hatched_in_a_layer_of_their_own() -> None:
    trace = traced(causal=True)
    spec = head_strip(trace, 0, VIEW)
    heat = heatmaps(spec)["masked", 0]
    hidden = np.isneginf(trace["masked"][0])
    np.testing.assert_array_equal(np.isnan(numbers(heat["z"])), hidden)
    layers = [t for t in plain(spec)["data"] if "fillpattern" in t]
    assert [layer["xaxis"] for layer in layers] == [heat["xaxis"]]
    assert layers[0]["fillpattern"]["shape"] == "/"
    written = next(t for t in cell_texts(spec) if t["xaxis"] == heat["xaxis"])
    assert written["text"].count("−∞") == hidden.sum()
    letters = zip(written["text"], written["textfont"]["color"], strict=True)
    assert {color for text, color in letters if text == "−∞"} == {inks(False).text}


def test_nan_has_a_mark_of_its_own() -> None:
    trace = traced()
    array = trace["scores"].copy()
    array[0, 0, 1] = np.nan
    odd = replace(
        trace,
        values=Values({**trace.values.arrays, "scores": array}, trace.values.config),
    )
    spec = stage_picture(odd, "scores", 0, VIEW)
    layers = [t for t in plain(spec)["data"] if "fillpattern" in t]
    assert [layer["fillpattern"]["shape"] for layer in layers] == ["x"]
    assert cell_texts(spec)[0]["text"][1] == "NaN"


def test_the_chosen_cell_and_its_operands_are_outlined_where_they_stand() -> None:
    trace = traced()
    cell = trace.cell("scores", (1, 0, 2))
    marks = Marks(cell=cell, operands=trace.explain("scores", 1, 0, 2).operands)
    spec = head_strip(trace, 1, VIEW, marks)
    heats, ink = heatmaps(spec), inks(False)
    (chosen,) = shapes(spec, "chosen")
    assert chosen["path"] == "M1.5,-0.5H2.5V0.5H1.5Z"
    assert chosen["xref"] == heats["scores", 1]["xaxis"]
    assert chosen["line"]["width"] == 2.5
    query, key = shapes(spec, "operand")
    assert (query["xref"], query["line"]["color"]) == (heats["q", 1]["xaxis"], ink.query)
    assert query["path"] == "M-0.5,-0.5H1.5V0.5H-0.5Z"
    assert (key["xref"], key["line"]["color"]) == (heats["k", 1]["xaxis"], ink.key)
    assert key["path"] == "M-0.5,1.5H1.5V2.5H-0.5Z"
    assert shapes(head_strip(trace, 0, VIEW, marks), "chosen") == []
    labels = axis(spec, heats["scores", 1]["xaxis"])["ticktext"]
    assert labels == ["major", "league", "<b>baseball</b>"]


def test_outlines_follow_tokens_as_columns() -> None:
    trace = traced()
    marks = Marks(cell=trace.cell("scores", (1, 0, 2)))
    spec = head_strip(trace, 1, View(tokens_as="columns"), marks)
    assert shapes(spec, "chosen")[0]["path"] == "M-0.5,1.5H0.5V2.5H-0.5Z"


def test_a_token_is_marked_in_its_rows_and_on_both_axes() -> None:
    trace = traced()
    spec = head_strip(trace, 0, VIEW, Marks(token=1))
    heats = heatmaps(spec)
    assert len(shapes(spec, "token")) == len(heats)
    assert {shape["path"][:9] for shape in shapes(spec, "token")} == {"M-0.5,0.5"}
    colors = {shape["xref"]: shape["line"]["color"] for shape in shapes(spec, "token")}
    ink = inks(False)
    expected = {"q": ink.query, "k": ink.key, "v": ink.key, "scores": ink.query}
    assert {key: colors[heats[key, 0]["xaxis"]] for key in expected} == expected
    heat = heats["attention", 0]
    for name in (heat["xaxis"], heat["yaxis"]):
        assert axis(spec, name)["ticktext"] == ["major", "<b>league</b>", "baseball"]


# Sizes.


def test_numbers_go_above_a_thousand_cells_and_the_picture_says_so() -> None:
    small, large = traced(words(15)), traced(words(20))
    assert cell_count(small, 1) <= MAX_TEXT_CELLS < cell_count(large, 1)
    assert len(cell_texts(head_strip(small, 0, VIEW))) == 7
    spec = head_strip(large, 0, VIEW)
    assert sum(len(t["text"]) for t in cell_texts(spec)) <= MAX_TEXT_CELLS
    assert "values<br>on hover" in notes(spec)
    assert "values<br>on hover" not in notes(head_strip(small, 0, VIEW))
    assert cell_texts(head_strip(small, 0, View(cell_text=False))) == []


def test_large_matrices_and_only_they_are_drawn_in_float32() -> None:
    for count, dtype in ((31, "f8"), (32, "f4")):
        trace = traced(words(count))
        z = heatmaps(head_strip(trace, 0, VIEW))["scores", 0]["z"]
        assert z["dtype"] == dtype
        shown = trace["scores"][0].astype(dtype)
        np.testing.assert_array_equal(numbers(z), shown)


def test_a_page_can_outline_what_the_pictures_do() -> None:
    trace = traced()
    for key, place in (("scores", (1, 1, 2)), ("attention", (0, 2, 0)), ("output", (1, 3))):
        cell = trace.cell(key, place)
        head, row, column = place if len(place) == 3 else (None, *place)
        marks = Marks(cell=cell, operands=trace.explain(key, head, row, column).operands)
        found = {
            (one["key"], one["head"], part): one["ink"]
            for one in outlined(trace, marks)
            for top, bottom, left, right in one["boxes"]
            for part in np.ndindex(bottom + 1, right + 1)
            if part[0] >= top and part[1] >= left
        }
        inks = dict(
            zip(dict.fromkeys(o.key for o in marks.operands), ("query", "key"), strict=False)
        )
        own = {(o.key, *_split(trace, o.key, o.index)): inks[o.key] for o in marks.operands}
        assert found == {**own, (key, *_split(trace, key, place)): "text"}


def _split(trace: Trace, key: str, index: tuple[int, ...]) -> tuple[int | None, tuple[int, ...]]:
    return (index[0], index[1:]) if trace.has_heads(key) else (None, index)


def test_no_default_template_is_sent_and_colours_are_set() -> None:
    for dark in (False, True):
        for spec in page(traced(), View(dark=dark)):
            text = sent(spec)
            assert "#EBF0F8" not in text
            assert "colorway" not in text
            assert spec["layout"]["font"]["color"] == inks(dark).text
            assert spec["layout"]["hoverlabel"]["bgcolor"] == inks(dark).page


def test_the_page_is_within_its_bytes() -> None:
    trace = traced()
    cell = trace.cell("attention", (1, 1, 2))
    marks = Marks(cell=cell, operands=trace.explain("attention", 1, 1, 2).operands)
    sizes = [len(sent(spec)) for spec in page(trace, VIEW, marks)]
    assert sum(sizes) < MAX_PAGE_BYTES, sizes


@pytest.mark.parametrize(("tokens", "most"), [(8, 60_000), (17, 45_000), (64, 130_000)])
def test_larger_pictures_stay_within_their_bytes(tokens: int, most: int) -> None:
    assert len(sent(head_strip(traced(words(tokens)), 0, VIEW))) < most


def test_b08_512_tokens_are_drawn_in_packed_numbers() -> None:
    trace = traced(words(512), n_heads=1)
    spec = head_strip(trace, 0, VIEW)
    assert cell_texts(spec) == []
    assert len(json.dumps(spec)) < 3 * 512 * 512 * 4 * 4 / 3 + 300_000
    assert spec["layout"]["height"] < 2200


# The other pictures.


def test_thumbnails_share_one_range_and_name_their_heads() -> None:
    trace = traced("major league baseball game tonight", n_heads=4)
    spec = thumbnails(trace, VIEW)
    heats = heatmaps(spec)
    assert [head for _, head in heats] == [0, 1, 2, 3]
    assert {(heat["zmin"], heat["zmax"]) for heat in heats.values()} == {(0, 1)}
    assert {"Head 1", "Head 4", "Attention weights"} <= set(notes(spec))
    assert cell_texts(spec) == []


def test_joint_strip_shows_what_follows_the_heads() -> None:
    assert list(heatmaps(joint_strip(traced(), VIEW))) == [("concat", None), ("output", None)]


def test_figure_is_a_plotly_figure_of_one_stage() -> None:
    trace = traced()
    shown = figure(trace, "attention", head=1, decimals=4)
    assert isinstance(shown, go.Figure)
    spec = shown.to_dict()
    np.testing.assert_array_equal(numbers(spec["data"][0]["z"]), trace["attention"][1])
    assert "0.4669" in cell_texts(spec)[0]["text"]
    assert 200 < spec["layout"]["width"] < 700
    text = " ".join(notes(spec))
    for said in ("attention weights 3×3", "rows are queries, columns are keys", "Head 2", "Σ = 1"):
        assert said in text


def test_figure_refuses_by_name() -> None:
    trace = traced()
    for wrong in (
        {"key": "nothing"},
        {"key": "w_q"},
        {"key": "scores", "head": 2},
        {"key": "scores", "palette": "rainbow"},
        {"key": "scores", "tokens_as": "diagonals"},
        {"key": "scores", "decimals": -1},
    ):
        with pytest.raises(AttnvizError):
            figure(trace, **wrong)  # type: ignore[arg-type]


def test_figure_shows_the_embeddings_too() -> None:
    trace = traced()
    np.testing.assert_array_equal(numbers(figure(trace, "x").to_dict()["data"][0]["z"]), trace["x"])
