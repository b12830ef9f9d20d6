# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines with caches of their own run a sweep, a comparison and a reproduction in shards, which are merged."""

from pathlib import Path

import pytest
import yaml
from lab_papers.same.reference import values_of

from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.brief import folder_at
from tests.command import lab, lab_ok, refused
from tests.kernel.test_experiment import LINK
from tests.own_cache import cache_with

POINTS = ("try-mine-search.threshold_pct-20", "try-mine-search.threshold_pct-35")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> Path:
    """What the two machines left, and the merged results beside the same sweep of one machine."""
    folder = tmp_path_factory.mktemp("shards")
    for number in (1, 2):
        machine = folder_at(folder / f"machine{number}")
        cache = cache_with(kernel, machine / "cache")
        words = ("--shard", f"{number}/2", "--out", str(machine / "out"))
        ran(machine / "results", *swept(folder), *words, LAB_CACHE=str(cache))
        assert not (machine / "results").exists()
    ran(folder / "merged", "merge", *(str(folder / f"machine{number}" / "out") for number in (1, 2)))
    ran(folder / "alone", *swept(folder))
    return folder


def swept(folder: Path) -> list[str]:
    (folder / "mine.yml").write_text(LINK)
    link = ["run", "--profile", str(folder / "mine.yml"), "--cca", "cubic,search", "--trials", "2", "--duration", "2"]
    return [*link, "--vary", "search.threshold_pct=20,35"]


def ran(results: Path, *words: str, **environment: str) -> str:
    done = lab_ok(results, *words, **environment)
    return done.stdout


def trials(results: Path) -> dict[str, Path]:
    return {f"{name}/{trial.name}": trial for name in POINTS for trial in results.glob(f"{name}/latest/trials/*-*")}


def test_merged_runs_have_the_packets_of_one_machine_half_of_them_from_each(folder: Path) -> None:
    merged, alone = trials(folder / "merged"), trials(folder / "alone")
    assert len(merged) == 8
    assert merged.keys() == alone.keys()
    for name, trial in merged.items():
        assert values_of(Trial(trial)).tables == values_of(Trial(alone[name])).tables, name
    assert all(Run(folder / "merged" / name / "latest").complete for name in POINTS)
    for number in (1, 2):
        assert len(list(folder.glob(f"machine{number}/out/try-*/*/trials/*-*"))) == 4


def test_the_same_command_draws_the_page_and_runs_nothing(folder: Path) -> None:
    before = trials(folder / "merged")
    printed = ran(folder / "merged", *swept(folder))
    assert "trials run" not in printed
    assert printed.index("At the chokepoint: share of the judged trials") < printed.index("\npage ")
    (page,) = folder.glob("merged/sweeps/try-mine/*/index.html")
    assert "search.threshold_pct" in page.read_text()
    assert trials(folder / "merged") == before


def test_a_point_with_more_trials_keeps_those_that_it_has(folder: Path) -> None:
    more = [word if word != "2" else "3" for word in swept(folder)[:-4]] + swept(folder)[-4:]
    printed = ran(folder / "alone", *more)
    assert [line for line in printed.splitlines() if line.endswith("2 trials run")]
    assert len(list(folder.glob(f"alone/{POINTS[0]}/latest/trials/*-*"))) == 6


def test_a_parameter_that_no_module_has_is_one_line(folder: Path) -> None:
    words = [*swept(folder)[:-1], "search.treshold_pct=20"]
    line = refused(lab(folder / "alone", *words))
    assert line.startswith("--vary: search.treshold_pct=20: must be a parameter of search: did you mean threshold_pct")


def test_a_value_that_the_module_refuses_is_named_and_the_others_are_drawn(folder: Path) -> None:
    done = lab(folder / "refused", *swept(folder)[:-1], "search.threshold_pct=-5,20")
    assert done.returncode == 1
    assert "search-001: modprobe tcp_search threshold_pct=-5: " in done.stdout
    assert "threshold_pct=-5: must be a whole number from 1 to 100" in done.stdout
    (table,) = folder.glob("refused/sweeps/try-mine/*/sweep.csv")
    assert "\n20," in table.read_text()


COMPARED = ("compare-mine-down.delay_ms-10", "compare-mine-down.delay_ms-30")


def in_shards(alone: Path, *words: str, **environment: str) -> str:
    for number in (1, 2):
        ran(alone / "unused", *words, "--shard", f"{number}/2", "--out", str(alone / f"part{number}"), **environment)
    printed = ran(alone / "merged", "merge", str(alone / "part1"), str(alone / "part2"))
    assert not (alone / "unused").exists()
    return printed


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> Path:
    assert kernel
    return tmp_path_factory.mktemp("shards")


def test_a_comparison_over_values_in_shards_is_drawn_by_the_same_command(alone: Path) -> None:
    (alone / "mine.yml").write_text(LINK)
    words = ["compare", "--cca", "search,cubic", "--links", str(alone / "mine.yml"), "--duration", "1", "--quick"]
    words += ["--vary", "down.delay_ms=10,30"]
    in_shards(alone, *words)
    assert all(Run(alone / "merged" / name / "latest").complete for name in COMPARED)
    printed = ran(alone / "merged", *words)
    trials = [trial for of in COMPARED for trial in (alone / "merged" / of / "latest" / "trials").glob("*/trial.json")]
    assert len(trials) == 4
    assert all(trial.stat().st_nlink > 1 for trial in trials)  # linked, not run again
    assert "sweep" in printed
    (page,) = alone.glob("merged/sweeps/compare-mine/*/index.html")
    assert "down.delay_ms" in page.read_text()


def test_a_scenario_in_shards_is_whole_for_reproduce(alone: Path) -> None:
    own = folder_at(alone / "scenarios")
    content = {"question": "What?", "topology": "path", "profile": str(alone / "mine.yml"), "ccas": ["cubic", "search"]}
    (own / "small.yml").write_text(yaml.safe_dump({**content, "trials": 2, "duration_s": 1, "seed": 3}))
    (alone / "mine.yml").write_text(LINK)
    printed = in_shards(alone, "reproduce", "small", LAB_SCENARIOS=str(own))
    assert "'lab reproduce small' draws the page" in printed
    assert Run(alone / "merged" / "small" / "latest").complete
