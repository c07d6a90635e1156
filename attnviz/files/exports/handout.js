"use strict";
(() => {
  const says = document.getElementById("says");
  const steps = [...document.querySelectorAll("section[data-step]")];
  let picked = null, held = false, now = -1;

  const show = (cell) => {
    says.replaceChildren();
    const title = document.createElement("b");
    title.textContent = cell.dataset.t || "";
    says.append(title, cell.dataset.e);
  };
  const pick = (cell) => {
    if (picked) picked.classList.remove("picked");
    picked = cell;
    held = true;
    cell.classList.add("picked");
    cell.focus({ preventScroll: false });
    show(cell);
  };
  const step = (to) => {
    if (to < 0 || to >= steps.length) return;
    if (now >= 0) { steps[now].classList.remove("now"); steps[now].removeAttribute("aria-current"); }
    now = to;
    steps[now].classList.add("now");
    steps[now].setAttribute("aria-current", "step");
    steps[now].scrollIntoView({ block: "start" });
  };
  const beside = (cell, rows, columns) => {
    const row = cell.parentElement, table = cell.closest("table");
    const other = table.rows[row.rowIndex + rows];
    const found = other && other.cells[cell.cellIndex + columns];
    return found && found.dataset.e !== undefined ? found : null;
  };
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  document.addEventListener("mouseover", (event) => {
    const cell = event.target.closest("td[data-e]");
    if (cell && !held) show(cell);
  });
  document.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-e]");
    if (cell) pick(cell);
  });
  document.addEventListener("focusin", (event) => {
    const cell = event.target.closest("td[data-e]");
    if (cell) show(cell);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = event.target.closest("td[data-e]");
    if (cell && moves[event.key]) {
      const next = beside(cell, ...moves[event.key]);
      if (next) pick(next);
    } else if (event.key === "n" || (!cell && event.key === "ArrowRight")) {
      step(now + 1);
    } else if (event.key === "p" || (!cell && event.key === "ArrowLeft")) {
      step(now - 1);
    } else if (event.key === "Escape") {
      held = false;
      if (picked) { picked.classList.remove("picked"); picked.blur(); }
      picked = null;
      return;
    } else {
      return;
    }
    event.preventDefault();
  });
})();
