# SPDX-License-Identifier: GPL-2.0-or-later
"""The downloads of this assignment, and how an answer is compared with them."""

import polars as pl
from lab_course.ran import Ran
from lab_course.work import Download, Work

SENDER = "cubic_plain"
SECONDS = {"geo": 14, "wired": 3, "third": 3}
TIME_TOLERANCE_S = 0.02
OFFSET, MEDIAN = "latency_offset", "median_throughput_after"


def ran(work: Work, link: str) -> Ran:
    """Run the download over a link of the assignment, with the student's seed."""
    return work.run(SENDER, link, work.seed(), Download(SECONDS[link]))


def truth_s(found: Ran) -> float:
    """Return the time from which the true queue stays filled."""
    at_s = found.truth["capacity_s"]
    assert at_s is not None
    return at_s


def base_rtt_s(found: Ran) -> float:
    """Return the round trip of the path with empty queues."""
    return found.trial.meta["base_rtt_ms"] / 1e3


def window_pkts(found: Ran) -> int:
    """Return the congestion window when the link reached capacity."""
    rows = found.acks.filter(pl.col("t_s") <= truth_s(found))["cwnd_pkts"]
    return int(rows[-1])


def largest_queue_mb(found: Ran) -> float:
    """Return the most that the bottleneck's queue held."""
    return float(found.trial.qdisc["backlog_bytes"].max()) / 1e6  # type: ignore[arg-type]


def near(work: Work, name: str, right: float, tolerance: float, unit: str, why: str) -> tuple[bool, str]:
    """Compare a number with the right one; the sentence states both, and why."""
    own = work.answers.number(name)
    return abs(own - right) <= tolerance, f"{name}={own:g}: it is {right:.4g} {unit}. {why}"
