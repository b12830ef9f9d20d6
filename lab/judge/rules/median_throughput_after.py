# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity by the median throughput after slow start (thesis, section 5.3.3); see lab/judge/median_throughput.py."""

from lab.judge.median_throughput import median_after_mbps
from lab.judge.rate_rule import judge_by_rate
from lab.judge.rule import Evidence, Judgement, Rule


def _judge(evidence: Evidence) -> Judgement:
    return judge_by_rate(evidence, median_after_mbps(evidence.throughput, evidence.exit_s))


RULE = Rule(
    name="median_throughput_after",
    label="median, after slow start",
    meaning="Capacity by the thesis's rule for short paths: the bitrate at the exit reaches the median throughput "
    "after slow start.",
    needs=("packets",),
    judge=_judge,
    rate_mbps=median_after_mbps,
)
