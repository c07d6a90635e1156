"""Attention as lines: which lines, how wide, what they say, and what is left out."""

import json
from typing import Any

import numpy as np
import pytest

from attnviz import AttnvizError, Trace, run
from attnviz.core import edit
from attnviz.figures import PROJECTOR, View, flow
from attnviz.figures.flows import HEAD_COLORS, MAX_LINES, PALE
from attnviz.figures.labels import cut, escape
from attnviz.figures.palettes import contrast, inks, luminance, rgb
from tests.figures.support import STRANGE, Spec, notes, scenario, traced, words
from tests.figures.test_pictures import sent

WALKTHROUGH = traced()


def lines(spec: Spec) -> list[dict[str, Any]]:
    """Every line on its own: its ends, width, colour and opacity."""
    found = []
    for trace in spec["data"]:
        if trace["mode"] == "lines":
            y = trace["y"]
            assert y[2::3] == [None] * (len(y) // 3)
            found += [
                {**trace["line"], "opacity": trace["opacity"], "from": a, "to": b}
                for a, b in zip(y[::3], y[1::3], strict=True)
            ]
    return found


def tokens(spec: Spec, side: str) -> dict[str, Any]:
    """The tokens of one side: names, px from the top, and what they say."""
    part = spec["data"][-2 if side == "query" else -1]
    first = [i for i, size in enumerate(part["marker"]["size"]) if size]
    return {name: [part[name][i] for i in first] for name in ("text", "y", "hovertext", "x")}


def points(spec: Spec) -> dict[str, Any]:
    found: dict[str, Any] = spec["data"][-3]
    return found


def test_a_line_runs_from_query_to_key_and_is_as_wide_as_its_weight() -> None:
    weights = WALKTHROUGH["attention"][1]
    spec = flow(WALKTHROUGH, [1], View())
    left, right = tokens(spec, "query"), tokens(spec, "key")
    assert set(left["x"]) < {x for t in spec["data"] if t["mode"] == "lines" for x in t["x"]}
    assert max(left["x"]) + 200 < min(right["x"])
    found = {(line["from"], line["to"]): line for line in lines(spec)}
    widths = {
        (i, j): found[left["y"][i], right["y"][j]]["width"] for i in range(3) for j in range(3)
    }
    assert len(found) == 9
    by_weight = sorted(widths, key=lambda place: weights[place])
    assert [widths[p] for p in by_weight] == sorted(widths.values())
    for place, width in widths.items():
        assert abs(width - 12 * weights[place]) <= 0.5


def test_pointing_at_a_line_reads_as_a_sentence() -> None:
    spec = flow(WALKTHROUGH, [0, 1], View())
    said = points(spec)
    sentences = {
        f"head {h + 1}: {WALKTHROUGH.sentence('attention', h, i, j, 4)}"
        for h in range(2)
        for i in range(3)
        for j in range(3)
    }
    assert set(said["hovertext"]) == sentences
    assert "head 1: league attends to baseball with 0.4071" in sentences
    left, right = tokens(spec, "query"), tokens(spec, "key")
    for x, y, text in zip(said["x"], said["y"], said["hovertext"], strict=True):
        _, query, _, _, key, _, _ = text.removeprefix("head ").split(" ")
        share = (x - left["x"][0]) / (right["x"][0] - left["x"][0])
        start, end = left["y"][left["text"].index(query)], right["y"][right["text"].index(key)]
        assert 0.05 < share < 0.95
        assert abs(start + share * (end - start) - y) < 6
    assert said["marker"]["opacity"] == 0


def test_a_token_says_what_it_attends_to_most_and_who_attends_to_it() -> None:
    spec = flow(WALKTHROUGH, [0, 1], View())
    text = tokens(spec, "query")["hovertext"][1].split("<br>")
    assert text[0] == "head 1: league attends most to baseball (0.4071), league (0.3549), " + (
        "major (0.2381)"
    )
    assert text[1].startswith("head 2: league attends most to baseball (0.4669)")
    key = tokens(spec, "key")["hovertext"][2].replace("<br>", " ")
    assert "head 2: baseball is attended to most by baseball (" in key


def test_each_head_has_a_colour_of_its_own_and_a_place_beside_the_others() -> None:
    spec = flow(traced("", n_heads=8), list(range(8)), View())
    styles = {(line["color"], line["dash"]) for line in lines(spec)}
    assert len(styles) == 8
    names = [note for note in notes(spec) if note.startswith("head ")]
    assert names == [f"head {h + 1}" for h in range(8)]
    swatches = [shape["line"] for shape in spec["layout"]["shapes"]]
    assert {(s["color"], s["dash"]) for s in swatches} == styles
    starts = {line["from"] for line in lines(spec)}
    assert len(starts) == 3 * 8


def test_colours_stand_out_on_their_pages() -> None:
    for dark, colors in HEAD_COLORS.items():
        page = luminance(rgb(inks(dark).page))
        assert len(set(colors)) == len(colors) == 6
        for color in colors:
            assert contrast(luminance(rgb(color)), page) >= 3


def test_a_chosen_token_keeps_its_lines_and_the_others_step_back() -> None:
    spec = flow(WALKTHROUGH, [0, 1], View(), token=1)
    place = tokens(spec, "query")
    assert place["text"] == ["major", "<b>league</b>", "baseball"]
    full = [line for line in lines(spec) if line["opacity"] > PALE]
    assert len(full) == 6
    assert all(abs(line["from"] - place["y"][1]) < 10 for line in full)
    assert len(lines(spec)) == 18
    assert [line["opacity"] == PALE for line in lines(spec)] == [True] * 12 + [False] * 6


def test_no_lines_where_nothing_is_attended_to() -> None:
    masked = run(edit.set_config(scenario(), causal=True, causal_offset=-1)[0])
    spec = flow(masked, [0], View())
    assert len(lines(spec)) == (masked["attention"][0] > 0).sum() == 3
    said = tokens(spec, "query")["hovertext"]
    assert said[0] == "head 1: major has nothing to attend to"
    assert "attends most to major" in said[1]
    keys = tokens(spec, "key")["hovertext"]
    assert keys[2] == "head 1: baseball is attended to by no query"
    all_masked = run(edit.set_config(scenario(), causal=True, causal_offset=-9)[0])
    assert lines(flow(all_masked, [0, 1], View())) == []


def left_out(trace: Trace, heads: list[int], token: int | None = None) -> tuple[Spec, str]:
    spec = flow(trace, heads, View(), token=token)
    return spec, next((note for note in notes(spec) if "left out" in note), "")


def test_of_many_lines_the_strongest_are_drawn_and_the_rest_is_counted() -> None:
    trace = traced(words(64), n_heads=2)
    spec, note = left_out(trace, [0, 1])
    weights = np.sort(trace["attention"], axis=None)
    total = int((weights > 0).sum())
    assert len(lines(spec)) == MAX_LINES
    most = f"{weights[-MAX_LINES - 1]:.4f}"
    assert note == (
        f"The {total - MAX_LINES:,} weakest lines are left out; "
        f"the largest of their weights is {most}."
    )
    assert left_out(traced(words(40)), [0])[1] == ""
    assert len(lines(left_out(traced(words(44)), [0])[0])) == 44 * 44


def test_the_chosen_tokens_lines_are_never_left_out() -> None:
    trace = traced(words(64))
    weights = trace["attention"][0]
    floor = np.sort(weights, axis=None)[-MAX_LINES]
    weakest = int((weights >= floor).sum(axis=1).argmin())
    assert (weights[weakest] < floor).sum() > 30
    spec, _ = left_out(trace, [0], token=weakest)
    assert sum(line["opacity"] > PALE for line in lines(spec)) == 64
    assert len(lines(spec)) == MAX_LINES


@pytest.mark.parametrize("dark", [False, True])
def test_strange_tokens_stand_letter_for_letter(dark: bool) -> None:
    trace = traced(" ".join(STRANGE))
    spec = flow(trace, [0], View(dark=dark))
    labels = [escape(cut(label)) for label in trace.labels("attention")[1]]
    assert tokens(spec, "query")["text"] == tokens(spec, "key")["text"] == labels
    text = json.dumps(spec, allow_nan=False)
    for tag in ("<s>", "<script", "$x$", "<b>x"):
        assert tag not in text
    assert spec["layout"]["font"]["color"] == inks(dark).text


def test_long_names_are_cut_and_whole_in_the_hover() -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    spec = flow(traced(f"{word} is long"), [0], View())
    assert tokens(spec, "query")["text"][0] == "Donau…haft"
    assert f"head 1: {word} attends most to" in tokens(spec, "query")["hovertext"][0]


@pytest.mark.parametrize("count", [1, 3, 12, 64, 300])
@pytest.mark.parametrize("view", [View(), View(width=1840, sizes=PROJECTOR), View(width=500)])
def test_everything_has_room(count: int, view: View) -> None:
    spec = flow(traced(words(count)), [0, 1], view)
    height, least = spec["layout"]["height"], 20 if view.sizes is PROJECTOR else 13
    if view.sizes is PROJECTOR:
        assert height <= 600
    left, right = tokens(spec, "query"), tokens(spec, "key")
    assert 20 < left["x"][0] < right["x"][0] < view.width - 20
    assert len(left["hovertext"]) == count
    rows = [y for y, text in zip(left["y"], left["text"], strict=True) if text]
    assert all(np.diff(rows) >= view.sizes.label)
    assert spec["layout"]["xaxis"]["range"] == [0, view.width]
    assert spec["layout"]["yaxis"]["range"] == [height, 0]
    for note in spec["layout"]["annotations"]:
        assert note["font"]["size"] >= least
        assert 0 <= note["x"] <= 1
        assert 0 < note["y"] <= 1
    assert len(sent(spec)) < 1_000_000


def test_what_is_not_there_is_refused() -> None:
    for heads, token in (([2], None), ([0], 3), ([-1], None)):
        with pytest.raises(AttnvizError):
            flow(WALKTHROUGH, heads, View(), token=token)
