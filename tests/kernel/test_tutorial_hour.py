# SPDX-License-Identifier: GPL-2.0-or-later
"""The tutorial of an hour runs as it stands, and shows what it states."""

import os
import subprocess
from pathlib import Path

import polars as pl
import pytest

from lab.base.paths import REPO
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.tables.stored_trial import Trial
from tests.unit.test_profiles import blocks

HOUR = REPO / "docs" / "tutorials" / "hour.md"


pytestmark = pytest.mark.usefixtures("kernel")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run every command of the page, one after the other, in a copy of the checkout's way to results."""
    place = tmp_path_factory.mktemp("hour")
    for name in ("lab", "scripts", "trace-profiles", "topologies", ".venv"):
        (place / name).symlink_to(REPO / name)
    (place / "results").mkdir()
    path = f"{REPO / 'scripts'}:{os.environ['PATH']}"
    environment = {**os.environ, "LAB_RESULTS": str(place / "results"), "PATH": path}
    for block in blocks(HOUR):
        done = subprocess.run(
            ["bash", "-e", "-c", block], cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    return place / "results"


def left(folder: Path, run: str, sender: str) -> SlowStartExit:
    found = first_exit(Trial(folder / run / "latest" / "trials" / f"{sender}-001").exits)
    assert found
    return found


def test_hystart_leaves_first_search_next_and_plain_cubic_last_in_each_figure_of_the_page(folder: Path) -> None:
    exits = {sender: left(folder, "sample", sender) for sender in ("cubic", "search", "cubic_plain")}
    assert [each.cause for each in exits.values()] == ["hystart", "search", "loss"]
    assert sorted(exits, key=lambda sender: exits[sender].t_s) == list(exits)
    assert exits["cubic"].cwnd_pkts == 28
    shown = {file.name.removeprefix("hour-") for file in (REPO / "docs" / "assets").glob("hour-*.svg")}
    assert shown <= {file.name for file in (folder / "paper").iterdir()}
    assert all(f"hour-{name}" in HOUR.read_text() for name in shown)
    bins = pl.read_parquet(folder / "sample" / "latest" / "trials" / "search-001" / "bins.parquet")
    assert bins["exit"].to_list()[-1]


def test_what_the_return_delay_and_the_shallow_buffer_decide(folder: Path) -> None:
    swinging, steady = (left(folder, f"try-{name}", "cubic") for name in ("swinging", "steady"))
    assert steady.cwnd_pkts > 4 * swinging.cwnd_pkts
    searches = [left(folder, f"try-{name}", "search") for name in ("swinging", "steady")]
    assert abs(searches[0].t_s - searches[1].t_s) < 0.6
    assert left(folder, "try-wired-clean", "cubic").cause == "hystart"
    assert left(folder, "try-wired-clean", "search").cause == "loss"
