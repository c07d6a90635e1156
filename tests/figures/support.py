"""Scenarios to draw, and what is looked up in their figures."""

import base64
import json
from typing import Any

import numpy as np

from attnviz import PRESETS, Scenario, Trace, run
from attnviz.core import edit
from attnviz.figures import Marks, View, head_strip, input_keys, input_strip, joint_strip

WALKTHROUGH = PRESETS["walkthrough"]
SENTENCE = "the quick brown fox jumps over a lazy dog while every other animal in it just watches"
MARKUP = ("<s>", "a&b", "<b>x</b>", "<script>alert(1)</script>", "&lt;", "%{z}", "$x$", "\u200b")
STRANGE = (*MARKUP, "2024", "1E1", "2026-01-08", "Straße", "日本語", "مرحبا", "e\u0301")
Spec = dict[str, Any]


def scenario(text: str = "", *, causal: bool = False, **sizes: int) -> Scenario:
    """The walkthrough with another text, with other sizes, or with a causal mask."""
    changed = edit.set_text(WALKTHROUGH, text)[0] if text else WALKTHROUGH
    if sizes:
        changed = edit.resize(changed, **sizes)[0]
    return edit.set_config(changed, causal=causal)[0] if causal else changed


def traced(text: str = "", *, causal: bool = False, **sizes: int) -> Trace:
    return run(scenario(text, causal=causal, **sizes))


def words(count: int) -> str:
    """A text of so many words, which repeats itself."""
    return " ".join((SENTENCE.split() * (1 + count // 17))[:count])


def page(trace: Trace, view: View, marks: Marks | None = None) -> list[Spec]:
    """All pictures of a page that shows every head."""
    marks = marks or Marks()
    heads = range(len(trace["attention"]))
    return [
        *([input_strip(trace, view, marks)] if input_keys(trace) else []),
        *(head_strip(trace, head, view, marks) for head in heads),
        joint_strip(trace, view, marks),
    ]


def plain(spec: Spec) -> Spec:
    """The figure, when any JSON writer can save it."""
    json.dumps(spec, allow_nan=False)
    return spec


def heatmaps(spec: Spec) -> dict[tuple[str, int | None], Spec]:
    """The first heatmap of each matrix of a figure, by stage and head, in drawing order."""
    found: dict[tuple[str, int | None], Spec] = {}
    for trace in plain(spec)["data"]:
        if trace["type"] == "heatmap":
            found.setdefault(tuple(trace["meta"][:2]), trace)
    return found


def numbers(z: Any) -> np.ndarray[Any, Any]:
    """The numbers of a heatmap, unpacked."""
    if isinstance(z, dict):
        flat = np.frombuffer(base64.b64decode(z["bdata"]), dtype=f"<{z['dtype']}")
        return flat.reshape([int(n) for n in z["shape"].split(",")])
    return np.array(z, dtype=np.float64)


def cell_texts(spec: Spec) -> list[Spec]:
    return [t for t in plain(spec)["data"] if t["type"] == "scatter" and t["mode"] == "text"]


def notes(spec: Spec) -> list[str]:
    return [note["text"] for note in plain(spec)["layout"]["annotations"]]


def axis(spec: Spec, name: str) -> Spec:
    """The axis that a trace calls "x4"."""
    found: Spec = plain(spec)["layout"][f"{name[0]}axis{name[1:]}"]
    return found
