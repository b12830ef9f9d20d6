# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials that are stored run only once; the result of each as one row per form."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab_papers.evaluation.search.replay import BASE, capacity_of, class_of, download, exit_of
from rich.console import Console

from bench.versions.forms import FORMS, experiment
from lab.backends.virtual import Virtual
from lab.judge.outcome import outcome
from lab.judge.registry import LASTING
from lab.links.profile import Profile
from lab.runs.options import RunOptions
from lab.runs.pool import run_jobs
from lab.runs.trial import Job
from lab.schema.cca import Cca, load_ccas
from lab.tables.stored_trial import Trial

RULE = "latency_offset"  # of the capacity that senders could know; exits are judged by the queue
Row = dict[str, Any]


def jobs(link: str, senders: dict[str, Cca], trials: int, folder: Path, backend: Virtual) -> list[Job]:
    """Build every trial over a link."""
    built = experiment(link, senders, trials)
    place = folder / f"{link}-{_digest(built.profile)}"
    return [
        Job(built, name, number, place / f"{name}-{number:03d}", backend, keep_capture=False)
        for number in range(1, trials + 1)
        for name in senders
    ]


def _digest(profile: Profile) -> str:
    """Digest a profile: trials over one that has changed since are no trials of this link."""
    return hashlib.sha256(profile.model_dump_json().encode()).hexdigest()[:8]


def run(wanted: list[Job], console: Console) -> list[Job]:
    """Run the trials without a stored result; returns those that have one, and prints each reason for none once."""
    missing = [job for job in wanted if not _stored(job)]
    reasons: dict[str, int] = {}
    for job, result in run_jobs(missing, RunOptions()):
        if isinstance(result, str):
            reasons[result] = reasons.get(result, 0) + 1
            if reasons[result] == 1:
                console.print(f"{job.folder.parent.name}/{job.folder.name}: {result}", markup=False)
    for result, count in reasons.items():
        console.print(f"{count} of {len(missing)} trials failed: {result}", markup=False)
    return [job for job in wanted if _stored(job)]


def _stored(job: Job) -> bool:
    return (job.folder / "trial.json").exists()


def replayed_rows(folder: Path, link: str, forms: list[str], library: Path) -> Iterator[Row]:
    """Generate one row per form: its exit over a download without HyStart; none of an invalid trial."""
    trial = Trial(folder)
    if not trial.valid:
        return
    by_rule = {row["heuristic"]: row for row in outcome(trial)}
    one = download(trial, RULE, by_rule[RULE], by_rule["truth"])
    for name in forms:
        left = exit_of(library, one, FORMS[name].replayed(library))
        judged = {"exit_class": class_of(one, left, "truth"), "capacity_s": one.capacity_s["truth"]}
        lasting = {"lasting_class": class_of(one, left, LASTING), "lasting_s": capacity_of(one, left, LASTING)}
        found = {"exit_s": left.t_s, "exit_cause": left.cause} if left else {"exit_s": None, "exit_cause": None}
        row = _row(trial, link, name, found | judged | {"loss_s": one.loss_s})
        yield row | lasting | {"cwnd_pkts": left.cwnd_pkts if left else None}


def module_row(folder: Path, link: str) -> Row | None:
    """Return the row of one whole trial; `queue_ms` is the time that the mean backlog takes to leave."""
    trial = Trial(folder)
    if not trial.valid:
        return None
    (found,) = (row for row in outcome(trial) if row["heuristic"] == "truth")
    backlog_bytes = trial.qdisc["backlog_bytes"].mean()
    queue_ms = backlog_bytes * 8e-3 / trial.meta["rate_mbps"] if isinstance(backlog_bytes, float) else None
    return _row(trial, link, trial.cca, dict(found)) | {
        "throughput_mbps": found["throughput_mbps"],
        "retransmits_pkts": found["retransmits_pkts"],
        "queue_ms": queue_ms,
    }


def _row(trial: Trial, link: str, form: str, found: Row) -> Row:
    exit_s, capacity_s, loss_s = (found[name] for name in ("exit_s", "capacity_s", "loss_s"))
    after_s = None if exit_s is None or capacity_s is None else exit_s - capacity_s
    return {
        "link": link,
        "trial": trial.number,
        "form": form,
        "exit_class": None if found["exit_class"] is None else str(found["exit_class"]),
        "exit_cause": found["exit_cause"],
        "exit_s": exit_s,
        "capacity_s": capacity_s,
        "loss_s": loss_s,
        "after_rtts": None if after_s is None else after_s * 1e3 / trial.meta["base_rtt_ms"],
    }


def plain() -> dict[str, Cca]:
    """Return the sender whose downloads are replayed."""
    return {BASE: load_ccas()[BASE]}


def modules(forms: list[str]) -> dict[str, Cca]:
    """Return the senders of whole trials."""
    return {name: FORMS[name].cca(name) for name in forms}
