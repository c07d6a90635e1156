"""Layers of models in files: every way of storing one is recognised, or refused in words."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as save_safetensors

from attnviz import PRESETS, AttnvizError, run
from attnviz.files.imports import read, recognise
from attnviz.files.imports.limits import natural
from attnviz.files.imports.recognise import applied, inputs
from tests.core.support import random_params
from tests.files.layers import BERT, FULL, GROUPED, LAYERS, PROJ, STORED, flat, linear
from tests.files.support import full, npz

ALWAYS_IN_ORDER = [0, 1, 2, 9, 10, 11, 100]


@pytest.mark.parametrize("label", STORED)
def test_a_layer_is_recognised_and_gives_its_parameters_back(label: str) -> None:
    prefix, stored, params = STORED[label]
    arrays = {prefix + name: np.ascontiguousarray(t, np.float32) for name, t in stored.items()}
    arrays["something.else.weight"] = np.ones((2, 2), np.float32)
    data = save_safetensors(arrays)
    (found,) = recognise(read("model.safetensors", data).arrays)
    given = found.params(4)
    for name, table in params.tables().items():
        np.testing.assert_array_equal(getattr(given, name), table.astype(np.float32), name)
    assert given.tables().keys() == params.tables().keys()
    assert 4 in found.head_counts()
    assert (
        found.family.label in label
        or label in ("torch nn.TransformerEncoderLayer",)
        or (label == "golden names")
    )
    numbers = re.findall(r"\.(\d)\.", prefix)
    assert (f", layer {numbers[0]}" in found.title) if numbers else ("layer" not in found.title)
    assert all(text.endswith(".") for text in found.assumed())
    shapes = {name: arrays[name].shape for name, _ in found.shapes()}
    assert dict(found.shapes()) == shapes


AS_FILES: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "json": lambda arrays: json.dumps({n: a.tolist() for n, a in arrays.items()}).encode(),
    "npz": lambda arrays: npz(**arrays),
    "safetensors": save_safetensors,
}


@pytest.mark.parametrize("suffix", AS_FILES)
@pytest.mark.parametrize("turn", [False, True])
def test_layers_of_a_file_come_by_their_numbers(suffix: str, turn: bool) -> None:
    arrays = dict(reversed(LAYERS.items())) if turn else LAYERS
    found = read(f"a.{suffix}", AS_FILES[suffix](arrays)).arrays
    numbers = [int(re.search(r"layer (\d+)", each.title)[1]) for each in recognise(found)]  # type: ignore[index]
    assert numbers == ALWAYS_IN_ORDER


def test_tables_of_a_safetensors_file_come_by_their_names() -> None:
    for _ in range(5):  # the library gives them in another order each time
        names = list(read("a.safetensors", save_safetensors(LAYERS)).arrays)
        assert [int(n.split(".")[2]) for n in names[::8]] == ALWAYS_IN_ORDER
        assert names[:8] == sorted(n for n in LAYERS if ".0." in n)


@given(st.lists(st.text(st.sampled_from("a.0123²٣"), max_size=8), max_size=8))
def test_any_names_have_one_order(names: list[str]) -> None:
    by_name = sorted(names, key=natural)
    names.reverse()
    assert sorted(names, key=natural) == by_name
    numbers = [int(n) for n in by_name if re.fullmatch("[0-9]+", n)]
    assert numbers == sorted(numbers)


def test_decoders_have_two_layers_of_attention_each() -> None:
    names = linear(FULL, f"{PROJ} out_proj")
    arrays = {
        f"layers.0.{at}.{n}": t for at in ("self_attn", "encoder_attn") for n, t in names.items()
    }
    assert len(recognise(arrays)) == 2


def test_square_tables_say_that_a_missing_transpose_cannot_be_seen() -> None:
    square = random_params(1, heads=2, d_model=6, d_k=3, d_v=3, d_out=6)
    (found,) = recognise(linear(square, f"{PROJ} o_proj"))
    assert "Square tables cannot show whether they are transposed." in found.assumed()
    assert "Tables are (out, in), used as x · Wᵀ + b." in found.assumed()
    assert "Tables are (in, out), used as x · W + b." in found.turned().assumed()
    turned = found.turned().params(2)
    np.testing.assert_array_equal(turned.w_q[0], flat(square.w_q).T[:, :3])


def test_tables_stored_the_other_way_round_can_be_turned() -> None:
    stored = {name: t.T if t.ndim == 2 else t for name, t in linear(FULL, BERT).items()}
    (found,) = recognise(stored)
    with pytest.raises(AttnvizError):
        found.params(4)
    np.testing.assert_array_equal(found.turned().params(4).w_q, FULL.w_q)


def test_the_width_of_a_head_is_taken_from_its_norm() -> None:
    stored = linear(GROUPED, f"{PROJ} o_proj")
    stored |= {"q_norm.weight": np.ones(3), "k_norm.weight": np.ones(3)}
    (found,) = recognise({f"layers.0.self_attn.{name}": t for name, t in stored.items()})
    assert (found.n_heads, found.head_counts()) == (4, (4,))
    assert "Left out: q_norm.weight, k_norm.weight." in found.assumed()
    assert found.params().sizes.kv_heads == 2


def test_an_unknown_number_of_heads_is_assumed_in_words() -> None:
    (found,) = recognise(linear(FULL, BERT))
    assert found.n_heads is None
    assert "does not say how many heads there are; 3 of 4 columns" in found.assumed(3)[0]
    with pytest.raises(AttnvizError, match=r"5 heads do not divide its 12 columns.*nearest.*4"):
        found.params(5)


BAD = {
    "o": ("output.dense.weight", (6, 11), ("(6, 11)", "(12, 6)")),
    "k": ("self.key.weight", (7, 6), ("(7, 6)", "(12, 6)")),
    "v": ("self.value.weight", (13, 6), ("(13, 6)", "(12, 6)")),
    "bias": ("self.query.bias", (5,), ("(5,)", "(12, 6)")),
    "inputs": ("self.value.weight", (12, 5), ("(4, 5, 3)", "(4, 6, 3)")),
}


@pytest.mark.parametrize("case", BAD)
def test_shapes_that_do_not_fit_are_both_named(case: str) -> None:
    name, shape, says = BAD[case]
    stored = linear(FULL, BERT) | {name: np.ones(shape)}
    (found,) = recognise(stored)
    with pytest.raises(AttnvizError) as error:
        found.params(4)
    for text in says:
        assert text in str(error.value)


PACKED = {
    "GPT-2": ("c_proj.weight", "c_attn.weight"),
    "torch nn.MultiheadAttention": ("out_proj.weight", "in_proj_weight"),
    "torch nn.MultiheadAttention with separate tables": ("out_proj.weight", "v_proj_weight"),
    "timm ViT": ("proj.weight", "qkv.weight"),
    "Phi-3": ("o_proj.weight", "qkv_proj.weight"),
    "GPT-NeoX, BLOOM": ("dense.weight", "query_key_value.weight"),
}


@pytest.mark.parametrize("label", PACKED)
@pytest.mark.parametrize("by", [-2, -1, 1, 3])
def test_an_output_table_that_does_not_fit_is_named_with_both_shapes(label: str, by: int) -> None:
    (_, stored, _), (name, other) = STORED[label], PACKED[label]
    inputs, outputs = stored[name].shape
    shape = (inputs + by, outputs) if label == "GPT-2" else (inputs, outputs + by)
    (found,) = recognise(stored | {name: np.ones(shape)})
    for n_heads in {4, found.usual_heads()} & set(found.head_counts()):
        with pytest.raises(AttnvizError) as error:
            found.params(n_heads)
        assert str(error.value) == (
            f"{name}: does not fit to {other} of shape {stored[other].shape} (got shape {shape})."
        )


@pytest.mark.parametrize("rows", [10, 11, 2])
def test_a_packed_table_that_cannot_be_cut_is_refused(rows: int) -> None:
    for more in ({}, {"out_proj.weight": np.ones((6, 12))}):
        (found,) = recognise({"in_proj_weight": np.ones((rows, 6)), **more})
        with pytest.raises(
            AttnvizError,
            match=rf"^in_proj_weight: it cannot be cut .*a multiple of 3, .*\({rows}, 6\)",
        ):
            found.params(found.head_counts()[0])


def test_not_a_number_in_a_model_is_refused_with_its_table() -> None:
    table = np.array(flat(FULL.w_q).T)
    table[0, 0] = np.nan
    (found,) = recognise(linear(FULL, BERT) | {"self.query.weight": table})
    with pytest.raises(AttnvizError, match="w_q, head 1, row 1, column 1"):
        found.params(4)


def test_tables_may_be_embeddings_by_their_names() -> None:
    arrays = {n: np.ones((3, 4)) for n in ("transformer.wte.weight", "x", "h.0.w_q", "xx")}
    assert inputs(arrays) == ("transformer.wte.weight", "x")


@pytest.mark.parametrize("prefix", ["", "layers.0.attention.", "encoder.layer.0.attention."])
def test_only_names_of_llama_bring_rotary_positions_and_a_causal_mask(prefix: str) -> None:
    """ViT in memory and Llama have the same names of tables within a layer."""
    start, tables = PRESETS["walkthrough"], linear(FULL, f"{PROJ} o_proj")
    (found,) = recognise({prefix + name: table for name, table in tables.items()})
    assert "Llama" not in found.title
    config = applied(start, found, found.params(4))[0].config
    assert (config.causal, config.positions) == (start.config.causal, start.config.positions)
    (found,) = recognise({f"vision.layers.0.self_attn.{n}": table for n, table in tables.items()})
    config = applied(start, found, found.params(4))[0].config
    assert (config.causal, config.positions) == (True, "rope")


def test_an_imported_layer_takes_the_place_of_the_tables() -> None:
    (found,) = recognise(
        {f"layers.2.self_attn.{n}": t for n, t in linear(GROUPED, f"{PROJ} o_proj").items()}
    )
    changed, note = applied(full(), found, found.params(4))
    assert (changed.config.positions, changed.config.causal) == ("rope", True)
    assert "Llama family, layer 2" in note
    assert "as set before" not in applied(PRESETS["walkthrough"], found, found.params(4))[1]
    (bert,) = recognise(
        {
            f"encoder.layer.0.attention.{name}.weight": np.eye(4)
            for name in ("self.query", "self.key", "self.value", "output.dense")
        }
    )
    _, note = applied(changed, bert, bert.params(2))
    assert re.search("Still as set before: .*causal mask, positions", note)
    start = PRESETS["walkthrough"]
    assert run(applied(start, found, found.params(4))[0])["output"].shape == (3, 6)
    other = random_params(1, d_context=9)
    (found,) = recognise(other.tables())
    with pytest.raises(AttnvizError, match=r"width 4.*width 9"):
        applied(start, found, other)


def test_a_layer_of_the_width_of_bert_is_read_from_a_file_and_applied() -> None:
    rng = np.random.default_rng(0)
    tables = {
        f"bert.encoder.layer.{i}.attention.{name}.{end}": rng.normal(0, 0.02, shape).astype("f4")
        for i in (0, 1)
        for name in ("self.query", "self.key", "self.value", "output.dense")
        for end, shape in (("weight", (768, 768)), ("bias", (768,)))
    }
    layers = recognise(read("bert.safetensors", save_safetensors(tables)).arrays)
    assert [layer.usual_heads() for layer in layers] == [12, 12]
    params = layers[1].params()
    scenario = applied(PRESETS["walkthrough"], layers[1], params)[0]
    assert run(scenario)["output"].shape == (3, 768)
    stored = tables["bert.encoder.layer.1.attention.self.key.weight"]
    assert params.w_k[2].tolist() == stored[128:192].T.tolist()


SHAPES = st.lists(st.integers(0, 6), max_size=4).map(tuple)
NAMES = sorted({p + n for p, stored, _ in STORED.values() for n in stored})


@settings(max_examples=200)
@given(st.sampled_from(sorted(STORED)), st.data())
def test_tables_of_any_shape_are_taken_or_refused(label: str, data: Any) -> None:
    prefix, stored, _ = STORED[label]
    arrays = {prefix + name: np.asarray(table) for name, table in stored.items()}
    for name in data.draw(st.lists(st.sampled_from(sorted(arrays)), max_size=3)):
        arrays[name] = np.ones(data.draw(SHAPES))
    for found in recognise(arrays):
        with suppress(AttnvizError):
            found.assumed()
            found.params(data.draw(st.none() | st.integers(0, 9)))
            found.turned().params()


@given(st.dictionaries(st.sampled_from(NAMES), SHAPES, max_size=12))
def test_any_names_are_recognised_or_not(shapes: dict[str, tuple[int, ...]]) -> None:
    for found in recognise({name: np.ones(shape) for name, shape in shapes.items()}):
        with suppress(AttnvizError):
            found.params()
