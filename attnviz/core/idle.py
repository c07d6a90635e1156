"""Choices that have no effect where they stand, so that nothing is ignored in silence."""

from collections.abc import Mapping

from attnviz.core.cells import editable
from attnviz.core.config import CHOICES, OPTIONAL, Config
from attnviz.core.positions import POSITIONS, Positions
from attnviz.core.scenario import Scenario

_DEFAULT = Config()


def idle(scenario: Scenario) -> Mapping[str, str]:
    """Choices, sizes and tables of `OPTIONAL` that do nothing there -> a sentence on why."""
    config, found = scenario.config, {}
    kind = POSITIONS[config.positions]
    n_queries, n_keys = len(scenario.tokens), len(scenario.key_tokens)
    reasons = {
        "causal_offset": "" if config.causal else "the causal mask is off",
        "causal_alignment": _alignment(config, n_queries, n_keys),
        "top_k": "" if config.normaliser == "top_k" else "the normaliser keeps every score",
        "position_base": _base(scenario, kind),
        "rope_dims": "" if kind.pairs else "the chosen positions do not turn columns",
        "positions": (
            "Q, K and V are given, and there are no embeddings that it could be added to"
            if kind.added and config.start == "qkv"
            else ""
        ),
        "project": "there is no output table" if scenario.params.w_o is None else "",
    }
    for name, reason in reasons.items():
        if reason and getattr(config, name) != getattr(_DEFAULT, name):
            found[name] = _sentence(CHOICES[name].label, reason)
    if config.normaliser == "top_k" and config.top_k >= n_keys:
        found["top_k"] = _sentence(CHOICES["top_k"].label, f"there are only {n_keys} keys")
    given = "Q, K and V are given"
    if config.start == "qkv" and scenario.sizes.d_context is not None:
        found["d_context"] = _sentence("d_context", given)
    for name in scenario.params.tables().keys() & OPTIONAL.keys():
        if name not in config.off and name not in editable(scenario):
            reason = "the output projection is off" if name == "b_o" else given
            found[name] = f"{OPTIONAL[name].label} has no effect: {reason}."
    return found


def _sentence(label: str, reason: str) -> str:
    return f"{label[0].upper()}{label[1:]} has no effect: {reason}."


def _base(scenario: Scenario, kind: Positions) -> str:
    sizes, config = scenario.sizes, scenario.config
    if not (kind.wave or kind.pairs):
        return "the chosen positions have no base"
    frequencies = max(sizes.d_model, sizes.context_width) / 2
    if kind.pairs:
        frequencies = (config.rope_dims or sizes.d_k) // 2
    return "" if frequencies > 1 else "so few columns have one frequency, 1 whatever the base"


def _alignment(config: Config, n_queries: int, n_keys: int) -> str:
    if not config.causal:
        return "the causal mask is off"
    return "there are as many queries as keys" if n_queries == n_keys else ""
