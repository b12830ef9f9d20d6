# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of a notebook that Python cannot read: the line costs its own answer, and what is in doubt costs all."""

import json
from pathlib import Path

import pytest
from lab_course.answers import Answers, read_answers
from lab_course.submission import Submission

from lab.base.errors import UserError


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
        with pytest.raises(UserError) as refused:
            found.number("x")
        rule = "a value, such as 5.6 or 'text', and a comma: no code of a notebook is run"
        assert str(refused.value) == f"notebook.ipynb: x={shown}: must be {rule}"


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
    with pytest.raises(UserError, match=r"^notebook\.ipynb: must be a notebook with one cell of the tag 'answers'"):
        answers(*lines)
