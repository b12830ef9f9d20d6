# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials packed into the page: one compressed text each, unpacked by the browser when it is picked."""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cache, partial
from pathlib import Path
from typing import TypedDict, cast

import polars as pl

from lab.base import seal
from lab.base.plain_file import MEGABYTE
from lab.base.workers import each_in_processes
from lab.judge.outcome import Outcome
from lab.judge.registry import LASTING, TRUTH, label, rule_of
from lab.report.browser import series as series_module
from lab.report.browser.series import QUANTITIES, series
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial

MOST_KEPT_BYTES = 50 * MEGABYTE
FEW = 8  # trials for each process
KEPT = "browser.json.gz"  # next to a trial's tables: what was packed
Times = Mapping[str, float | None]


class Panel(TypedDict):
    """One panel of the chart."""

    name: str
    label: str
    unit: str


class SenderLook(TypedDict):
    """How the browser shows a sender."""

    label: str
    colour: str


class BrowsedTrial(TypedDict):
    """One trial in the browser; `data` is its packed series, in base64."""

    group: str
    cca: str
    trial: int
    valid: bool
    exit_class: str | None
    threshold_pct: int | None
    cause: str | None
    end_s: float
    moments: Times
    rule: str
    data: str


class Browsed(TypedDict):
    """All that the browser of a page shows."""

    quantities: list[Panel]
    senders: dict[str, SenderLook]
    trials: list[BrowsedTrial]


MOMENTS = ("capacity_s", "true_capacity_s", "lasting_s", "exit_s", "loss_s")


def browsed(runs: Iterable[tuple[Run, pl.DataFrame, str]]) -> Browsed:
    """Return all that the browser of a page shows: every judged trial of runs given with their outcomes and names."""
    trials: list[BrowsedTrial] = []
    senders: dict[str, SenderLook] = {}
    for run, outcomes, name in runs:
        trials += packed(run.trials, outcomes, name, rule_of(run.scenario))
        senders |= {stanza["name"]: {"label": stanza["label"], "colour": stanza["colour"]} for stanza in run.ccas}
    quantities: list[Panel] = [{"name": each.name, "label": each.label, "unit": each.unit} for each in QUANTITIES]
    return {"quantities": quantities, "senders": senders, "trials": trials}


def packed(trials: Iterable[Trial], outcomes: pl.DataFrame, group: str, rule: str) -> Iterable[BrowsedTrial]:
    """Pack trials of a run that have been judged, in the order given.

    group: the run's name in the browser's list; rule: the at-capacity rule that is shown next to the truth.
    """
    judged = dict(iter(outcomes.group_by(["cca", "trial"])))
    found = [(trial, judged.get((trial.cca, trial.number))) for trial in trials]
    shown = [(trial, cast("list[Outcome]", rows.to_dicts())) for trial, rows in found if rows is not None]
    return each_in_processes(partial(_entry, group=group, rule=rule), shown, FEW)


def _entry(shown: tuple[Trial, list[Outcome]], group: str, rule: str) -> BrowsedTrial:
    given, rows = shown
    trial = copy(given)  # with the tables that it reads: of one trial at a time
    by_rule = {row["heuristic"]: row for row in rows}
    ruled, true, lasting = (by_rule[name] for name in (rule, TRUTH, LASTING))
    found_s = (ruled["capacity_s"], true["capacity_s"], lasting["capacity_s"], true["exit_s"], true["loss_s"])
    moments = dict(zip(MOMENTS, found_s, strict=True))
    known = [value for value in moments.values() if value is not None]
    data = _packed(trial, moments, max(known, default=None))
    return {
        "group": group,
        "cca": trial.cca,
        "trial": trial.number,
        "valid": trial.valid,
        "exit_class": lasting["exit_class"],
        "threshold_pct": None if trial.bins.is_empty() else trial.parameter("threshold_pct"),
        "cause": true["exit_cause"],
        "end_s": trial.end_s,
        "moments": moments,
        "rule": label(rule),
        "data": base64.b64encode(data).decode(),
    }


def _packed(trial: Trial, moments: Times, last_s: float | None) -> bytes:
    """Return what was packed before, where the trial's files, the moments and the code are the same; else pack."""
    about = json.dumps([_source_digest(), moments, sorted(map(sorted, trial.digests.values()))])
    if (data := seal.kept(trial.path / KEPT, MOST_KEPT_BYTES, about)) is None:
        data = gzip.compress(json.dumps(series(trial, last_s), separators=(",", ":")).encode(), 6, mtime=0)
        seal.keep(trial.path / KEPT, data, about)
    return data


@cache
def _source_digest() -> str:
    """Digest of the source that thins."""
    return hashlib.sha256(Path(series_module.__file__).read_bytes()).hexdigest()[:16]
