# SPDX-License-Identifier: GPL-2.0-or-later
"""A published table made again: its rows from the scenarios' claims, ours below, by the papers' rule and in truth.

`timely` is what the thesis calls it: not before the capacity. Headroom (poster) is the first loss minus the exit.
"""

from collections.abc import Iterator, Sequence

import polars as pl

from lab.base.format import mean, number, share
from lab.base.stats import mean_sd, share_pct, wilson_pct
from lab.judge.clock import CLOCKS, TIMES, on_clock
from lab.judge.registry import TRUTH, label, rule_of
from lab.judge.stored import Stored
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_ccas
from lab.tables.records import ClaimRecord

METRICS = {
    "early_pct": ("Early (%)", 1),
    "chokepoint_pct": ("Chokepoint (%)", 1),
    "late_pct": ("Late (%)", 1),
    "timely_pct": ("Timely (%)", 1),
    "capacity_s": ("Capacity (s)", 2),
    "exit_s": ("Exit (s)", 2),
    "loss_s": ("First loss (s)", 2),
    "headroom_s": ("Headroom (s)", 2),
    "throughput_mbps": ("Throughput (Mb/s)", 1),
    "median_mbps": ("Median (Mb/s)", 1),
    "exit_bitrate_mbps": ("Exit bitrate (Mb/s)", 1),
    "retransmits_pkts": ("Retransmits (pkts)", 0),
}
SHARES = {
    "early_pct": ["early"],
    "chokepoint_pct": ["chokepoint"],
    "late_pct": ["late"],
    "timely_pct": ["chokepoint", "late"],
}
Values = dict[str, float | None]


def source_table(
    name: str, source: str, caption: str, runs: Sequence[Stored], judged: pl.DataFrame | None
) -> Table | None:
    """Return the table of one source over the runs that claim to repeat it; none where none of them is stored.

    judged: evaluation/claims.parquet, for what was replayed offline; null where it was not made.
    """
    claims = [(stored, claim) for stored in runs for claim in _claims(stored) if claim["source"] == source]
    shown = [metric for metric in METRICS if any(metric in claim["values"] for _, claim in claims)]
    if not shown:
        return None
    groups = [_group(stored, claim, shown, judged) for stored, claim in claims]
    links = dict.fromkeys(f"{stored.name}: {stored.link}." for stored, _ in claims)
    clocks = dict.fromkeys(f"Times count from {CLOCKS[_clock(claim)]}, ours and the source's." for _, claim in claims)
    forms = dict.fromkeys(_form(stored, claim) for stored, claim in claims)
    compared = f"Compared with: {', '.join(forms)}."
    header = ("Source", "Trials", *(METRICS[metric][0] for metric in shown))
    timed = tuple(clocks) if any(metric in TIMES for metric in shown) else ()
    return Table(name, caption, header, tuple(groups), (*links, compared, *timed), "Row")


def _claims(stored: Stored) -> list[ClaimRecord]:
    return list(stored.run.scenario.get("claims", []))


def _form(stored: Stored, claim: ClaimRecord) -> str:
    """Name the form of the sender that a row is compared with."""
    own, version = stored.label(claim["cca"]), claim.get("replayed")
    return f"{_label(version)}, replayed over {own}" if version else own


def _label(version: str) -> str:
    known = load_ccas()
    return known[version].label if version in known else version


def _clock(claim: ClaimRecord) -> str:
    return str(claim.get("clock", "data"))


def _group(stored: Stored, claim: ClaimRecord, shown: Sequence[str], judged: pl.DataFrame | None) -> Group:
    theirs = Row((claim["source"], number(claim.get("trials"), 0), *_cells(_published(claim), shown)), published=True)
    if version := claim.get("replayed"):
        return Group(claim["row"], (theirs, _replayed(stored, claim, version, shown, judged)))
    rule = rule_of(stored.run.scenario)
    if not any(metric in SHARES or metric == "capacity_s" for metric in shown):
        return Group(claim["row"], (theirs, Row(("here", *_ours(stored, claim, rule, shown)))))
    ours = [
        Row((f"here, by {label(name)}", *_ours(stored, claim, name, shown))) for name in dict.fromkeys((rule, TRUTH))
    ]
    return Group(claim["row"], (theirs, *ours))


def _published(claim: ClaimRecord) -> Values:
    values: Values = {}
    for metric, value in claim["values"].items():
        given = [value] if isinstance(value, (int, float)) else value
        values |= dict(zip((metric, f"{metric}_sd"), given, strict=False))
    return values


def _ours(stored: Stored, claim: ClaimRecord, heuristic: str, shown: Sequence[str]) -> Iterator[str]:
    rows = stored.judged.outcomes.filter("valid", cca=claim["cca"], heuristic=heuristic)
    yield str(rows.height)
    yield from _cells(measured(on_clock(rows, _clock(claim))), shown)


def measured(rows: pl.DataFrame) -> Values:
    """Every metric of METRICS over the valid trials of one sender by one rule."""
    values: Values = {}
    classes = rows["exit_class"].drop_nulls()
    for metric, hits in SHARES.items():
        count = int(classes.is_in(hits).sum())
        low, high = wilson_pct(count, classes.len())
        stem = metric.removesuffix("_pct")
        values |= {metric: share_pct(count, classes.len()), f"{stem}_lo_pct": low, f"{stem}_hi_pct": high}
    with_headroom = rows.with_columns(headroom_s=pl.col("loss_s") - pl.col("exit_s"))
    for metric in METRICS.keys() - SHARES.keys():
        values[metric], values[f"{metric}_sd"] = mean_sd(with_headroom[metric])
    return values


def _cells(values: Values, shown: Sequence[str]) -> list[str]:
    return [
        share(values, metric.removesuffix("_pct")) if metric in SHARES else mean(values, metric, METRICS[metric][1])
        for metric in shown
    ]


def _replayed(
    stored: Stored, claim: ClaimRecord, version: str, shown: Sequence[str], judged: pl.DataFrame | None
) -> Row:
    """Ours of a version that was replayed: judged with the claims, or not yet."""
    name = f"here, {_label(version)} replayed"
    if judged is None:
        return Row((f"{name} (pending)", *([number(None, 0)] * (len(shown) + 1))))
    rows = judged.filter(scenario=stored.name, row=claim["row"], cca=version)
    ours = {row["metric"]: row for row in rows.iter_rows(named=True)}
    trials = max((row["trials"] for row in ours.values()), default=None)
    found = [
        number(ours[metric]["ours"], METRICS[metric][1]) if metric in ours else number(None, 0) for metric in shown
    ]
    return Row((name, number(trials, 0), *found))
