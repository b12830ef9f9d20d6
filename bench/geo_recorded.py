# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded GEO downloads inside the band of emulated ones, for the page of measurements: `make bench-geo-recorded`.

`BENCH=FOLDER` takes the logs from a folder; without it those that `lab traces fetch` has fetched. The newest stored run
of geo-recorded is compared, and run where there is none.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab_papers.evaluation.recorded.comparison import SCENARIO, compare_recorded
from lab_papers.evaluation.recorded.tables import Sheet, sheets

from bench.measured import Figure, store
from lab.base import paths
from lab.base.errors import UserError
from lab.runs.run_folder import LATEST

SHOWN = ("Inside the band", "Start of the download")


def figures(shown: Sequence[Sheet]) -> Iterator[Figure]:
    """Give every cell of the tables, by download."""
    for sheet in shown:
        for name, *cells in sheet.rows:
            for column, cell in zip(sheet.header[1:], cells, strict=True):
                yield {"name": f"{name}: {column}", "value": cell or None, "unit": ""}


def run() -> Path:
    """Return the newest stored run; run the scenario where none is stored."""
    folder = paths.results() / SCENARIO / LATEST
    if not folder.exists() and (
        status := subprocess.run([sys.executable, "-m", "lab", "run", SCENARIO, "--no-pcap"], check=False).returncode
    ):
        raise UserError(f"lab run {SCENARIO}: status={status}: must be 0")
    return folder


def main(folder: str | None = None) -> None:
    """Compare and store."""
    logs = sorted(map(str, Path(folder).glob("*.csv"))) if folder else []
    if folder and not logs:
        raise UserError(f"{folder}: must hold logs, as *.csv")
    shown = [sheet for sheet in sheets(compare_recorded(run(), logs)) if sheet.title in SHOWN]
    print(store("geo-recorded", "make bench-geo-recorded", list(figures(shown))))


if __name__ == "__main__":
    main(*sys.argv[1:2])
