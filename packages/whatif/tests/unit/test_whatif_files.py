# SPDX-License-Identifier: GPL-2.0-or-later
"""What lab whatif writes into a folder of an earlier answer is written through no link of it."""

from pathlib import Path

import polars as pl
import pytest
from lab_whatif import files
from lab_whatif.link import written

from lab.traces.recording import Recording

LOG = Recording(pl.DataFrame({"t_s": [0.0], "rtt_ms": [1.0]}), "series", None, "ss-tcp", "made", ())


@pytest.mark.parametrize("name", [files.EVIDENCE, files.CAPACITY, files.NUMBERS, files.LINK])
def test_no_file_is_written_through_a_link(tmp_path: Path, name: str) -> None:
    (canary := tmp_path / "canary").write_text("as it was")
    (folder := tmp_path / "answer").mkdir()
    (folder / name).symlink_to(canary)
    files.write_bounds(folder, LOG, pl.DataFrame({"t_s": [0.0]}), [])
    files.write_numbers(folder, "cubic", [], [])
    written(folder / files.LINK, {"title": "a link"})
    assert canary.read_text() == "as it was"
    assert all((folder / each).is_file() and not (folder / each).is_symlink() for each in (name, files.EVIDENCE))
