# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording is drawn as it is: nothing bridged, nothing wider than the terminal, and the figure with it."""

from pathlib import Path

from tests.command import lab
from tests.traces_real import FOLDER as REAL
from tests.traces_real import needs_real, real
from tests.unit.test_traces_show import WIDTH


@needs_real
def test_the_command_draws_in_80_columns_and_writes_both_files(tmp_path: Path) -> None:
    file = real("wifi-cell-sparktraces/Hairpin/wifi/trace1.log")
    done = lab(tmp_path, "traces", "show", str(file), "--out", str(tmp_path), COLUMNS="80")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines if not line.startswith("/")) <= WIDTH
    assert {Path(line).suffix for line in lines[-3:]} == {".svg", ".png", ".pdf"}
    assert all(Path(line).stat().st_size > 10_000 for line in lines[-2:])
    assert "usage, no capacity" in done.stdout


@needs_real
def test_a_recording_by_name_wants_to_be_fetched_first_and_is_then_imported_once(tmp_path: Path) -> None:
    name, environment = "lte-mahimahi/Verizon-LTE-short.up", {"LAB_CACHE": str(tmp_path / "cache")}
    before = lab(tmp_path, "traces", "show", name, **environment)
    assert (before.returncode, before.stderr) == (2, f"{name}: not fetched yet: run 'lab traces fetch {name}'\n")
    lab(tmp_path, "traces", "fetch", name, "--mirror", str(REAL), **environment)
    assert lab(tmp_path, "traces", "show", name, **environment).returncode == 0
    (stored,) = (tmp_path / "cache").rglob("recording-*.parquet")
    written_ns = stored.stat().st_mtime_ns
    assert lab(tmp_path, "traces", "show", name, **environment).returncode == 0
    assert stored.stat().st_mtime_ns == written_ns
