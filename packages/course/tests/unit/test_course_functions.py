# SPDX-License-Identifier: GPL-2.0-or-later
"""`make functions` of assignment 3: the student's four functions alone, without a kernel."""

import subprocess
from pathlib import Path

import pytest
from lab_course import make
from lab_course.assignment import TEACHER, find_assignment
from lab_course.solved import SOLUTION

THIRD = find_assignment("3")
FILE = "hystartpp.c"
SOLVED = (THIRD.folder / TEACHER / SOLUTION / FILE).read_text()


def lines_of(tmp_path: Path, source: str) -> tuple[int, list[str]]:
    """Return the exit status, and the rules that do not hold."""
    (student,) = make.make(tmp_path / "fall", [THIRD], [])
    folder = student / THIRD.folder.name
    (folder / FILE).write_text(source)
    done = subprocess.run(["make", "-s", "-C", folder, "functions"], capture_output=True, text=True, check=False)
    return done.returncode, [line for line in done.stdout.splitlines() if line.startswith("WRONG")]


def test_the_solution_does_all_that_the_rfc_has(tmp_path: Path) -> None:
    assert lines_of(tmp_path, SOLVED) == (0, [])


def test_the_start_fails_in_each_function(tmp_path: Path) -> None:
    status, wrong = lines_of(tmp_path, (THIRD.folder / "start" / FILE).read_text())
    assert status != 0
    assert {line.split()[1] for line in wrong} == {
        "hspp_next_round:",
        "hspp_sample:",
        "hspp_growth_pkts:",
        "hspp_leaves:",
    }


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("ca->rtt_samples = 0;", "", "the next round has no sample yet"),
        ("MIN_RTT_THRESH_US, MAX_RTT_THRESH_US", "0, MAX_RTT_THRESH_US", "less than 4 ms"),
        ("MIN_RTT_THRESH_US, MAX_RTT_THRESH_US", "MIN_RTT_THRESH_US, U32_MAX", "more than 16 ms"),
        ("< N_RTT_SAMPLE", "< N_RTT_SAMPLE + 1", "8 samples suffice"),
        ("ca->css_acked_pkts += acked_pkts;", "ca->css_acked_pkts = acked_pkts;", "12 ACKs of one segment give 3"),
        ("ca->css_rounds >= CSS_ROUNDS", "ca->css_rounds > CSS_ROUNDS", "five rounds of CSS"),
    ],
)
def test_a_mistake_is_named_by_the_rule_that_it_breaks(tmp_path: Path, right: str, wrong: str, named: str) -> None:
    assert right in SOLVED
    status, lines = lines_of(tmp_path, SOLVED.replace(right, wrong))
    assert status != 0
    assert any(named in line for line in lines)
