"""What is set at the side: example, text, sizes, view."""

import re
from typing import Any

import streamlit as st

from attnviz.core import GALLERY, edit
from attnviz.core.text import TOKENIZERS
from attnviz.figures.palettes import DEFAULT_PALETTE, PALETTES
from attnviz.files.picture import ENDINGS, MAX_MEGABYTES
from attnviz.ui import state
from attnviz.ui.address import SETTINGS
from attnviz.ui.parts import escape_label, line, row, span
from attnviz.ui.texts import text_field
from attnviz.ui.variants import refusal, variants

TITLE_LETTERS = 24  # of an example that its field has room for
SIZES = {
    "n_heads": "How many heads look at the text side by side.",
    "n_kv_heads": "How many of them have keys and values of their own; the others share theirs.",
    "d_model": "Numbers in each embedding.",
    "d_context": "Numbers in each embedding of the second text.",
    "d_k": "Numbers in each query and key; free of d_model and heads.",
    "d_v": "Numbers in each value; free of d_k.",
    "d_out": "Numbers in each output row.",
}


def sidebar() -> None:
    """The whole side bar."""
    scenario = state.session().scenario
    with st.sidebar:
        st.html('<div class="brand">attnviz</div>')
        st.selectbox(
            "Example",
            list(GALLERY),
            format_func=lambda name: GALLERY[name].title,
            key=state.show("preset", scenario.preset),
            help=_whole_title(scenario.preset),
            on_change=lambda: state.open_preset(state.setting("preset")),
        )
        if scenario.preset in GALLERY:
            st.html(line("note", GALLERY[scenario.preset].says))
        text_field("Text", "text")
        if scenario.image is not None:
            _upload()
        st.selectbox(
            "Tokens are",
            list(TOKENIZERS),
            key=state.show("tokenizer", scenario.tokenizer),
            on_change=_tokenize,
        )
        _sizes()
        _seed()
        with st.expander("Variants"):
            variants()
        with st.expander("View"):
            _view()
        st.html(
            row(
                "legend",
                span("query", "query: looks"),
                span("key", "key: is looked at"),
                span("editable", "table: yours to edit"),
            )
        )


def _whole_title(name: str) -> str | None:
    """The title of an example that its field has no room for."""
    title = GALLERY[name].title if name in GALLERY else ""
    return escape_label(title) if len(title) > TITLE_LETTERS else None


def _upload() -> None:
    """Another picture; once it was taken the field is empty again."""
    key = f"upload_{state.session().revisions.get('picture', 0)}"
    st.file_uploader(
        f"Another picture, at most {MAX_MEGABYTES} MB",
        ENDINGS,
        key=key,
        max_upload_size=MAX_MEGABYTES,
        help="PNG or JPEG. It stays on this machine, is made small and cut into patches.",
        on_change=state.take_picture,
        args=(key,),
    )


def _tokenize() -> None:
    state.change(lambda s: edit.set_tokenizer(s, state.setting("tokenizer")))


def _project() -> None:
    state.change(lambda s: edit.set_config(s, project=state.setting("project")))


def _sizes() -> None:
    scenario = state.session().scenario
    sizes = {**vars(scenario.sizes), "n_kv_heads": scenario.sizes.kv_heads}
    sizes["d_context"] = scenario.sizes.context_width
    projected = scenario.config.project and scenario.params.w_o is not None
    embedded = scenario.config.start == "x"
    used = {
        "d_model": embedded,
        "d_context": embedded and scenario.context_text is not None,
        "d_out": projected,
    }
    fields = [name for name in SIZES if used.get(name, True)]
    columns = st.columns(2, gap="small")
    for place, name in enumerate(fields):
        columns[place % 2].text_input(
            name,
            help=SIZES[name],
            key=state.show(f"size_{name}", str(sizes[name])),
            on_change=_resize,
            args=(name,),
        )
    for name in fields:
        refusal(f"size_{name}")
    st.toggle(
        "Output projection W_O",
        key=state.show("project", projected),
        on_change=_project,
        help="Off: the concatenated heads are the result.",
    )


def whole(typed: str) -> Any:
    """A whole number, or what was typed, to be refused where it is used.

    Number fields of the browser cut 2.7 to 2, read nothing as 0 and keep too large a number.
    """
    text = typed.strip()
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,30}", text) else text


def _resize(name: str) -> None:
    key = f"size_{name}"
    size = whole(state.setting(key))
    state.change(lambda s: edit.resize(s, **{name: size}), key)


def _seed() -> None:
    left, right = st.columns([1, 1.4], gap="small", vertical_alignment="bottom")
    left.text_input(
        "Seed",
        help="The same seed gives the same numbers, on every machine.",
        key=state.show("seed", str(state.session().scenario.seed)),
        on_change=_randomise,
        args=(False,),
    )
    right.button(
        "Randomise",
        help="Draw all tables from the next seed; words keep embeddings that the example has.",
        key="randomise",
        width="stretch",
        on_click=_randomise,
        args=(True,),
    )
    refusal("seed")


def _randomise(following: bool) -> None:
    seed = whole(state.setting("seed"))
    state.change(lambda s: edit.randomise(s, s.seed + 1 if following else seed), "seed")


def _view() -> None:
    st.selectbox("Decimals", SETTINGS["decimals"], key=state.once("decimals", "2"))
    st.selectbox("Palette", list(PALETTES), key=state.once("palette", DEFAULT_PALETTE))
    st.toggle("Numbers in the cells", key=state.once("cell_text", True))
    st.radio(
        "Tokens as",
        SETTINGS["tokens_as"],
        horizontal=True,
        key=state.once("tokens_as", "rows"),
        help="Textbooks differ; pictures and tables are transposed, the arrays stay.",
    )
