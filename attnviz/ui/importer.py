"""Tables from a file: what was found, how it will be read, and into which tables it goes."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz.core import AttnvizError, edit
from attnviz.core.arrays import Array, as_floats
from attnviz.core.errors import NumberError, ShapeError
from attnviz.core.model import Params
from attnviz.core.numbers import number_text
from attnviz.core.scenario import Scenario
from attnviz.core.stages import ROWS
from attnviz.files.imports import BFLOAT16, FORMATS_IN, LIMITS, MAX_MEGABYTES, ONE_LAYER
from attnviz.files.imports.recognise import Candidate, applied
from attnviz.ui import state, uploads
from attnviz.ui.held import Upload
from attnviz.ui.inputs import numbers
from attnviz.ui.parts import line, table

MAX_LISTED = 12
KINDS = ", ".join(entry.label for entry in FORMATS_IN.values())
HELP = "\n".join(
    (LIMITS, "\nOne layer of a larger model, say 3:\n", "```python", *ONE_LAYER, "```", BFLOAT16)
)
Target = tuple[str, int | None]  # a table, and the head whose part it is; None for the whole


def import_tables() -> None:
    """A field for a file, and the choices that its tables leave open."""
    now = state.session()
    st.html(line("section", "Tables from elsewhere"))
    st.file_uploader(
        f"Parameters or embeddings: {KINDS}",
        key=f"import_{now.uploads}",
        max_upload_size=MAX_MEGABYTES,
        help=HELP,
        on_change=uploads.import_file,
        args=(f"import_{now.uploads}",),
    )
    if now.found is None:
        return
    upload = now.found
    _listed(upload)
    if upload.layers:
        _layer(upload.layers)
    _one_table(upload)
    st.button("Put the file away", key="discard", on_click=uploads.discard)


def _listed(upload: Upload) -> None:
    arrays = upload.found.arrays
    count = len(arrays)
    more = f", the first {MAX_LISTED} here" if count > MAX_LISTED else ""
    head = f"{upload.name}: {count} {'table' if count == 1 else 'tables'}{more}"
    rows = [(name, _size(array)) for name, array in list(arrays.items())[:MAX_LISTED]]
    notes = "".join(line("note", f"{note[:1].upper()}{note[1:]}.") for note in upload.found.notes)
    st.html(line("says", head) + table(("name", "shape"), rows) + notes)


def _layer(layers: tuple[Candidate, ...]) -> None:
    place = st.selectbox(
        "Layer",
        range(len(layers)),
        format_func=lambda i: layers[i].title,
        key=state.once("layer", 0),
    )
    layer = layers[int(place)]
    counts = layer.head_counts()
    key = state.once("layer_heads", layer.usual_heads())
    if state.setting(key) not in counts:
        state.show(key, layer.usual_heads())
    n_heads = int(st.selectbox("Heads", counts, key=key))
    if st.toggle("Its tables are the other way round", key=state.once("layer_turned", False)):
        layer = layer.turned()
    used = table(("used as it is stored", "shape"), [(n, _text(s)) for n, s in layer.shapes()])
    st.html(used + "".join(line("says", text) for text in layer.assumed(n_heads)))
    params, refused = _tried(layer, n_heads)
    if params is None:
        st.html(line("refused", refused))
        return
    sizes = params.sizes
    st.html(
        line(
            "says",
            f"Gives {sizes.n_heads} heads, d_model {sizes.d_model}, d_k {sizes.d_k}, "
            f"d_v {sizes.d_v}.",
        )
    )
    st.button(
        "Use this layer",
        key="use_layer",
        on_click=lambda: state.change(lambda s: applied(s, layer, params)),
    )


def _tried(layer: Candidate, n_heads: int) -> tuple[Params | None, str]:
    try:
        params = layer.params(n_heads)
        applied(state.session().scenario, layer, params)
    except AttnvizError as error:
        return None, str(error)
    return params, ""


def _one_table(upload: Upload) -> None:
    arrays, now = upload.found.arrays, state.session()
    names = [name for name, array in arrays.items() if 1 <= array.ndim <= 3]
    if not names:
        return
    key = state.once("one_name", names[0])
    if state.setting(key) not in names:
        state.show(key, names[0])
    name = str(st.selectbox("One table", names, key=key))
    turned = st.toggle("Transpose it", key=state.once("one_turned", False))
    array = arrays[name]
    array = np.swapaxes(array, -1, -2) if turned and array.ndim > 1 else array
    targets = _targets(array)
    key = state.once("one_into", targets[0])
    if state.setting(key) not in targets:
        state.show(key, targets[0])
    target: Target = st.selectbox("goes into", targets, key=key, format_func=_title)
    try:
        values = _fitting(now.scenario, array, name, target)
    except AttnvizError as error:
        st.html(line("refused", str(error)))
        return
    square = values.ndim > 1 and values.shape[-1] == values.shape[-2]
    assumed = " It is square: it was taken as it is stored." if square and not turned else ""
    st.html(line("says", f"{_size(array)} numbers replace {_title(target)}.{assumed}"))
    st.button("Put it in", key="put_in", on_click=_put, args=(values, target))


def _put(values: Array, target: Target) -> None:
    name, head = target
    if name == "mask":
        cells = {(at[0], at[1]): bool(allowed) for at, allowed in np.ndenumerate(values)}
        state.change(lambda s: edit.set_mask(s, cells))
    else:
        state.change(lambda s: edit.set_table(s, name, values, head))


def _targets(array: NDArray[np.generic]) -> list[Target]:
    """Where a table can go; those of its shape first."""
    now = state.session()
    found: list[Target] = []
    for name in now.shown_tables():
        held = numbers(now.scenario, name)
        if held is None:
            continue
        found.append((name, None))
        if ROWS[name].has_heads:
            found += [(name, head) for head in range(len(held))]
    return sorted(found, key=lambda target: _part(now.scenario, target).shape != array.shape)


def _part(scenario: Scenario, target: Target) -> Array:
    held = numbers(scenario, target[0])
    assert held is not None
    return held if target[1] is None else held[target[1]]


def _fitting(scenario: Scenario, array: NDArray[np.generic], name: str, target: Target) -> Array:
    wanted = _part(scenario, target).shape
    if array.shape != wanted:
        turned = array.ndim == 2 and array.shape[::-1] == wanted
        raise ShapeError(
            "the table does not fit",
            where=f"{name} into {_title(target)}",
            expected=_text(wanted),
            got=_text(array.shape),
            hint="Transposed it does." if turned else "",
        )
    mask = target[0] == "mask"
    given = array.astype(np.float64) if mask and array.dtype.kind == "b" else array
    values = as_floats(given, name, array.ndim)
    odd = values[~np.isin(values, (0, 1))]
    if mask and odd.size:
        raise NumberError(
            "a mask holds 1 (may attend) or 0 (hidden)",
            where=f"{name} into {_title(target)}",
            got=number_text(float(odd[0])),
        )
    return values


def _title(target: Target) -> str:
    name, head = target
    symbol = ROWS[name].symbol
    if head is not None:
        return f"{symbol} head {head + 1}"
    return f"{symbol} of all heads" if ROWS[name].has_heads else symbol


def _size(array: NDArray[np.generic]) -> str:
    return _text(array.shape)


def _text(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "one number"
