"""Bytes of a file to named arrays. Nothing in a file is ever run, pickles are never read."""

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from attnviz.core.errors import FormatError, LimitError
from attnviz.files.extras import extra
from attnviz.files.imports.limits import MAX_BYTES, PICKLE, Found, natural, too_large
from attnviz.files.scenario_json import parsed

MAX_ARRAYS = 10_000
MAX_HEADER = 10_000_000  # bytes of names and shapes in a safetensors file
MAX_NPY_HEADER = 100_000  # bytes; NumPy itself refuses more than a tenth of it
PIECE = 2**18  # bytes that are unpacked at once

_METHODS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}
_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "?"}
_KINDS |= {
    f"{kind}{bits}": f"<{kind.lower()}{bits // 8}" for kind in "IU" for bits in (8, 16, 32, 64)
}


def read_npy(data: bytes, where: str) -> Found:
    """One array of NumPy."""
    return Found({"table": _npy(data, where)})


def _npy(data: bytes | bytearray, where: str) -> NDArray[Any]:
    """The bytes of a .npy file -> its array; the header is held against the size before it."""
    stream = io.BytesIO(data[:MAX_NPY_HEADER])
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    version = npy.read_magic(stream)
    if version not in readers:
        raise FormatError("the version is unknown", where=where, got=str(version))
    shape, fortran, dtype = readers[version](stream)
    if dtype.hasobject:
        raise FormatError(
            "this array holds Python objects, which are a pickle",
            where=where,
            hint="Save numbers: numpy.save(path, numpy.asarray(array, float)).",
        )
    if dtype.kind not in "iufbU" or dtype.names or dtype.subdtype:
        raise FormatError("these are not real numbers", where=where, got=str(dtype))
    count, room = math.prod(shape), len(data) - stream.tell()
    if min(shape, default=0) < 0 or count * dtype.itemsize != room:
        raise FormatError(
            "its size is not what its header says",
            where=where,
            expected=f"{count * dtype.itemsize:,} B for shape {shape}"[:80],
            got=f"{room:,} B",
        )
    flat = np.frombuffer(data, dtype, count, stream.tell())
    return flat.reshape(shape, order="F" if fortran else "C")


def read_npz(data: bytes, where: str) -> Found:
    """An archive of NumPy; what it unpacks to is held against the limit before unpacking.

    A directory that declares less than there is does not help: nothing past that is unpacked.
    """
    if data.count(b"PK\x01\x02") > MAX_ARRAYS:
        raise LimitError("there are too many arrays", where=where, expected=f"{MAX_ARRAYS:,}")
    arrays: dict[str, NDArray[Any]] = {}
    notes = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        if total > MAX_BYTES:
            raise too_large("it unpacks to too much", where, total)
        for member in members:
            if not member.filename.endswith(".npy"):
                torch = member.filename.endswith(".pkl")
                raise FormatError(
                    "this is a file of PyTorch" if torch else "there is more than arrays in it",
                    where=where,
                    got=member.filename[:60],
                    hint=PICKLE if torch else "",
                )
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise FormatError(f"the name “{name[:60]}” occurs twice", where=where)
            at = f"{where}, {name[:60]}"
            array = _npy(_unpacked(archive, member, at), at)
            if array.dtype.kind == "U":
                notes.append(f"{name[:60]} holds text and was passed over")
            else:
                arrays[name] = array
    return Found(arrays, tuple(notes))


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> bytearray:
    """A member of an archive, piece by piece, and no more of it than its declared size.

    Raises:
        FormatError: packed in a way that cannot be unpacked piece by piece, or not what was
            declared.
    """
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(
            "it is packed in a way that is not read",
            where=where,
            expected="stored or deflated",
            got=_METHODS.get(member.compress_type, f"method {member.compress_type}"),
            hint="Write it with numpy.savez or numpy.savez_compressed.",
        )
    data = bytearray()
    try:
        with archive.open(member) as stream:
            while piece := stream.read(PIECE):
                data += piece
    except (zipfile.BadZipFile, zlib.error) as error:
        raise FormatError(
            "it unpacks to something else than its archive declares",
            where=where,
            expected=f"{member.file_size:,} B",
            hint="The file is damaged or was tampered with: make it again.",
        ) from error
    return data


def read_safetensors(data: bytes, where: str) -> Found:
    """A safetensors file, by the natural order of names, as the library gives them in any.

    Numbers of bfloat16 become float32, as NumPy lacks them.
    """
    library = extra("safetensors", where)
    header = _checked_header(data, where)
    halves = [t for t in header.values() if isinstance(t, dict) and t.get("dtype") == "BF16"]
    grown = len(data) + sum(_length(tensor) for tensor in halves)
    if grown > MAX_BYTES:
        raise too_large("it is too large once its bfloat16 has become float32", where, grown)
    arrays = {}
    for name, tensor in sorted(library.deserialize(data), key=lambda pair: natural(pair[0])):
        if tensor["dtype"] not in _KINDS:
            raise FormatError(
                "these numbers cannot be read",
                where=f"{where}, {name[:60]}",
                got=str(tensor["dtype"]),
                hint="Convert them to float32 first.",
            )
        flat = np.frombuffer(tensor["data"], _KINDS[tensor["dtype"]])
        if tensor["dtype"] == "BF16":  # the upper half of a float32
            flat = (flat.astype(np.uint32) << 16).view(np.float32)
        arrays[name] = flat.reshape(tensor["shape"])
    return Found(arrays)


def _length(tensor: Mapping[str, Any]) -> int:
    """The bytes of a tensor by its entry in a header, which may hold anything."""
    match tensor.get("data_offsets"):
        case [int(start), int(end)] if 0 <= start <= end:
            return end - start
    return 0  # the library refuses it


def _checked_header(data: bytes, where: str) -> dict[str, Any]:
    """The header as it is; refused is what the library would not refuse, or not in words.

    Raises:
        FormatError: too short, cut off, no JSON, or a name that occurs twice in the header.
        LimitError: more names than any model has.
    """
    length, room = int.from_bytes(data[:8], "little"), len(data) - 8
    if room >= 0 and length > MAX_HEADER:
        raise LimitError(
            "its header is too long",
            where=where,
            expected=f"at most {MAX_HEADER:,} B",
            got=f"{length:,} B",
            hint="It may be damaged or no safetensors file.",
        )
    if room < 2 or length > room:
        raise FormatError(
            "it ends before its header does",
            where=where,
            expected=f"{8 + (max(length, 2) if room >= 0 else 2):,} B or more",
            got=f"{len(data):,} B",
            hint="It may be cut off or no safetensors file.",
        )
    header = parsed(data[8 : 8 + length], f"{where}, header")
    if not isinstance(header, dict):
        raise FormatError("its header holds no names", where=where)
    return header
