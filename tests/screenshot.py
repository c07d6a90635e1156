"""Renew the picture in the README from the running app: python -m tests.screenshot docs."""

import sys
from pathlib import Path

from tests.browser.driver import Driver
from tests.browser.serve import chromium, serving, watch


def main(folder: Path) -> None:
    with serving() as server, chromium() as browser:
        page = watch(browser, server.address).page
        page.goto(server.address)
        Driver(page).wait_idle()
        page.mouse.move(5, 890)
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "screenshot.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
