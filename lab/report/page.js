// SPDX-License-Identifier: GPL-2.0-or-later
// Chapters open where a link leads into them, and for print; cells know their column, so that a narrow screen shows cards.
"use strict";
(() => {
  const chapters = () => document.querySelectorAll("details.chapter");
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target?.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
    target?.scrollIntoView();
  }
  for (const table of document.querySelectorAll(".scroll table")) {
    const names = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
    for (const row of table.querySelectorAll("tbody tr")) {
      const cells = [...row.children].filter((cell) => cell.scope !== "rowgroup");
      cells.forEach((cell, n) => { cell.dataset.label = names[n + names.length - cells.length]; });
    }
    table.classList.add("cards");
  }
  addEventListener("hashchange", openTarget);
  addEventListener("beforeprint", () => { for (const each of chapters()) each.open = true; });
  if (location.hash) openTarget();
})();
