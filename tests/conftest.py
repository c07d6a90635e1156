"""What tests in several folders share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.serve import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; a second one cannot be driven beside it."""
    with chromium() as running:
        yield running
