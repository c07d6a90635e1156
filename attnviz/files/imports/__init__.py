"""Tables out of files: one table of formats, `FORMATS_IN`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from attnviz.core.errors import FormatError
from attnviz.files.imports.limits import (
    BFLOAT16,
    LIMITS,
    MAX_BYTES,
    MAX_MEGABYTES,
    ONE_LAYER,
    PICKLE,
    Found,
    guarded,
)
from attnviz.files.imports.readers import read_npy, read_npz, read_safetensors
from attnviz.files.imports.recognise import Candidate, recognise
from attnviz.files.imports.texts import read_json, read_text

__all__ = ["BFLOAT16", "FORMATS_IN", "LIMITS", "MAX_BYTES", "MAX_MEGABYTES", "ONE_LAYER", "REFUSED"]
__all__ += ["Candidate", "Found", "Import", "read", "recognise"]


@dataclass(frozen=True)
class Import:
    """One format.

    Args:
        label: its name in words.
        suffixes: how names of its files end.
        read: (bytes, what to call the file) -> what is in it.
        says: a line on what it may hold.
    """

    label: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes, str], Found]
    says: str


FORMATS_IN: Mapping[str, Import] = MappingProxyType(
    {
        "csv": Import(
            "CSV or TSV",
            (".csv", ".tsv", ".txt"),
            read_text,
            "One table, with or without names of rows and columns.",
        ),
        "json": Import(
            "JSON",
            (".json",),
            read_json,
            "Rows of numbers, tables by name, or a trace or scenario of attnviz.",
        ),
        "npy": Import("NumPy array", (".npy",), read_npy, "One array of numbers."),
        "npz": Import("NumPy archive", (".npz",), read_npz, "Arrays of numbers by name."),
        "safetensors": Import(
            "safetensors",
            (".safetensors",),
            read_safetensors,
            "The parameters of a model; known layers are recognised by their names.",
        ),
    }
)

_KERAS = "In Keras: numpy.savez('tables.npz', **{w.path: w.numpy() for w in model.weights})"
_GGUF = "Its tables may be quantised and reordered; take the model's safetensors file."
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"), PICKLE),
        **dict.fromkeys((".h5", ".hdf5", ".keras"), _KERAS),
        ".gguf": _GGUF,
        ".onnx": "Take the parameters of the model that it was exported from.",
    }
)


def read(filename: str, data: bytes) -> Found:
    """A file by the ending of its name -> arrays by name.

    Raises:
        FormatError: a format that is not read, or a damaged file; the sentence says what to do.
        LimitError: more than `MAX_BYTES`, also once unpacked.
    """
    name = filename.replace("\\", "/").rsplit("/", 1)[-1][:80]
    suffix = f".{name.rsplit('.', 1)[-1].lower()}" if "." in name else ""
    if suffix in REFUSED:
        raise FormatError("files of this kind are not read", where=name, hint=REFUSED[suffix])
    for entry in FORMATS_IN.values():
        if suffix in entry.suffixes:
            return guarded(data, name, entry.read)
    known = [s for entry in FORMATS_IN.values() for s in entry.suffixes]
    raise FormatError("files of this kind are not read", where=name, expected=", ".join(known))
