"""Named scenarios to start from."""

from collections.abc import Mapping
from types import MappingProxyType

from attnviz.core.model import Params
from attnviz.core.scenario import Scenario

WALKTHROUGH = "walkthrough"

PRESETS: Mapping[str, Scenario] = MappingProxyType(
    {
        WALKTHROUGH: Scenario(
            preset=WALKTHROUGH,
            text="major league baseball",
            lexicon={
                "major": (0.4, 0.2, 0.1, 0.3),
                "league": (0.5, 0.3, 0.0, 0.9),
                "baseball": (0.8, 0.4, 0.2, 0.6),
            },
            params=Params(
                w_q=[
                    [[0.5, 0.6], [0.8, 0.3], [0.7, 0.2], [0.1, 0.8]],
                    [[0.3, 0.6], [0.5, 0.8], [0.9, 0.1], [0.5, 0.8]],
                ],
                w_k=[
                    [[0.0, 0.7], [0.4, 0.3], [0.8, 0.3], [0.7, 0.4]],
                    [[0.4, 0.9], [0.1, 0.7], [0.6, 0.6], [0.1, 0.6]],
                ],
                w_v=[
                    [[0.4, 0.5], [0.7, 0.6], [0.9, 0.8], [0.0, 0.3]],
                    [[0.9, 0.2], [0.2, 0.8], [0.7, 0.0], [0.1, 0.4]],
                ],
                w_o=[
                    [0.2, 0.2, 0.6, 0.1],
                    [0.3, 0.2, 0.2, 0.8],
                    [0.2, 0.5, 0.1, 0.3],
                    [0.6, 0.9, 0.5, 0.7],
                ],
            ),
        ),
    }
)
