"""How each kind of model stores the same parameters, for tests that invert it."""

from typing import Any

import numpy as np

from attnviz import Params
from tests.core.support import random_params

SIZES: dict[str, Any] = {"heads": 4, "d_model": 6, "d_k": 3, "d_v": 3, "d_out": 6, "biases": "qkvo"}
FULL = random_params(11, **SIZES)
GROUPED = random_params(12, **SIZES | {"kv_heads": 2, "biases": ""})


def flat(table: Any) -> np.ndarray:
    """(head, in, d) -> (in, head * d)."""
    return np.ascontiguousarray(table.transpose(1, 0, 2).reshape(table.shape[1], -1))


def linear(params: Params, names: str) -> dict[str, np.ndarray]:
    """As nn.Linear stores it: (out, in)."""
    stored = {}
    for role, name in zip("qkvo", names.split(), strict=True):
        table = getattr(params, f"w_{role}")
        stored[f"{name}.weight"] = (table if role == "o" else flat(table)).T
        bias = getattr(params, f"b_{role}")
        if bias is not None:
            stored[f"{name}.bias"] = bias.ravel()
    return stored


def packed(params: Params, axis: int) -> tuple[np.ndarray, np.ndarray | None]:
    tables = [flat(t) for t in (params.w_q, params.w_k, params.w_v)]
    biases = [b.ravel() for b in (params.b_q, params.b_k, params.b_v) if b is not None]
    table = np.concatenate(tables, axis=1)
    return (table.T if axis == 0 else table), (np.concatenate(biases) if biases else None)


def per_head(params: Params) -> dict[str, np.ndarray]:
    rows, biases = [], []
    for h in range(len(params.w_q)):
        for role in "qkv":
            rows.append(getattr(params, f"w_{role}")[h].T)
            biases.append(getattr(params, f"b_{role}")[h])
    return {
        "query_key_value.weight": np.concatenate(rows),
        "query_key_value.bias": np.concatenate(biases),
    }


def kernels(params: Params, out: str) -> dict[str, np.ndarray]:
    stored = {}
    for role, name in zip("qkv", ("query", "key", "value"), strict=True):
        stored[f"{name}/kernel"] = getattr(params, f"w_{role}").transpose(1, 0, 2)
        stored[f"{name}/bias"] = getattr(params, f"b_{role}")
    n, _, d_v = params.w_v.shape
    stored[f"{out}/kernel"] = params.w_o.reshape(n, d_v, -1)  # type: ignore[union-attr]
    stored[f"{out}/bias"] = params.b_o
    return stored


def out(params: Params, name: str) -> dict[str, Any]:
    stored = {f"{name}.weight": params.w_o.T}  # type: ignore[union-attr]
    return stored | ({f"{name}.bias": params.b_o} if params.b_o is not None else {})


(ROWS, ROW_BIAS), (COLUMNS, _) = packed(FULL, 0), packed(FULL, 1)
BERT = "self.query self.key self.value output.dense"
PROJ = "q_proj k_proj v_proj"
NO_BIAS = random_params(11, **SIZES | {"biases": ""})
STORED: dict[str, tuple[str, dict[str, Any], Params]] = {
    "GPT-2": (
        "transformer.h.3.attn.",
        {
            "c_attn.weight": COLUMNS,
            "c_attn.bias": ROW_BIAS,
            "c_proj.weight": FULL.w_o,
            "c_proj.bias": FULL.b_o,
            "bias": np.ones((1, 1, 4, 4)),
        },
        FULL,
    ),
    "torch nn.MultiheadAttention": (
        "",
        {"in_proj_weight": ROWS, "in_proj_bias": ROW_BIAS, **out(FULL, "out_proj")},
        FULL,
    ),
    "torch nn.TransformerEncoderLayer": (
        "layers.0.self_attn.",
        {"in_proj_weight": ROWS, "in_proj_bias": ROW_BIAS, **out(FULL, "out_proj")},
        FULL,
    ),
    "torch nn.MultiheadAttention with separate tables": (
        "multihead_attn.",
        {
            "q_proj_weight": flat(FULL.w_q).T,
            "k_proj_weight": flat(FULL.w_k).T,
            "v_proj_weight": flat(FULL.w_v).T,
            "in_proj_bias": ROW_BIAS,
            **out(FULL, "out_proj"),
        },
        FULL,
    ),
    "BERT": ("bert.encoder.layer.3.attention.", linear(FULL, BERT), FULL),
    "ViT": (
        "vit.encoder.layer.3.attention.",
        linear(FULL, BERT.replace("self", "attention")),
        FULL,
    ),
    "DistilBERT": (
        "distilbert.transformer.layer.3.attention.",
        linear(FULL, "q_lin k_lin v_lin out_lin"),
        FULL,
    ),
    "BART, Marian, CLIP": (
        "model.decoder.layers.3.encoder_attn.",
        linear(FULL, f"{PROJ} out_proj"),
        FULL,
    ),
    "ViT, DINOv2 by their names in memory": (
        "layers.3.attention.",
        linear(FULL, f"{PROJ} o_proj"),
        FULL,
    ),
    "tables q_proj to o_proj": ("blocks.3.attn.", linear(GROUPED, f"{PROJ} o_proj"), GROUPED),
    "Llama family": ("model.layers.3.self_attn.", linear(GROUPED, f"{PROJ} o_proj"), GROUPED),
    "Phi-3": (
        "model.layers.3.self_attn.",
        {"qkv_proj.weight": packed(GROUPED, 0)[0], **out(GROUPED, "o_proj")},
        GROUPED,
    ),
    "GPT-NeoX, BLOOM": (
        "gpt_neox.layers.3.attention.",
        {**per_head(FULL), **out(FULL, "dense")},
        FULL,
    ),
    "T5": ("encoder.block.3.layer.0.SelfAttention.", linear(NO_BIAS, "q k v o"), NO_BIAS),
    "timm ViT": (
        "blocks.3.attn.",
        {"qkv.weight": ROWS, "qkv.bias": ROW_BIAS, **out(FULL, "proj")},
        FULL,
    ),
    "Keras MultiHeadAttention": ("mha/", kernels(FULL, "attention_output"), FULL),
    "flax MultiHeadDotProductAttention": ("params/", kernels(FULL, "out"), FULL),
    "tables by name": ("", FULL.tables(), FULL),
    "golden names": ("", {k.replace("_", ""): t for k, t in FULL.tables().items()}, FULL),
}

LAYERS = {
    f"encoder.layer.{i}.attention.{name}": np.ascontiguousarray(table)
    for i in (10, 2, 100, 0, 11, 9, 1)
    for name, table in linear(FULL, BERT).items()
}
