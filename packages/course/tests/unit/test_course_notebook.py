# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of a notebook that Python cannot read, and reports: a line costs its own answer, judged in a moment."""

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_course.answers import Answers, read_answers
from lab_course.assignment import find_assignment, sibling
from lab_course.submission import Submission

from tests.brief import error_of


def answers(*lines: str) -> Answers:
    """Read the answers of a notebook whose cell has these lines."""
    cell = {"cell_type": "code", "metadata": {"tags": ["answers"]}, "source": "\n".join(lines)}
    text = json.dumps({"cells": [cell], "nbformat": 4})
    return read_answers(Submission(Path("in"), "s1", {"notebook.ipynb": text.encode()}))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('"x": 5,6,', "5,6"),
        ('"x": 5 ms,', "5 ms"),
        ('"x": 5ms,  # by eye', "5ms,  # by eye"),
        ('"x": 5', "5"),
        ('"x": ,', ""),
        ('"x" = 5,', "= 5"),
        ("'x': 'a queue,", "'a queue"),
        ('"x": [1, 2,', "[1, 2"),
        ('"x": 007,', "007"),
    ],
)
def test_a_line_that_is_no_python_costs_its_own_answer_alone_and_is_named(line: str, shown: str) -> None:
    for lines in ((line, '"y": 3,', "'z': 'a',"), ("# first", '"y": 3,', line, "'z': 'a'")):
        found = answers("answers = {", *lines, "}")
        assert (found.number("y"), found.text("z")) == (3.0, "a")
        refused = error_of(found.number, "x")
        rule = "a value, such as 5.6 or 'text', and a comma: no code of a notebook is run"
        assert refused == f"notebook.ipynb: x={shown}: must be {rule}"


def test_the_last_line_needs_no_comma_and_may_end_the_answers() -> None:
    found = answers("answers = {", '"x": 5 ms,', '"y": 3}')
    assert found.number("y") == 3


@pytest.mark.parametrize(
    "lines",
    [
        ("answers = {", '"x": 5 ms,', '"y": 3,'),
        ("answers = {", '"x": 5 ms,', '"x": 3,', "}"),
        ("answers = {", '"x": 5 ms,', '"y": [3,', "4],", "}"),
        ("answers = {", '"x": 5 ms,', "}", "answers['x'] = 3"),
        ("answers = {", '"x": 5 ms,', "**{'y': 3},", "}"),
        ("other = {", '"x": 5 ms,', '"y": 3,', "}"),
        ("answers = {'x': 5 ms, 'y': 3}",),
    ],
)
def test_where_it_is_in_doubt_what_belongs_to_a_line_no_answer_is_read(lines: tuple[str, ...]) -> None:
    assert error_of(answers, *lines).startswith("notebook.ipynb: must be a notebook with one cell of the tag 'answers'")


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
