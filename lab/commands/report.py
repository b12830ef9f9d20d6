# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab report`: a run's tables, figures and page."""

from pathlib import Path

from rich.console import Console

from lab.kernel.build import Kernel
from lab.tables.stored_run import Run


def report(folder: Path, kernel: Kernel | None, console: Console) -> None:
    """Write every form of a run's report, and show the table; without a kernel some figures cannot be drawn."""
    from lab.report.text import shown  # here: what refuses a run need not load what draws it, which takes half a second
    from lab.report.write import write_report

    written = write_report(folder, kernel.replay_library if kernel else None)
    console.print(shown(written.headline, written.tables, console.width))
    if written.unnoticed:
        console.print(written.unnoticed, soft_wrap=True, markup=False)
    for name, path in (
        ("page", written.paths.page),
        ("figures", written.paths.page.parent / "figures"),
        ("summary", written.paths.summary_csv),
        ("raw data", Run(folder).path / "trials"),
    ):
        console.print(f"{name:9} {path}", soft_wrap=True, markup=False)
