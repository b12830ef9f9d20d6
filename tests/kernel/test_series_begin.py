# SPDX-License-Identifier: GPL-2.0-or-later
"""Series begin with the trial, with the download's SYN at the server, or with the first data that the server sends."""

from dataclasses import replace

import polars as pl
import pytest

from lab.links.models import Schedule
from lab.node.traffic.series_begin import AHEAD_NS
from lab.tables.downloads import FLOW, first_data_s
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

ONE_WAY_S, SLOWER_FROM_S = 0.05, 1.0
STEPS = [{"from_s": 0, "value": 20}, {"from_s": SLOWER_FROM_S, "value": 5}]
CLOSE_S = 2e-4


@pytest.fixture(scope="module")
def trials(bench: Bench) -> dict[str, Trial]:
    rate = Schedule.model_validate({"model": "schedule", "source": "a test", "steps": STEPS})
    experiment = experiment_on(SMALL, "cubic_plain", duration_s=2)
    down = experiment.profile.down.model_copy(update={"rate_mbps": rate})
    profile = experiment.profile.model_copy(update={"down": down})
    return {
        begin: bench.run(
            replace(experiment, profile=profile.model_copy(update={"series_begin": begin})), "cubic_plain", begin
        )
        for begin in ("syn", "data")
    }


def begin_s(trial: Trial) -> float:
    """Return when the rate's series begins, since the SYN at the client."""
    rate = trial.table("link").filter(pl.col("quantity") == "down.rate_mbps")
    assert rate["value"].to_list() == [20, 5]
    assert rate["t_s"][1] - rate["t_s"][0] == pytest.approx(SLOWER_FROM_S)
    return float(rate["t_s"][0])


def test_a_series_begins_with_the_syn_or_the_first_data_in_valid_trials(trials: dict[str, Trial]) -> None:
    assert begin_s(trials["syn"]) == pytest.approx(ONE_WAY_S + AHEAD_NS / 1e9, abs=CLOSE_S)
    arrived_s = first_data_s(trials["data"].packets, FLOW)
    assert arrived_s is not None
    frame_s = 1514 * 8 / (trials["data"].meta["rate_mbps"] * 1e6)  # until its series begins the link has its mean rate
    sent_s = arrived_s - ONE_WAY_S - frame_s
    assert begin_s(trials["data"]) == pytest.approx(sent_s + AHEAD_NS / 1e9, abs=CLOSE_S)
    assert all(trial.valid for trial in trials.values())
