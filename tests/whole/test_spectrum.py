# SPDX-License-Identifier: GPL-2.0-or-later
"""The cycle that is in the round trips is the one that is found, whatever the clock does; and none is made up."""

from pathlib import Path

from tests.command import lab
from tests.traces_real import needs_real, real


@needs_real
def test_the_command_shows_the_published_cycles_beside_the_recorded_one(tmp_path: Path) -> None:
    file = real("leo-leocc/delay_example.txt")
    done = lab(tmp_path, "traces", "spectrum", str(file), "--format", "leocc", "--out", str(tmp_path), COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert all(rtts in done.stdout for rtts in ("3.33", "3.75", "2.80"))
    assert "dominant here" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("/")) <= 80
