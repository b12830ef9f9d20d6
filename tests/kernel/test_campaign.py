# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns: the same results wherever trials ran, nothing that grows with their number, and no worker missed."""

import hashlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from lab_cluster import scheduler as cluster

from lab.base.errors import UserError
from lab.base.workers import one_pool
from lab.runs.pool import attempt
from lab.runs.trial import Job
from lab.tables.digests import SUMS
from lab.tables.stored_run import Run
from tests.brief import put
from tests.command import lab, lab_ok, press_ctrl_c, running_on, scenario_file, start_two_trials, wait_for
from tests.conftest import SMALL, Bench, experiment_on


def doze(number: int) -> int:
    time.sleep(0.2)
    return number


def test_a_lost_worker_costs_its_trial_a_second_run_and_nothing_else(bench: Bench) -> None:
    experiment = experiment_on(SMALL, "cubic", trials=3, duration_s=2)
    jobs = [bench.job(experiment, "cubic", "lost-worker", number) for number in (1, 2, 3)]
    with one_pool() as pool:
        pool.start(1)
        (victim,) = pool.pids
        watcher = threading.Thread(target=_kill_once_at_work, args=(victim, jobs))
        watcher.start()
        ended = list(pool.run(attempt, jobs, 1))
        watcher.join()
        assert victim not in pool.pids
    assert sorted(job.number for job, outcome in ended if isinstance(outcome, dict)) == [1, 2, 3]
    assert all((job.folder / "trial.json").exists() for job in jobs)


def _kill_once_at_work(victim: int, jobs: list[Job]) -> None:
    drafts = jobs[0].folder.parent
    wait_for(lambda: list(drafts.glob(".*/guest/client.pcapng")), "trial under way", 180)
    os.kill(victim, signal.SIGKILL)


def listening(pid: str) -> set[str]:
    """Return the sockets of a process that wait for TCP connections, none where it has ended."""
    try:
        tables = [Path(f"/proc/{pid}/net/{name}").read_text() for name in ("tcp", "tcp6")]
        files = set(opened(pid))
    except (FileNotFoundError, ProcessLookupError):
        return set()
    rows = [row.split() for table in tables for row in table.splitlines()[1:]]
    return {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"} & files


def opened(pid: str) -> Iterator[str]:
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since
            yield str(file.readlink())


@pytest.mark.usefixtures("kernel")
def test_no_process_of_a_run_on_this_machine_waits_for_connections(tmp_path: Path) -> None:
    results = tmp_path / "results"
    process = start_two_trials(tmp_path)
    try:
        pids = [line.split()[0] for line in running_on(results)]
        assert len(pids) > 4  # the command, two workers, two sandboxes
        assert {pid: found for pid in pids if (found := listening(pid))} == {}
    finally:
        press_ctrl_c(process)
        process.communicate()


def test_a_socket_that_listens_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        assert len(listening("self")) == 1


def test_a_scheduler_whose_connection_is_lost_ends_a_run_in_one_line() -> None:
    there = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with there, cluster.connected(there.scheduler_address) as client:
        ended = cluster.run_on(client, list(range(50)), doze)
        next(ended)
        there.close()
        with pytest.raises(UserError, match=r"^scheduler .*connection lost.*--resume$"):
            list(ended)


def test_a_scheduler_that_does_not_reply_is_one_line(tmp_path: Path) -> None:
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), "--scheduler", "tcp://127.0.0.1:1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "scheduler=tcp://127.0.0.1:1: must be a dask scheduler that replies" in done.stderr
    assert not list((tmp_path / "results").glob("*/*"))  # an empty run would hide an unfinished one from --resume


@pytest.fixture
def without_dask(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which dask cannot be imported."""
    hidden = tmp_path / "hidden"
    for name in ("dask", "distributed"):
        put(hidden / name / "__init__.py", f"raise ModuleNotFoundError('No module named {name}')")
    return {"PYTHONPATH": str(hidden)}


@pytest.mark.usefixtures("kernel")
def test_dask_is_needed_for_a_scheduler_only(tmp_path: Path, without_dask: dict[str, str]) -> None:
    file = str(scenario_file(tmp_path, duration_s=1, trials=1))
    assert lab(tmp_path / "results", "run", file, **without_dask).returncode == 0
    done = lab(tmp_path / "results", "run", file, "--scheduler", "tcp://127.0.0.1:1", **without_dask)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith("--scheduler: dask is not installed: run '")


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
    lab_ok(tmp_path / "here", "run", file, "--jobs", "1")
    lab_ok(tmp_path / "there", "run", file, "--scheduler", elsewhere, "--no-pcap")
    own, other = (digests(Run(tmp_path / where / "mine" / "latest")) for where in ("here", "there"))
    of_capture = ("/client.pcapng.zst", f"/{SUMS}", ".seal")  # the last two are about the capture, too
    captured = [name for name in own if name.endswith(of_capture)]
    assert len(captured) == 6
    assert {name: digest for name, digest in own.items() if name not in captured} == {
        name: digest for name, digest in other.items() if name not in captured
    }
    assert Run(tmp_path / "there" / "mine" / "latest").meta["wall_s"] > 0
