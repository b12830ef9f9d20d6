# SPDX-License-Identifier: GPL-2.0-or-later
"""The appendix is what conferences require: LaTeX that compiles, on at most two pages, nothing in the margin."""

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
from lab_papers.artifact import documents, facts
from lab_papers.artifact.facts import Cost, Line
from lab_papers.evaluation.claims.rows import SCHEMA
from lab_papers.evaluation.claims.verdict import COUNTED

COST = Cost(754.3, 12_345.0, ("A processor of a long name @ 2.00GHz, 64 cores",))
LONGEST = ", ".join(f"12 {words}" for words in list(COUNTED.values())[:3])


def expensive(line: Line) -> Line:
    """Return a claim with long texts."""
    return dataclasses.replace(line, verdict=LONGEST, cost=COST, of_experiment=COST)


def test_the_appendix_has_at_most_two_pages_and_fits_its_columns(tmp_path: Path) -> None:
    assert shutil.which("pdflatex"), "LaTeX is missing: run scripts/setup-tests"
    lines = [expensive(line) for line in facts.lines(tmp_path, pl.DataFrame(schema=SCHEMA))]
    (tmp_path / "appendix.tex").write_text(documents.appendix(lines, "0123456789ab"))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "appendix.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    log = (tmp_path / "appendix.log").read_text(errors="replace")
    pages = re.search(r"Output written on appendix\.pdf \((\d+) page", log)
    assert pages is not None
    assert int(pages[1]) <= 2
    assert "Overfull \\hbox" not in log
