"""A server and a browser of one's own, and a page that is watched while it is used."""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    WebSocket,
    sync_playwright,
)

ROOT = Path(__file__).parents[2]
START_SECONDS = 60
QUIET_ARGS = [  # no GPU that a server lacks, and no request of the browser's own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",  # nothing outside is reached
]


@dataclass(frozen=True)
class Server:
    """A running Streamlit script."""

    address: str
    log: Path

    def tracebacks(self) -> list[str]:
        """Errors that the server wrote down, newest last."""
        text = self.log.read_text("utf-8", errors="replace")
        return re.findall(r"Traceback .*?(?=^\d{4}-\d\d-\d\d |\Z)", text, re.M | re.S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(script: str = "app.py", cache: Path | None = None, port: int = 0) -> Iterator[Server]:
    """Run a Streamlit script, named from the repository's root.

    Args:
        script: its name.
        cache: the folder for what it keeps; one of its own without.
        port: a free one without.
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(f"http://localhost:{port}", Path(folder) / "log")
        with server.log.open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, "XDG_CACHE_HOME": str(cache or folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            _wait_until_healthy(process, server)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_healthy(process: subprocess.Popen[bytes], server: Server) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The server did not start:\n{server.log.read_text('utf-8', 'replace')}")


def chromium_path() -> str:
    """The Chromium or Chrome to drive: the one that CHROMIUM names, or an installed one."""
    found = subprocess.run(
        ["sh", str(ROOT / "tests/browser/find_chromium.sh")],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise RuntimeError("No Chromium or Chrome was found; `make test` says how to install one.")
    return found.stdout.strip()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser without a window."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    args = [*QUIET_ARGS, *(["--no-sandbox"] if is_root else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=args)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page of its own, which remembers what it asked from outside and what went wrong in it."""

    page: Page
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def close(self) -> None:
        self.page.close()


def watch(
    browser: Browser | BrowserContext,
    address: str,
    width: int = 1440,
    height: int = 900,
    dark: bool = False,
) -> Watched:
    """Open an empty page; what it asks for elsewhere than at the address is written down.

    Pages of one context share what the browser keeps of the server's files.
    """
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    watched = Watched(page)
    own = (f"{address}/", f"{address.replace('http', 'ws', 1)}/", "data:", "blob:")

    def note_url(request: Request | WebSocket) -> None:
        if not request.url.startswith(own):
            watched.outside.append(request.url)

    def note_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            watched.errors.append(message.text)

    page.on("request", note_url)
    page.on("websocket", note_url)
    page.on("console", note_message)
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    return watched
