# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebook makes, from the stored tables, what the report makes."""

from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
from lab_papers.index.execute import execute

from lab.base.paths import REPO
from lab.report.write import write_report
from tests.stored_run import store_run


def test_executed_from_top_to_bottom_it_writes_the_summary_and_figures_of_the_report(tmp_path: Path) -> None:
    run, out = store_run(tmp_path / "results", trials=1), tmp_path / "out"
    notebook = tmp_path / "notebook.ipynb"
    jupytext.write(jupytext.read(REPO / "analysis" / "01-geo-exit.py"), notebook)
    with TemporaryDirectory() as sockets:
        execute(notebook, tmp_path / "executed.ipynb", Path(sockets), {"run_dir": str(run), "out_dir": str(out)})
    report = write_report(run, ("png", "pdf"))
    for file in [path for path in report if path.name == "summary.csv" or path.parent.name == "figures"]:
        assert (out / file.name).read_bytes() == file.read_bytes(), file.name
