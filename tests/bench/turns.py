"""What a person does in a browser, once: time to the repaint, and bytes that come back."""

from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import Browser, WebSocket

from tests.browser.driver import Driver
from tests.browser.serve import watch

TABLE, ROW, COLUMN = "w_q_1", 1, 0  # an editor that the app shows when it opens
CHART, STAGE = "head_1", "scores"
STEPS = "?view=step-by-step&cell=scores.1.1.2"
QUIET_MS = 400  # nothing was painted for so long: that was the last repaint
TIMEOUT_MS = 15000

# Notes when a key was pressed or the mouse let go, when a picture or a text was last painted, and
# when the arithmetic was.
_CLOCK = """
  const PAINTED = '.js-plotly-plot, [data-testid="stHtml"], [data-testid="stMarkdown"]';
  const clock = window.benchClock = {start: 0, paint: 0, told: 0};
  const start = () => Object.assign(clock, {start: performance.now(), paint: 0, told: 0});
  addEventListener('keydown', ({key}) => {
    if (['Enter', 'ArrowLeft', 'ArrowRight'].includes(key)) start();
  }, true);
  addEventListener('mouseup', start, true);
  const painted = new MessageChannel();
  painted.port1.onmessage = ({data}) => {
    clock.paint = performance.now();
    if (data) clock.told = clock.paint;
  };
  const within = ({target}, css) =>
    (target.closest ? target : target.parentElement)?.closest(css);
  new MutationObserver((records) => {
    const tells = records.some((record) => within(record, '.st-key-explain_text'));
    if (clock.start && (tells || records.some((record) => within(record, PAINTED))))
      requestAnimationFrame(() => painted.port2.postMessage(tells));
  }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
"""
_QUIET = f"""() => {{
  const {{start, paint}} = window.benchClock;
  const app = document.querySelector('[data-testid=stApp]');
  return paint > start && performance.now() - paint > {QUIET_MS}
    && app.getAttribute('data-test-script-state') === 'notRunning';
}}"""
_SPENT = "(until) => window.benchClock[until] - window.benchClock.start"


@dataclass
class Cost:
    """What one turn took; `told` is the time until the arithmetic was shown."""

    milliseconds: float
    told: float
    received: int
    messages: int
    sent: int


@dataclass
class Bench:
    """An open app in which the same is done again and again."""

    browser: Browser
    address: str
    _received: list[int] = field(default_factory=list)
    _sent: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._watched = watch(self.browser, self.address.partition("?")[0].rstrip("/"))
        self._watched.page.add_init_script(_CLOCK)
        self._watched.page.on("websocket", self._listen)
        self._watched.page.goto(self.address)
        self._driver = Driver(self._watched.page)
        self._driver.wait_idle()

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: self._received.append(len(payload)))
        socket.on("framesent", lambda payload: self._sent.append(len(payload)))

    def edit(self, turn: int) -> Cost:
        """Type another number into the cell."""
        text = f"0.{turn + 11}"
        self._driver.select_cell(TABLE, ROW, COLUMN)
        cost = self._timed(lambda: self._driver.type_here(text))
        kept = self._driver.read_cell(TABLE, ROW, COLUMN)
        assert kept == text, f"typed {text}, the table holds {kept}"
        return cost

    def click(self, turn: int) -> Cost:
        """Click another score, which opens its arithmetic."""
        at = self._driver.place_in_matrix(CHART, STAGE, turn % 3, turn // 3 % 2)
        before = self._driver.explanation()
        self._watched.page.mouse.move(*at)
        self._watched.page.wait_for_timeout(QUIET_MS)
        cost = self._timed(lambda: self._driver.click(*at))
        assert self._driver.explanation() != before, "the click opened nothing"
        return cost

    def step(self, turn: int) -> Cost:
        """Go one step on, and the next time back."""
        key, stage = (("ArrowRight", "scaled"), ("ArrowLeft", "scores"))[turn % 2]
        cost = self._timed(lambda: self._watched.page.keyboard.press(key))
        self._driver.matrix("step", stage)
        return cost

    def _timed(self, act: Callable[[], None]) -> Cost:
        """Do something and wait for the last repaint."""
        page = self._watched.page
        self._received.clear()
        self._sent.clear()
        act()
        page.wait_for_function(_QUIET, polling=50, timeout=TIMEOUT_MS)
        whole, told = (float(page.evaluate(_SPENT, until)) for until in ("paint", "told"))
        return Cost(
            milliseconds=whole,
            told=told,
            received=sum(self._received),
            messages=len(self._received),
            sent=sum(self._sent),
        )

    def close(self) -> None:
        self._watched.close()
        problems = self._watched.outside + self._watched.errors
        assert problems == [], problems
