(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  document.getElementById("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  const order = new Intl.Collator(undefined, { numeric: true });
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? order.compare(a, b) : x - y;
  };
  const sort = (table, place, head) => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    const value = (row) => row.cells[place].dataset.value ?? row.cells[place].textContent.trim();
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row), row]);
    const known = rows.filter(([text]) => text !== "").sort(([a], [b]) => (up ? compare(a, b) : compare(b, a)));
    const unknown = rows.filter(([text]) => text === "");
    body.append(...[...known, ...unknown].map(([, row]) => row));
    for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  };
  for (const table of document.querySelectorAll("table.sorts"))
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, place, head));
    });
})();
