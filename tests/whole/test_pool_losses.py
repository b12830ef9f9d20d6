# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers have what they need and no more; a job that kills each of them fails, and the other jobs go on."""

import os
import signal
from pathlib import Path

import pytest

from lab.base.workers import one_pool, results_or_lines
from tests.processors import ALL, bound_to


def work(job: tuple[Path, bool]) -> str:
    file, is_fatal = job
    with file.open("a") as stream:
        stream.write("attempt\n")
    if is_fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_a_job_that_kills_three_workers_counts_as_failed(tmp_path: Path) -> None:
    fatal, fine = (tmp_path / "fatal", True), (tmp_path / "fine", False)
    results = {job[0].name: result for job, result in results_or_lines(work, [fatal, fine], 1)}
    assert fatal[0].read_text().count("attempt") == 3
    assert "killed 3 times" in results["fatal"]
    assert results["fine"] == "done"


def surroundings(_job: int) -> tuple[int, set[int], str | None, bool]:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    threads = os.environ.get("POLARS_MAX_THREADS")
    return os.getpid(), os.sched_getaffinity(0), threads, signal.SIGINT in blocked


def test_a_worker_has_a_processor_and_polars_thread_alone_and_passes_ctrl_c_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLARS_MAX_THREADS", "7")
    with bound_to(ALL), one_pool() as pool:
        pool.start(len(ALL) + 1)
        pids, found = pool.pids, [result for _, result in pool.run(surroundings, range(20), len(ALL) + 1)]
    assert len(found) == 20
    of_pid = {pid: affinity for pid, affinity, _, _ in found}
    assert set(of_pid) <= set(pids)
    (first,) = of_pid[pids[0]]
    in_turn = [ALL[(ALL.index(first) + number) % len(ALL)] for number in range(len(pids))]
    assert all(affinity == {in_turn[pids.index(pid)]} for pid, affinity in of_pid.items())
    assert {(threads, blocked) for _, _, threads, blocked in found} == {("1", True)}
    assert os.environ["POLARS_MAX_THREADS"] == "7"  # of the command itself
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_variable_that_was_not_set_is_not_set_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    ((_, result),) = results_or_lines(surroundings, [1], 1)
    assert result[2] == "1"
    assert "POLARS_MAX_THREADS" not in os.environ


def test_no_worker_is_left_when_the_block_ends() -> None:
    with one_pool() as pool:
        pool.start(2)
        pids = pool.pids
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)  # not even one that waits to be collected


def test_jobs_are_side_by_side_and_a_fault_costs_one_of_them(tmp_path: Path) -> None:
    fine = [(tmp_path / f"fine-{number}", False) for number in range(5)]
    fault = (tmp_path / "no-folder" / "file", False)
    results = {job[0].name: result for job, result in results_or_lines(work, [fault, *fine], 2)}
    assert results.pop("file").startswith("FileNotFoundError: ")
    assert results == {file.name: "done" for file, _ in fine}


def hungry(_job: int) -> bytearray:
    return bytearray(1 << 62)


def test_a_job_without_memory_states_what_it_was_doing() -> None:
    ((_, result),) = results_or_lines(hungry, [1], 1)
    assert result == "MemoryError: no memory left in hungry of tests/whole/test_pool_losses.py: run with fewer --jobs"


class OddError(Exception):
    def __init__(self, field: str, value: int) -> None:
        super().__init__(f"{field}={value}")


def odd(job: int) -> int:
    if job == 1:
        raise OddError("size", job)
    return job


def test_an_error_that_cannot_be_made_again_costs_its_job_alone() -> None:
    assert dict(results_or_lines(odd, [1, 2], 1)) == {1: "RuntimeError: OddError: size=1", 2: 2}
