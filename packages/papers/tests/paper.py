# SPDX-License-Identifier: GPL-2.0-or-later
"""A paper of two columns, built by LaTeX: what it holds, its fonts, and whether all fits."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

# Columns of 3.3 inches in a page of 7. OT1's fonts are outlines everywhere; those of T1 may be bitmaps.
PAPER = r"""\documentclass[twocolumn,10pt]{article}
\usepackage[paperwidth=8.5in,paperheight=11in,textwidth=7in,textheight=9.4in,columnsep=0.4in]{geometry}
\usepackage{graphicx,booktabs,array,pgf}
\graphicspath{{%s/}}
\begin{document}
%s
\end{document}
"""


def build(folder: Path, texts: Iterable[Path], name: str) -> Path:
    """Build a page from the files' figures and tables, one after the other; its PDF."""
    assert shutil.which("pdflatex"), "LaTeX is missing: run scripts/setup-tests"
    body = "\n".join(f"\\input{{{text}}}\n\\clearpage" for text in texts)
    (folder / f"{name}.tex").write_text(PAPER % (folder, body))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    unbroken = os.environ | {"max_print_line": "1000"}  # lines of the log
    done = subprocess.run(command, cwd=folder, env=unbroken, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / f"{name}.pdf"


def what_does_not_fit(paper: Path) -> list[str]:
    """Return each file that is wider than its column by over a point, or taller than its page, with LaTeX's words."""
    log = paper.with_suffix(".log").read_text(errors="replace")
    faults = re.finditer(r"Overfull \\hbox \((\d+\.\d+)pt too wide\).*|Float too large for page by .*", log)
    return [
        f"{re.findall(r'([^(/]+[.]tex)', log[: fault.start()])[-1]}: {fault[0]}"
        for fault in faults
        if fault[1] is None or float(fault[1]) > 1
    ]


def fonts(pdf: Path) -> dict[str, tuple[str, bool]]:
    """Return the type of each font of a PDF, and whether it is embedded."""
    rows = subprocess.check_output(["pdffonts", pdf], text=True).splitlines()[2:]
    found = (re.match(r"(\S+)\s+(.+?)\s{2,}.*\s(yes|no)\s+(?:yes|no)\s+(?:yes|no)\s+\d+\s+\d+$", row) for row in rows)
    return {row[1]: (row[2], row[3] == "yes") for row in found if row}


def smallest_pt(pdf: Path) -> float:
    """Return the size of a PDF's smallest text, rounded to points."""
    command: list[str | Path] = ["pdftohtml", "-xml", "-i", "-stdout", "-zoom", "1", pdf]
    sizes = re.findall(r'<fontspec [^>]*size="(\d+)"', subprocess.check_output(command, text=True))
    return min(map(float, sizes))


def width_in(pdf: Path) -> float:
    found = re.search(r"Page size:\s+([\d.]+) x", subprocess.check_output(["pdfinfo", pdf], text=True))
    assert found
    return float(found[1]) / 72
