"""The group of variants in the side bar, drawn from the dictionaries of the core."""

from typing import Any

import streamlit as st

from attnviz.core.config import CHOICES, OPTIONAL, Choice, Config, Option, Variant
from attnviz.core.idle import idle
from attnviz.core.masks import MASKS
from attnviz.core.numbers import number_text
from attnviz.core.text import unique_labels
from attnviz.ui import state
from attnviz.ui.parts import escape_label, line
from attnviz.ui.texts import text_field

# The order on the page; what is not named here stands at the end.
SECTIONS = {
    "What is attended to": ("context_text", "start"),
    "Positions": ("positions", "position_base", "rope_dims"),
    "Biases": ("b_q", "b_k", "b_v", "b_o"),
    "Scores": ("scale", "temperature", "softcap", "bias"),
    "Masks": ("causal", "causal_offset", "causal_alignment", "keep", "mask"),
    "Weights": ("normaliser", "top_k"),
}
ELSEWHERE = ("off", "project")  # the switches of `OPTIONAL`; beside the sizes
_DEFAULT = Config()


def variants() -> None:
    """A widget for every choice and every table that can be switched."""
    without_effect = idle(state.session().scenario)
    named = {name for names in SECTIONS.values() for name in names}
    rest = [name for name in (*CHOICES, *OPTIONAL) if name not in named and name not in ELSEWHERE]
    with st.container(key="variants"):
        for title, names in (*SECTIONS.items(), ("More", rest)):
            if names:
                st.html(line("section", title))
            for name in names:
                _widget(name)
                refusal(f"variant_{name}")
                if name in without_effect:
                    st.html(line("idle", without_effect[name]))


def _widget(name: str) -> None:
    if name == "context_text":
        _second_text()
    elif name in OPTIONAL:
        _switch(name, OPTIONAL[name])
    else:
        _choice(name, CHOICES[name])


def refusal(key: str) -> None:
    """Why the change that the widget of this key asked for was not made, if it was the last."""
    now = state.session()
    if now.refused_at == key:
        st.html(line("idle", now.refused))


def _choice(name: str, choice: Choice) -> None:
    value, default = (getattr(c, name) for c in (state.session().scenario.config, _DEFAULT))
    label, key = label_of(choice), f"variant_{name}"
    told: dict[str, Any] = {
        "help": help_of(choice),
        "on_change": state.choose_variant,
        "args": (name,),
    }
    if choice.kind == "switch":
        st.toggle(label, key=state.show(key, value), **told)
    elif choice.kind in ("number", "whole"):
        shown = "" if value is None else number_text(value)
        st.text_input(label, key=state.show(key, shown), placeholder=choice.none, **told)
    else:
        told |= {"options": list(choice.options), "format_func": lambda o: choice.options[o].label}
        if choice.kind == "several":
            st.multiselect(label, key=state.show(key, list(value)), **told)
            return
        st.selectbox(label, key=state.show(key, value), **told)
        if value != default:
            chosen = choice.options[value]
            st.html(line("note", f"{chosen.label}: {chosen.says}"))


def _switch(table: str, option: Option) -> None:
    now = state.session()
    on = now.is_on(table)
    st.toggle(
        label_of(option),
        key=state.show(f"variant_{table}", on),
        help=help_of(MASKS.get(table, option)),
        on_change=state.switch,
        args=(table,),
    )
    if table == "keep" and on:
        labels = unique_labels(now.scenario.key_tokens)
        st.multiselect(
            "Hidden keys",
            range(len(labels)),
            format_func=labels.__getitem__,
            key=state.show("padding", sorted(now.scenario.padding)),
            placeholder="Choose tokens",
            on_change=state.pad,
        )


def _second_text() -> None:
    crossed = state.session().scenario.context_text is not None
    st.toggle(
        "Second text for keys and values",
        key=state.show("crossed", crossed),
        help="Cross-attention: queries come from the text, keys and values from the second one.",
        on_change=state.cross,
    )
    if crossed:
        text_field("Second text", "context_text")


def label_of(variant: Variant | Choice) -> str:
    """Its name as the label of a widget; symbols keep their letters."""
    label = variant.label
    return escape_label(label[:1].upper() + label[1:] if label[:2].isalpha() else label)


def help_of(variant: Variant | Choice) -> str:
    """What it does and where it is from, with its options."""
    lines = [_said(variant)]
    if isinstance(variant, Choice):
        lines += [f"- {escape_label(o.label)}: {_said(o)}" for o in variant.options.values()]
    return "\n".join(lines)


def _said(variant: Variant | Choice) -> str:
    return escape_label(f"{variant.says} ({variant.source})" if variant.source else variant.says)
