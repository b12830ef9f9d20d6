# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials over QUIC for tests, whichever stack they run on."""

from dataclasses import replace

import pytest
from lab_quic.way import QUIC
from rich.console import Console

from lab.backends.records import TrialError
from lab.commands.prepare import prepared
from lab.judge.outcome import outcome
from lab.links.profile import Profile
from lab.runs.experiment import Experiment
from lab.runs.trial import Job, run_trial
from lab.tables.digests import SUMS
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.exact_links import silent


def senders_on(stack: str) -> tuple[str, ...]:
    return tuple(name for name, sender in QUIC.senders().items() if sender.stack == stack)


def over_quic(
    profile: Profile, cca: str, bench: Bench, duration_s: int = 3, workload: object = None, **params: int
) -> tuple[Experiment, Job]:
    """Return an experiment of one sender over QUIC, with parameters of its controller, and its first trial."""
    plain = experiment_on(profile, "search", duration_s=duration_s, workload=workload)
    scenario = plain.scenario.model_copy(update={"ccas": [cca]})
    sender = QUIC.senders()[cca].model_copy(update={"params": params})
    experiment = replace(plain, scenario=scenario, ccas={cca: sender})
    experiment, backend = prepared(experiment, bench.backend, Console(quiet=True))
    return experiment, Job(experiment, cca, 1, bench.folder / "quic" / cca, backend)


def run(profile: Profile, cca: str, bench: Bench, name: str, duration_s: int = 3, workload: object = None) -> Trial:
    """Run a trial in a folder of this name, or return the one that is there."""
    _, job = over_quic(profile, cca, bench, duration_s, workload)
    job = replace(job, folder=bench.folder / name / cca)
    if not job.folder.exists():
        run_trial(job)
    return Trial(job.folder)


def require_the_same_twice(bench: Bench, cca: str, first: str, second: str) -> None:
    """Byte for byte, handshake and qlogs included."""
    sums = [(run(SMALL, cca, bench, name).path / SUMS).read_text() for name in (first, second)]
    assert "client.pcapng.zst" in sums[0]
    assert "server.qlog.zst" in sums[0]
    assert sums[0] == sums[1]


def require_certified_and_judged(trial: Trial) -> None:
    assert [check for check in trial.meta["certificate"]["checks"] if not check["ok"]] == []
    assert trial.meta["flows"][0]["bytes"] > 2_000_000
    assert {row["heuristic"]: row["loss_agrees"] for row in outcome(trial)}["truth"]


def line_without_an_answer(bench: Bench, cca: str) -> str:
    """Run a trial whose handshake no answer reaches."""
    _, job = over_quic(silent(0.001, 60.0), cca, bench, duration_s=40)
    with pytest.raises(TrialError) as error:
        run_trial(job)
    return str(error.value)
