"""attnviz: see and follow every number of scaled dot-product and multi-head attention."""

import importlib
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
    from attnviz.files import load, save

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
    "load",
    "multi_head_attention",
    "run",
    "save",
    "scaled_dot_product_attention",
]


_LATER = {"figure": "attnviz.figures", "load": "attnviz.files", "save": "attnviz.files"}


def __getattr__(name: str) -> Any:
    """Some names are loaded when they are asked for, so that the core alone needs no more."""
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
