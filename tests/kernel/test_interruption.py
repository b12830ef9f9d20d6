# SPDX-License-Identifier: GPL-2.0-or-later
"""However a run ends, no process of it stays and what is stored is whole; a run that was broken off goes on later."""

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from lab.images.image import Image
from lab.tables.digests import SUMS
from lab.tables.stored_run import Run
from lab.tables.stored_trial import TABLES
from tests import command
from tests.command import lab, lab_ok, press_ctrl_c, refused, running_on, scenario_file, status_of, wait_for

KILLS = int(os.environ.get("LAB_KILLS", "8"))  # at random moments; a release has a thousand
OF_TERMINAL = (signal.SIGINT, signal.SIGHUP)  # reach the whole foreground group
SOON_S = command.ENOUGH_S  # patience, on a busy machine too: no measure of speed
pytestmark = pytest.mark.usefixtures("kernel")


def run_folder(results: Path) -> Path:
    (folder,) = (results / "mine").glob("[0-9]*")
    return folder


def drafts(results: Path) -> list[Path]:
    return sorted(results.glob("mine/*/trials/.*.draft"))


def in_its_second_trial(results: Path) -> bool:
    """One trial is stored, and the kernel of another one runs."""
    stored = list(results.glob("mine/*/trials/c*/trial.json"))
    return bool(stored) and any((draft / "guest/client.pcapng").exists() for draft in drafts(results))


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory, world: Image) -> tuple[Path, int, str, list[str]]:
    """A run that Ctrl-C ends in its second trial: its results, exit status, errors, and what then still ran."""
    assert world
    folder = tmp_path_factory.mktemp("interrupted")
    process = command.start(folder / "results", "run", str(scenario_file(folder)), "--jobs", "1")
    wait_for(lambda: in_its_second_trial(folder / "results"), "second trial")
    press_ctrl_c(process)
    _, errors = process.communicate(timeout=SOON_S)
    return folder / "results", status_of(process), errors, running_on(folder / "results")


def test_ctrl_c_ends_with_status_130_and_one_line_and_leaves_whole_trials_and_no_process(
    interrupted: tuple[Path, int, str, list[str]],
) -> None:
    _, status, errors, _ = interrupted
    assert status == 130
    again = f"lab run {scenario_file(interrupted[0].parent)} --jobs 1 --resume"  # other options are another run
    assert errors.strip().splitlines() == [f"interrupted: stored trials are whole; go on with '{again}'"]
    assert interrupted[3] == []
    results = interrupted[0]
    assert drafts(results) == []
    (trial,) = Run(run_folder(results)).trials
    assert all(pl.read_parquet(trial.path / f"{name}.parquet").width > 1 for name in TABLES)
    assert not Run(run_folder(results)).complete
    assert not (interrupted[0] / "mine" / "latest").exists()


@pytest.fixture
def unfinished(interrupted: tuple[Path, int, str, list[str]], tmp_path: Path) -> Path:
    shutil.copytree(interrupted[0], tmp_path / "results")
    return tmp_path / "results"


def test_resume_runs_the_missing_trials_only(unfinished: Path, tmp_path: Path) -> None:
    stored = next(unfinished.glob("mine/*/trials/c*/trial.json"))
    before = stored.stat().st_mtime_ns
    done = lab_ok(unfinished, "run", str(scenario_file(tmp_path)), "--resume")
    assert "1/1 trials" in done.stdout
    assert stored.stat().st_mtime_ns == before
    run = Run(unfinished / "mine" / "latest")
    assert run.complete
    assert [trial.number for trial in run.trials] == [1, 2]


@pytest.mark.parametrize(("file", "left_bytes"), [("trial.json", 40), ("trial.json", 0), ("packets.parquet", 2000)])
def test_resume_runs_a_trial_that_was_cut_again(unfinished: Path, tmp_path: Path, file: str, left_bytes: int) -> None:
    cut = next(unfinished.glob(f"mine/*/trials/c*-001/{file}"))
    before = cut.read_bytes()
    cut.write_bytes(before[:left_bytes])
    done = lab_ok(unfinished, "run", str(scenario_file(tmp_path)), "--resume")
    assert "2/2 trials" in done.stdout
    assert cut.read_bytes() == before
    assert len(Run(unfinished / "mine" / "latest").trials) == 2


@pytest.mark.parametrize("file", ["trial.json", "packets.parquet", "client.pcapng.zst"])
def test_resume_runs_a_damaged_trial_of_a_complete_run_again(unfinished: Path, tmp_path: Path, file: str) -> None:
    lab_ok(unfinished, "run", str(scenario_file(tmp_path)), "--resume")
    damaged = unfinished / "mine" / "latest" / "trials" / "cubic_plain-002" / file
    before, summary = damaged.read_bytes(), (unfinished / "mine" / "latest" / "summary.csv").read_bytes()
    flipped = bytearray(before)
    flipped[len(before) // 2] ^= 1
    damaged.write_bytes(flipped)
    line = f"{damaged.resolve()}: sha256="
    assert refused(lab(unfinished, "report", str(damaged.resolve().parents[2]))).startswith(line)
    done = lab_ok(unfinished, "run", str(scenario_file(tmp_path)), "--resume")
    assert "1/1 trials" in done.stdout
    assert (damaged.read_bytes(), (unfinished / "mine" / "latest" / "summary.csv").read_bytes()) == (before, summary)


@pytest.mark.parametrize(("field", "value"), [("seed", 8), ("duration_s", 4)])
def test_resume_refuses_a_scenario_that_has_changed(unfinished: Path, tmp_path: Path, field: str, value: int) -> None:
    done = lab(unfinished, "run", str(scenario_file(tmp_path, **{field: value})), "--resume")
    assert done.returncode == 2
    run = Run(run_folder(unfinished))
    rule = f"must be {value}, as it is now: run without --resume"
    assert done.stderr == f"{run.path}: scenario.{field}={dict(run.scenario)[field]}: {rule}\n"
    assert len(run.trials) == 1


def test_resume_without_anything_to_resume_is_refused(tmp_path: Path) -> None:
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), "--resume")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no unfinished run to resume" in done.stderr


def test_ctrl_c_while_the_report_is_made_names_the_command_that_makes_it(tmp_path: Path) -> None:
    results = tmp_path / "results"
    process = command.start(results, "run", str(scenario_file(tmp_path, trials=1)))
    wait_for(lambda: (results / "mine" / "latest").exists(), "complete run")
    press_ctrl_c(process)
    _, errors = process.communicate(timeout=SOON_S)
    run = run_folder(results)
    assert status_of(process) == 130
    assert errors == f"interrupted: stored trials are whole; go on with 'lab report {run}'\n"
    assert lab(results, "report", str(run)).returncode == 0


@pytest.mark.parametrize("after_s", [0.2, 0.6, 1.0, 1.4])
def test_ctrl_c_at_the_start_is_one_line_too(tmp_path: Path, after_s: float) -> None:
    long = scenario_file(tmp_path, trials=8, duration_s=60)
    process = command.start(tmp_path / "results", "run", str(long))
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=after_s)
    press_ctrl_c(process)
    _, errors = process.communicate(timeout=SOON_S)
    assert (status_of(process), len(errors.strip().splitlines())) == (130, 1), errors
    assert running_on(tmp_path / "results") == []
    assert drafts(tmp_path / "results") == []


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("reproduce {}", "1 scenario of 2 trials, 1 at once; at most about "),
        ("compare --cca cubic,bbr --quick --links geo", "cubic against bbr, on geo"),
    ],
)
def test_a_redirected_command_states_at_once_what_it_does(tmp_path: Path, words: str, first: str) -> None:
    scenario = scenario_file(tmp_path, duration_s=command.LONG_S)
    process = command.start(tmp_path / "results", *words.format(scenario).split(), "--jobs", "1")
    assert process.stdout
    try:
        assert process.stdout.readline().startswith(first)
        assert not list(tmp_path.glob("results/*/*/trials/c*"))
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="module", params=[signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two at once whose main process gets a signal while both kernels run."""
    folder = tmp_path_factory.mktemp("killed")
    process = command.start_two_trials(folder)
    assert len(running_on(folder / "results")) > 4  # main, two workers, two sandboxes, and what is inside
    os.kill(process.pid, request.param)
    process.wait(timeout=SOON_S)
    process.communicate()
    return folder / "results"


def test_a_killed_run_takes_all_along_leaves_nothing_that_looks_whole_and_clean_removes_it(killed: Path) -> None:
    wait_for(lambda: not running_on(killed), f"end of {running_on(killed)}", SOON_S)
    left = drafts(killed)
    assert Run(run_folder(killed)).trials == []
    done = lab(killed, "clean")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"removed {draft}\n" in done.stdout for draft in left)
    assert drafts(killed) == []
    assert (run_folder(killed) / "run.json").exists()


def commands(folder: Path) -> dict[str, list[str]]:
    return {
        "run": ["run", str(scenario_file(folder, duration_s=2))],
        "report": ["report", str(folder / "results/mine/latest")],
        "evaluate": ["evaluate"],
    }


def stored(results: Path) -> dict[str, bytes]:
    """The digests of all trials that are stored whole."""
    runs = [Run(file.parent) for file in results.glob("mine/[0-9]*/run.json")]
    return {trial.path.name: (trial.path / SUMS).read_bytes() for run in runs for trial in run.trials}


def answers(results: Path) -> list[bytes]:
    files = ("mine/latest/summary.csv", "mine/latest/outcomes.csv", "evaluation/claims.csv")
    return [(results / file).read_bytes() for file in files]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, world: Image) -> tuple[Path, dict[str, float]]:
    """The results of commands that no signal ends, and how long each takes."""
    assert world
    folder, lasted_s = tmp_path_factory.mktemp("undisturbed"), {}
    for name, words in commands(folder).items():
        begun_s = time.monotonic()
        lab_ok(folder / "results", *words)
        lasted_s[name] = time.monotonic() - begun_s
    return folder / "results", lasted_s


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_command_that_is_killed_at_any_moment_loses_nothing_and_clean_removes_what_it_left(
    undisturbed: tuple[Path, dict[str, float]], tmp_path: Path, seed: int
) -> None:
    (whole, lasted_s), draw = undisturbed, random.Random(seed)  # noqa: S311
    results, temporary = tmp_path / "results", tmp_path / "temporary"
    name, sent = draw.choice(sorted(lasted_s)), draw.choice([signal.SIGKILL, signal.SIGTERM, *OF_TERMINAL])
    if name != "run":
        shutil.copytree(whole, results, symlinks=True)
    temporary.mkdir()
    before = stored(results)
    process = command.start(results, *commands(tmp_path)[name], TMPDIR=str(temporary))
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=draw.uniform(0, lasted_s[name]))
    if process.returncode is None:
        os.killpg(process.pid, sent) if sent in OF_TERMINAL else process.send_signal(sent)
    assert "Traceback" not in process.communicate(timeout=SOON_S)[1]
    wait_for(lambda: not running_on(tmp_path), "end of all")
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert before.items() <= stored(results).items()
    if sent != signal.SIGKILL:
        assert [*drafts(results), *temporary.iterdir()] == []
    lab_ok(results, "clean", TMPDIR=str(temporary), LAB_CACHE=str(tmp_path / "cache"))
    assert [*drafts(results), *temporary.iterdir()] == []
    if len(stored(results)) < len(stored(whole)):
        begun = list(results.glob("mine/[0-9]*/run.json"))
        lab_ok(results, *commands(tmp_path)["run"], *["--resume"] * len(begun))
    for words in (["report", str(run_folder(results))], ["evaluate"]):
        lab_ok(results, *words)
    assert (stored(results), answers(results)) == (stored(whole), answers(whole))
