"""attnviz: see and follow every number of scaled dot-product and multi-head attention."""

from attnviz.core import (
    PRESETS,
    STAGES,
    AttnvizError,
    Config,
    Derivation,
    Params,
    Scenario,
    Sizes,
    Stage,
    Trace,
    multi_head_attention,
    run,
    scaled_dot_product_attention,
)

__all__ = [
    "PRESETS",
    "STAGES",
    "AttnvizError",
    "Config",
    "Derivation",
    "Params",
    "Scenario",
    "Sizes",
    "Stage",
    "Trace",
    "multi_head_attention",
    "run",
    "scaled_dot_product_attention",
]
