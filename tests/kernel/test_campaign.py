# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns: the same results wherever trials ran, nothing that grows with their number, and no worker missed."""

import hashlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from lab.base.errors import UserError
from lab.runs import cluster, pool
from lab.runs.trial import Job
from lab.tables.stored_run import Run
from tests.command import lab, scenario_file, wait_for
from tests.conftest import SMALL, Bench, experiment_on


def square(number: int) -> int:
    return number * number


def doze(number: int) -> int:
    time.sleep(0.2)
    return number


def memory_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


# By hand: over 10,000, 102 MB became 108 and 41 open files 45, of the command; of a worker, 99 became 101 and 18, 19.
def test_memory_and_open_files_stay_flat_over_hundreds_of_trials() -> None:
    seen: dict[int, list[tuple[float, int]]] = {}
    with cluster.local(2) as client:
        processes = [os.getpid(), *cluster.worker_pids(client)]
        for done, (job, result) in enumerate(pool.run_on(client, list(range(600)), square), 1):
            assert result == job * job
            if done in (150, 600):
                seen[done] = [(memory_mb(pid), open_files(pid)) for pid in processes]
    for (before_mb, before), (after_mb, after) in zip(seen[150], seen[600], strict=True):
        assert after_mb < before_mb + 8
        assert after <= before + 8


def test_a_lost_worker_costs_its_trial_a_second_run_and_nothing_else(bench: Bench) -> None:
    experiment = experiment_on(SMALL, "cubic", trials=3, duration_s=2)
    jobs = [bench.job(experiment, "cubic", "lost-worker", number) for number in (1, 2, 3)]
    with cluster.local(1) as client:
        (victim,) = cluster.worker_pids(client)
        watcher = threading.Thread(target=_kill_once_at_work, args=(victim, jobs))
        watcher.start()
        ended = list(pool.run_on(client, jobs, pool.attempt))
        watcher.join()
        assert victim not in cluster.worker_pids(client)
    assert sorted(job.number for job, outcome in ended if isinstance(outcome, dict)) == [1, 2, 3]
    assert all((job.folder / "trial.json").exists() for job in jobs)


def _kill_once_at_work(victim: int, jobs: list[Job]) -> None:
    drafts = jobs[0].folder.parent
    wait_for(lambda: list(drafts.glob(".*/client.pcapng")), "trial under way", 180)
    os.kill(victim, signal.SIGKILL)


def test_a_scheduler_that_goes_away_ends_a_run_in_one_line() -> None:
    there = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with there, cluster.remote(there.scheduler_address) as client:
        ended = pool.run_on(client, list(range(50)), doze)
        next(ended)
        there.close()
        with pytest.raises(UserError, match=r"^scheduler .*went away.*--resume$"):
            list(ended)


def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), "--scheduler", "tcp://127.0.0.1:1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "scheduler=tcp://127.0.0.1:1: must be a dask scheduler that answers" in done.stderr


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """A cluster that somebody else brought up."""
    there = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with there, Client(there, set_as_default=False):
        yield str(there.scheduler_address)


def digests(run: Run) -> dict[str, str]:
    files = sorted(file for file in (run.path / "trials").rglob("*") if file.is_file())
    return {str(file.relative_to(run.path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.usefixtures("kernel")
def test_results_are_the_same_bit_for_bit_whatever_ran_where(tmp_path: Path, elsewhere: str) -> None:
    file = str(scenario_file(tmp_path, duration_s=1))
    here = lab(tmp_path / "here", "run", file, "--jobs", "1")
    assert here.returncode == 0, here.stderr
    there = lab(tmp_path / "there", "run", file, "--scheduler", elsewhere, "--no-pcap")
    assert there.returncode == 0, there.stderr
    own, other = (digests(Run(tmp_path / where / "mine" / "latest")) for where in ("here", "there"))
    assert {name: digest for name, digest in own.items() if not name.endswith(".pcapng.zst")} == other
    assert len(own) == len(other) + 2
    assert Run(tmp_path / "there" / "mine" / "latest").meta["wall_s"] > 0
