// What a trip to the server is too slow for, or cannot do: clicks and keys on the pictures, and
// no blank while a picture is replaced. Charts are found by the class that their key gives.
const BOX = '[class*="st-key-chart_"]';
const GRID = '[class*="st-key-edit_"]';
const GIVE_UP_MS = 3000;
const SETTLED_MS = 150;
const OPENED_MS = 300; // by then a grid has opened a cell, if it does
const SELECTED_MS = 250; // after which a grid's table for screen readers has its selection
const MUCH_PX = 60;
const CLICK_PX = 5; // farther, and the mouse was drawn, not clicked
let send = () => {};
let chosen = null;

const isTyping = (e) => e.matches("input, textarea, [contenteditable=true]");
const press = (key) => document.querySelector(`.st-key-${key} button:not(:disabled)`)?.click();

// A copy of each picture, taken when a run begins, stands in until the new one is painted.

function keepCopies() {
  for (const box of document.querySelectorAll(BOX)) {
    const [chart] = charts(box);
    const picture = chart?.querySelector(".svg-container");
    if (!picture || box.attnvizGhost) continue;
    box.attnvizCopy = picture.cloneNode(true);
  }
}

function standIn(box) {
  const drawn = charts(box);
  if (drawn.length === 1 && drawn[0].attnvizDrawn && drawn[0].attnvizPlaced)
    return settle(box, drawn[0]);
  if (!box.attnvizCopy || box.attnvizGhost) return;
  const ghost = document.createElement("div");
  ghost.className = "attnviz-ghost";
  ghost.setAttribute("aria-hidden", "true");
  ghost.append(box.attnvizCopy);
  box.append(ghost);
  box.attnvizGhost = ghost;
  setTimeout(() => remove(box), GIVE_UP_MS);
}

function remove(box) {
  box.attnvizGhost?.remove();
  box.attnvizGhost = null;
}

function settle(box, chart) {
  remove(box);
  if (chart.attnvizSettled) return;
  chart.attnvizSettled = true;
  box.querySelectorAll(".attnviz-pick, .attnviz-changed").forEach((mark) => mark.remove());
  outlineChanges(box, chart);
}

// Clicks and arrow keys choose a cell. What is under the mouse when it is pressed counts, as the
// picture may be drawn anew before it is let go, and while it is, its copy stands there.

function shown(meta, row, column) {
  const [key, head, transposed] = meta;
  const place = transposed ? [column, row] : [row, column];
  return { key, index: head === null ? place : [head, ...place] };
}

function choose(box, map, row, column) {
  const mark = document.createElement("div");
  mark.className = "attnviz-pick";
  const outer = box.getBoundingClientRect();
  const inner = ground(box).getBoundingClientRect();
  const { left, top, width, height } = map;
  const place = {
    left: inner.left - outer.left + left + column * width,
    top: inner.top - outer.top + top + row * height,
    width,
    height,
  };
  for (const [side, px] of Object.entries(place)) mark.style[side] = `${px}px`;
  document.querySelectorAll(".attnviz-pick").forEach((old) => old.remove());
  box.append(mark);
  setTimeout(() => mark.remove(), GIVE_UP_MS);
  box.focus({ preventScroll: true });
  chosen = shown(map.meta, row, column);
  send("cell", chosen);
}

const ground = (box) => box.attnvizGhost ?? charts(box)[0] ?? box;

// Where the matrices of a picture lie in it.
function mapsOf(chart) {
  return heatmaps(chart).map((map) => ({
    meta: map.meta, rows: map.z.length, columns: map.z[0]?.length ?? 0, ...pixels(chart, map)(0, 0),
  }));
}

let pressed = null;

function onPress({ button, target, clientX, clientY }) {
  pressed = null;
  const box = button === 0 && !target.closest?.(".modebar") && target.closest?.(BOX);
  if (!box?.attnvizMaps) return;
  const { left, top } = ground(box).getBoundingClientRect();
  for (const map of box.attnvizMaps) {
    const column = Math.floor((clientX - left - map.left) / map.width);
    const row = Math.floor((clientY - top - map.top) / map.height);
    if (row >= 0 && row < map.rows && column >= 0 && column < map.columns)
      pressed = { box, map, row, column, clientX, clientY };
  }
}

function onRelease({ clientX, clientY }) {
  if (!pressed || Math.hypot(clientX - pressed.clientX, clientY - pressed.clientY) > CLICK_PX) return;
  const { box, map, row, column } = pressed;
  pressed = null;
  if (box.isConnected) choose(box, map, row, column);
}

function move(box, across, down) {
  let maps = box.attnvizMaps ?? [];
  if (document.querySelector(STEP)) maps = maps.filter(({ meta: [key] }) => key === chosen.key);
  const own = ({ meta: [key, head] }) =>
    chosen && key === chosen.key && chosen.index.length === (head === null ? 2 : 3) &&
    (head === null || head === chosen.index[0]);
  let place = maps.findIndex(own);
  if (place < 0) return maps.length ? choose(box, maps[0], 0, 0) : undefined;
  let [row, column] = chosen.index.slice(-2);
  if (maps[place].meta[2]) [row, column] = [column, row];
  column += across;
  if (column < 0 && place > 0) [place, column] = [place - 1, Infinity];
  else if (column >= maps[place].columns && place < maps.length - 1) [place, column] = [place + 1, 0];
  const inside = (at, count) => Math.max(0, Math.min(count - 1, at));
  const { rows, columns } = maps[place];
  choose(box, maps[place], inside(row + down, rows), inside(column, columns));
}

// In the steps, keys go from step to step; cells are moved with Shift.
const STEP = ".st-key-step_next";
const STEP_KEYS = {
  ArrowLeft: "step_back", ArrowRight: "step_next", PageUp: "step_back", PageDown: "step_next",
  " ": "reveal", h: "next_head", e: "fold_arithmetic", Escape: "leave",
};

function onStepKey(event) {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.shiftKey && ARROWS[name]) move(document.querySelector(".st-key-chart_step"), ...ARROWS[name]);
  else if (STEP_KEYS[name] && !(name === " " && event.target.matches("button"))) press(STEP_KEYS[name]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onKey(event) {
  if (hold(event)) return;
  const { key, target } = event;
  const control = event.ctrlKey || event.metaKey;
  if (control && !event.altKey && !isTyping(target) && /^[zy]$/i.test(key)) {
    event.preventDefault();
    press(key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo");
  } else if (key === "Enter" && !event.shiftKey && !control && !event.isComposing &&
             target.matches(".st-key-text textarea, .st-key-context_text textarea")) {
    event.preventDefault();
    target.blur();
    target.focus();
  } else if (document.querySelector(STEP) && !control && !event.altKey && !isTyping(target) &&
             !target.closest("[role=listbox], [role=dialog], [data-baseweb=popover], [data-testid=stSidebar]")) {
    onStepKey(event);
  } else if (ARROWS[key] && !control && !event.altKey && target.matches(BOX)) {
    event.preventDefault();
    move(target, ...ARROWS[key]);
  }
}

// A grid opens and ends the editing of a cell some time after the key. While the page is drawn
// anew, what was typed would then be dropped, and keys would go to the wrong cell. So the key that
// ends waits until the grid has dealt with those before it, the keys after one that opens or ends
// wait until it has come to pass, and a key that should have opened a cell is given again.

const EDITOR = "textarea.gdg-input";
const ENDING = new Set(["Enter", "Tab", "Escape"]);
const ERASING = { Backspace: "delete", Delete: "forwardDelete" };
const held = [];
let waitsForGrid = false;
const pause = (ms = 0) => new Promise((done) => setTimeout(done, ms));
const until = async (holds, latest = performance.now() + OPENED_MS) => {
  while (!holds() && performance.now() < latest) await pause(5);
};
const isOpen = () => document.activeElement.matches(EDITOR);
const OPENS = /^[!-~]$/;
const TRIES = 3;

function hold(event) {
  const { key, target, shiftKey, ctrlKey, metaKey, altKey } = event;
  const editing = target.matches(EDITOR);
  if (!event.isTrusted || event.isComposing || ctrlKey || metaKey || altKey) return false;
  if (!editing && !target.closest(GRID)) return false;
  const ends = editing && ENDING.has(key) && !(key === "Enter" && shiftKey);
  const opens = !editing && OPENS.test(key);
  const known = key.length === 1 || ENDING.has(key) || ERASING[key] || ARROWS[key];
  if (!ends && !opens && !(waitsForGrid && known)) return false;
  held.push({ key, shiftKey });
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!waitsForGrid) giveToGrid();
  return true;
}

async function giveToGrid() {
  waitsForGrid = true;
  await pause();
  while (held.length) {
    const { key, shiftKey } = held.shift();
    const open = isOpen();
    if (key.length === 1 && open) document.execCommand("insertText", false, key);
    else if (ERASING[key] && open) document.execCommand(ERASING[key]);
    else if (open || !OPENS.test(key)) await giveKey(key, shiftKey, open && ENDING.has(key));
    else for (let tries = TRIES; tries && !isOpen(); tries -= 1) {
      await giveKey(key, shiftKey);
      await until(isOpen);
    }
    await pause();
  }
  waitsForGrid = false;
}

async function giveKey(key, shiftKey, ends = false) {
  const at = document.activeElement;
  at.dispatchEvent(
    new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }),
  );
  if (ends) await until(() => !at.isConnected, performance.now() + GIVE_UP_MS);
}

// A grid cuts what is pasted to its own size and into lines, so the text is taken before it.

function onPaste(event) {
  const grid = event.target.closest?.(GRID);
  if (!grid || isTyping(event.target)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const text = event.clipboardData.getData("text/plain");
  sendPaste(grid, text);
}

async function sendPaste(grid, text) {
  await pause(SELECTED_MS);
  await new Promise(requestAnimationFrame);
  await pause(); // what was to be drawn has been, unlike with requestIdleCallback, which may not come
  const selected = () => grid.querySelector("[role=gridcell][aria-selected=true]")
    ?.id.match(/glide-cell-(\d+)-(\d+)/);
  await until(selected, performance.now() + GIVE_UP_MS);
  const place = selected();
  if (!place) return;
  const [editor] = grid.className.match(/(?<=st-key-)edit_\w+/);
  send("paste", { editor, row: Number(place[2]), column: place[1] - 1, text });
}

// Charts come and go with every run.

function onDrawn(chart) {
  chart.attnvizDrawn = true;
  const box = chart.closest(BOX);
  if (!box) return;
  box.attnvizMaps = mapsOf(chart);
  standIn(box);
  markChosen(chart);
}

const plots = document.getElementsByClassName("js-plotly-plot");
const boxes = new Set();

function look() {
  for (const chart of plots) {
    if (chart.attnviz || !chart.on) continue;
    chart.attnviz = true;
    const box = chart.closest(BOX);
    if (!box) continue;
    box.tabIndex = 0;
    boxes.add(box);
    chart.on("plotly_afterplot", () => onDrawn(chart));
    if (chart.querySelector(".infolayer .annotation, .scatterlayer text")) onDrawn(chart);
    sizes.observe(chart); // a chart may be drawn before it has got its place
  }
  for (const box of boxes) box.isConnected ? standIn(box) : boxes.delete(box);
}

const sizes = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    target.attnvizPlaced = contentRect.height > 0;
    const box = target.closest(BOX);
    if (box) standIn(box);
  }
});
// Pictures are laid out for the room that they have; a little more or less they scale.

let told = null;
let waiting = 0;

function tellRoom() {
  const width = document.querySelector(".st-key-pictures")?.clientWidth;
  const now = [width, document.querySelector("[data-testid=stMain]").clientHeight];
  if (!width || now.every((px, i) => Math.abs(px - told[i]) < MUCH_PX)) return;
  told = now;
  send("room", now);
}

const room = new ResizeObserver(() => {
  clearTimeout(waiting);
  waiting = setTimeout(tellRoom, SETTLED_MS);
});

const LISTENERS = { keydown: onKey, paste: onPaste, pointerdown: onPress, pointerup: onRelease };
let watchers = null;

function install() {
  const changes = new MutationObserver((records) => {
    if (records.some(({ target }) => !(target instanceof SVGElement))) look();
  });
  changes.observe(document.body, { childList: true, subtree: true });
  const app = document.querySelector("[data-testid=stApp]");
  const runs = new MutationObserver(() => {
    if (app.getAttribute("data-test-script-state") === "running") keepCopies();
  });
  if (app) runs.observe(app, { attributeFilter: ["data-test-script-state"] });
  for (const [name, listener] of Object.entries(LISTENERS)) window.addEventListener(name, listener, true);
  room.observe(document.querySelector("[data-testid=stMain]"));
  watchers = [changes, runs, sizes, room];
  look();
}

export default function ({ setTriggerValue, data }) {
  send = setTriggerValue;
  chosen = data.chosen;
  marked = data.marked;
  document.querySelectorAll(".attnviz-pick").forEach((pick) => pick.remove());
  told ||= data.room;
  if (!watchers) install();
  for (const box of boxes) charts(box).forEach(markChosen);
  return () => {
    watchers?.forEach((watcher) => watcher.disconnect());
    for (const [name, listener] of Object.entries(LISTENERS)) window.removeEventListener(name, listener, true);
    watchers = null;
  };
}
