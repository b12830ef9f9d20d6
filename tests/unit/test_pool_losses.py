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
