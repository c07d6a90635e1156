"""Named scenarios to start from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from attnviz.core import examples
from attnviz.core.scenario import Scenario

WALKTHROUGH = "walkthrough"


@dataclass(frozen=True)
class Preset:
    """An example to start from, as a gallery shows it.

    Args:
        title: its name in words.
        says: a sentence on what it is for.
        build: makes the scenario; called once, when it is asked for.
        compare_with: the preset that is worth seeing beside it, or nothing.
    """

    title: str
    says: str
    build: Callable[[], Scenario]
    compare_with: str = ""


GALLERY: Mapping[str, Preset] = MappingProxyType(
    {
        WALKTHROUGH: Preset(
            "Walkthrough",
            "Three words and two heads, small enough to follow every number by hand.",
            examples.walkthrough,
        ),
        "attention head": Preset(
            "Attention head with bias",
            "One head turns embeddings of 256 numbers into 64, with a bias on Q, K and V.",
            examples.attention_head,
            "four heads",
        ),
        "four heads": Preset(
            "Four heads with output projection",
            "Four heads of 64 go back to 256, so that every word leaves with the shape it came in.",
            examples.four_heads,
            "attention head",
        ),
        "search": Preset(
            "Search query against titles",
            "Two searches are queries and six book titles are keys; the best match weighs most.",
            examples.search,
        ),
        "picture": Preset(
            "Vision transformer",
            "A picture is cut into 16 patches, which attend to each other as words do.",
            examples.picture,
        ),
        "language model": Preset(
            "Causal language model",
            "Each of seven words sees only itself and its past.",
            examples.language_model,
        ),
        "without scale": Preset(
            "Why scale: without",
            "Scores of random vectors of 64 numbers are so large that softmax picks one key.",
            examples.without_scale,
            "with scale",
        ),
        "with scale": Preset(
            "Why scale: with 1/√d_k",
            "The same random vectors, scores divided by 8: every key keeps a share.",
            examples.with_scale,
            "without scale",
        ),
        "word order": Preset(
            "Why position: a sentence",
            "Without positions every word's output is the same however the words are shuffled.",
            examples.word_order,
            "words shuffled",
        ),
        "words shuffled": Preset(
            "Why position: its shuffle",
            "The words of the other sentence in another order, with the same output for each.",
            examples.words_shuffled,
            "word order",
        ),
        "two heads": Preset(
            "Why several heads: two",
            "Head 1 copies the previous word, head 2 finds the same word elsewhere.",
            examples.two_heads,
            "one head",
        ),
        "one head": Preset(
            "Why several heads: only one",
            "A single head that looks for both has to share out its attention.",
            examples.one_head,
            "two heads",
        ),
        "repeated word": Preset(
            "A repeated word",
            "Without positions both places of a word have the same row at every step.",
            examples.repeated_word,
            "repeated word placed",
        ),
        "repeated word placed": Preset(
            "A repeated word with positions",
            "With positions the two places of a word are told apart.",
            examples.repeated_word_placed,
            "repeated word",
        ),
    }
)


class _Presets(Mapping[str, Scenario]):
    """Name -> scenario, built when it is first asked for."""

    def __getitem__(self, name: str) -> Scenario:
        return _built(name)

    def __iter__(self) -> Iterator[str]:
        return iter(GALLERY)

    def __len__(self) -> int:
        return len(GALLERY)


@cache
def _built(name: str) -> Scenario:
    return replace(GALLERY[name].build(), preset=name)


PRESETS: Mapping[str, Scenario] = _Presets()
