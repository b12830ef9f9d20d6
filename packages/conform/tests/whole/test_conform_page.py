# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a run: what it says first, what is known of a failure, and what applies to nobody."""

from pathlib import Path

import pytest
from lab_conform.case import chosen
from lab_conform.cell_page import PAGE
from lab_conform.page import write_page
from lab_conform.verdict import Outcome, Verdict


def _verdict(case: str, sender: str, outcome: Outcome, reason: str = "every check holds") -> Verdict:
    return Verdict(chosen(None, case)[0], sender, outcome, reason)


@pytest.fixture
def page(tmp_path: Path) -> str:
    found = [
        _verdict("rfc5681-6928/timeout-least", "cubic", "failed", "334 < 1000"),
        _verdict("rfc5681-6928/halving", "cubic", "failed", "0.9 <of> it"),
        _verdict("rfc5681-6928/limited-transmit", "cubic", "failed", "1 < 2"),
        _verdict("rfc9438/decrease-factor", "cubic", "passed"),
        _verdict("rfc9406/jitter", "cubic", "not applicable", "cubic does not state it"),
    ]
    write_page(tmp_path, found)
    return (tmp_path / PAGE).read_text()


def test_it_begins_with_the_answer_for_each_sender(page: str) -> None:
    assert "<b>cubic</b>: 1 of 4 cases that apply passed, 3 failed, 2 of them known." in page


def test_failures_stand_before_the_tables_with_what_is_known_or_the_reason(page: str) -> None:
    failed = page.split("<h2>What failed</h2>")[1].split("<h2 id")[0]
    assert "known, sender: the least timeout is 200 ms" in failed
    assert "with <code>net.ipv4.tcp_tso_win_divisor=100</code>, which" in failed
    assert "0.9 &lt;of&gt; it" in failed


def test_cases_that_apply_to_nobody_are_counted_with_their_reason(page: str) -> None:
    assert "1 of 1 cases apply to no sender here: cubic does not state it." in page
