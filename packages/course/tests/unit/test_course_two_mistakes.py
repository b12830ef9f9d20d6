# SPDX-License-Identifier: GPL-2.0-or-later
"""Assignment 3: its mistakes are named, one or two at once, and its functions are tried alone, without a kernel."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_course import make
from lab_course.assignment import TEACHER, find_assignment, sibling
from lab_course.rehearse import SOLUTION

agree = sibling(str(find_assignment("3").folder / "checks.py"), "agree")
rfc = sibling(str(find_assignment("3").folder / "checks.py"), "rfc9406")
MSS_BYTES, ROUND_MS, ACKS = 1000, 100.0, 10


def acks_of(rule: Any) -> list[Any]:
    """Return the ACKs of a sender that follows a rule over a queue that grows by 3 ms, then by 20 ms, in each round."""
    sender, una = rfc.Sender(rule), 1
    acks: list[Any] = []
    for number in range(14):
        rtt_ms = ROUND_MS + 3 * number + 20 * max(number - 4, 0)
        end = una + ACKS * MSS_BYTES
        for each in range(1, ACKS + 1):
            una += MSS_BYTES
            sender.sample(rtt_ms * rfc.MS)
            ends = each == ACKS
            if ends:
                sender.next_round()
            if sender.leaves():
                return [*acks, rfc.Ack(number, una, end + ACKS * MSS_BYTES, rtt_ms * rfc.MS, 1, 0)]
            grown = int(sender.growth_pkts(1))
            acks.append(rfc.Ack(number, una, end + ACKS * MSS_BYTES * ends, rtt_ms * rfc.MS, 1, grown))
    return acks


def sentences(rule: Any) -> list[str]:
    return [found.sentence for found in rfc.mistakes(acks_of(rule), True)]


def test_the_rule_itself_has_no_mistake() -> None:
    assert rfc.replay(acks_of(rfc.RFC), True).fits


@pytest.mark.parametrize("rule", [rfc.MISTAKES[6], rfc.MISTAKES[12]], ids=["growth in CSS", "one round of CSS"])
def test_a_single_mistake_is_named_alone(rule: Any) -> None:
    assert rule.sentence in sentences(rule)
    assert not any(", and " in each for each in sentences(rule))


def test_the_rules_window_over_the_same_acks_leaves_a_mistakes_where_the_first_round_differs() -> None:
    acks = acks_of(rfc.MISTAKES[6])  # grows in CSS as fast as before
    found = rfc.replay(acks, True)
    own, window = [acks[0].cwnd_pkts], dict(found.window)
    for ack in acks[:-1]:
        own.append(own[-1] + ack.growth_pkts)
    assert found.first_wrong
    before = [ack for ack in acks if ack.t_s < found.first_wrong.begin_s]
    assert window[before[-1].t_s] == own[len(before)]
    assert found.window[-1][1] < own[-1]


def test_two_mistakes_at_once_are_named_together() -> None:
    growth, rounds = rfc.MISTAKES[6], rfc.MISTAKES[13]
    found = sentences(replace(growth, css_rounds=rounds.css_rounds))
    assert f"{growth.sentence}, and {rounds.sentence}" in found


@pytest.mark.parametrize(
    ("rule", "own_exit", "said"),
    [
        (rfc.MISTAKES[13], True, "leaves by its own rule in round 10, and RFC 9406 does not leave so early."),
        (rfc.RFC, False, "does not leave by its own rule, and RFC 9406 leaves in round 11."),
    ],
    ids=["four rounds of CSS", "no exit"],
)
def test_a_wrong_exit_is_named_by_what_the_replay_shows(rule: Any, own_exit: bool, said: str) -> None:
    assert agree._exit(rfc.replay(acks_of(rule), own_exit)).endswith(said)


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
