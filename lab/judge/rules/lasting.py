# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity for good: when the bottleneck's queue begins to stand for as long as slow start could be needed again.

A slow spell of the link also makes the queue stand for a base RTT (lab/judge/rules/truth.py). When the spell ends, most
of the link is spare, and a sender that left slow start in it has left too early. How long must the queue stand? At a
time t the link gives a full window `now` bytes in a base RTT; `most` is the most that it ever gives in one. A sender
that goes on doubling from t has a window for `most` after log2(most / now) base RTTs, and from then on no speed of the
link is spare. So the queue must stand, and the link be busy, for

    base RTT * (1 + log2(most / now))

where the 1 is the truth's own. On a link that does not change this is one base RTT, as for the truth.

What a sender does with a full link after its exit does not matter for when the link was full: BBR and SEARCH 4.0 drain
the queue on purpose. So for a time before the exit, the queue is that of the samples until the exit, and from then on
what it would be if the sender kept in flight what it had: queued, or sent by the bottleneck within the last base RTT.
For a time after the exit it is that of the samples. So on a link that does not change the two truths differ where a
sender drains its queue within one base RTT of its exit: the truth waits for a queue that stands by itself.

Null where no span fits: the class of an exit is then null, too, if the queue stood at the exit and the samples end
before it stood for long enough.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from lab.judge.classify import by_time
from lab.judge.rule import Evidence, Judgement, Rule
from lab.judge.standing_queue import Floats, Queue, first_s
from lab.tables.link_capacity import LinkCapacity


def capacity_s(
    qdisc: pl.DataFrame, link: LinkCapacity, exit_s: float | None = None, from_s: float = 0.0
) -> float | None:
    """Return the first instant from which the queue stands until slow start could not be needed again."""
    queue = Queue.of(qdisc, link)
    span_s = refill_s(queue)
    begun, before = queue.t_s >= from_s, queue.t_s <= (np.inf if exit_s is None else exit_s)
    found_s = first_s(queue.t_s, kept(queue, exit_s).stands(span_s) & before & begun)
    return first_s(queue.t_s, queue.stands(span_s) & ~before & begun) if found_s is None else found_s


def refill_s(queue: Queue) -> Floats:
    """Return how long a doubling sender needs from each sample on until its window fills the link at its fastest."""
    link, rtt_s = queue.link, queue.base_rtt_s
    if not len(rtt_s):
        return rtt_s
    least_s = rtt_s.min()
    now = link.sent_bytes(queue.t_s + rtt_s) - link.sent_bytes(queue.t_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = link.most_bytes_in(least_s) / least_s * rtt_s
        return np.where(now > 0, rtt_s * (1 + np.log2(np.maximum(most / now, 1))), np.inf)


def kept(queue: Queue, exit_s: float | None) -> Queue:
    """Return the queue of a sender that kept in flight from its exit on what it had then."""
    left = 0 if exit_s is None else int(np.searchsorted(queue.t_s, exit_s, side="right"))
    if not left or left == len(queue.t_s):
        return queue
    last, t_s = left - 1, queue.t_s
    allowed = queue.link.sent_bytes(t_s)
    sent = np.concatenate([queue.sent_bytes[:left], queue.sent_bytes[last] + allowed[left:] - allowed[last]])
    of_last_rtt = sent - np.interp(t_s - queue.link.base_rtts_ms(t_s) / 1000, t_s, sent)
    in_flight = queue.backlog_bytes[last] + of_last_rtt[last]
    backlog = np.concatenate([queue.backlog_bytes[:left], in_flight - of_last_rtt[left:]])
    return replace(queue, backlog_bytes=backlog, sent_bytes=sent)


def unfinished(qdisc: pl.DataFrame, exit_s: float) -> bool:
    """Return whether the queue stood at a time, and in every later sample: how long it lasts is not known."""
    later = qdisc.filter(pl.col("t_s") >= exit_s)["backlog_bytes"]
    return bool(later.len()) and bool((later > 0).all())


def _judge(evidence: Evidence) -> Judgement:
    qdisc, left = evidence.trial.qdisc, evidence.exit
    found_s = capacity_s(qdisc, evidence.trial.link, evidence.exit_s, evidence.requested_s)
    hinted = left is not None and unfinished(qdisc, left.t_s)
    return Judgement(found_s, by_time(left, found_s, evidence.signal_s, filling=hinted))


RULE = Rule(
    name="lasting",
    label="the true queue, lasting",
    meaning="Capacity for good: the first moment from which the bottleneck's queue stands, and the link is busy, for "
    "so long that a sender which goes on doubling has a window for the link at its fastest. A short slow spell of the "
    "link is no capacity. On a link that does not change it is that of the true queue, but where a sender drains its "
    "queue within a base RTT of its exit.",
    needs=("qdisc",),
    judge=_judge,
)
