# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of failures is of cases that there are, and of every failure of the published matrix."""

import json

from lab_conform.case import chosen
from lab_conform.cell_page import finding, findings

from bench.measured import PUBLISHED


def test_findings_name_cases_that_there_are() -> None:
    known = {case.name for case in chosen(None, None)}
    assert {case for each in findings() for case in each.cases} - known == set()


def test_no_cell_has_two_findings() -> None:
    cells = [(sender, case) for each in findings() for sender in each.senders for case in each.cases]
    assert len(cells) == len({*cells})


def test_every_published_failure_was_looked_at() -> None:
    failures = json.loads((PUBLISHED / "conform.json").read_text())["failures"]
    assert [row for row in failures if finding(row["sender"], row["case"]) is None] == []
