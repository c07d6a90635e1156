"""Every example x every format: out, and in again with the same numbers."""

import ast
import csv
import io
import json
import re
import subprocess
import sys
import types
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import PRESETS, AttnvizError, Config, Scenario, Trace, multi_head_attention, run
from attnviz.core import edit
from attnviz.core.compare import difference
from attnviz.core.html import MAX_SHOWN, colours
from attnviz.core.normalise import NORMALISERS
from attnviz.core.ops import Given
from attnviz.core.positions import POSITIONS
from attnviz.core.text import visible
from attnviz.files import imports
from attnviz.files.exports import FORMATS_OUT, archive, code, export, handout, script, sheet
from attnviz.files.exports.code import TORCH
from attnviz.files.exports.latex import stage_latex
from attnviz.files.exports.table import read_csv, write_difference
from attnviz.files.plain import from_plain
from tests.core.support import random_arrays, random_params
from tests.files.spreadsheet import Book
from tests.files.support import AWKWARD, variants

VARIANTS = variants()
TRACES = {name: run(scenario) for name, scenario in VARIANTS.items()}
EVERY = pytest.mark.parametrize("name", TRACES)
# Those that are small enough for the arithmetic of every cell in one file.
SMALL = pytest.mark.parametrize(
    "name",
    [
        name
        for name, trace in TRACES.items()
        if sum(array.size for array in trace.values.arrays.values()) <= 10_000
    ],
)


def choices() -> dict[str, Trace]:
    """Every normaliser and every kind of positions."""
    x = random_arrays(5, size=2.0, x=(5, 4), bias=(2, 5, 5))
    x["bias"][0, 1, 2] = -np.inf
    mask = np.ones((5, 5), bool)
    mask[3] = False
    mask[0, 4] = False
    found = {}
    for name in NORMALISERS:
        config = Config(normaliser=name, top_k=2)
        if name == "division":  # sums of positive scores
            tables = {k: np.abs(t) for k, t in random_params(1).tables().items()}
            positive = type(random_params(1))(**tables)
            found[name] = multi_head_attention(np.abs(x["x"]) + 1, positive, config)
            continue
        found[name] = multi_head_attention(
            x["x"], random_params(1, biases="qo"), config, mask=mask, bias=x["bias"]
        )
    for name, kind in POSITIONS.items():
        table = random_arrays(6, t=(5, 4))["t"] if kind.learned else None
        config = Config(positions=name, causal=True, softcap=3.0)
        found[name] = multi_head_attention(x["x"], random_params(2, d_k=4), config, positions=table)
    return found


CHOICES = choices()


def test_every_format_says_what_it_is() -> None:
    for name, entry in FORMATS_OUT.items():
        assert re.fullmatch(r"\.[a-z]+", entry.suffix), name
        assert "/" in entry.mime
        assert entry.label
        assert entry.says.endswith(".")


@pytest.mark.parametrize("name", FORMATS_OUT)
@pytest.mark.parametrize("preset", PRESETS)
def test_b26_every_example_in_every_format_without_a_scenario_too(name: str, preset: str) -> None:
    trace = TRACES[preset]
    assert export(name, trace)
    if name != "xlsx":  # the slowest, and it does not look at the scenario
        assert export(name, trace, PRESETS[preset], "attention")


@EVERY
def test_b26_csv_loads_back_to_the_same_numbers(name: str) -> None:
    trace = TRACES[name]
    for key, array in trace.values.arrays.items():
        back = read_csv(export("csv", trace, key=key))
        assert back.tobytes() == np.asarray(array, np.float64).tobytes(), key


def test_b02_b04_b06_csv_has_every_token_letter_for_letter() -> None:
    for trace in TRACES.values():
        text = export("csv", trace, key="attention").decode("utf-8-sig")
        header, *lines = csv.reader(io.StringIO(text, newline=""))
        assert header == ["head", "query", *trace.key_tokens]
        assert [line[1] for line in lines] == list(trace.tokens) * len(trace["attention"])


@EVERY
def test_npz_and_json_give_arrays_names_and_scenario_back(name: str) -> None:
    trace, scenario = TRACES[name], VARIANTS[name]
    with np.load(io.BytesIO(export("npz", trace, scenario)), allow_pickle=False) as file:
        arrays = dict(file)
    about = json.loads(str(arrays.pop("about")))
    plain = json.loads(export("json", trace, scenario))
    assert arrays.keys() == trace.values.arrays.keys() == plain["arrays"].keys()
    for key, array in trace.values.arrays.items():
        assert arrays[key].tobytes() == array.tobytes()
        dtype = bool if array.dtype.kind == "b" else float
        assert np.array(plain["arrays"][key], dtype).tobytes() == array.tobytes()
    for found in (about, plain):
        assert tuple(found["tokens"]) == trace.tokens
        assert tuple(found["key_tokens"]) == trace.key_tokens
        assert from_plain(found["scenario"], Scenario, "").same(scenario)


@pytest.mark.parametrize("key", ["x", "w_q", "attention", "masked", "output", "b_q", "keep"])
def test_a_difference_as_csv_comes_back(key: str) -> None:
    before, after = VARIANTS["full"], edit.set_text(VARIANTS["full"], "1 2 10 more")[0]
    a, b = run(before), run(after)
    wanted = difference(a, b, key)
    assert read_csv(write_difference(a, b, key)).tobytes() == wanted.tobytes()
    text = io.StringIO(write_difference(a, b, key).decode("utf-8-sig"), newline="")
    assert len(next(csv.reader(text))) == max(wanted.ndim - 1, 1) + wanted.shape[-1]


@EVERY
def test_latex_of_one_stage_is_its_matrix_alone(name: str) -> None:
    trace, document = TRACES[name], export("latex", TRACES[name]).decode()
    for key in trace.values.arrays:
        text = export("matrix", trace, key=key).decode()
        assert text.startswith("\\[ ")
        assert text.strip().endswith("\\]")
        assert text.strip() in document


def test_an_archive_does_not_hold_large_tables_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_TOLD", 10)
    start = VARIANTS["walkthrough"]
    data = export("npz", TRACES["walkthrough"], start)
    with np.load(io.BytesIO(data)) as file:
        told = json.loads(str(file["about"]))["scenario"]
        tables = {name: file[name] for name in start.params.tables()}
    assert "params" not in told
    assert told["text"] == start.text
    for name, table in tables.items():
        np.testing.assert_array_equal(table, start.params.tables()[name])
    (layer,) = imports.recognise(imports.read("a.npz", data).arrays)
    np.testing.assert_array_equal(layer.params(2).w_q, start.params.w_q)


def place(key: str, trace: Trace, index: tuple[int, ...]) -> tuple[str, int, int]:
    row, column = sheet._place(trace, key, index)
    return trace.info(key).title, row + 1, column + 1


def assert_computes(trace: Trace) -> Book:
    """Every cell, computed from the formulas alone, is that of the trace, and stored as such."""
    book = Book(export("xlsx", trace))
    for key, array in trace.values.arrays.items():
        for index in np.ndindex(*array.shape):
            at, value = place(key, trace, index), float(array[index])
            got = book.cell(*at)
            stored = book.stored[at[0]].cell(*at[1:]).value
            if value == -np.inf:
                assert got == stored == "−∞", at
            else:
                assert got == pytest.approx(value, rel=1e-11, abs=1e-13), at
                assert stored == pytest.approx(value, rel=1e-15, abs=0), at
    return book


@SMALL
def test_a_spreadsheet_computes_every_cell_again(name: str) -> None:
    trace = TRACES[name]
    book = assert_computes(trace)
    computed = [trace[s.key].size for s in trace.stages if not isinstance(s.op, Given)]
    assert book.formulas == sum(computed)


@pytest.mark.parametrize("name", CHOICES)
def test_a_spreadsheet_computes_every_choice(name: str) -> None:
    assert_computes(CHOICES[name])


def test_a_change_in_a_spreadsheet_changes_what_follows() -> None:
    start = TRACES["nothing"]
    book = Book(export("xlsx", start))
    book.book["Embeddings"]["B5"].value = 9.5
    book.book["Mask"]["B6"].value = True  # league may attend to major now
    new_x, mask = np.array(start["x"]), np.ones((3, 3), bool)
    new_x[0, 0] = 9.5
    mask[1, 1:] = False
    wanted = multi_head_attention(new_x, VARIANTS["nothing"].params, mask=mask)
    got = [book.cell(*place("attention", start, (1, 0, j))) for j in range(3)]
    assert got == pytest.approx(wanted["attention"][1, 0].tolist(), rel=1e-12)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_change_in_a_spreadsheet_keeps_other_keys_of_the_top_k(k: int, hidden: bool) -> None:
    rng, config = np.random.RandomState(k), Config(normaliser="top_k", top_k=k)
    x, params = rng.standard_normal((5, 4)), random_params(1)
    mask = np.ones((5, 5), np.bool_)
    mask[0, 1:] = mask[1, :] = mask[2, 0] = not hidden
    book = Book(export("xlsx", multi_head_attention(x, params, config, mask=mask)))
    for _ in range(4):
        book.known.clear()
        x = rng.standard_normal((5, 4))
        for row, column in np.ndindex(*x.shape):
            book.book["Embeddings"].cell(5 + row, 2 + column).value = x[row, column]
        wanted = multi_head_attention(x, params, config, mask=mask)
        for key in ("attention", wanted.result):
            got = [book.cell(*place(key, wanted, i)) for i in np.ndindex(*wanted[key].shape)]
            assert got == pytest.approx(wanted[key].ravel().tolist(), rel=1e-11, abs=1e-13)


def test_large_stages_of_a_spreadsheet_hold_values_and_those_after_them_formulas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sheet, "MAX_TERMS", 3_000)
    trace = TRACES["attention head"]
    assert sheet.live_stages(trace) == ("scores", "scaled", "attention", "concat")
    book = assert_computes(trace)
    assert book.formulas == sum(trace[key].size for key in sheet.live_stages(trace))
    says = book.book["About"]["A2"].value
    assert says.startswith("There are too many cells for formulas in Queries, Keys, Values, Head")


def test_a_spreadsheet_of_four_heads_computes() -> None:
    trace = TRACES["four heads"]
    assert sheet.live_stages(trace) == tuple(s.key for s in trace.stages if s.key != "x")


def test_b04_tokens_in_a_spreadsheet_are_texts() -> None:
    trace = TRACES["full"]
    page = Book(export("xlsx", trace)).book["Embeddings"]
    cells = [page.cell(5 + i, 1) for i in range(len(trace.tokens))]
    assert {cell.data_type for cell in cells} == {"s"}
    assert [cell.value for cell in cells] == [visible(token) for token in trace.tokens]
    assert "=1+1" in [cell.value for cell in cells]


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("abc\u202edef\u202c", "abc\u202edef\u202c"),
        ("a\u200bb", "a\u200bb"),
        (" a ", " a "),
        ("العربية", "العربية"),
        ("\u202e", visible("\u202e")),
        ("  ", visible("  ")),
        ("a\x00b", visible("a\x00b")),
        ("a\ud800", visible("a\ud800")),
        ("a\nb", visible("a\nb")),
    ],
)
def test_tokens_in_a_spreadsheet_are_letter_for_letter_where_that_shows(
    token: str, shown: str
) -> None:
    x = random_arrays(1, x=(2, 4))["x"]
    trace = multi_head_attention(x, random_params(1), tokens=[token, "b"])
    book = Book(export("xlsx", trace)).book
    for key, at in (("x", "A5"), ("attention", "B4")):
        assert book[trace.info(key).title][at].value == shown


def test_long_sums_in_a_spreadsheet_are_ranges() -> None:
    x = random_arrays(3, x=(4, 40))["x"]
    assert_computes(multi_head_attention(x, random_params(1, d_model=40, d_k=30, biases="q")))


def test_a_spreadsheet_of_many_cells_says_that_it_holds_values_there() -> None:
    x = random_arrays(3, x=(80, 4))["x"]
    trace = multi_head_attention(x, random_params(1))
    book = Book(export("xlsx", trace))
    assert book.book["About"]["A2"].value.startswith("There are too many cells for formulas")
    at = place("attention", trace, (1, 79, 79))
    assert book.cell(*at) == pytest.approx(trace["attention"][1, 79, 79], rel=1e-15)
    assert book.formulas == 0


@EVERY
def test_latex_has_every_number(name: str) -> None:
    trace = TRACES[name]
    text = export("latex", trace).decode()
    assert text.count(r"\begin{array}") == text.count(r"\end{array}")
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    for key, array in trace.values.arrays.items():
        body = re.findall(r"\{r+\}\n(.*?)\n\\end", stage_latex(trace, key), re.DOTALL)
        numbers = [
            float(item.strip().replace(r"\infty", "inf").replace(r" \cdot 10^{", "e").strip("}"))
            for matrix in body
            for row in matrix.split(r"\\")
            for item in row.split("&")
        ]
        assert numbers == array.astype(float).ravel().tolist(), key


RUN = """
import runpy, sys, numpy as np
for script, target in zip(sys.argv[1::2], sys.argv[2::2]):
    names = runpy.run_path(script)
    np.savez(target, **{k: np.asarray(names[k]) for k in names["keys"]})
"""


def results(scripts: dict[str, bytes], keys: dict[str, list[str]], folder: Path) -> dict[str, Any]:
    """Scripts run in a process that knows no attnviz -> their arrays."""
    arguments = []
    for i, (name, text) in enumerate(scripts.items()):
        path = folder / f"{i}.py"
        path.write_bytes(text + f"\nkeys = {keys[name]}\n".encode())
        arguments += [str(path), str(folder / f"{i}.npz")]
    subprocess.run(
        [sys.executable, "-I", "-c", RUN, *arguments], cwd=folder, check=True, capture_output=True
    )
    return {name: dict(np.load(folder / f"{i}.npz")) for i, name in enumerate(scripts)}


ALL = {**TRACES, **CHOICES}
KEYS = {name: [stage.key for stage in trace.stages] for name, trace in ALL.items()}


def assert_same(trace: Trace, arrays: Any) -> None:
    for stage in trace.stages:
        np.testing.assert_allclose(
            arrays[stage.key], trace[stage.key], rtol=1e-9, atol=1e-12, err_msg=stage.key
        )


def test_numpy_scripts_compute_every_stage_from_the_tables_alone(tmp_path: Path) -> None:
    scripts = {name: export("numpy", trace) for name, trace in ALL.items()}
    assert not any(b"import attnviz" in text for text in scripts.values())
    found = results(scripts, KEYS, tmp_path)
    for name, trace in ALL.items():
        assert_same(trace, found[name])


def test_what_has_no_lines_of_its_own_is_written_cell_by_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "CODE", {})
    few: dict[str, Trace] = {}  # together they have every operation and every normaliser
    met: set[Any] = set()
    for name, trace in ALL.items():
        kinds = {type(s.op) for s in trace.stages} | {trace.values.config.normaliser}
        if len(trace.tokens) < 9 and kinds - met:
            few[name], met = trace, met | kinds
    assert met >= NORMALISERS.keys()
    scripts = {name: export("numpy", trace) for name, trace in few.items()}
    found = results(scripts, KEYS, tmp_path)
    for name, trace in few.items():
        assert_same(trace, found[name])


def test_every_operation_and_normaliser_has_lines_of_its_own() -> None:
    assert {type(s.op) for t in ALL.values() for s in t.stages} - {Given} <= code.CODE.keys()
    assert code.NORMALISE.keys() == NORMALISERS.keys()


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> bool:
    """PyTorch, or where it is missing NumPy under its names."""
    try:
        import torch  # noqa: F401
    except ImportError:
        stand_in: Any = types.ModuleType("torch")
        stand_in.__dict__.update(vars(np))
        stand_in.tensor, stand_in.set_default_dtype = np.array, lambda kind: None
        stand_in.sort = lambda s, dim: types.SimpleNamespace(values=np.sort(s, axis=dim))
        monkeypatch.setitem(sys.modules, "torch", stand_in)
        return False
    return True


@pytest.mark.parametrize("name", ALL)
def test_pytorch_scripts_compute_every_stage(
    name: str, torch: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {}
    text = export("torch", ALL[name]).decode()
    exec(compile(text, "script.py", "exec"), names)
    assert_same(ALL[name], {key: np.asarray(names[key]) for key in KEYS[name]})
    if torch:
        assert type(names[ALL[name].result]).__module__ == "torch"


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_b26_tokens_in_scripts_are_texts_and_nothing_else(name: str) -> None:
    tree = ast.parse(export(name, TRACES["full"]).decode())
    found = {n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign)}  # type: ignore
    assert ast.literal_eval(found["tokens"]) == list(TRACES["full"].tokens)
    assert ast.literal_eval(found["key_tokens"]) == list(TRACES["full"].key_tokens)


def test_a_script_of_too_many_numbers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "MAX_NUMBERS", 10)
    for name in ("numpy", "torch", "notebook"):
        with pytest.raises(AttnvizError, match=r"too many numbers.*\.npz"):
            export(name, TRACES["walkthrough"])


@pytest.mark.parametrize("name", ["json", "xlsx", "latex"])
def test_more_numbers_than_a_format_takes_are_refused(name: str) -> None:
    x = random_arrays(1, x=(512, 4))["x"]
    trace = multi_head_attention(x, random_params(1, heads=4))
    with pytest.raises(AttnvizError, match=r"too many numbers for this format.*\.npz"):
        export(name, trace)


def test_a_stage_wider_than_a_sheet_is_refused() -> None:
    x = random_arrays(1, x=(1, 1))["x"]
    params = random_params(1, heads=17, d_model=1, d_k=1, d_v=1000, d_out=None)
    with pytest.raises(AttnvizError, match="not enough columns"):
        export("xlsx", multi_head_attention(x, params))


@EVERY
def test_a_notebook_is_valid_and_its_cells_compute_the_result(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = TRACES[name]
    book = nbformat.reads(export("notebook", trace).decode(), as_version=4)
    nbformat.validate(book)
    names: dict[str, Any] = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    assert_same(trace, names)
    written = "".join(c.source for c in book.cells if c.cell_type == "markdown")
    assert all(stage.what in written for stage in trace.stages if not isinstance(stage.op, Given))
    assert export("notebook", trace) == export("notebook", trace)


class Page(HTMLParser):
    """Tables, tags and addresses of an HTML page."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.cells: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.into: Any = None
        self.feed(data.decode())

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.addresses += [v for k, v in attrs if k in ("src", "href", "action", "srcset")]
        if tag == "td":
            self.cells.append({**named, "text": ""})
            self.into = "cell"
        if tag == "th":
            self.names.append("")
            self.into = "name"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.into = None

    def handle_data(self, data: str) -> None:
        if self.into == "cell":
            self.cells[-1]["text"] += data
        if self.into == "name":
            self.names[-1] += data


@SMALL
def test_b26_a_handout_explains_every_cell_and_asks_for_nothing(name: str) -> None:
    trace = TRACES[name]
    data = export("handout", trace)
    page = Page(data)
    assert page.addresses == []
    assert not re.search(rb"https?:|@import|url\(", data)
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert b"default-src 'none'" in data
    arrays = trace.values.arrays
    assert len(page.cells) == sum(array.size for array in arrays.values())
    assert set(page.names) == {""}.union(*(n for key in arrays for n in trace.labels(key)[-2:]))
    explained = [cell for cell in page.cells if cell.get("data-e")]
    booleans = sum(array.size for array in arrays.values() if array.dtype.kind == "b")
    assert len(explained) == len(page.cells) - booleans
    derivation = trace.explain("output" if "output" in trace else "concat", None, 1, 1)
    words = next(c["data-e"] for c in explained if c["data-t"] == derivation.title)
    assert words.startswith(derivation.text(None))
    assert sum("gradient" in c.get("style", "") for c in page.cells) == sum(
        int(np.isneginf(array).sum()) for array in arrays.values()
    )


@EVERY
def test_a_trace_shows_itself_in_a_notebook(name: str) -> None:
    trace = TRACES[name]
    page = Page(trace._repr_html_().encode())
    shown = [k for k in ("attention", trace.result) if trace[k].size <= MAX_SHOWN]
    assert len(page.cells) == sum(trace[key].size for key in shown)
    assert not {"script", "s", "i"} & set(page.tags)
    for key in shown:
        assert {*trace.labels(key)[-1], *trace.labels(key)[-2]} <= set(page.names)


def test_b04_markup_in_tokens_stays_text_in_a_handout() -> None:
    page = Page(export("handout", TRACES["full"]))
    assert not {"b", "s"} & set(page.tags)
    for token in ("<script>alert(1)</script>", "<b>bold</b>", "&lt;", "a&b", "%{z}"):
        assert token in page.names


def test_a_large_handout_leaves_arithmetic_out_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handout, "MAX_COST", 8)
    data = export("handout", TRACES["walkthrough"])
    assert not any("data-e" in cell for cell in Page(data).cells)
    assert b"no arithmetic behind the cells of W_Q, " in data
    monkeypatch.setattr(handout, "MAX_CELLS", 30)
    data = export("handout", TRACES["walkthrough"])
    assert b"Too large for this page" in data
    assert len(Page(data).cells) == 3 * 3 * 2 + 3 * 4  # attention and the output


@pytest.mark.parametrize(
    ("name", "partly"), [("attention head", "W_K, W_V"), ("four heads", "Q, K, V")]
)
def test_a_handout_of_large_tables_explains_their_first_cells_as_far_as_there_is_room(
    name: str, partly: str
) -> None:
    trace, data = TRACES[name], export("handout", TRACES[name])
    told = re.search(
        r"<p>Arithmetic stands behind the first cells of (.*) only.</p>", data.decode()
    )
    assert told is not None
    counts = {s: int(n.replace(",", "")) for s, n in re.findall(r"(\w+) \(([\d,]+)\)", told[1])}
    assert ", ".join(counts) == partly
    explained = [c["data-t"] for c in Page(data).cells if "data-e" in c]
    drawn = [k for k, a in trace.values.arrays.items() if a.size <= handout.MAX_CELLS]
    for key in drawn:
        symbol, shape = trace.info(key).symbol, trace[key].shape
        first, count = (0,) * len(shape), counts.get(symbol, trace[key].size)
        assert count > 100 or count == trace[key].size
        last = np.unravel_index(count - 1, shape)
        for index in (first, last):
            head, row, col = (0, 0, *map(int, index))[-3:]
            title = trace.explain(key, head if len(shape) == 3 else None, row, col).title
            assert title in explained, (key, index)
    assert len(explained) == sum(
        counts.get(trace.info(k).symbol, trace[k].size) for k in drawn if k not in ("keep", "mask")
    )


@pytest.mark.parametrize(("name", "library"), [("xlsx", "xlsxwriter"), ("notebook", "nbformat")])
def test_a_missing_library_is_named(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(AttnvizError, match=rf"(?i){library} is not installed.*pip install"):
        export(name, TRACES["walkthrough"])


def test_an_unknown_format_or_stage_is_refused() -> None:
    with pytest.raises(AttnvizError, match="csv"):
        export("pickle", TRACES["walkthrough"])
    with pytest.raises(AttnvizError, match="attention"):
        export("csv", TRACES["walkthrough"], key="weights")


TOKEN = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=9)


@settings(max_examples=30)
@given(st.lists(TOKEN, min_size=1, max_size=3))
def test_b26_any_tokens_survive_text_formats(tokens: list[str]) -> None:
    x = random_arrays(1, x=(len(tokens), 4))["x"]
    trace = multi_head_attention(x, random_params(1), tokens=tokens)
    back = read_csv(export("csv", trace, key="attention"))
    assert back.tobytes() == trace["attention"].tobytes()
    assert json.loads(export("json", trace))["tokens"] == tokens
    namespace: dict[str, Any] = {}
    text = export("numpy", trace).decode().replace("print(", "str(")
    exec(text, namespace)
    assert namespace["tokens"] == tokens
    page = Page(export("handout", trace))
    assert page.tags.count("script") == 1
    assert [n for n in page.names if n in trace.labels("x")[0]]


def test_awkward_tokens_are_those_of_the_cases() -> None:
    assert set(AWKWARD.split()) >= {"<s>", "a&b", "&lt;", "%{z}", "1E1", "2024", "日本語", ","}
    assert TORCH.name == "torch"


def test_colours_are_symmetric_around_zero_and_fixed_for_attention() -> None:
    signed = colours(np.array([-2.0, 0.0, 2.0, -np.inf]), attention=False)
    assert signed.tolist() == [[33, 102, 172], [247, 247, 247], [178, 88, 6], [247, 247, 247]]
    assert colours(np.array([0.5]), attention=True).tolist() == [[128, 158, 198]]
    assert colours(np.array([1.0]), attention=True).tolist() == [[8, 69, 148]]
