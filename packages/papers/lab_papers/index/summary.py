# SPDX-License-Identifier: GPL-2.0-or-later
"""The matrix as a table: a few rows for each link, from the scenario that has most trials on it."""

from collections.abc import Sequence

from lab.base.format import mean, number, share
from lab.judge.registry import LASTING, TRUTH, rule_of
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.report.published import published
from lab.report.table import Group, Row, Table, valid_text
from lab_papers.index.links import fullness

HEADER = (
    "Sender",
    "Trials",
    "Early (%)",
    "Chokepoint (%)",
    "Late (%)",
    "Chokepoint by one RTT of queue (%)",
    "Chokepoint by the papers' rule (%)",
    "Published (%)",
    "Exit (s)",
    "Throughput (Mb/s)",
)


def one_a_link(runs: Sequence[Stored]) -> list[Stored]:
    """Of the runs over each profile, the one with most valid trials, in the order of the runs.

    No run that its scenario leaves out, and no counterfactual: its link is not the one that a source measured.
    """
    best: dict[str, Stored] = {}
    for stored in in_summary(runs):
        profile = str(stored.run.scenario["profile"])
        before = best.get(profile)
        if before is None or fullness(stored) > fullness(before):
            best[profile] = stored
    return list(best.values())


def in_summary(runs: Sequence[Stored]) -> list[Stored]:
    """Return the runs that the first screen may show."""
    return [stored for stored in runs if stored.run.in_summary and not stored.counterfactual_of]


def table(links: Sequence[Stored]) -> Table:
    """Return one group per link, with one row per sender."""
    groups = tuple(Group(stored.link, tuple(_rows(stored))) for stored in links)
    caption = (
        "Where each sender leaves slow start, against the true queue once it stands for good: percent of the judged "
        "trials with 95 % Wilson interval; then the share where one round trip of standing queue counts as capacity, "
        "by the papers' rule, and as published."
    )
    return Table("summary", caption, HEADER, groups, (), "Link")


def _rows(stored: Stored) -> list[Row]:
    summary = summarise(stored.judged.outcomes, [stanza["name"] for stanza in stored.ccas])
    judges = (LASTING, TRUTH, rule_of(stored.run.scenario))
    rows = []
    for stanza in stored.ccas:
        found = (summary.filter(cca=stanza["name"], heuristic=name) for name in judges)
        lasting, true, ruled = (each.row(0, named=True) for each in found)
        theirs = published(stored, stanza["name"], "chokepoint_pct")
        cells = (
            stanza["label"],
            valid_text(lasting),
            *(share(lasting, name) for name in ("early", "chokepoint", "late")),
            share(true, "chokepoint"),
            share(ruled, "chokepoint"),
            number(theirs.value if theirs else None, 1),
            mean(lasting, "exit_s", 2),
            mean(lasting, "throughput_mbps", 1),
        )
        rows.append(Row(cells))
    return rows
