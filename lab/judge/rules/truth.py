# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity in truth: when the bottleneck's queue first stands for one base RTT, from the queue itself.

Only an emulator can look (lab/judge/standing_queue.py). On a link that changes, the base RTT is that of the span's
begin, and what the link allowed is summed over its steps. A slow spell of such a link counts as its capacity:
lab/judge/rules/lasting.py requires more.

The search begins with the client's request: on a slow link a packet of the handshake alone takes longer than a short
base RTT, and a rival may have filled the queue before.

Null where no span fits. The answer is exact to one sampling interval; it is the time at the bottleneck,
which the client sees one one-way delay later and the sender one RTT later.
"""

import polars as pl

from lab.judge.classify import by_time
from lab.judge.rule import Evidence, Judgement, Rule
from lab.judge.standing_queue import Queue, first_s
from lab.tables.link_capacity import LinkCapacity


def capacity_s(qdisc: pl.DataFrame, link: LinkCapacity, from_s: float = 0.0) -> float | None:
    """Return the first instant from which the queue stays filled for one base RTT while the link is busy."""
    queue = Queue.of(qdisc, link)
    return first_s(queue.t_s, queue.stands(queue.base_rtt_s) & (queue.t_s >= from_s))


def _judge(evidence: Evidence) -> Judgement:
    found_s = capacity_s(evidence.trial.qdisc, evidence.trial.link, evidence.requested_s)
    return Judgement(found_s, by_time(evidence.exit, found_s, evidence.signal_s))


RULE = Rule(
    name="truth",
    label="the true queue",
    meaning="Capacity as only an emulator can know it: the first moment from which the bottleneck's queue stays filled "
    "for one base RTT while the link is busy.",
    needs=("qdisc",),
    judge=_judge,
)
