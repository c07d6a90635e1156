"""What tests in several folders share."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.serve import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; a second one cannot be driven beside it."""
    with chromium() as running:
        yield running


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of the running app go one after the other in one process; the others beside them."""
    from xdist.scheduler import LoadScopeScheduling

    class BrowserApart(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "browser" if nodeid.startswith("tests/browser/") else nodeid

    return BrowserApart(config, log)
