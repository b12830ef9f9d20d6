# SPDX-License-Identifier: GPL-2.0-or-later
"""lab try, from a source to the page; ended at any step it leaves nothing."""

import csv
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.base.paths import REPO
from lab.kernel.build import Kernel
from tests.command import ENOUGH_S, lab, lab_ok, press_ctrl_c, refused, running_on, start, status_of, wait_for
from tests.own_cache import cache_with
from tests.own_modules import CRASHES_LATE, REPORTING, SLEEPS_LATE, acking, at, source, written

pytestmark = pytest.mark.usefixtures("kernel")
OPTIONS = ("--links", "wired", "--against", "cubic", "--trials", "1", "--duration", "2", "--jobs", "1")


def ranks(results: Path) -> list[dict[str, str]]:
    (file,) = (results / "comparisons").glob("[0-9]*/ranks.csv")
    return list(csv.DictReader(file.read_text().splitlines()))


def test_two_versions_of_a_module_are_compared_with_a_sender_of_the_lab(tmp_path: Path) -> None:
    results = tmp_path / "results"
    files = [str(written(tmp_path, content, name)) for name, content in (("a.c", source()), ("b.c", REPORTING))]
    lab_ok(results, "try", *files, *OPTIONS)
    assert {row["sender"] for row in ranks(results)} == {"own_a", "own_b", "cubic"}
    shown = lab(results, "log", f"{results}/compare-wired/latest", "own_a-001")
    assert "loading out-of-tree module taints kernel" in shown.stdout


def test_a_module_that_crashes_in_a_trial_costs_its_own_trials_only(tmp_path: Path) -> None:
    results = tmp_path / "results"
    done = lab(results, "try", str(written(tmp_path, CRASHES_LATE)), *OPTIONS)
    assert "own-001: " in done.stdout + done.stderr
    (run,) = (results / "compare-wired").glob("[0-9]*")
    assert [folder.name for folder in (run / "trials").iterdir()] == ["cubic-001"]
    log = lab(results, "log", str(run), "own-001").stdout
    assert "RIP: 0033:hook+0x" in log


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            acking(f"tcp_reno_cong_avoid(sk, ack, acked);\n\t{SLEEPS_LATE}"),
            "a hook sleeps (scheduling while atomic), in hook+0x",
        ),
        (at("init", SLEEPS_LATE), "a hook does not return: killed, the process still sleeps"),
    ],
    ids=["in the midst of a packet", "in a system call"],
)
def test_a_hook_that_sleeps_in_a_trial_is_the_reason(content: str, line: str, tmp_path: Path) -> None:
    done = lab(tmp_path / "results", "try", str(written(tmp_path, content)), *OPTIONS)
    assert line in done.stdout + done.stderr


def test_an_edited_module_is_another_sender_for_resume(tmp_path: Path) -> None:
    results = tmp_path / "results"
    file = written(tmp_path, source())
    assert lab(results, "try", str(file), *OPTIONS, "--budget", "0.0001").returncode == 0
    file.write_text(f"{source()}/* edited */\n")
    line = refused(lab(results, "try", str(file), *OPTIONS, "--resume"))
    assert "module_digest" in line or "senders.own" in line
    assert line.endswith("run without --resume")


def test_ctrl_c_leaves_nothing_and_names_the_command_that_goes_on(tmp_path: Path) -> None:
    results = tmp_path / "results"
    process = start(results, "try", str(written(tmp_path, source())), *OPTIONS)
    wait_for(lambda: list(results.glob("compare-*/*/trials/.*.draft")), "trial under way", 180)
    press_ctrl_c(process)
    _, errors = process.communicate()
    assert status_of(process) == 130
    resumed = shlex.join(["lab", "try", str(tmp_path / "own.c"), *OPTIONS, "--resume"])
    assert f"go on with '{resumed}'" in errors
    wait_for(lambda: running_on(results) == [], "end of what killed workers had started", 5)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--param", "gain=3"), "command line: param=gain: must be a parameter of the module: none"),
        (("--backend", "host"), "command line: backend=host: must be virtual or vm"),
        (("--kernel", "5.0"), "command line: kernel=5.0: must be one of 6.1, 6.12, 7.2, 7.3, large-sockets"),
        (("--against", "nobody"), "command line: against=nobody: must be a known sender of lab/cca.yml"),
        (("--links", "nowhere"), "command line: links=nowhere: must be a kind of link or a profile"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(tmp_path: Path, words: tuple[str, str], line: str) -> None:
    assert line in refused(lab(tmp_path / "results", "try", str(written(tmp_path, source())), *words))


def test_a_build_error_is_the_last_line_after_all_complaints(tmp_path: Path) -> None:
    file = written(tmp_path, source(code="static void broken(void)\n{\n\tnowhere(1);\n\talso_nowhere = 2;\n}\n"))
    done = lab(tmp_path / "results", "try", str(file))
    assert refused(done).startswith(f"{file}:8:9: error: implicit declaration of function 'nowhere'")
    assert f"{file}:9:9: error: 'also_nowhere' undeclared" in done.stdout


def test_an_unknown_trial_has_no_log(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert "trial=../x: must be a trial's name" in refused(lab(tmp_path, "log", str(tmp_path), "../x"))


BEGUN = {  # what there is while a step is under way, below the test's folder
    "build": "cache/.own-*.draft/work/*.c",
    "smoke test": "tmp/search-lab-scratch-*/work/guest/step",
    "campaign": "results/compare-wired/*/trials/.*.draft",
}
FULL = """
ln -s "$SHARED"/* "$SMALL" 2>/dev/null
fill() { head -c $(($(df --output=avail -B1 "$SMALL" | tail -1) - LEFT)) /dev/zero >"$SMALL/filler"; }
[ -n "$FIRST" ] && "$PYTHON" -m lab try "$FILE" $OPTIONS >"$KEPT/first" 2>&1
fill
"$PYTHON" -m lab try "$FILE" $OPTIONS $AGAIN >"$KEPT/out" 2>"$KEPT/err"; echo $? >"$KEPT/status"
rm "$SMALL/filler"
"$PYTHON" -m lab try "$FILE" $OPTIONS >"$KEPT/later" 2>&1; echo $? >"$KEPT/later_status"
"""


@dataclass(frozen=True)
class Place:
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"LAB_CACHE": str(self.folder / "cache"), "TMPDIR": str(self.folder / "tmp")}

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def words(self) -> tuple[str, ...]:
        return ("try", str(self.folder / "own.c"), *OPTIONS)

    def left(self) -> list[str]:
        """List processes, drafts and temporary folders; a killed command's folders are removed by `lab clean`."""
        drafts = [*self.folder.glob("cache/.*.draft"), *self.folder.glob("tmp/*"), *self.folder.glob(BEGUN["campaign"])]
        return [*running_on(self.folder), *map(str, drafts)]


@pytest.fixture
def place(tmp_path: Path, kernel: Kernel) -> Place:
    cache_with(kernel, tmp_path / "cache")
    (tmp_path / "tmp").mkdir()
    written(tmp_path, source())
    return Place(tmp_path)


def begin(place: Place, step: str) -> "subprocess.Popen[str]":
    """Start the command, and wait until a step is under way."""
    process = start(place.results, *place.words, **place.environment)
    wait_for(lambda: list(place.folder.glob(BEGUN[step])), step, 3 * ENOUGH_S)
    return process


@pytest.mark.parametrize("step", BEGUN)
def test_ctrl_c_ends_it_at_any_step_in_one_line(place: Place, step: str) -> None:
    process = begin(place, step)
    press_ctrl_c(process)
    _, errors = process.communicate(timeout=ENOUGH_S)
    assert status_of(process) == 130
    assert errors.count("\n") == 1
    assert errors.startswith("interrupted: stored trials are whole; ")
    assert place.left() == []


@pytest.mark.parametrize("step", BEGUN)
def test_a_killed_one_leaves_no_process_and_goes_on_when_it_is_repeated(place: Place, step: str) -> None:
    process = begin(place, step)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=ENOUGH_S)
    wait_for(lambda: not running_on(place.folder), "end of all its processes")
    again = ("--resume",) if step == "campaign" else ()
    lab_ok(place.results, *place.words, *again, **place.environment)
    assert lab(place.results, "clean", **place.environment).returncode == 0
    assert place.left() == []


def test_the_command_that_goes_on_has_the_options_of_the_first(place: Place) -> None:
    process = begin(place, "campaign")
    press_ctrl_c(process)
    _, errors = process.communicate(timeout=ENOUGH_S)
    command = errors.strip().partition("go on with 'lab ")[2].removesuffix("'")
    done = lab(place.results, *command.split(), **place.environment)
    assert command.endswith(" --jobs 1 --resume")
    assert done.returncode == 0, done.stderr


def on_a_full_disk(place: Place, small: str, left_bytes: int, first: bool = False, again: str = "") -> Path:
    """Run the command where one of its folders lies on a small disk that is full, and once more when it is not."""
    kept, shared = place.folder / "kept", place.folder / "shared"
    kept.mkdir()
    (place.folder / small).mkdir(exist_ok=True)
    (place.folder / "cache").rename(shared) if small == "cache" else shared.mkdir()
    (place.folder / "cache").mkdir(exist_ok=True)
    variables = {
        **place.environment,
        "LAB_RESULTS": place.results,
        "PYTHON": sys.executable,
        "FILE": place.folder / "own.c",
        "OPTIONS": " ".join(OPTIONS),
        "SHARED": shared,
        "SMALL": place.folder / small,
        "LEFT": left_bytes,
        "FIRST": "yes" if first else "",
        "AGAIN": again,
        "KEPT": kept,
    }
    disk = ["bwrap", "--dev-bind", "/", "/", "--size", str(60_000_000), "--tmpfs", str(place.folder / small), "--"]
    words = [f"{name}={value}" for name, value in variables.items()]
    subprocess.run([*disk, "env", *words, "sh", "-c", FULL], cwd=REPO, check=True, timeout=600)
    return kept


@pytest.mark.parametrize(("small", "left_bytes"), [("cache", 0), ("cache", 300_000), ("tmp", 16_384), ("results", 0)])
def test_a_full_disk_is_one_line_and_no_harm(place: Place, small: str, left_bytes: int) -> None:
    kept = on_a_full_disk(place, small, left_bytes)
    assert (kept / "status").read_text() == "2\n"
    (line,) = (kept / "err").read_text().splitlines()
    assert "No space left" in line or "free_bytes=" in line
    assert (kept / "later_status").read_text() == "0\n", (kept / "later").read_text()
