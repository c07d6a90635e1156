"""How models store the tables of an attention layer, one entry for each way.

Names and layouts are those of transformers 5.24, torch 2.13, timm, Keras 3.15 and flax 0.12.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Layout = Literal["out_in", "in_out", "kernel", "heads"]
Packing = Literal["", "thirds", "grouped", "per_head"]


@dataclass(frozen=True)
class Family:
    """One way to store.

    Args:
        label: whose way it is.
        names: the end of the name of each table, by role: q, k, v or qkv for all three; o; and
            b_q, b_k, b_v or b_qkv, b_o. The biases and o may be absent.
        layout: "out_in" (rows are outputs, x · Wᵀ), "in_out" (x · W), "kernel" (Keras and flax:
            inputs, heads, columns) or "heads" (attnviz: heads, inputs, columns).
        packing: of qkv: "thirds" (all q, then all k, then all v), "grouped" (so too, but k and v
            may be narrower: o says how wide q is), "per_head" (q, k, v of each).
        prefix: a pattern that the beginning of the names must match.
        config: what of `Config` goes with it.
        says: what is not in the tables.
    """

    label: str
    names: Mapping[str, str]
    layout: Layout
    packing: Packing = ""
    prefix: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""


def _linear(q: str, k: str, v: str, o: str) -> dict[str, str]:
    names = {"q": q, "k": k, "v": v, "o": o}
    weights = {role: f"{name}.weight" for role, name in names.items()}
    return weights | {f"b_{role}": f"{name}.bias" for role, name in names.items()}


def _packed(qkv: str, o: str) -> dict[str, str]:
    names = {"qkv": f"{qkv}.weight", "b_qkv": f"{qkv}.bias"}
    return names | {"o": f"{o}.weight", "b_o": f"{o}.bias"}


def _kernel(o: str) -> dict[str, str]:
    names = {"q": "query", "k": "key", "v": "value", "o": o}
    kernels = {role: f"{name}.kernel" for role, name in names.items()}
    return kernels | {f"b_{role}": f"{name}.bias" for role, name in names.items()}


def _own(pattern: str) -> dict[str, str]:
    names = {r: pattern.format(r if pattern.islower() else r.upper()) for r in "qkvo"}
    biases = {f"b_{r}": n.replace("w", "b").replace("W", "b") for r, n in names.items()}
    return names | biases


_TORCH = {"o": "out_proj.weight", "b_o": "out_proj.bias", "b_qkv": "in_proj_bias"}
_ROPE = {"causal": True, "positions": "rope"}

FAMILIES: tuple[Family, ...] = (
    Family(
        "GPT-2",
        _packed("c_attn", "c_proj"),
        "in_out",
        "thirds",
        config={"causal": True},
        says="Learned positions are a table of their own, wpe.",
    ),
    Family(
        "torch nn.MultiheadAttention",
        {"qkv": "in_proj_weight", **_TORCH},
        "out_in",
        "thirds",
    ),
    Family(
        "torch nn.MultiheadAttention with separate tables",
        {"q": "q_proj_weight", "k": "k_proj_weight", "v": "v_proj_weight", **_TORCH},
        "out_in",
        "thirds",
    ),
    Family("BERT", _linear("self.query", "self.key", "self.value", "output.dense"), "out_in"),
    Family(
        "ViT",
        _linear("attention.query", "attention.key", "attention.value", "output.dense"),
        "out_in",
    ),
    Family("DistilBERT", _linear("q_lin", "k_lin", "v_lin", "out_lin"), "out_in"),
    Family("BART, Marian, CLIP", _linear("q_proj", "k_proj", "v_proj", "out_proj"), "out_in"),
    Family(
        "ViT, DINOv2 by their names in memory",
        _linear("q_proj", "k_proj", "v_proj", "o_proj"),
        "out_in",
        prefix=r"(^|\.)attention\.$",
        says="Files of ViT have other names; these are those that transformers gives in memory.",
    ),
    Family(
        "Llama family",
        _linear("q_proj", "k_proj", "v_proj", "o_proj"),
        "out_in",
        prefix=r"(^|\.)self_attn\.$",
        config=_ROPE,
        says="Queries and keys turn by rotary positions; their base is in the model's config.",
    ),
    Family(
        "tables q_proj to o_proj",
        _linear("q_proj", "k_proj", "v_proj", "o_proj"),
        "out_in",
        says="Their names do not say whether positions are rotary or later keys are hidden: "
        "both stay as they are set.",
    ),
    Family(
        "Phi-3",
        _packed("qkv_proj", "o_proj"),
        "out_in",
        "grouped",
        config=_ROPE,
        says="Queries and keys turn by rotary positions; their base is in the model's config.",
    ),
    Family(
        "GPT-NeoX, BLOOM",
        _packed("query_key_value", "dense"),
        "out_in",
        "per_head",
        config={"causal": True},
        says="GPT-NeoX has rotary positions in part of each head, BLOOM has ALiBi.",
    ),
    Family(
        "T5",
        _linear("q", "k", "v", "o"),
        "out_in",
        prefix=r"(Self|EncDec)Attention\.$",
        config={"scale": 1.0},
        says="Scores are not scaled; relative_attention_bias is a table of its own.",
    ),
    Family("timm ViT", _packed("qkv", "proj"), "out_in", "thirds"),
    Family("Keras MultiHeadAttention", _kernel("attention_output"), "kernel"),
    Family("flax MultiHeadDotProductAttention", _kernel("out"), "kernel"),
    *(Family("tables by name", _own(p), "heads") for p in ("w_{}", "w{}", "W_{}", "W{}")),
)
