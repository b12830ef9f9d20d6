# SPDX-License-Identifier: GPL-2.0-or-later
"""Assignment 6: whatever a report holds, it is judged in a moment, and what is quoted of it is short and plain."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from lab_course.assignment import find_assignment, sibling

SIXTH = find_assignment("6")
report, checks = (sibling(str(SIXTH.folder / "checks.py"), name) for name in ("report", "checks"))
CAPTION = "the window and its exit over the first seconds"
PATIENCE_S = 3  # the longest took nine on a machine where the others took none


@pytest.mark.parametrize(
    "text",
    [
        f"# a{' ' * 29_000}b",
        "![Figure 1: " * 2400,
        f"![Figure {'9' * 5000}: {CAPTION}](x.svg)",
        "|link|" + "|" * 29_000,
    ],
    ids=["blanks", "figures without an end", "a number of 5000 digits", "cells"],
)
def test_a_report_made_to_cost_time_or_an_exception_is_judged_in_a_moment(text: str) -> None:
    begin_s = time.process_time()
    assert len(report.parts(text)) == 4
    assert time.process_time() - begin_s < PATIENCE_S


def test_headings_and_figures_of_an_honest_report_are_seen() -> None:
    sections = "\n".join(f"## {each}  " for each in report.SECTIONS)
    figures = "".join(f"![Figure {number}: {CAPTION}](x.svg)\nSee Figure {number}.\n" for number in (1, 2))
    held = [holds for holds, _ in report.parts(f"{sections}\n{figures}{'word ' * 500}")]
    assert held == [True] * 4


def test_a_cell_that_a_line_quotes_moves_no_cursor_and_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.paired, "rows", lambda _work: {"quiet": {"own_s": 1.0, "other_s": 2.0}})
    text = f"| link | own_s | other_s |\n|---|---|---|\n| quiet | \x1b[2J100 of 100 | {'9' * 9000} |\n"
    work: Any = SimpleNamespace(source=lambda _name: text)
    reason = checks.check_numbers(work).reason
    assert r"own_s=\x1b[2J100 of 100" in reason
    assert "\x1b" not in reason
    assert len(reason) < 500
