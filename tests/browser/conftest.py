"""The running app in a real browser; a page that asks for anything outside fails its test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.driver import Driver
from tests.browser.serve import Server, Watched, serving, watch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def app() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One visitor's browser, so that the server's files are fetched and read but once."""
    with browser.new_context() as opened:
        yield opened


@pytest.fixture
def open_app(context: BrowserContext, app: Server) -> Iterator[Callable[..., Driver]]:
    """Open the app: open_app(width, height, dark, query) gives a driver."""
    with opening(context, app) as open_page:
        yield open_page


@contextmanager
def opening(context: BrowserContext, app: Server) -> Iterator[Callable[..., Driver]]:
    """Gives `open_app`; afterwards nothing was asked from outside, and nothing went wrong."""
    opened: list[Watched] = []
    earlier = len(app.tracebacks())

    def open_page(
        width: int = 1440, height: int = 900, dark: bool = False, query: str = ""
    ) -> Driver:
        watched = watch(context, app.address, width, height, dark)
        opened.append(watched)
        watched.page.goto(f"{app.address}/{query}")
        driver = Driver(watched.page)
        driver.wait_idle()
        return driver

    yield open_page
    for watched in opened:
        watched.close()
    assert [url for watched in opened for url in watched.outside] == []
    assert [error for watched in opened for error in watched.errors] == []
    assert app.tracebacks()[earlier:] == []


@pytest.fixture
def driver(open_app: Callable[..., Driver]) -> Driver:
    """A new page."""
    return open_app()


@pytest.fixture(scope="module")
def kept(context: BrowserContext, app: Server) -> Iterator[Driver]:
    with opening(context, app) as open_page:
        yield open_page()


@pytest.fixture
def again(kept: Driver) -> Driver:
    """A page that earlier tests of the module used too, back at the example."""
    kept.page.bring_to_front()
    kept.press("Reset")
    return kept
