"""What a person does on the page, and what they see."""

from contextlib import suppress
from typing import Any

import numpy as np
from playwright.sync_api import Page, TimeoutError

HEADER, ROW = 36, 28
KEY_DELAY = 20  # ms
TRIES = 3

_CHART = """(key) => {
  const box = document.querySelector(`.st-key-chart_${key} .js-plotly-plot`);
  if (!box) return null;
  const plain = (v) => Array.isArray(v) || ArrayBuffer.isView(v) ? Array.from(v, plain) : v;
  return box._fullData.map((t) => ({
    type: t.type, meta: t.meta, z: plain(t.z), text: plain(t.text), hovertext: plain(t.hovertext),
    x: plain(t.x), y: plain(t.y),
  }));
}"""
_PAINTED = ".js-plotly-plot .main-svg, .st-key-pin"  # nothing is compared before a state is pinned
# The labels of a chart of `attnviz.figures.flat`: those above columns, those beside rows.
_LABELS = """(key) => {
  const drawn = [...document.querySelectorAll(`.st-key-chart_${key} .scatterlayer text`)];
  const at = (side) => drawn
    .filter((e) => e.__data__.tp === side)
    .map((e) => e.textContent);
  return {x: at('top center'), y: at('middle left')};
}"""
# Where to click in the last column of a grid, brought into sight where something covers it.
_IN_SIGHT = """(grid, down) => {
  const place = () => {
    const {x, y, width} = grid.getBoundingClientRect();
    return [x + width - 20, y + down];
  };
  if (!grid.contains(document.elementFromPoint(...place())))
    grid.scrollIntoView({block: 'center', behavior: 'instant'});
  return place();
}"""


class Driver:
    """One open page."""

    def __init__(self, page: Page):
        self.page = page

    def wait_idle(self) -> None:
        """Until the script has run and everything is painted."""
        self.page.wait_for_selector(_PAINTED, timeout=30000)
        quiet = 0
        while quiet < 3:
            self.page.wait_for_timeout(100)
            state = self.page.evaluate(
                "() => document.querySelector('[data-testid=stApp]')"
                ".getAttribute('data-test-script-state')"
            )
            quiet = quiet + 1 if state == "notRunning" else 0

    def click(self, x: float, y: float) -> None:
        """Point, press and let go in a person's time; the grid loses a click without it."""
        self.page.mouse.move(x - 3, y - 3)
        self.page.mouse.move(x, y)
        self.page.wait_for_timeout(150)
        self.page.mouse.down()
        self.page.wait_for_timeout(50)
        self.page.mouse.up()
        self.page.wait_for_timeout(120)

    # Tables

    def grid(self, table: str) -> Any:
        return self.page.locator(f'[class*="st-key-edit_{table}"] [data-testid="stDataFrame"]').last

    def select_cell(self, table: str, row: int, column: int) -> None:
        """Put the grid's selection on a cell: a click in the last column, then arrow keys."""
        chosen = f'[role=gridcell][aria-selected=true][id="glide-cell-{column + 1}-{row}"]'
        for _ in range(TRIES):
            self.click(*self.grid(table).evaluate(_IN_SIGHT, HEADER + ROW * row + ROW / 2))
            self.page.wait_for_timeout(80)  # the grid takes a click a little later
            for _ in range(self._columns(table) - 1 - column):
                self.page.keyboard.press("ArrowLeft")
                self.page.wait_for_timeout(40)
            with suppress(TimeoutError):
                self.grid(table).locator(chosen).wait_for(state="attached", timeout=2000)
                return
            self.page.keyboard.press("Escape")  # a click on a chosen cell opens it
        raise AssertionError(f"{table} does not choose row {row}, column {column}")

    def _columns(self, table: str) -> int:
        """How many data columns a grid has; the first cells of a row are its labels."""
        return (
            int(
                self.page.evaluate(
                    "(t) => [...document.querySelectorAll("
                    '`[class*="st-key-edit_${t}"] table [role=row]:nth-child(1) [role=gridcell]`)]'
                    ".length",
                    table,
                )
            )
            - 1
        )

    def type_cell(self, table: str, row: int, column: int, text: str, end: str = "Enter") -> None:
        """Type over a cell without opening it, as a person does."""
        self.select_cell(table, row, column)
        self.type_here(text, end)
        self.page.wait_for_timeout(300)
        self.wait_idle()

    def type_here(self, text: str, end: str = "Enter") -> None:
        """Type into the selected cell, fast."""
        self.page.keyboard.type(text, delay=KEY_DELAY)
        self.page.keyboard.press(end)

    def paste_cell(
        self, table: str, row: int, column: int, text: str, keys: str = "Control+V"
    ) -> None:
        """Paste text into the grid from a cell on."""
        self.select_cell(table, row, column)
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press(keys)
        self.page.wait_for_timeout(400)
        self.wait_idle()

    def read_cell(self, table: str, row: int, column: int) -> str:
        """What a grid's cell holds, from its accessible table."""
        cell = self.grid(table).locator(f'[data-testid="glide-cell-{column + 1}-{row}"]').first
        return str(cell.text_content())

    # Pictures

    def chart(self, key: str) -> list[dict[str, Any]]:
        data = self.page.evaluate(_CHART, key)
        assert data is not None, f"no chart {key}"
        return list(data)

    def matrix(self, chart: str, key: str) -> np.ndarray[Any, Any]:
        """The numbers of one stage as they are drawn."""
        for trace in self.chart(chart):
            if trace["type"] == "heatmap" and (trace["meta"] or [""])[0] == key:
                return np.array(trace["z"], dtype=float)
        raise AssertionError(f"{chart} does not show {key}")

    def cell_size(self, chart: str, key: str) -> dict[str, float]:
        """How large one cell of a heatmap is drawn, in px."""
        size = self.page.evaluate(
            """([chart, key]) => {
              const gd = document.querySelector(`.st-key-chart_${chart} .js-plotly-plot`);
              const t = gd._fullData.find((t) => t.type === 'heatmap' && t.meta?.[0] === key);
              const x = gd._fullLayout[t.xaxis.replace('x', 'xaxis')];
              const y = gd._fullLayout[t.yaxis.replace('y', 'yaxis')];
              return {width: x.d2p(t.dx) - x.d2p(0), height: y.d2p(t.dy) - y.d2p(0)};
            }""",
            [chart, key],
        )
        return dict(size)

    def labels(self, chart: str) -> dict[str, list[str]]:
        return dict(self.page.evaluate(_LABELS, chart))

    def click_matrix(self, chart: str, key: str, row: int, column: int, nth: int = 0) -> None:
        """Click the middle of a cell of a heatmap, the nth of its kind in the chart."""
        self.click(*self.place_in_matrix(chart, key, row, column, nth))
        self.page.wait_for_timeout(300)
        self.wait_idle()

    def place_in_matrix(
        self, chart: str, key: str, row: int, column: int, nth: int = 0
    ) -> tuple[float, float]:
        """Bring a cell of a heatmap in sight; where its middle is."""
        x, y = self.page.evaluate(
            """([chart, key, row, column, nth]) => {
              const gd = document.querySelector(`.st-key-chart_${chart} .js-plotly-plot`);
              gd.scrollIntoView({block: 'center'});
              const isShown = (t) => t.type === 'heatmap' && t.meta?.[0] === key;
              const t = gd._fullData.filter(isShown)[nth];
              const x = gd._fullLayout[t.xaxis.replace('x', 'xaxis')];
              const y = gd._fullLayout[t.yaxis.replace('y', 'yaxis')];
              const box = gd.getBoundingClientRect();
              return [box.left + x._offset + x.d2p(t.x0 + column * t.dx),
                      box.top + y._offset + y.d2p(t.y0 + row * t.dy)];
            }""",
            [chart, key, row, column, nth],
        )
        return float(x), float(y)

    # Words

    def answer(self) -> str:
        return str(self.page.locator(".st-key-answer .answer").inner_text())

    def explanation(self) -> str:
        return str(self.page.locator(".st-key-explain_text").inner_text())

    def set_text(self, text: str) -> None:
        self.page.get_by_label("Text", exact=True).fill(text)
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_timeout(300)
        self.wait_idle()

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()
        self.page.wait_for_timeout(300)
        self.wait_idle()

    def open_view(self, name: str) -> None:
        """Open one of the views by its name."""
        self.page.locator(".st-key-view button", has_text=name).click()
        self.page.wait_for_timeout(500)
        self.wait_idle()

    def key(self, key: str) -> None:
        """Press a key that changes what is shown."""
        self.page.keyboard.press(key)
        self.page.wait_for_timeout(500)
        self.wait_idle()

    def texts(self) -> list[dict[str, Any]]:
        """Every visible piece of text: its box, size, colour and the colour behind it."""
        return list(self.page.evaluate(_TEXTS))


_TEXTS = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      const p = c.match(/[\\d.]+/g).map(Number);
      if (p.length === 3 || p[3] > 0.5) return c;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  while (walk.nextNode()) {
    const node = walk.currentNode, e = node.parentElement;
    if (!node.textContent.trim()) continue;
    if (e.closest('style,script,canvas,[data-testid="stTooltipIcon"],[data-testid=stIconMaterial]'))
      continue;
    const style = getComputedStyle(e);
    if (style.visibility === 'hidden' || style.opacity === '0') continue;
    const range = document.createRange(); range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const svg = e.closest('svg') !== null;
    let chart = e.closest('[class*="st-key-chart_"]');
    let opacity = 1;
    for (let p = e; p; p = p.parentElement) opacity *= Number(getComputedStyle(p).opacity);
    found.push({
      text: node.textContent.trim(), x: box.x, y: box.y, width: box.width, height: box.height,
      size: parseFloat(style.fontSize), color: svg ? style.fill : style.color, opacity,
      ground: ground(e),
      cell: e.closest('.scatterlayer') !== null && !('tp' in e.closest('text').__data__),
      chart: chart ? [...chart.classList].find((c) => c.startsWith('st-key-')) : '',
    });
  }
  return found;
}"""
