# SPDX-License-Identifier: GPL-2.0-or-later
"""The authors' SEARCH 3.1 is a witness: on the same link it leaves slow start as the lab's search31 does."""

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

WITNESS, OURS = "search31_authors", "search31"


@pytest.fixture(scope="module")
def trials(bench: Bench) -> dict[str, Trial]:
    """One download of each over a link on which no loss comes first."""
    if not is_fetched(WITNESS, load_visitors()[WITNESS]):
        pytest.skip(f"{WITNESS} is somebody else's code, so it is in no repository: lab senders fetch {WITNESS}")
    senders, backend = visiting([WITNESS]).built(bench.backend, Console(quiet=True))
    experiment = experiment_on(deep(rate_mbps=40, rtt_ms=60), OURS, duration_s=4)
    experiment = replace(experiment, ccas={**experiment.ccas, **senders})
    for cca in (OURS, WITNESS):
        run_trial(Job(experiment, cca, 1, bench.folder / "witness" / cca, backend))
    return {cca: Trial(bench.folder / "witness" / cca) for cca in (OURS, WITNESS)}


def test_both_leave_by_their_own_rule_on_the_same_ack(trials: dict[str, Trial]) -> None:
    ours, witness = (trials[cca].exits.filter(flow=1).row(0, named=True) for cca in (OURS, WITNESS))
    assert (ours["cause"], witness["cause"]) == ("search", "search")
    assert witness["cwnd_pkts"] == ours["cwnd_pkts"]
    assert witness["t_s"] == pytest.approx(ours["t_s"], abs=1e-4)  # ACKs come 0.3 ms apart


def test_a_witness_without_the_labs_tracepoints_has_no_bins(trials: dict[str, Trial]) -> None:
    assert not trials[OURS].bins.is_empty()
    assert trials[WITNESS].bins.is_empty()
