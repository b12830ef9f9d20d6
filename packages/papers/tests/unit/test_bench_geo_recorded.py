# SPDX-License-Identifier: GPL-2.0-or-later
"""The bands of recorded downloads as figures of the docs: each cell stands with its download and its column."""

from pathlib import Path

import pytest
from lab_papers.evaluation.recorded.tables import Sheet

from bench.geo_recorded import figures, main
from lab.base.errors import UserError


def test_each_cell_is_a_figure_of_its_download_and_column() -> None:
    first = Sheet("Inside the band", ("", "RTT", "in flight"), [("a", "67 %", "85 %"), ("mean", "67 %", "")], "")
    second = Sheet("Start of the download", ("", "50 acked (s)"), [("a", "2.30")], "")
    found = {figure["name"]: figure["value"] for figure in figures([first, second])}
    assert found == {
        "a: RTT": "67 %",
        "a: in flight": "85 %",
        "mean: RTT": "67 %",
        "mean: in flight": None,
        "a: 50 acked (s)": "2.30",
    }


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must hold logs"):
        main(str(tmp_path))
