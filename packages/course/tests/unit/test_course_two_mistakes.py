# SPDX-License-Identifier: GPL-2.0-or-later
"""Assignment 3 names what a module does wrong: one mistake, or two at once."""

from dataclasses import replace
from typing import Any

import pytest
from lab_course.assignment import find_assignment, sibling

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
