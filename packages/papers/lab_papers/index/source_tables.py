# SPDX-License-Identifier: GPL-2.0-or-later
"""A published table made again: its rows from the scenarios' claims, ours below, by the papers' rule and in truth.

Ours has the values that the row publishes, and no other. Claims of one download, some of which are of a SEARCH that is
replayed over it, are one row: thesis table 5.1. Headroom (poster) is the first loss minus the exit.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl

from lab.base.format import FEW, mean, number, share
from lab.base.stats import mean_sd, share_row
from lab.judge.clock import CLOCKS, TIMES, on_clock
from lab.judge.copies import distinct
from lab.judge.registry import TRUTHS, label, rule_of
from lab.judge.stored import Stored
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_ccas
from lab.tables.records import ClaimRecord, is_measured
from lab_papers.evaluation.search.forms import FORMS

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
TIMELY = "Timely: exits that do not come before the capacity, thus at the chokepoint or late (thesis 5.3.2)."
OF_FEWER = re.compile(r" of \d+$")  # what _cell appends; a share of few states its own count before its interval
FEWER = "of n: over n of the trials; the others have no such moment, or no rule found it."
HEURISTIC = "heuristic"  # the judge of evaluation/versions.parquet that is the scenario's rule
Values = dict[str, float | None]


@dataclass(frozen=True)
class SourceRow:
    """A row of a source's table: the claims of one sender's downloads in one run."""

    stored: Stored
    claims: Sequence[ClaimRecord]

    @property
    def metrics(self) -> set[str]:
        """Return what the row publishes."""
        return set(chain.from_iterable(claim["values"] for claim in self.claims))

    @property
    def label(self) -> str:
        """Return the row's name with the sender that ours is measured with."""
        names = dict.fromkeys(claim["row"] for claim in self.claims)
        if len(names) > 1:
            names = dict.fromkeys(name.partition(", ")[0] for name in names)
        own, versions = self.stored.label(self.claims[0]["cca"]), [claim.get("replayed") for claim in self.claims]
        replayed = ", ".join(_label(version) for version in dict.fromkeys(versions) if version)
        return f"{', '.join(names)}: {f'{replayed}, replayed over {own}' if replayed else own}"

    @property
    def clock(self) -> str:
        """Return the event from which its times count."""
        return str(self.claims[0].get("clock", "data"))


def source_table(
    name: str, source: str, caption: str, runs: Sequence[Stored], versions: pl.DataFrame | None
) -> Table | None:
    """Return the table of one source over the runs that claim to repeat it; none where none of them is stored.

    versions: evaluation/versions.parquet, for what was replayed; null where it was not made.
    """
    rows = [row for stored in runs for row in _rows(stored, source)]
    shown = [metric for metric in METRICS if any(metric in row.metrics for row in rows)]
    if not shown:
        return None
    groups = tuple(_group(row, source, shown, versions) for row in rows)
    header = ("Source", "Trials", *(METRICS[metric][0] for metric in shown))
    return Table(name, caption, header, groups, tuple(_notes(rows, shown, groups)), "Row: sender")


def _rows(stored: Stored, source: str) -> Iterable[SourceRow]:
    """Return the rows of a source; a replayed claim joins the row of the downloads that it is replayed over."""
    rows: list[list[ClaimRecord]] = []
    for claim in stored.run.scenario.get("claims", []):
        if claim["source"] != source or not is_measured(claim):
            continue
        over = next((row for row in rows if claim.get("replayed") and row[0]["cca"] == claim["cca"]), None)
        if over is None:
            rows.append([claim])
        else:
            over.append(claim)
    return [SourceRow(stored, claims) for claims in rows]


def _notes(rows: Sequence[SourceRow], shown: Sequence[str], groups: Sequence[Group]) -> Iterable[str]:
    yield from dict.fromkeys(f"{row.stored.name}: {row.stored.link}." for row in rows)
    if "timely_pct" in shown:
        yield TIMELY
    if any(OF_FEWER.search(cell) for group in groups for row in group.rows for cell in row.cells[2:]):
        yield FEWER
    if any(metric in TIMES for metric in shown):
        yield from dict.fromkeys(f"Times count from {CLOCKS[row.clock]}, ours and the source's." for row in rows)


def _label(version: str) -> str:
    known = load_ccas()
    return known[version].label if version in known else FORMS[version].label if version in FORMS else version


def _group(row: SourceRow, source: str, shown: Sequence[str], versions: pl.DataFrame | None) -> Group:
    published = next((claim.get("trials") for claim in row.claims if claim.get("trials")), None)
    theirs = Row((source, number(published, 0), *_cells(_published(row), shown)), published=True)
    rule = rule_of(row.stored.run.scenario)
    if not any(metric in SHARES or metric == "capacity_s" for metric in row.metrics):
        return Group(row.label, (theirs, _ours("here", row, rule, shown, versions)))
    judges = dict.fromkeys((rule, *TRUTHS))
    return Group(
        row.label, (theirs, *(_ours(f"here, by {label(name)}", row, name, shown, versions) for name in judges))
    )


def _published(row: SourceRow) -> Values:
    values: Values = {}
    for metric, value in chain.from_iterable(claim["values"].items() for claim in row.claims):
        given = [value] if isinstance(value, (int, float)) else value
        values |= dict(zip((metric, f"{metric}_sd"), given, strict=False))
    return values


def _ours(name: str, row: SourceRow, rule: str, shown: Sequence[str], versions: pl.DataFrame | None) -> Row:
    """Return our values of what the row publishes, judged by a rule."""
    values: Values = {}
    downloads = distinct(row.stored.judged.outcomes).filter(cca=row.claims[0]["cca"], heuristic=rule)
    pending = False
    for claim in row.claims:
        found: pl.DataFrame | None = downloads
        if version := claim.get("replayed"):
            found = _replayed(row.stored, version, rule, versions)
        if found is None:
            pending = True
        else:
            values |= measured(on_clock(found, row.clock), claim["values"])
    cells = _cells(values, shown, downloads.height)
    return Row((f"{name} (replay pending: lab evaluate)" if pending else name, str(downloads.height), *cells))


def _replayed(stored: Stored, version: str, rule: str, versions: pl.DataFrame | None) -> pl.DataFrame | None:
    """Return the exits of a version that was replayed over a run's downloads; none where it was not."""
    if versions is None or versions.is_empty():
        return None
    judge = rule if rule in TRUTHS else HEURISTIC
    rows = versions.filter(scenario=stored.name, version=version, judge=judge)
    return None if rows.is_empty() else rows


def measured(rows: pl.DataFrame, metrics: Iterable[str]) -> Values:
    """Measure metrics over the valid trials of one sender by one rule, and over how many of them."""
    values: Values = {}
    classes = rows["exit_class"].drop_nulls()
    for metric in metrics:
        if metric in SHARES:
            count = int(classes.is_in(SHARES[metric]).sum())
            values |= share_row(metric.removesuffix("_pct"), count, classes.len())
            values[f"{metric}_trials"] = classes.len()
        else:
            column = rows["loss_s"] - rows["exit_s"] if metric == "headroom_s" else rows[metric]
            values[metric], values[f"{metric}_sd"] = mean_sd(column)
            values[f"{metric}_trials"] = column.drop_nulls().len()
    return values


def _cells(values: Values, shown: Sequence[str], trials: int | None = None) -> list[str]:
    return [_cell(values, metric, trials) for metric in shown]


def _cell(values: Mapping[str, float | None], metric: str, trials: int | None) -> str:
    """Format a value, and over how many of the trials it is where not over all; a share of few states that itself."""
    counted = values.get(f"{metric}_trials")
    fewer = "" if not counted or counted == trials else f" of {counted:.0f}"
    if metric not in SHARES:
        return mean(values, metric, METRICS[metric][1]) + fewer
    text = share({**values, "judged": counted}, metric.removesuffix("_pct"))
    return text if counted and counted < FEW else text + fewer
