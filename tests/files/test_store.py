"""The folder for large states: ids, limits, and who can read it."""

import os
import stat
import time
from pathlib import Path

import pytest

from attnviz.core import AttnvizError, LimitError
from attnviz.files import store


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(store, "_cache", lambda: tmp_path)
    return tmp_path


def test_what_is_kept_comes_back() -> None:
    first, second = store.put(b"one"), store.put(b"two")
    assert first != second
    assert (store.get(first), store.get(second)) == (b"one", b"two")
    assert (store.get(first), store.get(second)) == (b"one", b"two")
    assert sorted(kept()) == sorted([first, second])


def kept() -> list[str]:
    return [path.stem for path in store.folder().iterdir()]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_nobody_else_can_read_it() -> None:
    name = store.put(b"one")
    store.folder().chmod(0o755)
    path = store.folder() / name
    assert stat.S_IMODE(store.folder().stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX")
def test_a_folder_that_leads_elsewhere_is_not_used(cache: Path) -> None:
    (cache / "elsewhere").mkdir()
    (cache / "attnviz").mkdir()
    (cache / "attnviz" / "states").symlink_to(cache / "elsewhere")
    with pytest.raises(OSError, match="someone else"):
        store.put(b"one")
    assert not list((cache / "elsewhere").iterdir())


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../secret", "a" * 31, "A" * 32, "g" * 32, "a" * 32 + "\n", "/" * 32]
)
def test_only_ids_are_opened(cache: Path, name: str) -> None:
    store.folder()
    (cache / "attnviz" / "secret").write_bytes(b"no")
    with pytest.raises(AttnvizError, match="no id"):
        store.get(name)


def test_an_id_that_was_never_given() -> None:
    with pytest.raises(AttnvizError, match="not kept here"):
        store.get("0" * 32)


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 10)
    with pytest.raises(LimitError, match="at most 10 B, got 11 B"):
        store.put(b"x" * 11)
    assert not list(store.folder().iterdir())


def test_old_ones_go_and_opening_keeps_them_young() -> None:
    old, opened = store.put(b"old"), store.put(b"opened")
    for name in (old, opened):
        os.utime(store.folder() / name, (1, 1))
    assert store.get(opened) == b"opened"
    new = store.put(b"new")
    assert {*kept()} == {opened, new}


def test_the_oldest_go_when_there_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_TOTAL", 10)
    names = [store.put(b"x" * 4) for _ in range(2)]
    os.utime(store.folder() / names[0], (time.time() - 1000,) * 2)
    third = store.put(b"x" * 4)
    assert {*kept()} == {names[1], third}


def test_what_was_shown_stays_longer_than_what_edits_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "MAX_TOTAL", 12)
    shown, opened = store.put(b"show"), store.put(b"open")
    store.share(shown)
    store.get(opened)
    edits = [store.put(b"edit") for _ in range(20)]
    assert {*kept()} == {shown, opened, edits[-1]}
    os.utime(store.folder() / f"{shown}.shared", (time.time() - 1000,) * 2)
    third = store.put(b"more")
    store.share(third)
    assert {*kept()} == {shown, opened, third}
    last = store.put(b"last")
    assert {*kept()} == {opened, third, last}
    store.share("0" * 32)


def test_the_sentence_on_how_long_it_stays_names_both_limits() -> None:
    assert "30 days" in store.STAYS
    assert "512 MB" in store.STAYS


def test_a_write_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="full"):
        store.put(b"one")
    assert not list(store.folder().iterdir())
