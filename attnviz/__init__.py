"""attnviz: see and follow every number of scaled dot-product and multi-head attention."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from attnviz.figures import figure

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
    "figure",
    "multi_head_attention",
    "run",
    "scaled_dot_product_attention",
]


def __getattr__(name: str) -> Any:
    """`figure` is loaded when it is asked for, so that the core alone needs no Plotly."""
    if name == "figure":
        from attnviz.figures import figure

        return figure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
