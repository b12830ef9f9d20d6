# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever goes wrong gets one clear line and a failing exit status, and nothing that is stored is lost."""

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from lab.__main__ import main
from lab.backends.boot import TrialError
from lab.base.paths import REPO
from lab.commands.cli import app
from lab.kernel.build import Kernel
from lab.runs import pool
from lab.runs.trial import Job, run_trial
from lab.tables.stored_run import Run
from lab.tables.stored_trial import FORMAT
from lab.tables.trial_json import TrialJson
from tests.command import lab, scenario_file
from tests.conftest import SMALL, Bench, experiment_on
from tests.stored_run import store_run

DISK_BYTES = 60_000_000
FULL_DISK = """
"$PYTHON" -m lab run "$SCENARIO" --jobs 1 >"$KEPT/out" 2>"$KEPT/err" & lab=$!
until [ -e "$LAB_RESULTS"/mine/*/trials/cubic_plain-001/trial.json ]; do sleep 0.05; done
head -c $(($(df --output=avail -B1 "$LAB_RESULTS" | tail -1) - LEFT)) /dev/zero >"$LAB_RESULTS/filler"
wait $lab; echo $? >"$KEPT/status"
rm "$LAB_RESULTS/filler"; cp -r "$LAB_RESULTS/mine" "$KEPT"
"""


def refused(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the one line that a refused command printed as its error."""
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


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
    told = [line for line in (filled / "out").read_text().splitlines() if "gave no result" in line]
    assert len(told) == 1
    assert told[0].startswith("1 trials gave no result: cubic_plain-002: ")
    assert "full" in told[0] or "No space left" in told[0]
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


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of the system's tools, from which a test takes one away."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("bwrap", "mmdebstrap", "setpriv", "git", "apt-get", "true"):
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    return folder


def test_without_bwrap_a_run_names_it_and_the_command_that_tells_more(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools))
    assert refused(done) == "sandbox: bwrap: not installed: run 'lab doctor'"


def test_without_mmdebstrap_the_first_run_names_it(tmp_path: Path, tools: Path) -> None:
    (tools / "mmdebstrap").unlink(missing_ok=True)
    cache = tmp_path / "cache"
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools), LAB_CACHE=str(cache))
    assert refused(done) == "mmdebstrap: not installed: run 'make setup'"
    assert not [folder for folder in cache.iterdir() if folder.is_dir()]


def test_doctor_names_what_is_missing_and_what_mends_it(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    done = lab(tmp_path / "results", "doctor", PATH=str(tools), LAB_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert any(
        line.startswith("MISSING  sandbox (bwrap)") and "make setup" in line for line in done.stdout.splitlines()
    )


def test_a_module_built_for_another_kernel_is_told_in_one_line(bench: Bench, kernel: Kernel, tmp_path: Path) -> None:
    shutil.copytree(kernel.modules, tmp_path / "modules", symlinks=True)
    for module in (tmp_path / "modules").rglob("tcp_search.ko"):
        built = module.read_bytes()
        assert built.count(b"vermagic=6.") == 1
        module.write_bytes(built.replace(b"vermagic=6.", b"vermagic=5."))
    other = dataclasses.replace(bench.backend, kernel=dataclasses.replace(kernel, modules=tmp_path / "modules"))
    job = dataclasses.replace(bench.job(experiment_on(SMALL, "search"), "search", "other-kernel"), backend=other)
    with pytest.raises(TrialError, match=r"^modprobe tcp_search: .*version magic '5\..*' should be '6\.") as told:
        run_trial(job)
    assert "\n" not in str(told.value)
    assert not list(job.folder.parent.iterdir())


def test_a_table_that_cannot_be_written_is_told_in_one_line(bench: Bench) -> None:
    job = bench.job(experiment_on(SMALL, "search"), "search", "no-table")

    def full(_: Job) -> TrialJson:
        pl.DataFrame({"a": range(9999)}).write_parquet("/dev/full")
        pytest.fail("a full disk took a table")

    told = pool.line_if_failed(full, job)
    assert str(told).startswith(f"{job.folder}: ")
    assert "No space left" in str(told)
    assert "\n" not in str(told)


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command here, and return the one line that it printed as its error."""

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["lab", *words])
        with pytest.raises(SystemExit) as end:
            main()
        told = capsys.readouterr().err
        assert (end.value.code, told.count("\n")) == (2, 1), told
        return told.strip()

    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_run(tmp_path_factory.mktemp("whole"), trials=1)


@pytest.fixture
def stored(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("run.json", json.dumps({"format": 99}).encode(), f"format=99: must be {FORMAT}"),
        ("run.json", b'{"format": 2, "comp', "must be whole JSON"),
        ("run.json", b"[]", "must be a JSON object"),
        ("trials/cubic-001/trial.json", json.dumps({"format": 1}).encode(), f"format=1: must be {FORMAT}"),
        ("trials/cubic-001/trial.json", b"", "must be whole JSON"),
        ("trials/cubic-001/packets.parquet", None, "must be a whole Parquet table"),
        ("trials/cubic-001/acks.parquet", b"", "must be a whole Parquet table"),
        ("trials/cubic-001/qdisc.parquet", b"not a table", "must be a whole Parquet table"),
    ],
)
def test_a_damaged_run_is_refused_by_file(
    stored: Path, refusal: Callable[..., str], file: str, content: bytes | None, words: str
) -> None:
    damaged = stored / file
    damaged.write_bytes(damaged.read_bytes()[:-100] if content is None else content)
    assert refusal("report", str(stored)).startswith(f"{damaged}: {words}")


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "gao"),
        ("run", "/nowhere/mine.yml"),
        ("run", "geo", "--trials", "0"),
        ("run", "geo", "--duration", "0"),
        ("run", "geo", "--seed", "-1"),
        ("kernel", "build", "--source", "/nowhere.tar"),
        ("report", "/nowhere"),
    ],
)
def test_a_users_mistake_is_one_line(refusal: Callable[..., str], words: tuple[str, ...]) -> None:
    assert ": " in refusal(*words)


@pytest.mark.parametrize("words", [("frobnicate",), ("run", "geo", "--jobs", "0"), ("kernel", "brew")])
def test_words_that_the_command_does_not_know_are_no_traceback(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)


def test_results_that_cannot_be_written_are_told_in_one_line(tmp_path: Path, kernel: Kernel) -> None:
    assert kernel
    (tmp_path / "file").write_text("")
    assert "Not a directory" in refused(lab(tmp_path / "file" / "results", "run", str(scenario_file(tmp_path))))


COMMANDS = [
    *"list check doctor run reproduce evaluate verify report page agree clean bench".split(),
    "kernel build",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert f"Example: lab {command}" in done.stdout.replace("`", "")


def test_every_command_is_among_those() -> None:
    named = [str(known.name or getattr(known.callback, "__name__", "")) for known in app.registered_commands]
    assert sorted([*named, "kernel build"]) == sorted(COMMANDS)
