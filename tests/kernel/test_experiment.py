# SPDX-License-Identifier: GPL-2.0-or-later
"""One whole small experiment, as a user runs it; and the tutorial of an hour."""

import csv
import json
import os
import subprocess
from pathlib import Path

import polars as pl
import pytest

from lab.base.paths import REPO
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from lab.tables.stored_trial import TABLES, Trial
from tests.command import lab_ok, scenario_file
from tests.whole.test_profiles import blocks

PUBLIC = ["cca", "heuristic", "trials", "valid", "early_pct", "chokepoint_pct", "late_pct"]
MEANS = ["capacity_s", "loss_s", "exit_s", "throughput_mbps", "retransmits_pkts"]  # each with its _sd beside it
HEURISTICS = {"lasting", "latency_offset", "median_throughput_1s", "median_throughput_after", "truth"}
SECONDS = 20
PROFILE = "geo-viasat-thesis"  # a constant rate: without HyStart the first loss comes within these seconds


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> tuple[Path, str]:
    assert kernel
    folder = tmp_path_factory.mktemp("experiment")
    scenario = scenario_file(folder, profile=PROFILE, ccas=["cubic", "cubic_plain"], trials=1, duration_s=SECONDS)
    done = lab_ok(folder / "results", "run", str(scenario))
    return folder / "results", done.stdout


@pytest.fixture(scope="module")
def rows(results: tuple[Path, str]) -> dict[tuple[str, str], dict[str, str]]:
    with (results[0] / "mine/latest/summary.csv").open(newline="") as file:
        return {(row["cca"], row["heuristic"]): row for row in csv.DictReader(file)}


def test_it_prints_first_what_it_will_do_and_last_where_everything_lies(results: tuple[Path, str]) -> None:
    reported = results[1]
    assert f"2 trials of {SECONDS} s, 1 of each sender (cubic, cubic_plain), on link {PROFILE}" in reported
    assert f"results in {results[0] / 'mine'}" in reported
    assert "min in all" in reported
    ends = [(line[:10].strip(), Path(line[10:])) for line in results[1].splitlines()[-4:]]
    assert [name for name, _ in ends] == ["page", "figures", "summary", "raw data"]
    assert all(path.exists() for _, path in ends)


def test_the_summary_begins_with_the_public_columns_and_has_a_row_a_sender_and_heuristic(
    results: tuple[Path, str], rows: dict[tuple[str, str], dict[str, str]]
) -> None:
    with (results[0] / "mine/latest/summary.csv").open(newline="") as file:
        header = next(csv.reader(file))
    public = PUBLIC + [mean + suffix for mean in MEANS for suffix in ("", "_sd")]
    assert header[: len(public)] == public
    assert set(rows) == {(cca, heuristic) for cca in ("cubic", "cubic_plain") for heuristic in HEURISTICS}
    assert {(row["trials"], row["valid"]) for row in rows.values()} == {("1", "1")}


def test_every_trial_is_whole_and_valid_and_latest_is_the_complete_run(results: tuple[Path, str]) -> None:
    trials = Run(results[0] / "mine/latest").trials
    assert [trial.cca for trial in trials] == ["cubic", "cubic_plain"]
    for trial in trials:
        assert {file.name for file in trial.path.iterdir()} == {
            "SHA256SUMS",
            "trial.json",
            "plan.json",
            "client.pcapng.zst",
            "kernel.log.zst",
            "browser.json.gz",  # thinned for the page
            "browser.json.gz.seal",
            *(f"{table}.parquet" for table in TABLES),
        }
        assert trial.valid, trial.meta["certificate"]
    latest = results[0] / "mine" / "latest"
    assert latest.is_symlink()
    assert Run(latest).complete
    assert (latest / "report.html").stat().st_size > 10_000


def test_the_run_names_what_it_was_made_from(results: tuple[Path, str]) -> None:
    meta = json.loads((results[0] / "mine/latest/run.json").read_text())
    assert meta["digests"].keys() >= {"scenario", "profile", "topology", "sysctls", "ccas"}
    assert meta["world"]["packages"]["iperf3"].startswith("3.18")
    assert meta["kernel"]["kernel_source"].startswith("linux-source-6.12")
    assert len(meta["seeds"]) == 1
    assert meta["command"][1] == "run"


def test_with_hystart_the_exit_is_early_and_without_it_late(rows: dict[tuple[str, str], dict[str, str]]) -> None:
    assert float(rows["cubic", "truth"]["early_pct"]) == 100
    assert float(rows["cubic", "truth"]["exit_s"]) < float(rows["cubic_plain", "truth"]["capacity_s"])
    plain = rows["cubic_plain", "truth"]
    assert float(plain["late_pct"]) == 100
    assert float(plain["capacity_s"]) < float(plain["loss_s"]) <= float(plain["exit_s"])
    assert float(plain["throughput_mbps"]) > 2 * float(rows["cubic", "truth"]["throughput_mbps"])


LINK = """
title: a link of the user's own
down: {rate_mbps: 20.0, delay_ms: 25.0, buffer_bytes: 250000}
up: {delay_ms: 25.0}
recorded: []
assumed: [everything]
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> tuple[Path, str]:
    assert kernel
    folder = tmp_path_factory.mktemp("tried")
    (folder / "mine.yml").write_text(LINK)
    options = ["--profile", str(folder / "mine.yml"), "--cca", "cubic,search", "--trials", "1", "--duration", "2"]
    done = lab_ok(folder / "results", "run", *options)
    return folder / "results", done.stdout


def test_the_run_is_stored_under_the_name_of_the_profile_with_its_pages(tried: tuple[Path, str]) -> None:
    run = Run(tried[0] / "try-mine" / "latest")
    assert run.complete
    assert [trial.cca for trial in run.trials] == ["cubic", "search"]
    assert all(trial.valid for trial in run.trials)
    results, output = tried
    assert "2 trials of 2 s, 1 of each sender (cubic, search), on link " in output
    page = (results / "try-mine" / "latest" / "report.html").read_text()
    assert "When do cubic, search leave slow start on link mine?" in page
    assert (results / "try-mine" / "latest" / "summary.csv").exists()
    lab_ok(tried[0], "page")
    assert "try-mine" in (tried[0] / "index.html").read_text()


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
    assert steady.cwnd_pkts
    assert swinging.cwnd_pkts
    assert steady.cwnd_pkts > 4 * swinging.cwnd_pkts
    searches = [left(folder, f"try-{name}", "search") for name in ("swinging", "steady")]
    assert abs(searches[0].t_s - searches[1].t_s) < 0.6
    assert left(folder, "try-wired-clean", "cubic").cause == "hystart"
    assert left(folder, "try-wired-clean", "search").cause == "loss"
