# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison over two delays in shards, merged; and a scenario of `lab reproduce` in shards."""

from pathlib import Path

import pytest
import yaml

from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from tests.command import lab
from tests.kernel.test_try_link import LINK

POINTS = ("compare-mine-down.delay_ms-10", "compare-mine-down.delay_ms-30")


def ran(results: Path, *words: str, **environment: str) -> str:
    done = lab(results, *words, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def in_shards(folder: Path, *words: str, **environment: str) -> None:
    for number in (1, 2):
        ran(folder / "unused", *words, "--shard", f"{number}/2", "--out", str(folder / f"part{number}"), **environment)
    ran(folder / "merged", "merge", str(folder / "part1"), str(folder / "part2"))
    assert not (folder / "unused").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> Path:
    assert kernel
    return tmp_path_factory.mktemp("shards")


def test_a_comparison_over_values_in_shards_is_drawn_by_the_same_command(folder: Path) -> None:
    (folder / "mine.yml").write_text(LINK)
    words = ["compare", "--cca", "search,cubic", "--links", str(folder / "mine.yml"), "--duration", "1", "--quick"]
    words += ["--vary", "down.delay_ms=10,30"]
    in_shards(folder, *words)
    assert all(Run(folder / "merged" / name / "latest").complete for name in POINTS)
    printed = ran(folder / "merged", *words)
    trials = [
        trial for name in POINTS for trial in (folder / "merged" / name / "latest" / "trials").glob("*/trial.json")
    ]
    assert len(trials) == 4
    assert all(trial.stat().st_nlink > 1 for trial in trials)  # linked, not run again
    assert "sweep" in printed
    (page,) = folder.glob("merged/sweeps/compare-mine/*/index.html")
    assert "down.delay_ms" in page.read_text()


def test_a_scenario_in_shards_is_whole_for_reproduce(folder: Path) -> None:
    own = folder / "scenarios"
    own.mkdir()
    content = {
        "question": "What?",
        "topology": "path",
        "profile": str(folder / "mine.yml"),
        "ccas": ["cubic", "search"],
    }
    (own / "small.yml").write_text(yaml.safe_dump({**content, "trials": 2, "duration_s": 1, "seed": 3}))
    (folder / "mine.yml").write_text(LINK)
    in_shards(folder, "reproduce", "small", LAB_SCENARIOS=str(own))
    assert Run(folder / "merged" / "small" / "latest").complete
