"""What the page keeps while it is tested goes to a folder that is thrown away."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def whole_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest knows only what the last run drew; after a run of parts it draws the whole page."""
    run = AppTest._run

    def run_whole(app: AppTest, *args: Any, **more: Any) -> AppTest:
        run(app, *args, **more)
        return app if len(app.sidebar) else run(app)

    monkeypatch.setattr(AppTest, "_run", run_whole)
