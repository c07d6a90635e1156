"""The running app in a real browser; a page that asks for anything outside fails its test."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from tests.browser.driver import Driver

ROOT = Path(__file__).parents[2]
ARGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


def start_app(script: str = "app.py") -> tuple[subprocess.Popen[bytes], str]:
    """Start a Streamlit script on a free port; gives the process and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    log = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    address = f"http://localhost:{port}"
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return process, address
        except OSError:
            time.sleep(0.1)
        if process.poll() is not None:
            break
    process.kill()
    raise RuntimeError(f"{script} did not start")


def start_browser(playwright: Playwright) -> Browser:
    """The Chromium that CHROMIUM names, or the one that is installed."""
    path = (
        os.environ.get("CHROMIUM")
        or subprocess.run(
            ["sh", str(ROOT / "tests/browser/find_chromium.sh")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=path, args=[*ARGS, *sandbox])


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    process, address = start_app()
    yield address
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = start_browser(playwright)
        yield browser
        browser.close()


class Watched:
    """A page that remembers requests to outside and errors in the console."""

    def __init__(self, browser: Browser, address: str, width: int, height: int, dark: bool):
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            permissions=["clipboard-read", "clipboard-write"],
        )
        self.page: Page = self.context.new_page()
        self.context.route(lambda url: not url.startswith((address, "data:", "blob:")), self._stop)
        self.page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _stop(self, route: object) -> None:
        self.outside.append(route.request.url)  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]


@pytest.fixture
def open_app(browser: Browser, app: str) -> Iterator[object]:
    """Open the app: open_app(width, height, dark) gives a driver."""
    opened: list[Watched] = []

    def open_page(width: int = 1440, height: int = 900, dark: bool = False) -> Driver:
        watched = Watched(browser, app, width, height, dark)
        opened.append(watched)
        watched.page.goto(app)
        driver = Driver(watched.page)
        driver.wait_idle()
        return driver

    yield open_page
    for watched in opened:
        watched.context.close()
        assert watched.outside == []
        assert watched.errors == []


@pytest.fixture
def driver(open_app: object) -> Driver:
    return open_app()  # type: ignore[operator,no-any-return]
