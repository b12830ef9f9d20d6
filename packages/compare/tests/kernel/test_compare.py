# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab compare`: one whole small comparison, and one that is killed and goes on."""

import csv
import json
import os
import shlex
import shutil
import signal
from pathlib import Path

import pytest
import typer
from lab_compare.command import CompareOptions, compare
from lab_compare.comparison import Comparison, known_senders
from lab_compare.link_kinds import links
from rich.console import Console

from lab.node.beginning import MOST_PLANS
from lab.runs.one_boot import at_once
from lab.runs.options import RunOptions
from lab.schema.cca import load_ccas
from lab.tables.stored_run import Run
from tests.brief import put
from tests.command import Done, lab, lab_ok, press_ctrl_c, refused, running_on, start, status_of, wait_for
from tests.conftest import Bench

pytestmark = pytest.mark.usefixtures("kernel")
SENDERS = ("search", "cubic")
OPTIONS = ("compare", "--cca", ",".join(SENDERS), "--links", "wired,wifi-high", "--trials", "6", "--duration", "2")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A whole comparison; on the wired link SEARCH leaves upon a loss and CUBIC in time, in every trial."""
    results = tmp_path_factory.mktemp("compared") / "results"
    return results, lab(results, *OPTIONS)


def run_of(results: Path, link: str) -> Run:
    (folder,) = (results / f"compare-{link}").glob("[0-9]*")
    return Run(folder)


def folder_of(results: Path) -> Path:
    (folder,) = (results / "comparisons").glob("[0-9]*")
    return folder


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


def test_the_comparison_ends_well_and_names_its_page(compared: tuple[Path, Done]) -> None:
    results, done = compared
    assert done.returncode == 0, done.stderr
    assert f"page      {folder_of(results)}/compare.html\n" in done.stdout
    assert "6 trials of each sender on each link, the same draws for all" in done.stdout
    assert (folder_of(results) / "compare.html").stat().st_size < 5_000_000


def test_a_link_ends_at_the_look_that_separates_its_senders_or_when_none_can(compared: tuple[Path, Done]) -> None:
    results, _ = compared
    ranked = {
        (row["link"], row["sender"]): row
        for row in rows(folder_of(results) / "ranks.csv")
        if row["measure"] == "chokepoint"
    }
    for link in ("wired", "wifi-high"):
        separated = ranked[link, "cubic"]["separated"] == "true"
        assert run_of(results, link).scenario["trials"] == 6  # the first look: with fewer no test separates two senders
        ranks = [(ranked[link, cca]["rank_best"], ranked[link, cca]["rank_worst"]) for cca in ("search", "cubic")]
        assert sorted(ranks) == ([("1", "1"), ("2", "2")] if separated else [("1", "2")] * 2)
    assert ranked["wired", "cubic"]["separated"] == "true"
    assert ranked["wired", "cubic"]["rank_worst"] == "1"


@pytest.mark.parametrize("link", ["wired", "wifi-high"])
def test_each_run_is_whole_and_has_the_same_draws_for_every_sender(compared: tuple[Path, Done], link: str) -> None:
    run = run_of(compared[0], link)
    assert run.complete
    assert not run.missing
    assert (run.path / "report.html").is_file()
    seeds = {(trial.cca, trial.number): trial.meta["seed"] for trial in run.trials}
    assert {seeds[SENDERS[0], n] - seeds[SENDERS[1], n] for n in range(1, len(run.meta["seeds"]) + 1)} == {0}


def test_a_sender_that_the_lab_does_not_know_is_compared_and_its_failure_costs_its_own_trials_only(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sender is the kernel's own Reno under a name that cca.yml lacks; the other has no module."""
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    own, absent = (
        load_ccas()["reno"].model_copy(
            update={"name": name, "label": f"My {name}", "module_digest": "0" * 16} | changes
        )
        for name, changes in (("own", {}), ("absent", {"algorithm": "absent", "module": "absent"}))
    )
    senders = {"own": own, "absent": absent, **known_senders(["cubic"])}
    comparison = Comparison(["own", "absent"], senders, links(["wired"]), trials=1, duration_s=2)
    written = compare(comparison, CompareOptions(), bench.backend.site, RunOptions(), Console(quiet=True))
    page = written.files["page"].read_text()
    assert "No result: compare-wired absent-001: " in page
    assert "My own" in page
    values = {row["sender"]: row["throughput_mbps"] for row in rows(written.files["trials"])}
    assert values["absent"] == ""
    assert float(values["own"]) > 0
    assert float(values["cubic"]) > 0
    with pytest.raises(typer.Exit):
        written.require_valid()


def test_a_comparison_without_any_result_has_a_page_and_status_1(tmp_path: Path) -> None:
    file = put(
        tmp_path / "lossy.yml", "extends: wired-clean\ntitle: lossy\nrecorded: []\nassumed: []\ndown: {loss_pct: 99}\n"
    )
    done = lab(tmp_path / "results", "compare", "--cca", "cubic,bbr", "--links", str(file), "--quick", "--duration=1")
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nlossy: no result.\n" in done.stdout
    assert (folder_of(tmp_path / "results") / "compare.html").exists()


def test_trials_of_an_earlier_one_are_used_and_come_out_the_same(compared: tuple[Path, Done], tmp_path: Path) -> None:
    """Another rival takes part: what the other two did is stored already."""
    results = tmp_path / "results"
    shutil.copytree(compared[0], results, symlinks=True)
    options = ("compare", "--cca", "search,cubic,reno", "--links", "wired", "--trials", "1", "--duration", "2")
    done = lab_ok(results, *options)
    assert "compare-wired: 1 trial run" in done.stdout
    newest = max((results / "comparisons").glob("[0-9]*"))
    assert "2 trials are of earlier comparisons" in (newest / "compare.html").read_text()
    before, now = (
        {
            row["sender"]: row["throughput_mbps"]
            for row in rows(folder / "trials.csv")
            if (row["link"], row["trial"]) == ("wired", "1")
        }
        for folder in (folder_of(compared[0]), newest)
    )
    assert {name: now[name] for name in before} == before


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a comparison that was killed after its first stored trial."""
    results = tmp_path_factory.mktemp("killed") / "results"
    process = start(results, *OPTIONS, "--jobs", "1")
    wait_for(lambda: list(results.glob("compare-*/*/trials/[!.]*/trial.json")), "stored trial", 180)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not running_on(results), "end")
    return results


def test_a_killed_one_goes_on_to_the_same_results(killed: Path, tmp_path: Path, compared: tuple[Path, Done]) -> None:
    results = tmp_path / "results"
    shutil.copytree(killed, results, symlinks=True)
    before = {file: file.stat().st_mtime_ns for file in results.glob("compare-*/*/trials/[!.]*/trial.json")}
    lab_ok(results, *OPTIONS, "--resume")
    assert {file: file.stat().st_mtime_ns for file in before} == before
    whole, resumed = (
        json.dumps(sorted(map(tuple, (row.items() for row in rows(folder_of(each) / "trials.csv")))))
        for each in (compared[0], results)
    )
    assert whole == resumed


def test_a_killed_comparison_does_not_go_on_with_another_sender(killed: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(killed, results, symlinks=True)
    changed = [word if word != ",".join(SENDERS) else "search,bbr" for word in OPTIONS]
    line = refused(lab(results, *changed, "--resume"))
    assert "comparison.json: senders.cubic=" in line
    assert line.endswith("must be absent, as it is now: run without --resume")


BUFFERS = ("--vary", "down.buffer_bdps=1,0.0001")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("compare", "--cca", "search,cubic", "--links", "wired", "--quick", *BUFFERS), "down.buffer_bdps=0.0001"),
        (("run", "--profile", "wired-clean", "--trials", "1", *BUFFERS), "down.buffer_bdps=0.0001"),
        (("compare", "--cca", "cubic,bbr", "--links", "wired,mine.yml", "--vary", "workload=web"), "series_begin=data"),
    ],
)
def test_a_point_that_no_trial_can_be_is_refused_before_those_of_the_others(
    tmp_path: Path, words: tuple[str, ...], line: str
) -> None:
    (tmp_path / "mine.yml").write_text(
        "extends: wired-clean\ntitle: mine\nrecorded: []\nassumed: []\nseries_begin: data\n"
    )
    given = [word.replace("mine.yml", str(tmp_path / "mine.yml")) for word in words]
    assert line in refused(lab(tmp_path / "results", *given, "--duration", "1"))
    assert not (tmp_path / "results").exists()


def again(*more: str) -> str:
    """Return the command that goes on, as the lab states it."""
    return shlex.join(["lab", *OPTIONS, *more, "--resume"])


def test_ctrl_c_names_the_command_that_goes_on(tmp_path: Path) -> None:
    results = tmp_path / "results"
    process = start(results, *OPTIONS, "--jobs", "1")
    wait_for(lambda: list(results.glob("compare-*/*/trials/.*.draft")), "trial under way", 180)
    press_ctrl_c(process)
    _, errors = process.communicate()
    assert status_of(process) == 130
    resumed = again("--jobs", "1")
    assert errors.strip() == f"interrupted: stored trials are whole; go on with '{resumed}'"
    assert running_on(results) == []


def test_a_budget_that_is_used_up_ends_the_trials_and_says_so(tmp_path: Path) -> None:
    done = lab_ok(tmp_path / "results", *OPTIONS, "--budget-minutes", "0.001", "--jobs", "1")
    resumed = again("--budget-minutes", "0.001", "--jobs", "1")
    assert f"the budget of 0.001 min is used: '{resumed}' goes on in " in " ".join(done.stdout.split())
    stored = list((tmp_path / "results").glob("compare-*/*/trials/[!.]*/trial.json"))
    assert len(stored) == at_once(24, 1, MOST_PLANS)  # the trials of the boot that had begun
    assert "unfinished" in (folder_of(tmp_path / "results") / "compare.html").read_text()
