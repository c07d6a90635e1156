"""One cell typed in a browser: time from Enter to the last repaint, and bytes that come back."""

from dataclasses import dataclass, field

from playwright.sync_api import Browser, WebSocket

from tests.browser.driver import Driver
from tests.browser.serve import watch

TABLE, ROW, COLUMN = "w_q_1", 1, 0  # an editor that the app shows when it opens
QUIET_MS = 400  # nothing was painted for so long: that was the last repaint
TIMEOUT_MS = 15000

# Notes when Enter was pressed, and when a picture or a text on the page was last painted.
_CLOCK = """
  const clock = window.benchClock = {enter: 0, paint: 0};
  addEventListener('keydown', (event) => {
    if (event.key === 'Enter') Object.assign(clock, {enter: performance.now(), paint: 0});
  }, true);
  const painted = new MessageChannel();
  painted.port1.onmessage = () => { clock.paint = performance.now(); };
  new MutationObserver((records) => {
    const shows = ({target}) => (target.closest ? target : target.parentElement)
      ?.closest('.js-plotly-plot, [data-testid="stHtml"]');
    if (clock.enter && records.some(shows))
      requestAnimationFrame(() => painted.port2.postMessage(0));
  }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
"""
_QUIET = f"""() => {{
  const {{enter, paint}} = window.benchClock;
  const app = document.querySelector('[data-testid=stApp]');
  return paint > enter && performance.now() - paint > {QUIET_MS}
    && app.getAttribute('data-test-script-state') === 'notRunning';
}}"""
_SPENT = "() => window.benchClock.paint - window.benchClock.enter"


@dataclass
class Cost:
    """What one edit took."""

    milliseconds: float
    received: int
    messages: int
    sent: int


@dataclass
class Bench:
    """An open app in which one cell is edited again and again."""

    browser: Browser
    address: str
    _received: list[int] = field(default_factory=list)
    _sent: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._watched = watch(self.browser, self.address)
        self._watched.page.add_init_script(_CLOCK)
        self._watched.page.on("websocket", self._listen)
        self._watched.page.goto(self.address)
        self._driver = Driver(self._watched.page)
        self._driver.wait_idle()

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: self._received.append(len(payload)))
        socket.on("framesent", lambda payload: self._sent.append(len(payload)))

    def edit(self, text: str) -> Cost:
        """Type text into the cell and wait for the last repaint."""
        page = self._watched.page
        self._driver.select_cell(TABLE, ROW, COLUMN)
        self._received.clear()
        self._sent.clear()
        self._driver.type_here(text)
        page.wait_for_function(_QUIET, polling=50, timeout=TIMEOUT_MS)
        kept = self._driver.read_cell(TABLE, ROW, COLUMN)
        assert kept == text, f"typed {text}, the table holds {kept}"
        return Cost(
            milliseconds=float(page.evaluate(_SPENT)),
            received=sum(self._received),
            messages=len(self._received),
            sent=sum(self._sent),
        )

    def close(self) -> None:
        self._watched.close()
        problems = self._watched.outside + self._watched.errors
        assert problems == [], problems
