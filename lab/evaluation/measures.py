# SPDX-License-Identifier: GPL-2.0-or-later
"""What senders are compared by: one value per trial and measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from lab.base.stats import AtLeast
from lab.judge.classify import ExitClass
from lab.judge.copies import distinct
from lab.judge.digest import OBJECT_BYTES
from lab.judge.registry import LASTING, rule_of
from lab.judge.stored import Stored
from lab.tables.downloads import RIVAL

REFERENCE = "cubic"  # whom harm is done to, and with whom it is compared (RFC 9743, 5.2.1)

UNITS = {"Mb/s": "mbps", "s": "s", "ms": "ms", "packets": "pkts", "%": "pct"}  # in names of columns
Values = dict[str, list[float | None]]  # of each sender, by trial from the first on


@dataclass(frozen=True)
class Measure:
    """One choice of what senders are ranked by; `binary`: each trial's value is 0 or 1."""

    name: str
    title: str
    short: str  # with its unit, in the header of a table
    meaning: str
    unit: str
    more_is_better: bool = False
    binary: bool = False
    size_bytes: int | None = None  # of a measure that is the time for an object
    shared: bool = False  # ranks senders on links with a rival, the others on links without
    column: str = ""  # of summary.csv, which has its mean: sources publish it

    @property
    def with_unit(self) -> str:
        """Return its name as that of a column of numbers, with the unit."""
        return self.name if self.binary else f"{self.name}_{UNITS[self.unit]}"


def _object(size_bytes: int, size: str) -> Measure:
    meaning = (
        f"seconds from the SYN until the client had the first {size} of the download, in order; where it never had "
        "them, the end of the download: a lower bound"
    )
    return Measure(f"object_{size_bytes}", f"Time for {size}", f"{size} (s)", meaning, "s", size_bytes=size_bytes)


MEASURES = (
    Measure(
        "chokepoint",
        "At the chokepoint",
        "Choke- point",
        "share of the judged trials that left slow start after the queue stayed filled for good and before a loss, by "
        "the true queue",
        "%",
        more_is_better=True,
        binary=True,
        column="chokepoint_pct",
    ),
    Measure(
        "rule",
        "At the chokepoint, by the papers' rule",
        "By rule",
        "the same, with the capacity inferred as the papers do, by the at-capacity rule of the scenario",
        "%",
        more_is_better=True,
        binary=True,
        column="chokepoint_pct",
    ),
    Measure(
        "throughput",
        "Throughput",
        "Mb/s",
        "goodput of the whole download",
        "Mb/s",
        more_is_better=True,
        column="throughput_mbps",
    ),
    _object(100_000, "100 kB"),
    _object(1_000_000, "1 MB"),
    _object(5_000_000, "5 MB"),
    _object(20_000_000, "20 MB"),
    Measure(
        "queueing",
        "Queueing delay",
        "Queue (ms)",
        "mean wait at the bottleneck over the download, from its sampled queue; on a link that changes, a wait counts "
        "until 10 s after the download",
        "ms",
    ),
    Measure(
        "retransmits",
        "Retransmissions",
        "Re- sent",
        "segments that the sender's kernel retransmitted",
        "packets",
        column="retransmits_pkts",
    ),
    Measure(
        "harm",
        "Harm to CUBIC",
        "Harm (%)",
        "what a CUBIC that downloads at the same time loses, in percent of its throughput next to another CUBIC on the "
        "same link and trial (RFC 9743, 5.2.1)",
        "%",
        shared=True,
    ),
)
PRIMARY = MEASURES[0].name
RULE = MEASURES[1].name
BY_NAME = {measure.name: measure for measure in MEASURES}


def judge_of(measure: Measure, stored: Stored) -> str:
    """Return the at-capacity rule that a measure follows."""
    return rule_of(stored.run.scenario) if measure.name == RULE else LASTING


def values(stored: Stored, measures: Sequence[Measure] = MEASURES) -> dict[str, Values]:
    """Return the values of every measure that a run has: an invalid trial, or one without the value, is None.

    So are copies: of a sender whose trials are all the same only the first counts (lab.judge.copies).
    """
    trials = stored.judged.trials.filter("valid")
    counted = set(distinct(trials).select("cca", "trial").iter_rows())
    found: dict[str, Values] = {}
    for measure in measures:
        if by_trial := _of_measure(measure, stored, trials):
            found[measure.name] = _in_order(stored, {key: by_trial[key] for key in counted & by_trial.keys()})
    return found


Key = tuple[str, int]  # sender and number of the trial


def _of_measure(measure: Measure, stored: Stored, trials: pl.DataFrame) -> Mapping[Key, float | None]:
    if measure.size_bytes:
        return _object_s(trials, measure.size_bytes)
    if measure.name == "harm":
        return _harm_pct(stored, trials)
    if measure.name == "queueing":
        return _column(trials, "wait_ms")
    outcomes = stored.judged.outcomes.filter("valid", pl.col("heuristic") == judge_of(measure, stored))
    if not measure.binary:  # as in lab/judge/summary.py: all retransmissions of a sender are known, or none counts
        whole = outcomes.filter(pl.col(measure.column).is_not_null().all().over("cca"))
        return _column(whole, measure.column)
    missed = pl.col("contradiction").is_not_null() | (pl.col("exit_class") != str(ExitClass.CHOKEPOINT))
    return _column(outcomes.with_columns(hit=(~missed).cast(pl.Float64)), "hit")


def _column(table: pl.DataFrame, name: str) -> dict[Key, float | None]:
    return {(cca, trial): value for cca, trial, value in table.select("cca", "trial", name).rows()}


def _object_s(trials: pl.DataFrame, size_bytes: int) -> dict[Key, float | None]:
    """Return the times of an object; none at all where no download had it whole."""
    place = size_bytes // OBJECT_BYTES - 1
    rows = trials.select("cca", "trial", "download_s", "end_s").rows()
    times = {(cca, trial): AtLeast(end_s) if had[place] is None else had[place] for cca, trial, had, end_s in rows}
    return {} if all(isinstance(time_s, AtLeast) for time_s in times.values()) else times


def _harm_pct(stored: Stored, trials: pl.DataFrame) -> dict[Key, float | None]:
    """Return what the rival lost in each trial; none where the reference did not run, or the rival is another."""
    if stored.run.scenario.get("rival") != REFERENCE:
        return {}
    valid = set(trials.select("cca", "trial").iter_rows())
    left = {
        (trial.cca, trial.number): flow["throughput_mbps"]
        for trial in stored.run.trials
        for flow in trial.meta["flows"]
        if flow["flow"] == RIVAL and (trial.cca, trial.number) in valid
    }
    usual = {number: rate for (cca, number), rate in left.items() if cca == REFERENCE}
    return {
        (cca, number): 100 * (1 - rate / usual[number]) if usual.get(number) else None
        for (cca, number), rate in left.items()
        if usual
    }


def _in_order(stored: Stored, by_trial: Mapping[Key, float | None]) -> Values:
    scenario = stored.run.scenario
    numbers = range(1, len(stored.run.meta["seeds"]) + 1)
    return {cca: [by_trial.get((cca, number)) for number in numbers] for cca in scenario["ccas"]}
