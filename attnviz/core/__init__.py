"""Attention and its explanation; NumPy and the standard library only."""

from attnviz.core.config import CHOICES, Config
from attnviz.core.derivation import Derivation, Term
from attnviz.core.errors import (
    AttnvizError,
    FormatError,
    LimitError,
    NumberError,
    ScenarioError,
    ShapeError,
    TextError,
)
from attnviz.core.model import AXES, Params, Sizes
from attnviz.core.presets import GALLERY, PRESETS, Preset
from attnviz.core.run import multi_head_attention, run, scaled_dot_product_attention
from attnviz.core.scenario import Scenario
from attnviz.core.stages import STAGES, TABLES, Stage, Table
from attnviz.core.trace import Trace

__all__ = [
    "AXES",
    "CHOICES",
    "GALLERY",
    "PRESETS",
    "STAGES",
    "TABLES",
    "AttnvizError",
    "Config",
    "Derivation",
    "FormatError",
    "LimitError",
    "NumberError",
    "Params",
    "Preset",
    "Scenario",
    "ScenarioError",
    "ShapeError",
    "Sizes",
    "Stage",
    "Table",
    "Term",
    "TextError",
    "Trace",
    "multi_head_attention",
    "run",
    "scaled_dot_product_attention",
]
