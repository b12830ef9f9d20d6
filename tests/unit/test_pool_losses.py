# SPDX-License-Identifier: GPL-2.0-or-later
"""A job whose worker is killed each time counts as failed after three attempts, and the other jobs go on."""

import os
import signal
from pathlib import Path

from lab.runs.processes import processes


def work(job: tuple[Path, bool]) -> str:
    file, is_fatal = job
    with file.open("a") as stream:
        stream.write("attempt\n")
    if is_fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_a_job_that_kills_three_workers_counts_as_failed(tmp_path: Path) -> None:
    fatal, fine = (tmp_path / "fatal", True), (tmp_path / "fine", False)
    with processes(work, 1) as pool:
        results = {job[0].name: result for job, result in pool.run([fatal, fine])}
    assert fatal[0].read_text().count("attempt") == 3
    assert "killed 3 times" in results["fatal"]
    assert results["fine"] == "done"


def test_no_worker_is_left_when_the_block_ends() -> None:
    with processes(work, 2) as pool:
        pids = pool.pids
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)  # not even one that waits to be collected


def test_jobs_are_side_by_side_and_a_fault_costs_one_of_them(tmp_path: Path) -> None:
    fine = [(tmp_path / f"fine-{number}", False) for number in range(5)]
    fault = (tmp_path / "no-folder" / "file", False)
    with processes(work, 2) as pool:
        results = {job[0].name: result for job, result in pool.run([fault, *fine])}
    assert results.pop("file").startswith("FileNotFoundError: ")
    assert results == {file.name: "done" for file, _ in fine}
