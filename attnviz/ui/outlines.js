// What is outlined over the pictures without drawing them anew.
const OUTLINED_MS = 2000;
const BESIDE = 12; // px within which a name stands beside its row
let marked = null; // the chosen cell and what it is made of, where the pictures do not show it

const charts = (box) => [...box.querySelectorAll(".js-plotly-plot")];
const heatmaps = (chart) => {
  const maps = (chart._fullData || []).filter((t) => t.type === "heatmap" && t.meta);
  return maps.filter((t, at) => nameOf(t.meta) !== nameOf(maps[at - 1]?.meta ?? [])); // one a matrix
};
const nameOf = (meta) => meta.join(" ");

function drawOver(chart, name, lines) {
  const ground = chart.querySelector(".svg-container");
  ground.querySelector(`:scope > .${name}`)?.remove();
  if (!lines.length) return null;
  const make = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const over = make("svg");
  over.setAttribute("class", `attnviz-over ${name}`);
  over.setAttribute("aria-hidden", "true");
  for (const { path, ...style } of lines) {
    const line = make("path");
    line.setAttribute("d", path);
    Object.assign(line.style, style);
    over.append(line);
  }
  const [hovers] = [...ground.querySelectorAll(":scope > .main-svg")].slice(-1);
  ground.insertBefore(over, hovers);
  return over;
}

// What is different from the last picture is outlined for two seconds.

function outlineChanges(box, chart) {
  const before = box.attnvizNumbers;
  box.attnvizNumbers = new Map(heatmaps(chart).map((map) => [nameOf(map.meta), map.z]));
  let path = "";
  for (const map of heatmaps(chart)) {
    const old = before?.get(nameOf(map.meta));
    if (!old || old.length !== map.z.length || old[0].length !== map.z[0].length) continue;
    const differs = (row, column) =>
      old[row] && column in old[row] && !Object.is(old[row][column], map.z[row][column]);
    const at = pixels(chart, map);
    map.z.forEach((cells, row) => cells.forEach((_, column) => {
      if (!differs(row, column)) return;
      const { left, top, width, height } = at(row, column);
      if (!differs(row - 1, column)) path += `M${left} ${top}h${width}`;
      if (!differs(row + 1, column)) path += `M${left} ${top + height}h${width}`;
      if (!differs(row, column - 1)) path += `M${left} ${top}v${height}`;
      if (!differs(row, column + 1)) path += `M${left + width} ${top}v${height}`;
    }));
  }
  const over = drawOver(chart, "attnviz-changed", path ? [{ path }] : []);
  if (over) setTimeout(() => over.remove(), OUTLINED_MS);
}

// The chosen cell and its operands are outlined, and the names of its row and column are bold.

function markChosen(chart) {
  const lines = [];
  for (const map of marked ? heatmaps(chart) : []) {
    const [key, head, transposed] = map.meta;
    const at = pixels(chart, map);
    for (const { boxes, ink, ...of } of marked.outlines) {
      if (of.key !== key || of.head !== head) continue;
      const path = boxes.map(([top, bottom, left, right]) => {
        const [first, last] = [[top, left], [bottom, right]].map((c) => (transposed ? c.reverse() : c));
        if (last[0] >= map.z.length || last[1] >= map.z[0].length) return "";
        const [start, end] = [at(...first), at(...last)];
        return `M${start.left} ${start.top}H${end.left + end.width}V${end.top + end.height}H${start.left}Z`;
      }).join("");
      lines.push({ path, stroke: "var(--ink-page)", strokeWidth: `${marked.width + 2}px` });
      lines.push({ path, stroke: `var(--ink-${ink})`, strokeWidth: `${marked.width}px` });
    }
  }
  drawOver(chart, "attnviz-marked", lines);
  markNames(chart);
}

function markNames(chart) {
  for (const [text, kind, place] of [...ticks(chart), ...words(chart)])
    text.style.fontWeight = marked?.bold[kind]?.includes(place) ? "700" : "400";
}

// What the rows and columns of a heatmap are.
function kindsOf({ meta: [key, , transposed] }) {
  const axes = [...marked?.axes[key] ?? []];
  return transposed ? axes.reverse() : axes;
}

// Names beside axes: [element, what it names, place]. Rows that several share are those of queries.
function ticks(chart) {
  const kinds = {};
  for (const map of heatmaps(chart)) {
    const [row, column] = kindsOf(map);
    for (const [axis, kind] of [[map.xaxis, column], [map.yaxis, row]]) {
      const name = axis[0] + (axis.slice(1) % 1000 || ""); // an axis may lie over the one with names
      if (!kinds[name] || kind === "query") kinds[name] = kind;
    }
  }
  return Object.entries(kinds).flatMap(([name, kind]) =>
    [...chart.querySelectorAll(`.${name}tick`)].map((tick) =>
      [tick.querySelector("text"), kind, tick.__data__?.x]));
}

// The same of a picture on one pair of axes, whose names are words above columns and beside rows.
// Those beside rows stand left of the first of the heatmaps whose rows they name.
function words(chart) {
  const texts = [...chart.querySelectorAll(".scatterlayer text")];
  const at = (side) => texts.filter((text) => text.__data__.tp === side);
  const [columns, rows] = [at("top center"), at("middle left")];
  const found = [];
  const groups = [];
  for (const map of heatmaps(chart)) {
    const [left, top] = [map.x0 - map.dx / 2, map.y0 - map.dy / 2];
    const across = (text) => Math.round((text.__data__.x - map.x0) / map.dx);
    const down = (text) => Math.round((text.__data__.y - map.y0) / map.dy);
    const above = columns.filter((text) => map.z[0][across(text)] !== undefined &&
      Math.abs(text.__data__.y - top) < 1);
    for (const text of above) found.push([text, kindsOf(map)[1], across(text)]);
    const beside = rows.filter((text) => map.z[down(text)] &&
      left - text.__data__.x > 0 && left - text.__data__.x < BESIDE);
    if (beside.length) groups.push({ kinds: [], names: beside.map((text) => [text, down(text)]) });
    groups.at(-1)?.kinds.push(kindsOf(map)[0]);
  }
  for (const { kinds, names } of groups) {
    const kind = kinds.includes("query") ? "query" : kinds[0];
    for (const [text, place] of names) found.push([text, kind, place]);
  }
  return found;
}

// Where a cell of a heatmap stands in its chart.
function pixels(chart, { xaxis, yaxis, x0 = 0, y0 = 0, dx = 1, dy = 1 }) {
  const axis = (name) => chart._fullLayout[`${name[0]}axis${name.slice(1)}`];
  const [x, y] = [axis(xaxis), axis(yaxis)];
  return (row, column) => ({
    left: x._offset + x.d2p(x0 + (column - 0.5) * dx),
    top: y._offset + y.d2p(y0 + (row - 0.5) * dy),
    width: x.d2p(dx) - x.d2p(0),
    height: y.d2p(dy) - y.d2p(0),
  });
}
