// SPDX-License-Identifier: GPL-2.0-or-later
// The choice of what the cells of a matrix show: parts of other measures are hidden.
"use strict";
for (const matrix of document.querySelectorAll(".matrix")) {
  const show = () => {
    const chosen = matrix.querySelector(".choice select").value;
    for (const part of matrix.querySelectorAll("[data-of]")) part.hidden = !part.dataset.of.split(" ").includes(chosen);
  };
  matrix.addEventListener("change", show);
  show();
}
