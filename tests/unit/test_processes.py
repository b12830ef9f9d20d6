# SPDX-License-Identifier: GPL-2.0-or-later
"""Worker processes: one job at a time, on a processor of their own; a lost one costs its job another run."""

import os
import signal
import time
from pathlib import Path

from lab.runs.processes import processes
from tests.command import wait_for


def square(number: int) -> int:
    return number * number


def doze(number: int) -> int:
    time.sleep(0.2)
    return number


def memory_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def die(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fault(number: int) -> int:
    return number // (number - 2)


def settings(_: int) -> tuple[int, str | None, bool]:
    """Return the number of usable processors, polars' threads, and whether Ctrl-C is blocked."""
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, set())
    return len(os.sched_getaffinity(0)), os.environ.get("POLARS_MAX_THREADS"), blocked


def core(_: int) -> tuple[int, ...]:
    time.sleep(0.05)
    return tuple(os.sched_getaffinity(0))


def test_memory_and_open_files_stay_flat_over_hundreds_of_trials() -> None:
    seen: dict[int, list[tuple[float, int]]] = {}
    with processes(square, 2) as pool:
        for done, (job, result) in enumerate(pool.run(list(range(600))), 1):
            assert result == job * job
            if done in (150, 600):
                seen[done] = [(memory_mb(pid), open_files(pid)) for pid in (os.getpid(), *pool.pids)]
    for (before_mb, before), (after_mb, after) in zip(seen[150], seen[600], strict=True):
        assert after_mb < before_mb + 8
        assert after <= before + 8


def test_a_worker_has_one_processor_and_leaves_ctrl_c_to_the_command() -> None:
    with processes(settings, 2) as pool:
        assert [found for _, found in pool.run([1, 2, 3])] == [(1, "1", True)] * 3


def test_no_worker_outlives_the_pool() -> None:
    with processes(doze, 2) as pool:
        next(pool.run(list(range(10))))
        pids = pool.pids
        assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_job_that_kills_each_of_its_workers_fails_and_the_others_end() -> None:
    with processes(die, 1) as pool:
        results = dict(pool.run([1, 2, 3]))
    assert (results[1], results[3]) == (1, 3)
    assert str(results[2]).startswith("worker: killed 3 times during this trial")


def test_an_unexpected_error_costs_its_job_and_no_other() -> None:
    with processes(fault, 1) as pool:
        assert dict(pool.run([1, 2, 3])) == {1: -1, 2: "ZeroDivisionError: integer division or modulo by zero", 3: 3}


def lose_twice(folder: Path) -> int:
    """Kill the first two workers that run this."""
    losses = len(list(folder.iterdir()))
    if losses < 2:
        (folder / str(losses)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return losses


def refuse(_: int) -> int:
    raise ValueError("first line\nsecond line")


def test_a_job_that_loses_two_workers_gets_its_result_from_the_third(tmp_path: Path) -> None:
    with processes(lose_twice, 2) as pool:
        assert list(pool.run([tmp_path])) == [(tmp_path, 2)]


def test_the_reason_of_a_failed_job_is_one_line() -> None:
    with processes(refuse, 1) as pool:
        assert list(pool.run([1])) == [(1, "ValueError: first line")]


def test_jobs_start_in_their_order_and_each_runs_once() -> None:
    with processes(square, 1) as pool:
        assert list(pool.run([3, 1, 2])) == [(3, 9), (1, 1), (2, 4)]
        assert list(pool.run([])) == []


def test_a_worker_that_is_lost_between_jobs_is_replaced() -> None:
    with processes(square, 1) as pool:
        (lost,) = pool.pids
        os.kill(lost, signal.SIGKILL)
        wait_for(lambda: Path(f"/proc/{lost}/stat").read_text().split()[2] == "Z", "the worker's end", 60)
        assert list(pool.run([4])) == [(4, 16)]
        assert pool.pids != [lost]


def test_starting_workers_changes_neither_ctrl_c_nor_the_environment_of_the_command() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set()), os.environ.get("POLARS_MAX_THREADS")
    with processes(square, 1):
        assert (signal.pthread_sigmask(signal.SIG_BLOCK, set()), os.environ.get("POLARS_MAX_THREADS")) == before


def test_workers_are_spread_over_the_processors() -> None:
    with processes(core, 2) as pool:
        cores = sorted(os.sched_getaffinity(0))
        assert set(dict(pool.run([1, 2, 3, 4])).values()) == {(number,) for number in cores[:2]}
