# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded download stands beside emulated ones: on the same clock, inside their band or not, and where it lost."""

from pathlib import Path

from ack_logs import text, written
from test_recorded_downloads import model

from tests.command import lab_ok
from tests.stored_run import store_run


def test_the_command_prints_the_tables_and_writes_the_figure(tmp_path: Path) -> None:
    run, log = store_run(tmp_path, trials=2), written(tmp_path, text(model().acks))
    done = lab_ok(tmp_path, "traces", "compare", str(run), str(log), "--out", str(tmp_path / "figures"))
    assert "Share of time inside the band of 2 trials of cubic_plain" in done.stdout
    assert sorted(file.suffix for file in (tmp_path / "figures").iterdir()) == [".pdf", ".png", ".svg"]
