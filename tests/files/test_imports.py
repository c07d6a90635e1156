"""Files in: every format, its limits, and refusals in one sentence."""

import codecs
import io
import json
import pickle
import re
import struct
import tracemalloc
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from safetensors.numpy import save as save_safetensors

from attnviz import PRESETS, AttnvizError, run
from attnviz.core import FormatError
from attnviz.files import scenario_json, to_json
from attnviz.files.exports import export
from attnviz.files.imports import FORMATS_IN, ONE_LAYER, limits, read, readers, recognise
from attnviz.parsing.block import MAX_PASTE
from tests.files.layers import LAYERS
from tests.files.support import npy, npz, variants

VARIANTS = variants()
FINITE = st.floats(allow_nan=False, allow_infinity=False)


TABLE = np.array([[0.1, -2.0, 1 / 3], [4e-300, 5.0, -0.0]])
WRITTEN = {
    "a.csv": b"0.1,-2,0.3333333333333333\n4e-300,5,-0.0\n",
    "a.tsv": b"\xef\xbb\xbfw\td0\td1\td2\nthe\t0.1\t-2\t0.3333333333333333\ncat\t4e-300\t5\t-0\n",
    "a.json": json.dumps(TABLE.tolist()).encode(),
    "b.JSON": json.dumps({"deep": {"er": TABLE.tolist()}, "name": "x"}).encode(),
    "a.npy": npy(TABLE),
    "b.npy": npy(np.asfortranarray(TABLE)),
    "c.npy": npy(TABLE.astype(">f8")),
    "a.npz": npz(first=TABLE),
    "a.safetensors": save_safetensors({"first": TABLE}),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_table_is_read_with_every_digit(name: str) -> None:
    found = read(f"C:\\mine\\{name}", WRITTEN[name])
    assert len(found.arrays) == 1
    (array,) = found.arrays.values()
    assert array.tolist() == TABLE.tolist()


def test_every_format_is_tried() -> None:
    suffixes = {f".{name.split('.')[1].lower()}" for name in WRITTEN}
    assert all(suffixes & set(entry.suffixes) for entry in FORMATS_IN.values())


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("# made by hand\n0,1\n1,0", [[0, 1], [1, 0]]),
        ("100,200,300\n400,500,600", [[100, 200, 300], [400, 500, 600]]),
    ],
)
def test_commas_of_a_csv_file_stand_between_numbers_and_that_is_said(
    text: str, table: list[list[float]]
) -> None:
    found = read("a.CSV", text.encode())
    assert found.arrays["table"].tolist() == table
    assert "none as a decimal comma" in " ".join(found.notes)
    with pytest.raises(FormatError, match=r"^a\.txt: the commas in .* decimal commas"):
        read("a.txt", text.removeprefix("# made by hand\n").encode())


def test_a_csv_file_with_semicolons_has_decimal_commas() -> None:
    found = read("a.csv", b"1,5;2\n3,25;4")
    assert found.arrays["table"].tolist() == [[1.5, 2], [3.25, 4]]
    assert "decimal comma, as 1.5" in found.notes[0]


FRAMES = [
    pd.DataFrame([[0.1, -2.0], [1 / 3, 4e-300]]),
    pd.DataFrame([[1.5, 2.0, 3.0]]),
    pd.DataFrame([[1.0], [2.0], [0.0]]),
    pd.DataFrame([[1, 2], [3, 4]], index=["the", "cat, big"]),
    pd.DataFrame([[0, 1], [1, 0]], columns=["d0", "d1"]),
    pd.DataFrame([[1.5, 2.5], [3.5, 4.5]], index=["a", "b"], columns=["d0", "d1"]),
]


@pytest.mark.parametrize("frame", FRAMES, ids=range(len(FRAMES)))
@pytest.mark.parametrize("sep", [",", "\t", ";"])
def test_what_pandas_writes_is_read_without_its_names(frame: pd.DataFrame, sep: str) -> None:
    name = "a.tsv" if sep == "\t" else "a.csv"
    found = read(name, frame.to_csv(sep=sep).encode())
    assert found.arrays["table"].tolist() == frame.to_numpy(float).tolist()
    assert [note.split(" was taken as ")[1] for note in found.notes[:2]] == [
        "column names",
        "row names",
    ]


@given(
    npst.arrays(np.float64, npst.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=FINITE)
)
def test_any_numbers_that_pandas_writes_are_read(table: np.ndarray) -> None:
    found = read("a.csv", pd.DataFrame(table).to_csv().encode())
    assert found.arrays["table"].tolist() == table.tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,1,2\n5,6.5,7\n", True),
        ("0\t1\n1\t0\n", True),
        ("0,1,2\n", False),
        ("0\n1\n", False),
        ("1,0.5\n0,1\n", False),
        ("0,1,3\n5,6.5,7\n", False),
    ],
)
def test_a_first_line_that_may_be_names_is_read_as_numbers_and_that_is_said(
    text: str, said: bool
) -> None:
    found = read("a.csv", text.encode())
    assert len(found.arrays["table"]) == text.count("\n")
    assert ("delete it in the file" in " ".join(found.notes)) == said


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16"]


@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-16-be"])
@pytest.mark.parametrize("text", ["café\t1,5\t-2\nthe\t3\t4\n", "café,1.5,-2\r\nthe,3,4\r\n"])
def test_a_text_is_read_in_the_encodings_of_spreadsheets(encoding: str, text: str) -> None:
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    found = read("a.txt", mark + text.encode(encoding))
    assert found.arrays["table"].tolist() == [[1.5, -2], [3, 4]]
    assert found.notes[0] == "the first column was taken as row names"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_attnviz_wrote_is_read_in_the_encodings_of_spreadsheets(encoding: str) -> None:
    scenario = replace(PRESETS["walkthrough"], text="café \ud800 日本語")
    trace = run(scenario)
    text = export("csv", trace, key="attention").decode("utf-8-sig", "surrogatepass")
    found = read("a.csv", text.encode(encoding, "surrogatepass"))
    assert found.arrays["table"].tobytes() == trace["attention"].tobytes()


@given(st.sampled_from(ENCODINGS), st.text(), st.sampled_from([".csv", ".txt"]))
def test_any_text_is_read_or_refused_whatever_its_encoding(
    encoding: str, text: str, suffix: str
) -> None:
    with suppress(AttnvizError):
        read(f"a{suffix}", text.encode(encoding))


def test_names_within_names_are_joined() -> None:
    found = read("b.json", WRITTEN["b.JSON"])
    assert list(found.arrays) == ["deep.er"]
    assert found.notes == ("passed over, no tables: name",)


@pytest.mark.parametrize(
    "other",
    [["the", "cat"], [["the"], ["cat", "sat"]], [{"id": 1}], [None], [], [[]], "the", 3, None, {}],
    ids=str,
)
def test_what_is_no_table_is_passed_over_and_that_is_said(other: Any) -> None:
    table = TABLE.tolist()
    found = read("a.json", json.dumps({"w_q": table, "tokens": other, "w_k": table}).encode())
    assert {name: array.tolist() for name, array in found.arrays.items()} == {
        "w_q": table,
        "w_k": table,
    }
    assert found.notes == (("passed over, no tables: tokens",) if other != {} else ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["-inf", "the"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(plain: Any) -> None:
    with suppress(AttnvizError):
        found = read("a.json", json.dumps(plain).encode())
        assert all(array.dtype in (np.float64, np.bool_) for array in found.arrays.values())


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_exported_is_read_again(name: str) -> None:
    trace = run(VARIANTS[name])
    for suffix in ("npz", "json"):
        found = read(f"a.{suffix}", export(suffix, trace, VARIANTS[name])).arrays
        assert found.keys() == trace.values.arrays.keys()
        for key, array in trace.values.arrays.items():
            assert found[key].tobytes() == array.tobytes(), key
    for key, array in trace.values.arrays.items():
        back = read("a.csv", export("csv", trace, key=key)).arrays["table"]
        assert back.tobytes() == array.astype(float).tobytes(), key
    tables = read("a.json", to_json(VARIANTS[name])).arrays
    assert tables["w_q"].tobytes() == VARIANTS[name].params.w_q.tobytes()


@pytest.mark.parametrize("name", VARIANTS)
def test_exported_tables_are_recognised_as_what_they_were(name: str) -> None:
    params = VARIANTS[name].params
    if VARIANTS[name].config.start == "qkv":
        return
    for suffix in ("npz", "json"):
        (found,) = recognise(read(f"a.{suffix}", export(suffix, run(VARIANTS[name]))).arrays)
        assert found.n_heads == params.sizes.n_heads
        off = set(VARIANTS[name].config.off)
        wanted = {k: t.tobytes() for k, t in params.tables().items() if k not in off}
        assert {k: t.tobytes() for k, t in found.params().tables().items()} == wanted


class Evil:
    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('a pickle was run')",))


def zipped(**members: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name.replace("__", "."), member)
    return data.getvalue()


def header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    data = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        data, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return data.getvalue()


def bomb() -> bytes:
    """An archive of some 700 kB that unpacks to more than the limit."""
    data = io.BytesIO()
    zeros = bytes(2**20)
    with (
        zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w") as member,
    ):
        for _ in range(601):
            member.write(zeros)
    return data.getvalue()


def lying(method: int = zipfile.ZIP_DEFLATED, numbers: int = 4_000_000) -> bytes:
    """An archive that unpacks to more than its directory declares."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        archive.writestr("a.npy", header((numbers,)) + bytes(8 * numbers))
    size, small = struct.pack("<I", 128 + 8 * numbers), struct.pack("<I", 128 + 8)
    return data.getvalue().replace(size, small)


def tensors(head: Any, body: bytes = b"") -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + body


ONE = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
EVIL = pickle.dumps(Evil())
OBJECTS = npy(np.array([Evil()], object), allow_pickle=True)
REFUSALS = {
    "pt": ("a.pt", EVIL, "safetensors.torch.save_file"),
    "pth": ("a.PTH", b"", "safetensors.torch.save_file"),
    "pickle as npy": ("a.npy", EVIL, "never reads pickles"),
    "torch zip as npz": ("a.npz", zipped(model_data__pkl=EVIL), "file of PyTorch"),
    "objects": ("a.npy", OBJECTS, "Python objects"),
    "objects in npz": ("a.npz", zipped(a__npy=OBJECTS), "a.npz, a"),
    "keras": ("a.keras", b"", "numpy.savez"),
    "gguf": ("a.gguf", b"", "safetensors"),
    "unknown": ("a.exe", b"", ".safetensors"),
    "no suffix": ("a", b"", ".csv"),
    "empty csv": ("a.csv", b"", "no table"),
    "ragged": ("a.tsv", b"1\t2\n3\t4\n5\t\n", "a.tsv"),
    "nan": ("a.csv", b"1,nan\n2,3\n", "finite"),
    "binary csv": ("a.csv", b"\xff\xfe\x00", "a.csv: this is no UTF-16 text"),
    "latin 1": (
        "a.csv",
        "d0,d1\n1,2\ncaf\xe9,3\n".encode("latin-1"),
        "a.csv, line 3: this is no UTF-8 text (got the byte E9). Save it as UTF-8",
    ),
    "latin 1 table": ("a.txt", b"\xe9\t1\n", "a.txt, line 1: this is no UTF-8 text"),
    "utf-16 of a word": ("a.csv", "café".encode("utf-16"), "“café” is not a number"),
    "our csv cut": ("a.csv", b'"token","d0","d1"\n"a",1.0\n', "record 2"),
    "our csv word": ("a.csv", b'"token","d0"\n"a",b\n', "record 2"),
    "json ragged": ("a.json", b'{"a": [[1, 2], [3]]}', "a.json, a"),
    "json nan": ("a.json", b'{"a": [NaN]}', "finite"),
    "json huge": ("a.json", b'{"a": [1e999]}', "a.json, a"),
    "json mixed": ("a.json", b'{"a": [1, true]}', "a.json, a"),
    "json text": ("a.json", b'{"a": ["b"]}', "no table of numbers"),
    "json word among numbers": ("a.json", b'{"a": [[1, 2], [3, "b"]]}', "a.json, a"),
    "json word row": ("a.json", b'{"a": [[1, 2], ["a", "b"]]}', "a.json, a"),
    "json empty cell": ("a.json", b'{"a": [[1, null]]}', "a.json, a"),
    "json number beside rows": ("a.json", b'{"a": [3, ["b"]]}', "a.json, a"),
    "json twice": ("a.json", b'{"a": [1], "a": [2]}', "twice"),
    "json joined twice": ("a.json", b'{"a.b": [1], "a": {"b": [2]}}', "twice"),
    "json deep": ("a.json", b"[" * 100_000, "deep"),
    "json deep names": ("a.json", b'{"a":' * 500 + b"1" + b"}" * 500, "deep"),
    "json nothing": ("a.json", b'{"a": 1}', "no table"),
    "npy cut": ("a.npy", WRITTEN["a.npy"][:-1], "48 B"),
    "npy header": ("a.npy", WRITTEN["a.npy"][:40], "damaged"),
    "npy long": ("a.npy", WRITTEN["a.npy"] + b"0", "48 B"),
    "npy huge": ("a.npy", header((10**9, 10**9)), "its header says"),
    "npy negative": ("a.npy", header((-1, -6)) + bytes(48), "its header says"),
    "npy names": ("a.npy", npy(np.zeros(2, [("a", "f8")])), "real numbers"),
    "npy complex": ("a.npy", npy(np.zeros(2, complex)), "real numbers"),
    "npy dates": ("a.npy", npy(np.zeros(2, "M8[s]")), "real numbers"),
    "npz bomb": ("a.npz", bomb(), "unpacks to too much (expected at most 600 MB, got 601 MB)"),
    "npz lying": ("a.npz", lying(), "a.npz, a: it unpacks to something else"),
    "npz lying bz2": ("a.npz", lying(zipfile.ZIP_BZIP2), "stored or deflated, got bzip2"),
    "npz lying lzma": ("a.npz", lying(zipfile.ZIP_LZMA), "stored or deflated, got lzma"),
    "npz cut": ("a.npz", WRITTEN["a.npz"][:-20], "damaged"),
    "npz other": ("a.npz", zipped(readme__txt=b"hello"), "more than arrays"),
    "npz many": ("a.npz", b"PK\x01\x02" * 20_000, "too many"),
    "npz empty": ("a.npz", zipped(), "no table"),
    "safetensors cut": ("a.safetensors", WRITTEN["a.safetensors"][:-1], "damaged"),
    "safetensors nothing": ("a.safetensors", b"", "expected 10 B or more, got 0 B"),
    "safetensors short": ("a.safetensors", b"hello", "expected 10 B or more, got 5 B"),
    "safetensors length": ("a.safetensors", struct.pack("<Q", 2), "10 B or more, got 8 B"),
    "safetensors cut header": ("a.safetensors", tensors(ONE)[:20], "before its header does"),
    "safetensors json": ("a.safetensors", tensors(b"{ "), "header, line 1, column 3: this is no"),
    "safetensors list": ("a.safetensors", tensors(b"[]"), "its header holds no names"),
    "safetensors twice": (
        "a.safetensors",
        tensors(b"{%b,%b}" % ((json.dumps(ONE)[1:-1].encode(),) * 2), bytes(4)),
        "header: the name “a” occurs twice",
    ),
    "safetensors header": ("a.safetensors", struct.pack("<Q", 2**62) + b"{}", "header is too long"),
    "safetensors huge": (
        "a.safetensors",
        tensors({"a": {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4 * 10**12]}}),
        "damaged",
    ),
    "safetensors shape": (
        "a.safetensors",
        tensors({"a": ONE["a"] | {"shape": [3]}}, bytes(4)),
        "damaged",
    ),
    "safetensors deep": ("a.safetensors", tensors(b"[" * 100_000), "nested too deeply"),
    "safetensors f8": (
        "a.safetensors",
        tensors({"a": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}, b"0"),
        "float32 first",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.filterwarnings("default")
def test_a_file_is_refused_in_one_sentence_without_running_it(case: str) -> None:
    name, data, says = REFUSALS[case]
    with pytest.raises(AttnvizError, match=re.escape(says)) as error:
        read(name, data)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


BOMBS = ["npz bomb", "npy huge", "safetensors huge", "npz many"]
BOMBS += ["npz lying", "npz lying bz2", "npz lying lzma"]


@pytest.mark.parametrize("case", BOMBS)
def test_a_bomb_is_refused_before_the_memory_fills(case: str) -> None:
    name, data, _ = REFUSALS[case]
    tracemalloc.start()
    with pytest.raises(AttnvizError):
        read(name, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(data) + 1_000_000


def test_a_large_archive_is_unpacked_piece_by_piece_to_the_same_numbers() -> None:
    table = np.arange(500_000.0)
    for write in (np.savez, np.savez_compressed):
        data = io.BytesIO()
        write(data, table=table, other=table[:0])
        found = read("a.npz", data.getvalue()).arrays
        assert found["table"].tobytes() == table.tobytes()
        assert found["other"].shape == (0,)


def test_a_file_above_the_limit_is_refused_with_how_to_take_out_a_layer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_BYTES", 3 * 2**20)
    with pytest.raises(AttnvizError, match=r"at most 3 MB, got 4 MB\)\. Take .*safe_open"):
        read("a.safetensors", bytes(4 * 2**20))
    halves = {"a": {"dtype": "BF16", "shape": [2**20], "data_offsets": [0, 2**21]}}
    monkeypatch.setattr(readers, "MAX_BYTES", 3 * 2**20)
    with pytest.raises(AttnvizError, match=r"bfloat16 has become float32.*got 4 MB\)\. Take"):
        read("a.safetensors", tensors(halves, bytes(2**21)))


@pytest.mark.parametrize("together", [False, True])
def test_the_lines_that_take_out_a_layer_do_so(
    together: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.safetensors").write_bytes(save_safetensors({**LAYERS, "layer.3.b": TABLE}))
    lines = "; ".join(ONE_LAYER) if together else "\n".join(ONE_LAYER)
    exec(lines.replace('".3."', '".10."'), {})
    found = read("layer.safetensors", Path("layer.safetensors").read_bytes()).arrays
    assert found.keys() == {name for name in LAYERS if ".10." in name}


OURS = b'"head","query","a"\n' + b'"1","a",1.0\n' * 20_000


@pytest.mark.parametrize("suffix", FORMATS_IN["csv"].suffixes)
@pytest.mark.parametrize(
    ("limit", "text", "says"),
    [
        ("MAX_TEXT", OURS, "too long .expected at most 1,000 B, got 240,019 B"),
        ("MAX_LINES", OURS, "too many lines in the text .expected at most 1,000, got 20,001"),
        ("MAX_VALUES", OURS, "too many items in the text .expected at most 1,000, got 60,003"),
        ("MAX_VALUES", b"1," * 20_000, "too many items in the text"),
    ],
)
def test_a_text_above_the_limit_is_refused_before_it_is_parsed(
    suffix: str, limit: str, text: bytes, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, limit, 1000)
    tracemalloc.start()
    with pytest.raises(AttnvizError, match=rf"^a{suffix}: .*{says}.*numpy.save"):
        read(f"a{suffix}", text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(text) + 20_000


@pytest.mark.parametrize(
    "item", ["1\t", "1;", "1 ", "\n", "\r", "\x0b", "\u2028", "[1]", "|", "1&"]
)
def test_whatever_separates_items_counts(item: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_VALUES", 1000)
    with pytest.raises(AttnvizError, match=r"items in the text .expected at most 1,000, got 2,000"):
        read("a.txt", (item * 2_000).encode())


@pytest.mark.parametrize("limit", ["MAX_BYTES", "MAX_VALUES"])
def test_a_json_above_the_limit_is_refused(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenario_json, limit, 1000)
    with pytest.raises(AttnvizError, match="at most 1,000"):
        read("a.json", b"[" + b"1," * 2_000 + b"1]")


def test_a_csv_of_every_digit_and_the_width_of_a_model_is_read() -> None:
    table = np.random.default_rng(0).normal(size=(150, 768))  # longer than what may be pasted
    text = "\n".join(",".join(map(repr, row)) for row in table.tolist())
    assert len(text) > MAX_PASTE
    assert read("a.csv", text.encode()).arrays["table"].tobytes() == table.tobytes()


def test_numbers_of_16_bits_are_read() -> None:
    values = np.array([1.5, -0.125, 3e4], np.float32)
    upper = (values.view(np.uint32) >> 16).astype("<u2").tobytes()
    head = {"a": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}
    (found,) = read("a.safetensors", tensors(head, upper)).arrays.values()
    assert found == pytest.approx(values, rel=2**-7)
    (half,) = read("a.safetensors", save_safetensors({"a": values.astype("f2")})).arrays.values()
    assert half.tolist() == values.tolist()


def test_safetensors_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(AttnvizError, match="pip install safetensors"):
        read("a.safetensors", WRITTEN["a.safetensors"])


@pytest.mark.filterwarnings("default")
@given(st.sampled_from(sorted(WRITTEN)), st.data())
def test_a_damaged_file_is_read_or_refused(name: str, data: Any) -> None:
    good = WRITTEN[name]
    at = data.draw(st.integers(0, len(good)))
    new = data.draw(st.binary(max_size=4))
    cut = data.draw(st.integers(0, len(good)))
    for bad in (good[:cut], good[:at] + new + good[at + len(new) :], new + good):
        with suppress(AttnvizError):
            read(name, bad)


@pytest.mark.filterwarnings("default")
@given(st.sampled_from([s for e in FORMATS_IN.values() for s in e.suffixes]), st.binary())
def test_any_bytes_are_read_or_refused(suffix: str, data: bytes) -> None:
    with suppress(AttnvizError):
        read(f"a{suffix}", data)
