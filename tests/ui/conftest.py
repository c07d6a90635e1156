"""What the page keeps while it is tested goes to a folder that is thrown away."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path
