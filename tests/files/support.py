"""Scenarios that use everything, for the tests of files."""

import io
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz import PRESETS, Config, Scenario
from attnviz.core.variants import start_from_qkv
from tests.core.support import random_params

# Cases B02, B04, B06 and B26: tokens that look like numbers or dates, markup, other scripts and
# signs that files give a meaning to.
AWKWARD = (
    "1 2 10 2024 1E1 2A1 <s> a&b <b>bold</b> <script>alert(1)</script> &lt; %{z} Straße 日本語 "
    'العربية 🇩🇪 é é \u200b , " "" \'; =1+1 @SUM(A1) -- \\ $x$ { } the the ]]> */ \'\'\' """ \\n'
)


def full(text: str = AWKWARD) -> Scenario:
    """Nearly everything in it is not as by default, and it can be computed."""
    return Scenario(
        text=text,
        params=random_params(7, heads=2, kv_heads=1, d_model=4, d_context=3, d_k=4, biases="qkvo"),
        seed=1234,
        config=Config(
            scale=0.1 + 0.2,
            softcap=5.0,
            causal=True,
            causal_offset=1,
            normaliser="top_k",
            temperature=1 / 3,
            top_k=3,
            positions="learned",
            off=("b_v",),
        ),
        lexicon={"the": (1e-300, -0.0, 0.1), 'a"b': (5e-324,)},
        x_edits={(0, 1): 1 / 3, (2, 3): -1e22},
        context_text="one\ntwo,\tthree “four”",
        context_edits={(1, 2): 2.0},
        position_edits={(3, 0): 0.7, (600, 1): 2},
        context_position_edits={(0, 0): 0.25},
        padding=frozenset({1}),
        hidden=frozenset({(0, 2), (3, 0)}),
        bias_edits={(1, 0): 0.1},
    )


def variants() -> dict[str, Scenario]:
    """Scenarios that between them use every kind of stage."""
    start = PRESETS["walkthrough"]
    return {
        **PRESETS,
        "full": full(),
        "qkv": start_from_qkv(full())[0],
        "characters": replace(start, tokenizer="characters", text='a,"b"\n;\r\nc \u202e='),
        "rope": replace(start, config=Config(positions="rope", causal=True)),
        "rope_part": replace(
            full(), config=Config(positions="rope_interleaved", rope_dims=2, temperature=2.0)
        ),
        "sinusoidal": replace(full(), config=Config(positions="sinusoidal_concat", scale=1.0)),
        "alibi": replace(
            full(),
            tokenizer="words and punctuation",
            config=Config(positions="alibi", normaliser="sigmoid"),
        ),
        "nothing": replace(start, hidden=frozenset({(1, 0), (1, 1), (1, 2)})),
        "no_output": replace(start, params=random_params(3, d_out=None), seed=2**31),
    }


def npy(array: Any, **more: Any) -> bytes:
    data = io.BytesIO()
    np.save(data, array, **more)
    return data.getvalue()


def npz(**arrays: Any) -> bytes:
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    return data.getvalue()
