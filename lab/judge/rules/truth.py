# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity in truth: when the bottleneck's queue first stays filled, from the queue itself.

Only an emulator can look. The qdisc's backlog and its counter of bytes sent are sampled, at
least 60 times a base RTT. The link is at capacity from the first sample on after which

* the queue is never seen empty for one base RTT (the RTT of the path with empty queues): every sample of
  that span shows a backlog, and there are at least three of them. A window below the bandwidth-delay
  product makes bursts that leave the queue empty between them within each RTT; one that fills the path no
  longer does;
* and the link was busy all that time: the bytes sent over the span are at least 95 % of what the link
  allowed in it (the qdisc counts a frame with its Ethernet header, and so does the rate). A queue that stands
  while the link sends nothing, or that emptied and refilled between two samples, does not count.

On a link that changes, the base RTT is that of the span's begin, and what the link allowed is summed over
its steps. A span in which it allowed nothing (an outage) is no capacity.

Null where no span fits. The answer is exact to one sampling interval; it is the time at the bottleneck,
which the client sees one one-way delay later and the sender one RTT later.
"""

import polars as pl

from lab.judge.classify import by_time
from lab.judge.rule import Evidence, Judgement, Rule
from lab.tables.link_capacity import Link

BUSY_SHARE = 0.95
SAMPLES_AT_LEAST = 3


def capacity_s(qdisc: pl.DataFrame, link: Link) -> float | None:
    """Return the first instant from which the queue stays filled for one base RTT while the link is busy."""
    for begin_s, end_s in _filled_spans(qdisc).iter_rows():
        found = _busy_from(qdisc, link, begin_s, end_s)
        if found is not None:
            return found
    return None


def busy_share(qdisc: pl.DataFrame, link: Link) -> float:
    """Return bytes sent from first to last sample over what the link allowed in that time; 0 where that is 0."""
    first, last = qdisc.row(0, named=True), qdisc.row(-1, named=True)
    allowed = link.bytes_between(first["t_s"], last["t_s"])
    return float((last["sent_bytes"] - first["sent_bytes"]) / allowed) if allowed > 0 else 0.0


def _busy_from(qdisc: pl.DataFrame, link: Link, begin_s: float, end_s: float) -> float | None:
    """Return the first sample of a filled spell from which it lasts a base RTT, and the link is busy all that time."""
    spell = qdisc.filter(pl.col("t_s").is_between(begin_s, end_s))
    for at_s in spell["t_s"]:
        until_s = at_s + link.base_rtt_ms(at_s) / 1000
        if until_s > end_s:
            return None
        span = spell.filter(pl.col("t_s").is_between(at_s, until_s))
        if span.height >= SAMPLES_AT_LEAST and busy_share(span, link) >= BUSY_SHARE:
            return float(at_s)
    return None


def _filled_spans(qdisc: pl.DataFrame) -> pl.DataFrame:
    """Return unbroken sequences of samples with a backlog, oldest first: begin_s, end_s."""
    return (
        qdisc.lazy()
        .with_columns(filled=pl.col("backlog_bytes") > 0)
        .with_columns(span=pl.col("filled").rle_id())
        .filter("filled")
        .group_by("span", maintain_order=True)
        .agg(begin_s=pl.col("t_s").first(), end_s=pl.col("t_s").last())
        .select("begin_s", "end_s")
        .collect()
    )


def _judge(evidence: Evidence) -> Judgement:
    found_s = capacity_s(evidence.trial.qdisc, evidence.trial.link)
    return Judgement(found_s, by_time(evidence.exit, found_s, evidence.loss_s))


RULE = Rule(
    name="truth",
    label="the true queue",
    meaning="Capacity as only an emulator can know it: the first moment from which the bottleneck's queue stays filled "
    "for one base RTT while the link is busy.",
    needs=("qdisc",),
    judge=_judge,
)
