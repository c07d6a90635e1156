"""How large files get and how long they take, for every format that a size allows."""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attnviz import PRESETS, AttnvizError, Params, Scenario, run
from attnviz.files import from_json, to_json
from attnviz.files.exports import FORMATS_OUT, export
from attnviz.files.imports import read
from attnviz.files.link import decode, encode

SIZES = ((3, 2, 4, 2), (16, 4, 64, 16), (64, 12, 256, 64))  # tokens, heads, d_model, d_k = d_v


def scenario(tokens: int, heads: int, d_model: int, d_k: int) -> Scenario:
    """The walkthrough in other sizes."""
    rng = np.random.RandomState(0)
    w_q, w_k, w_v = rng.standard_normal((3, heads, d_model, d_k))
    params = Params(w_q, w_k, w_v, rng.standard_normal((heads * d_k, d_model)))
    text = " ".join(f"word{i}" for i in range(tokens))
    return replace(PRESETS["walkthrough"], text=text, params=params)


def compare() -> Iterator[tuple[str, str, str, str]]:
    """Size, format, kB and milliseconds, or why there is no such file."""
    for size in SIZES:
        start = scenario(*size)
        trace = run(start)
        name = "{} tokens, {} heads, d_model {}".format(*size[:3])
        data = to_json(start)
        archive = export("npz", trace)
        calls = {
            "scenario file": lambda start=start: to_json(start),
            "scenario file, opened": lambda data=data: (from_json(data), data)[1],
            "link": lambda start=start: encode(start).encode(),
            "link, opened": lambda start=start: (decode(encode(start)), b"")[1],
            **{
                entry.label: lambda key=key, trace=trace, start=start: export(key, trace, start)
                for key, entry in FORMATS_OUT.items()
            },
            ".npz, read": lambda data=archive: (read("a.npz", data), data)[1],
        }
        for label, call in calls.items():
            begin = time.perf_counter()
            try:
                length = f"{len(call()) / 1000:.1f}"
            except AttnvizError as error:
                length = error.message
            yield name, label, length, f"{(time.perf_counter() - begin) * 1000:.1f}"
