# SPDX-License-Identifier: GPL-2.0-or-later
"""A format of recordings is added as one file: a profile that uses it passes `lab check`, runs, and is on the page."""

from pathlib import Path

from test_new_importer import write_files

from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from tests.command import lab_ok


def test_a_recording_in_an_added_format_drives_a_link_to_the_page(tmp_path: Path, kernel: Kernel) -> None:
    assert kernel
    results, mine = tmp_path / "results", write_files(tmp_path)
    lab_ok(results, "check", **mine)
    options = ["--profile", "my-link", "--cca", "cubic_plain", "--trials", "1", "--duration", "3"]
    lab_ok(results, "run", *options, **mine)
    (trial,) = Run(results / "try-my-link/latest").trials
    assert trial.valid, trial.meta["certificate"]
    assert trial.link.table["value"].n_unique() > 2
    assert "by my modem" in (results / "try-my-link/latest/report.html").read_text()
