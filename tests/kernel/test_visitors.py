# SPDX-License-Identifier: GPL-2.0-or-later
"""The authors' SEARCH is a witness: on the same link it leaves slow start on the same ACK as the lab's."""

from dataclasses import replace

import pytest
from rich.console import Console

from lab.commands.visitors import visiting
from lab.kernel.visitors.fetch import is_fetched
from lab.runs.trial import Job, run_trial
from lab.schema.visitor import load_visitors
from lab.tables.stored_trial import Trial
from tests.conftest import Bench, experiment_on
from tests.exact_links import deep

QUIET = Console(quiet=True)
FETCHED = [name for name, each in load_visitors().items() if each.needs is None and is_fetched(name, each)]


@pytest.fixture(scope="module", params=["search31", "search2"])
def pair(request: pytest.FixtureRequest, bench: Bench) -> tuple[Trial, Trial]:
    """One download of the lab's sender and of the authors' over a link on which no loss comes first."""
    ours = str(request.param)
    witness = f"{ours}_authors"
    if witness not in FETCHED:
        pytest.skip(f"{witness} is somebody else's code, so it is in no repository: lab senders fetch {witness}")
    senders, backend = visiting([witness]).built(bench.backend, QUIET)
    experiment = experiment_on(deep(rate_mbps=40, rtt_ms=60), ours, duration_s=4)
    experiment = replace(experiment, ccas={**experiment.ccas, **senders})
    for cca in (ours, witness):
        run_trial(Job(experiment, cca, 1, bench.folder / "witness" / cca, backend))
    return Trial(bench.folder / "witness" / ours), Trial(bench.folder / "witness" / witness)


def test_both_leave_by_their_own_rule_on_the_same_ack(pair: tuple[Trial, Trial]) -> None:
    ours, witness = (trial.exits.filter(flow=1).row(0, named=True) for trial in pair)
    assert (ours["cause"], witness["cause"]) == ("search", "search")
    assert witness["cwnd_pkts"] == ours["cwnd_pkts"]
    assert witness["t_s"] == pytest.approx(ours["t_s"], abs=1e-4)  # ACKs come 0.3 ms apart


def test_a_witness_without_the_labs_tracepoints_has_no_bins(pair: tuple[Trial, Trial]) -> None:
    ours, witness = pair
    assert not ours.bins.is_empty()
    assert witness.bins.is_empty()


@pytest.mark.skipif(not FETCHED, reason="no visitor is fetched: lab senders fetch --all")
def test_each_fetched_visitor_builds_and_passes_the_smoke_test(bench: Bench) -> None:
    senders, backend = visiting(FETCHED).built(bench.backend, QUIET)
    assert list(senders) == FETCHED
    assert {*backend.own_modules} == {sender.module_digest for sender in senders.values()}
    assert {name for name, sender in senders.items() if sender.reports_exit} == {"pcc_allegro", "pcc_vivace"} & {
        *FETCHED
    }
