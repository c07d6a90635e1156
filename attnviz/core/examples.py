"""The scenarios of the presets, each made by a function of its own."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from attnviz.core.arrays import Array
from attnviz.core.config import Config
from attnviz.core.draw import drawn, drawn_rows
from attnviz.core.edit import set_picture
from attnviz.core.model import Params, Sizes
from attnviz.core.picture import COLOURS, DOTS
from attnviz.core.scenario import Scenario

DATA = Path(__file__).with_name("data")


def walkthrough() -> Scenario:
    """3 tokens, d_model 4, 2 heads of 2, no bias."""
    return Scenario(
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
    )


def attention_head() -> Scenario:
    """4 tokens, d_model 256, one head of 64 with biases, no output projection."""
    return _stored("head_256_64")


def four_heads() -> Scenario:
    """4 tokens, d_model 256, 4 heads of 64 with biases, and back to 256."""
    return _stored("heads4_256")


def _stored(name: str) -> Scenario:
    """Tables kept as int16: multiples of 2^-16, and those of X of 2^-12."""
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        tables = {key: table * 2.0**-16 for key, table in file.items()}
    text = "Wie geht es dir"
    lexicon = _lexicon(text.split(), tables.pop("x") * 2.0**4)
    return Scenario(text, Params(**tables), lexicon=lexicon)


def _lexicon(tokens: list[str], rows: Array) -> dict[str, tuple[float, ...]]:
    return {token: tuple(row) for token, row in zip(tokens, rows.tolist(), strict=True)}


TOPICS = (
    "generative",
    "images",
    "text",
    "deep learning",
    "PyTorch",
    "databases",
    "security",
    "mathematics",
)
SEARCHES = {  # how much of each topic
    "generative AI": (1.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0),
    "PyTorch": (0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.2),
}
TITLES = {
    "Deep Learning with PyTorch": (0.2, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.2),
    "Generative Models in Practice": (1.0, 0.4, 0.5, 0.6, 0.4, 0.0, 0.0, 0.0),
    "Relational Databases": (0.0, 0.0, 0.3, 0.0, 0.0, 1.0, 0.0, 0.1),
    "Text-to-Image from Scratch": (0.9, 1.0, 0.6, 0.5, 0.5, 0.0, 0.0, 0.0),
    "Network Security Basics": (0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 1.0, 0.0),
    "Linear Algebra Refresher": (0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0),
}


def search() -> Scenario:
    """2 searches x 6 titles: d_model is 8 topics and a column for each title, d_k 8, d_v 6.

    Q and K are the topics; V is the column of the title's own, so that the output has the weight
    of each title in a column and ranks them.
    """
    n_topics, n_titles = len(TOPICS), len(TITLES)
    both = np.eye(n_topics + n_titles)
    own = both[n_topics:, n_topics:].tolist()
    titles = {
        title: (*topics, *place) for (title, topics), place in zip(TITLES.items(), own, strict=True)
    }
    topics = both[None, :, :n_topics]
    return Scenario(
        text="\n".join(SEARCHES),
        context_text="\n".join(TITLES),
        tokenizer="lines",
        lexicon={name: (*row, *(0.0,) * n_titles) for name, row in SEARCHES.items()} | titles,
        features=(*TOPICS, *(f"title {i + 1}" for i in range(n_titles))),
        params=Params(4 * topics, 2 * topics, both[None, :, n_topics:]),
    )


def landscape() -> Array:
    """(64, 64, 3): a house, a tree and the sun, in plain colours from 0 to 1."""
    y, x = np.mgrid[:64, :64] + 0.5
    picture = np.empty((*x.shape, 3))
    picture[:] = (0.55, 0.75, 0.95)
    brown = (0.35, 0.2, 0.15)
    for where, colour in (
        ((x - 52) ** 2 + (y - 12) ** 2 < 64, (1.0, 0.85, 0.2)),
        (y > 48, (0.3, 0.6, 0.25)),
        ((abs(x - 20) < 12) & (abs(y - 40) < 12), (0.8, 0.3, 0.25)),
        ((abs(x - 20) < y - 14) & (y < 28), brown),
        ((abs(x - 20) < 3) & (abs(y - 46) < 6), (0.2, 0.1, 0.1)),
        ((abs(x - 46) < 2) & (abs(y - 44) < 10), brown),
        ((x - 46) ** 2 + (y - 34) ** 2 < 49, (0.15, 0.45, 0.2)),
    ):
        picture[where] = colour
    return picture


def picture() -> Scenario:
    """CLS and 4 x 4 patches, d_model 4 * 4 * 3, 4 heads of 12, and back to 48.

    Head 1 looks for a like mean colour, head 2 for like edges, head 3 for the opposite colour,
    and head 4 is drawn from the seed, as before any training. Values are the mean colour and the
    edges of a patch, and W_O makes a patch of them again, so the output is a picture as well.
    """
    half = np.repeat([1.0, -1.0], DOTS // 2)
    whole = np.ones(DOTS)
    patterns = ((whole, whole), (whole, half), (half, whole), (half, half))  # rows, columns
    parts = np.stack([np.outer(*pattern).ravel() for pattern in patterns], axis=1)
    parts = np.kron(parts, np.eye(len(COLOURS)))  # (48, 12), the colours of a pattern together
    colour = np.arange(parts.shape[1]) < len(COLOURS)
    (width, d_k), n_heads = parts.shape, 4
    sizes = Sizes(n_heads, width, d_k, d_k, width)
    w_q, w_k = drawn("w_q", 0, sizes), drawn("w_k", 0, sizes)
    w_q[:3] = parts * colour / 4, parts * ~colour / 2, parts * colour / 4
    w_k[:3] = w_q[0], w_q[1], -w_q[2]
    w_v, w_o = [parts / DOTS**2] * n_heads, np.tile(parts.T / n_heads, (n_heads, 1))
    return set_picture(Scenario("CLS", Params(w_q, w_k, w_v, w_o)), landscape())[0]


def language_model() -> Scenario:
    """7 tokens, d_model 8, 2 heads of 4, causal, sinusoidal positions."""
    config = Config(causal=True, positions="sinusoidal")
    return _from_seed("the cat sat on the warm mat", Sizes(2, 8, 4, 4, 8), config)


def _from_seed(text: str, sizes: Sizes, config: Config) -> Scenario:
    """Embeddings and all tables, an output projection too, drawn from seed 0."""
    tables = {name: drawn(name, 0, sizes) for name in ("w_q", "w_k", "w_v", "w_o")}
    tables["w_o"] = tables["w_o"].reshape(-1, sizes.d_out)
    return Scenario(text, Params(**tables), config=config)


def without_scale() -> Scenario:
    """Random Q, K (1, 8, 64) and V (1, 8, 4) as the tables; the scores stay as they are.

    Of a few hundred seeds this is the one where the difference is plainest in every row.
    """
    seed = 272
    sizes = Sizes(1, 64, 64, 4, 4)
    text = "one two three four five six seven eight"
    widths = {"q": sizes.d_k, "k": sizes.d_k, "v": sizes.d_v}
    return Scenario(
        text,
        Params(**{name: drawn(name, seed, sizes) for name in ("w_q", "w_k", "w_v")}),
        seed=seed,
        config=Config(scale=1.0, start="qkv"),
        qkv={name: drawn_rows(name, seed, 1, tuple(text.split()), n) for name, n in widths.items()},
    )


def with_scale() -> Scenario:
    """The same vectors, the scores divided by sqrt(64)."""
    start = without_scale()
    return replace(start, config=replace(start.config, scale=None))


def word_order() -> Scenario:
    """5 tokens that all differ, d_model 4, 2 heads of 2, no positions."""
    return _from_seed("the dog chased a man", Sizes(2, 4, 2, 2, 4), Config())


def words_shuffled() -> Scenario:
    """The same words in another order."""
    return replace(word_order(), text="a man chased the dog")


WORDS = ("big", "cats", "eat", "fish")
SENTENCE = "big cats eat big fish"
PREVIOUS = (0, 0, 1, 2, 3)  # the place before each place; the first has only itself


def two_heads() -> Scenario:
    """5 tokens, d_model 4 words and 5 places, 2 heads of d_k 9 and d_v 4, learned positions.

    Embeddings are 1 in the word's column, positions in the place's. sqrt(9) = 3 divides all
    scores: the place that is meant gets 1600, and in head 2 a word itself 800, the rest 0. From
    746 less on a power of e is exactly 0 in float64, so weights are exactly 0 and 1.
    """
    words = np.arange(len(WORDS) + len(PREVIOUS)) < len(WORDS)
    eye = np.eye(len(words))
    previous = eye * ~words
    previous[~words] = previous[~words][list(PREVIOUS)]
    places = eye * ~words
    w_q, w_k = (60 * previous, 60 * eye), (80 * places, 80 * (eye * words) - 40 * places)
    return _by_hand(Params(w_q, w_k, [eye[:, words]] * 2))


def one_head() -> Scenario:
    """The same, but one head with the queries of both: previous place and same word."""
    two = two_heads().params
    same = two.w_q[1] * (np.arange(len(two.w_q[1])) < len(WORDS))
    return _by_hand(Params([two.w_q[0] + same], [80 * np.eye(len(same))], two.w_v[:1]))


def _by_hand(params: Params) -> Scenario:
    """Words and places that each have a column of their own."""
    n_words, n_places = len(WORDS), len(PREVIOUS)
    rows = np.eye(n_words, n_words + n_places)
    places = np.eye(n_places, n_words + n_places, n_words)
    return Scenario(
        SENTENCE,
        params,
        config=Config(positions="learned"),
        lexicon=_lexicon(list(WORDS), rows),
        features=(*WORDS, *(f"place {i}" for i in range(n_places))),
        position_edits={(r, c): float(value) for (r, c), value in np.ndenumerate(places)},
    )


def repeated_word() -> Scenario:
    """5 tokens, two of them the same, d_model 4, 2 heads of 2, no positions."""
    return _from_seed("the cat saw the dog", Sizes(2, 4, 2, 2, 4), Config())


def repeated_word_placed() -> Scenario:
    """The same with sinusoidal positions."""
    return replace(repeated_word(), config=Config(positions="sinusoidal"))
