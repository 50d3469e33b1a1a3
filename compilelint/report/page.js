"use strict";
// Sorting: a click on a head's button orders the rows by that column; the same again turns the order round.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const body = head.closest("table").tBodies[0];
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => row.cells[head.cellIndex].dataset.key ?? row.cells[head.cellIndex].textContent;
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)];
      const [n, m] = [Number(x), Number(y)];
      const both = x !== "" && y !== "" && !Number.isNaN(n) && !Number.isNaN(m);
      return (both ? n - m : x.localeCompare(y)) * (up ? 1 : -1);
    };
    body.append(...Array.from(body.rows).sort(order));
  });
}
// The timeline: the view is moved, the drawing stays.
const drawing = document.querySelector("svg[data-length]");
if (drawing) {
  const length = Number(drawing.dataset.length);
  const said = document.getElementById("span");
  let [start, width] = [0, length];
  const show = () => {
    width = Math.min(Math.max(width, length / 5000), length);
    start = Math.min(Math.max(start, 0), length - width);
    drawing.setAttribute("viewBox", `${start} 0 ${width} 80`);
    said.textContent = `${(start / 1000).toFixed(3)} to ${((start + width) / 1000).toFixed(3)} ms`;
  };
  const moves = {
    in: () => { start += width / 4; width /= 2; },
    out: () => { start -= width / 2; width *= 2; },
    left: () => { start -= width / 4; },
    right: () => { start += width / 4; },
    all: () => { start = 0; width = length; },
  };
  for (const button of document.querySelectorAll("[data-move]")) {
    button.addEventListener("click", () => { moves[button.dataset.move](); show(); });
  }
  for (const link of document.querySelectorAll("[data-from]")) {
    link.addEventListener("click", () => {
      const [from, to] = [Number(link.dataset.from), Number(link.dataset.to)];
      width = (to - from) * 3;
      start = from - (to - from);
      show();
      drawing.scrollIntoView({ block: "center" });
    });
  }
  show();
}
// A link into a file that is folded up opens it.
const reveal = () => {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const file = row && row.closest("details");
  if (file) { file.open = true; row.scrollIntoView({ block: "center" }); }
};
addEventListener("hashchange", reveal);
reveal();
// The search: rows and notes without all of the words, or below the severity, are hidden.
const search = document.getElementById("search");
if (search) {
  const least = document.getElementById("least");
  const found = document.getElementById("found");
  const ranks = ["note", "warning", "error"];
  const rows = Array.from(document.querySelectorAll("#findings tbody tr"));
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const rank = ranks.indexOf(row.cells[0].textContent.trim());
      row.hidden = rank < Number(least.value) || !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    found.textContent = `${shown} of ${rows.length}`;
  };
  search.addEventListener("input", filter);
  least.addEventListener("change", filter);
  filter();
}
// n and p: the next and the previous marked line.
const marked = Array.from(document.querySelectorAll(".row.marked .number"));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !["n", "p"].includes(event.key) || !marked.length) return;
  const at = marked.indexOf(document.activeElement);
  const next = event.key === "n" ? at + 1 : at < 0 ? marked.length - 1 : at - 1;
  const row = marked[(next + marked.length) % marked.length];
  row.closest("details").open = true;
  row.focus();
  row.scrollIntoView({ block: "center" });
});
const theme = document.getElementById("theme");
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.dataset.theme = dark ? "light" : "dark";
});
