"""Ready-made comparisons: what is set as A and as B, made from any scenario."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from attnviz.core import edit
from attnviz.core.scenario import Scenario


@dataclass(frozen=True)
class Comparison:
    """A comparison that shows one thing.

    Args:
        title: what is compared.
        says: what to look for.
        a, b: the two sides, made from the scenario at hand.
    """

    title: str
    says: str
    a: Callable[[Scenario], Scenario]
    b: Callable[[Scenario], Scenario]


def _as_it_is(scenario: Scenario) -> Scenario:
    return scenario


def _again(scenario: Scenario) -> Scenario:
    return edit.set_text(scenario, f"{scenario.text.rstrip()} {scenario.tokens[0]}")[0]


COMPARISONS: Mapping[str, Comparison] = MappingProxyType(
    {
        "scale": Comparison(
            "with and without 1/√d_k",
            "Without it the larger scores take more of the attention.",
            lambda s: edit.set_config(s, scale=None)[0],
            lambda s: edit.set_config(s, scale=1.0)[0],
        ),
        "heads": Comparison(
            "one head against two",
            "Head 1 is the same in both; the second one adds columns of its own.",
            lambda s: edit.resize(s, n_heads=1, n_kv_heads=None)[0],
            lambda s: edit.resize(s, n_heads=2, n_kv_heads=None)[0],
        ),
        "repeat": Comparison(
            "the first word repeated at the end",
            "Both places of the word get the same row; every weight is shared among more keys.",
            _as_it_is,
            _again,
        ),
    }
)
