# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever goes wrong gets one clear line and a failing exit status, and nothing that is stored is lost."""

import dataclasses
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from lab.backends.records import TrialError
from lab.base.paths import REPO
from lab.commands.cli import app
from lab.kernel.build import Kernel
from lab.runs import pool
from lab.runs.trial import Job, run_trial
from lab.tables.stored_run import Run
from lab.tables.trial_json import TrialJson
from tests.command import lab, refused, scenario_file
from tests.conftest import SMALL, Bench, experiment_on

DISK_BYTES = 60_000_000
FULL_DISK = """
"$PYTHON" -m lab run "$SCENARIO" --jobs 1 >"$KEPT/out" 2>"$KEPT/err" & lab=$!
until [ -e "$LAB_RESULTS"/mine/*/trials/cubic_plain-001/trial.json ]; do sleep 0.05; done
head -c $(($(df --output=avail -B1 "$LAB_RESULTS" | tail -1) - LEFT)) /dev/zero >"$LAB_RESULTS/filler"
wait $lab; echo $? >"$KEPT/status"
rm "$LAB_RESULTS/filler"; cp -r "$LAB_RESULTS/mine" "$KEPT"
"""


@pytest.fixture(params=[0, 20_000])
def filled(request: pytest.FixtureRequest, tmp_path: Path, kernel: Kernel) -> Path:
    """A run on a small disk that another program fills, all but some bytes, while the second trial is under way."""
    assert kernel
    kept, results = tmp_path / "kept", tmp_path / "results"
    kept.mkdir()
    results.mkdir()
    variables = {"PYTHON": sys.executable, "SCENARIO": scenario_file(tmp_path), "KEPT": kept, "LAB_RESULTS": results}
    words = [f"{name}={value}" for name, value in {**variables, "LEFT": request.param}.items()]
    small_disk = ["bwrap", "--dev-bind", "/", "/", "--size", str(DISK_BYTES), "--tmpfs", str(results), "--"]
    subprocess.run([*small_disk, "env", *words, "sh", "-c", FULL_DISK], cwd=REPO, check=True, timeout=120)
    return kept


def test_a_disk_that_fills_up_fails_the_trial_in_one_line_and_loses_no_other(filled: Path) -> None:
    assert (filled / "status").read_text() == "1\n"
    assert (filled / "err").read_text() == ""
    lines = (filled / "out").read_text().splitlines()
    assert "1 trial gave no result: 'lab log RUN TRIAL' shows a kernel's log" in lines
    assert any(line.startswith("the others are stored in ") for line in lines)
    (reported,) = (line for line in lines if line.startswith("cubic_plain-002: "))
    assert "full" in reported or "No space left" in reported
    (trial,) = Run(next((filled / "mine").glob("[0-9]*"))).trials
    assert trial.number == 1
    assert trial.packets.height > 0


def test_a_disk_that_is_too_small_is_refused_before_the_first_trial(tmp_path: Path, kernel: Kernel) -> None:
    assert kernel
    (tmp_path / "results").mkdir()
    small_disk = ["bwrap", "--dev-bind", "/", "/", "--size", "1000000", "--tmpfs", str(tmp_path / "results"), "--"]
    command = [*small_disk, "env", f"LAB_RESULTS={tmp_path / 'results'}", sys.executable, "-m", "lab", "run"]
    done = subprocess.run(
        [*command, str(scenario_file(tmp_path))], cwd=REPO, capture_output=True, text=True, check=False
    )
    assert refused(done).startswith(f"{tmp_path / 'results'}: free_bytes=")


def test_a_module_of_another_kernel_is_reported_in_one_line(bench: Bench, kernel: Kernel, tmp_path: Path) -> None:
    shutil.copytree(kernel.modules, tmp_path / "modules", symlinks=True)
    for module in (tmp_path / "modules").rglob("tcp_search.ko"):
        built = module.read_bytes()
        assert built.count(b"vermagic=6.") == 1
        module.write_bytes(built.replace(b"vermagic=6.", b"vermagic=5."))
    other = dataclasses.replace(bench.backend, kernel=dataclasses.replace(kernel, modules=tmp_path / "modules"))
    job = dataclasses.replace(bench.job(experiment_on(SMALL, "search"), "search", "other-kernel"), backend=other)
    with pytest.raises(TrialError, match=r"^modprobe tcp_search: .*version magic '5\..*' should be '6\.") as reported:
        run_trial(job)
    assert "\n" not in str(reported.value)
    assert not list(job.folder.parent.iterdir())


def test_a_table_that_cannot_be_written_is_reported_in_one_line(bench: Bench) -> None:
    job = bench.job(experiment_on(SMALL, "search"), "search", "no-table")

    def full(_: Job) -> TrialJson:
        pl.DataFrame({"a": range(9999)}).write_parquet("/dev/full")
        pytest.fail("a full disk took a table")

    reported = pool.line_if_failed(full, job)
    assert str(reported).startswith(f"{job.folder}: ")
    assert "No space left" in str(reported)
    assert "\n" not in str(reported)


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "gao"),
        ("run", "/nowhere/mine.yml"),
        ("run", "geo", "--trials", "0"),
        ("run", "geo", "--jobs", "0"),
        ("run", "geo", "--duration", "0"),
        ("run", "geo", "--seed", "-1"),
        ("kernel", "build", "--source", "/nowhere.tar"),
        ("report", "/nowhere"),
    ],
)
def test_a_users_mistake_is_one_line(refusal: Callable[..., str], words: tuple[str, ...]) -> None:
    assert ": " in refusal(*words)


@pytest.mark.parametrize("words", [("frobnicate",), ("run", "geo", "--jobs", "many"), ("kernel", "brew")])
def test_words_that_the_command_does_not_know_are_no_traceback(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)


def test_results_that_cannot_be_written_are_reported_in_one_line(tmp_path: Path, kernel: Kernel) -> None:
    assert kernel
    (tmp_path / "file").write_text("")
    assert "Not a directory" in refused(lab(tmp_path / "file" / "results", "run", str(scenario_file(tmp_path))))
