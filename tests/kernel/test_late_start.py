# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that begins late: its first data come so much later, and the trial states by how much."""

from dataclasses import replace

import pytest

from lab.runs.experiment import Experiment
from lab.tables.downloads import FLOW, first_data_s
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

CLOSE_S = 5e-5  # less than the kernel's slack for a thread


def late_by(most_ms: float) -> Experiment:
    """Return a download over a constant link whose server begins up to so late."""
    experiment = experiment_on(SMALL, "cubic", duration_s=2)
    noise = experiment.profile.noise.model_copy(update={"server_start_ms": most_ms})
    return replace(experiment, profile=experiment.profile.model_copy(update={"noise": noise}))


@pytest.fixture(scope="module")
def trials(bench: Bench) -> dict[float, Trial]:
    return {most_ms: bench.run(late_by(most_ms), "cubic", f"late-{most_ms:g}") for most_ms in (0.0, 4.0, 80.0)}


@pytest.mark.parametrize("most_ms", [4.0, 80.0])
def test_the_first_data_come_later_by_what_was_drawn(trials: dict[float, Trial], most_ms: float) -> None:
    usual_s, late_s = (first_data_s(trials[each].packets, FLOW) for each in (0.0, most_ms))
    assert usual_s is not None
    assert late_s is not None
    drawn_s = trials[most_ms].meta["server_start_s"]
    assert 0 < drawn_s <= most_ms / 1e3 + CLOSE_S
    assert late_s - usual_s == pytest.approx(drawn_s, abs=CLOSE_S)


def test_a_server_that_begins_at_once_has_no_such_field_and_no_check(trials: dict[float, Trial]) -> None:
    assert "server_start_s" not in trials[0.0].meta
    checked = {
        most_ms: [check["name"] for check in trial.meta["certificate"]["checks"]] for most_ms, trial in trials.items()
    }
    assert ["start of the server" in checked[most_ms] for most_ms in checked] == [False, True, True]
    assert all(trial.valid for trial in trials.values())
