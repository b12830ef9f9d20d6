# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cell of the matrix can show: shares of exits by two rules, throughput and retransmissions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.base.format import NONE, number
from lab.judge.classify import ExitClass
from lab.judge.registry import TRUTH, rule_of
from lab.judge.stored import Stored
from lab.report.matrix.published import Published, published

RULE = "rule"  # the at-capacity rule that a run's scenario names
SHARE = "chokepoint_pct"


@dataclass(frozen=True)
class Measure:
    """One choice; `metric` is a column of summary.csv, and `most` whether more of it is better."""

    name: str
    title: str
    meaning: str
    metric: str
    unit: str = ""
    more_is_better: bool = True


MEASURES = (
    Measure(
        TRUTH,
        "At the chokepoint, by the queue",
        "trials that left slow start after the queue stayed filled and before a loss, of those that left it; small: "
        "the share that a paper publishes, by its own rule",
        SHARE,
    ),
    Measure(
        RULE,
        "At the chokepoint, by the papers' rule",
        "the same, with the capacity inferred as the papers do; small: the share that a paper publishes",
        SHARE,
    ),
    Measure(
        "throughput",
        "Throughput",
        "mean over the valid trials in Mb/s; the bar: of the fastest sender of the link; small: published",
        "throughput_mbps",
        "Mb/s",
    ),
    Measure(
        "loss",
        "Retransmissions",
        "mean packets per valid trial; the bar: of the sender with most of them on the link; small: published",
        "retransmits_pkts",
        "packets",
        more_is_better=False,
    ),
)


@dataclass(frozen=True)
class Reading:
    """A cell by one measure: its text, the number behind it, the published one, and the parts of its bar in percent.

    `hits` of `judged` trials are at the chokepoint; both are 0 where the measure is no share.
    """

    text: str
    value: float | None
    published: Published | None
    published_text: str
    bar: Mapping[str, float]
    hits: int = 0
    judged: int = 0


def read(
    measure: Measure, stored: Stored, of_link: Sequence[Stored], cca: str, summary: Mapping[str, Mapping[str, Any]]
) -> Reading:
    """Read a sender's cell; summary: its rows of lab.judge.summary by rule.

    A share that no source gives for this run's scenario is looked up in the other runs of the link.
    """
    if measure.metric != SHARE:
        theirs = published(stored, cca, measure.metric)
        value = summary[TRUTH][measure.metric]
        digits = 0 if value is None or value >= 100 else 1
        text = NONE if theirs is None else f"{number(theirs.value, 0)} {measure.unit}"
        return Reading(number(value, digits), value, theirs, text, {})
    found = [published(each, cca, SHARE) for each in (stored, *of_link)]
    theirs = found[0] or next((each for each in found if each and not each.ran), None)
    row = summary[TRUTH if measure.name == TRUTH else rule_of(stored.run.scenario)]
    text = NONE if theirs is None else f"{theirs.value:.3g} %"
    shares = {str(zone): row[f"{zone}_pct"] or 0.0 for zone in ExitClass}
    judged = row["judged"]
    hits = round((row[SHARE] or 0) * judged / 100)
    return Reading(f"{hits}/{judged}", row[SHARE], theirs, text, shares if judged else {}, hits, judged)
