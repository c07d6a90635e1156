"""A folder for states that are too large for an address; a short id gives them back.

Nobody else can read the folder, an id cannot be guessed, and old or too many files go: first
those whose address was never shown or opened, which an edit after another leaves behind.
"""

import os
import re
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path

from attnviz.core.errors import FormatError, LimitError
from attnviz.files.scenario_json import write_whole

MAX_BYTES = 64 * 2**20  # of one state
MAX_TOTAL = 512 * 2**20  # of all; the oldest go first
MAX_DAYS = 30  # since it was opened last
STAYS = (
    f"It stays for {MAX_DAYS} days after it was opened last, unless all that is kept takes more "
    f"than {MAX_TOTAL // 2**20} MB: then the oldest go."
)
WHERE = "address"
_SHARED = ".shared"  # how the name of a file ends whose address was shown or opened
_ID = re.compile(r"[0-9a-f]{32}")


def folder() -> Path:
    """Where they are kept: a folder of the user's own, made where it is missing.

    Raises:
        OSError: it cannot be made, or it is someone else's.
    """
    own = _cache() / "attnviz" / "states"
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix":
        found = own.lstat()
        if own.is_symlink() or found.st_uid != os.getuid():
            raise PermissionError("The folder for states belongs to someone else")
        own.chmod(0o700)
    return own


def put(data: bytes) -> str:
    """Keep a state -> its id.

    Raises:
        LimitError: it is too large.
        OSError: it cannot be written.
    """
    check_size(len(data))
    place, name = folder(), secrets.token_hex(16)
    write_whole(place / name, data)
    prune(new=name)
    return name


def check_size(size: int) -> None:
    """Refuse a state of so many bytes with LimitError, where `put` would."""
    if size > MAX_BYTES:
        raise LimitError(
            "the state is too large to be kept",
            where=WHERE,
            expected=f"at most {MAX_BYTES:,} B",
            got=f"{size:,} B",
            hint="Save it as a file.",
        )


def get(name: str) -> bytes:
    """What `put` kept under an id, which stays before others from now on.

    Raises:
        FormatError: that is no id, or nothing is kept under it any more.
    """
    if not _ID.fullmatch(name):
        raise FormatError("this is no id of a state", where=WHERE, got=name[:40])
    try:
        path = _share(name)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        os.utime(path)
    except OSError as error:
        raise FormatError(
            "the state is not kept here",
            where=WHERE,
            hint=f"{STAYS} It opens where it was made; a saved file stays.",
        ) from error
    return data


def share(name: str) -> None:
    """Let a state stay before others, as its address is shown; one that is gone stays gone."""
    with suppress(OSError):
        _share(name)


def _share(name: str) -> Path:
    path = folder() / f"{name}{_SHARED}"
    if not path.exists():
        path.with_suffix("").rename(path)
    return path


def prune(new: str = "") -> None:
    """Let go what has not been opened for long, and when there is too much as `STAYS` says.

    Args:
        new: the id of the one that was just made, which does not go first.
    """
    kept: list[tuple[bool, float, int, Path]] = []
    for path in folder().iterdir():
        try:
            found = path.stat()
        except OSError:  # another process was faster
            continue
        first = path.suffix != _SHARED and path.name != new
        kept.append((not first, found.st_mtime, found.st_size, path))
    total, oldest = sum(size for *_, size, _ in kept), time.time() - MAX_DAYS * 86_400
    for _, changed, size, path in sorted(kept):
        if changed >= oldest and total <= MAX_TOTAL:
            continue
        path.unlink(missing_ok=True)
        total -= size


def _cache() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
