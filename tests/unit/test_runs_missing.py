# SPDX-License-Identifier: GPL-2.0-or-later
"""Which trials of a run are missing, and the room that they need on the disk and in memory."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.backends.backend import Site
from lab.base.errors import UserError
from lab.runs import missing, sizes
from lab.runs.options import RunOptions
from lab.runs.plan import draw, make_plan
from tests.conftest import SMALL, experiment_on
from tests.stored_run import store_run
from tests.unit.test_runs_that_fail import results, site, small

__all__ = ["results", "site"]  # fixtures


def test_a_trial_that_is_whole_is_not_missing_and_a_damaged_one_is(tmp_path: Path, site: Site) -> None:
    folder = store_run(tmp_path, trials=2, senders=("cubic", "cubic_plain"))
    (folder / "trials" / "cubic-002" / "acks.parquet").write_bytes(b"damaged")
    found = missing.missing_trials(small(), folder, site.backend, RunOptions(keep_capture=False))
    assert [(job.cca, job.number, job.keep_capture) for job in found] == [("cubic", 2, False)]
    assert found[0].folder == folder / "trials" / "cubic-002"


def free(monkeypatch: pytest.MonkeyPatch, free_bytes: float) -> None:
    usage: Callable[[Path], object] = lambda _: type("Usage", (), {"free": free_bytes})  # noqa: E731
    monkeypatch.setattr("shutil.disk_usage", usage)


@pytest.mark.parametrize(
    ("options", "packets"),
    [
        (RunOptions(workers=1), 1 + 0.08 * 3),
        (RunOptions(workers=8), 3 + 0.08 * 3),  # no more at the same time than there are
        (RunOptions(workers=1, keep_capture=False), 1 + 0.025 * 3),
    ],
)
def test_the_disk_must_hold_running_trials_and_the_share_that_stays(
    results: Path, monkeypatch: pytest.MonkeyPatch, options: RunOptions, packets: float
) -> None:
    """20 Mb/s of 1,500 bytes for one second, half as much again, 200 bytes per packet."""
    needed = 1.5 * 20e6 / 8 / 1500 * 200 * packets
    free(monkeypatch, needed)
    missing.require_space(small(), 3, options)
    free(monkeypatch, needed - 1)
    with pytest.raises(UserError, match=rf"^{results.parent}: free_bytes=.*: must be {round(needed)} for 3 trials$"):
        missing.require_space(small(), 3, options)


def test_a_link_that_needs_more_memory_than_the_machine_has_is_refused_where_the_kernel_is_virtual(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing, "machine_mb", lambda: 100)
    with pytest.raises(UserError, match=r"memory_mb=\d+: must be at most 100, the memory .* for 1 trials at a time"):
        missing.require_memory(small(), site.backend, RunOptions(workers=1))
    missing.require_memory(small(), site.backend, RunOptions(scheduler="tcp://elsewhere:1"))
    missing.require_memory(small(), replace(site.backend, kind="host"), RunOptions())  # type: ignore[type-var]
    monkeypatch.setattr(missing, "machine_mb", lambda: 100_000)
    missing.require_memory(small(), site.backend, RunOptions())


@pytest.mark.parametrize(("jobs", "workers"), [(2, 2), (64, 6)])  # three trials of two senders need six workers at most
def test_each_worker_needs_the_memory_of_its_kernel_and_its_own(
    site: Site, monkeypatch: pytest.MonkeyPatch, jobs: int, workers: int
) -> None:
    experiment = experiment_on(SMALL, "cubic", "search", trials=3)
    (kernel_mb,) = {make_plan(experiment, cca, draw(experiment, 1))["memory_mb"] for cca in experiment.ccas.values()}
    needed_mb = workers * sizes.worker_mb(kernel_mb)
    monkeypatch.setattr(missing, "machine_mb", lambda: needed_mb)
    missing.require_memory(experiment, site.backend, RunOptions(workers=jobs))
    monkeypatch.setattr(missing, "machine_mb", lambda: needed_mb - 1)
    with pytest.raises(UserError, match=rf"memory_mb={needed_mb}: must be .* for {workers} trials .*: fewer --jobs$"):
        missing.require_memory(experiment, site.backend, RunOptions(workers=jobs))
