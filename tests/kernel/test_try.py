# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab try`: a module of one's own from its source to the page, and what goes wrong on the way."""

import csv
import shlex
from pathlib import Path

import pytest

from tests.command import lab, press_ctrl_c, refused, running_on, start, status_of, wait_for
from tests.own_modules import CRASHES_LATE, REPORTING, source, written

pytestmark = pytest.mark.usefixtures("kernel")
OPTIONS = ("--links", "wired", "--against", "cubic", "--trials", "1", "--duration", "2", "--jobs", "1")


def ranks(results: Path) -> list[dict[str, str]]:
    (file,) = (results / "comparisons").glob("[0-9]*/ranks.csv")
    return list(csv.DictReader(file.read_text().splitlines()))


def test_two_versions_of_a_module_are_compared_with_a_sender_of_the_lab(tmp_path: Path) -> None:
    results = tmp_path / "results"
    files = [str(written(tmp_path, content, name)) for name, content in (("a.c", source()), ("b.c", REPORTING))]
    done = lab(results, "try", *files, *OPTIONS)
    assert done.returncode == 0, done.stderr
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
    assert running_on(results) == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--param", "gain=3"), "command line: param=gain: must be a parameter of the module: none"),
        (("--backend", "host"), "command line: backend=host: must be virtual or vm"),
        (("--against", "nobody"), "command line: cca=nobody: must be a known sender of lab/cca.yml"),
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
    assert "trial=../x: must be a trial's name" in refused(lab(tmp_path, "log", str(tmp_path), "../x"))
