# SPDX-License-Identifier: GPL-2.0-or-later
"""The stricter truth: from when on the queue stands for so long that slow start could not be needed again."""

from dataclasses import replace

import polars as pl
import pytest

from lab.judge.rules import lasting, truth
from lab.judge.standing_queue import Queue
from lab.tables.link_capacity import LinkCapacity
from tests.slow_start_model import Download, Path, download

EVERY_S = 0.01
FAST, SLOW = 8.0, 1.0  # Mb/s: an eighth, three doublings
STEADY = Path(rate_mbps=FAST, base_rtt_ms=200, buffer_bytes=4_000_000, duration_s=8)
# The second spell begins while the window is a fifth of what fills the link at its fastest.
SPELL = replace(STEADY, spell=(0.75, 1.15, SLOW))


def found(path: Path, rule: object = lasting, exit_s: float | None = None) -> float | None:
    """What a rule finds in the model's download of a path."""
    qdisc = download(path).qdisc()
    return truth.capacity_s(qdisc, path.link) if rule is truth else lasting.capacity_s(qdisc, path.link, exit_s)


def last_empty_s(model: Download, before_s: float) -> float:
    """When the model's queue was last empty, from the exact times of its frames."""
    free_s, empty_s = 0.0, 0.0
    for enters_s, leaves_s in sorted(model.queue):
        if free_s < enters_s < before_s:
            empty_s = enters_s
        free_s = max(free_s, leaves_s)
    return empty_s


def test_both_truths_are_one_on_a_steady_link_and_where_a_slow_spell_outlasts_three_doublings() -> None:
    assert found(STEADY) == found(STEADY, truth) is not None
    long = replace(SPELL, spell=(0.75, 0.75 + 6 * 0.2, SLOW))
    assert found(long) == found(long, truth) is not None


def test_a_slow_spell_that_ends_before_the_window_has_grown_is_no_lasting_capacity() -> None:
    brief_s, lasting_s = found(SPELL, truth), found(SPELL)
    assert brief_s is not None
    assert lasting_s is not None
    assert 0.75 <= brief_s < 1.15 < lasting_s
    assert lasting_s == pytest.approx(last_empty_s(download(SPELL), before_s=4), abs=2 * EVERY_S)


def test_the_queue_must_stand_for_a_round_trip_and_one_for_each_doubling_that_the_link_has_spare() -> None:
    queue = Queue.of(download(SPELL).qdisc(), SPELL.link)
    at_s = dict(zip((queue.t_s / EVERY_S).round().astype(int), lasting.refill_s(queue), strict=True))
    assert at_s[80] == pytest.approx(0.2 * (1 + 3))
    assert at_s[30] == pytest.approx(0.2)
    assert lasting.refill_s(Queue.of(download(SPELL).qdisc(), LinkCapacity.constant(0, 200))).min() == float("inf")


def exit_of(path: Path) -> float:
    return float(download(path).exits[0]["t_s"])


def test_an_exit_in_the_slow_spell_is_before_the_lasting_capacity_and_after_the_brief_one() -> None:
    left = replace(SPELL, exit_cwnd_pkts=50)
    exit_s, brief_s, lasting_s = exit_of(left), found(left, truth), found(left, lasting, exit_of(left))
    assert brief_s is not None
    assert brief_s < exit_s
    assert lasting_s is None or lasting_s > exit_s


def drained(qdisc: pl.DataFrame, from_s: float) -> pl.DataFrame:
    """The samples of a sender that lets the queue run empty."""
    return qdisc.with_columns(backlog_bytes=pl.when(pl.col("t_s") > from_s).then(0).otherwise("backlog_bytes"))


def test_after_the_exit_what_was_in_flight_stays_so_and_draining_on_purpose_is_not_early() -> None:
    changing = replace(STEADY, spell=(0.9, 8.0, FAST / 2))
    full_s, qdisc = found(changing), download(changing).qdisc()
    assert full_s is not None
    exit_s = full_s + 0.3
    assert lasting.capacity_s(drained(qdisc, exit_s), changing.link, exit_s) == full_s
    assert lasting.capacity_s(drained(qdisc, exit_s), changing.link) is None
    queue = Queue.of(download(STEADY).qdisc(), STEADY.link)
    left, rtt = 150, round(STEADY.base_rtt_ms / 1000 / EVERY_S)
    kept = lasting.kept(queue, float(queue.t_s[left]))
    in_flight = (kept.backlog_bytes + kept.sent_bytes)[left:] - kept.sent_bytes[left - rtt : -rtt]
    assert in_flight == pytest.approx([in_flight[0]] * len(in_flight), abs=1)
    assert kept.backlog_bytes[-1] < queue.backlog_bytes[-1]


def test_a_queue_that_stands_when_the_samples_end_is_not_known_to_last() -> None:
    qdisc = download(STEADY).qdisc()
    full_s = truth.capacity_s(qdisc, STEADY.link)
    assert full_s is not None
    assert lasting.unfinished(qdisc, full_s)
    assert not lasting.unfinished(qdisc, full_s - 0.3)
    assert not lasting.unfinished(qdisc, 100.0)
