# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab check` warns where a profile shapes by what was no capacity."""

from pathlib import Path

import polars as pl
import pytest
import yaml

from lab.base import paths
from lab.base.errors import UserError
from lab.links.caution import cautions
from lab.links.profile import read_profile
from lab.traces import recording
from lab.traces.recording import Meaning, Recording


def warned(folder: Path, meaning: Meaning | None) -> list[str]:
    """Shape a link by a recording of a meaning, and return the warnings."""
    frame = pl.DataFrame({"t_s": [0.0, 1.0, 2.0], "rate_down_mbps": [5.0, 6.0, 7.0]})
    recording.write(Recording(frame, "series", meaning, "made", "made", ()), folder / "rate.parquet")
    profile = yaml.safe_load((paths.PROFILES / "wired-clean.yml").read_text())
    profile["down"]["rate_mbps"] = {"file": "rate.parquet", "loop": True}
    (folder / "mine.yml").write_text(yaml.safe_dump(profile))
    return list(cautions("mine", read_profile(folder / "mine.yml")))


@pytest.mark.parametrize(
    ("meaning", "words"),
    [
        ("goodput", "is shaped by what TCP got there, which its congestion control had shaped already: a lower bound"),
        ("usage", "is shaped by what its users happened to send, which is no capacity"),
        (None, "is shaped by a rate whose source does not state whether the link was saturated"),
    ],
)
def test_a_rate_that_was_no_capacity_is_warned_of(tmp_path: Path, meaning: Meaning | None, words: str) -> None:
    assert warned(tmp_path, meaning) == [f"mine: down.rate_mbps: {words} (rate.parquet)"]


def test_a_capacity_is_not_warned_of_and_a_recording_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert warned(tmp_path, "capacity") == []
    warned(tmp_path, "goodput")
    (tmp_path / "rate.parquet").unlink()
    with pytest.raises(UserError, match=r"mine\.yml: down\.rate_mbps\.file=rate\.parquet: must be a file"):
        list(cautions("mine", read_profile(tmp_path / "mine.yml")))
