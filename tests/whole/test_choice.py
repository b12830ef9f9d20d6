# SPDX-License-Identifier: GPL-2.0-or-later
"""A name or word of a command line that is unknown, empty or double is one line, before anything heavy is loaded."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_compare.link_kinds import KINDS

from lab.base import paths
from lab.base.choice import choose, suggested
from lab.base.errors import UserError
from lab.base.named_files import kernel_senders
from lab.base.paths import REPO
from lab.commands.cli import app
from lab.commands.known import require_run
from lab.runs.experiment import load_experiment, specification, try_link
from lab.schema.cca import load_ccas
from tests.brief import error_of, folder_at
from tests.command import scenario_file
from tests.stored_run import store_run

HEAVY = ("polars", "scipy", "matplotlib", "numpy")
PROGRAM = f"""
import atexit, sys
atexit.register(lambda: print(sorted(set(sys.modules) & set({HEAVY!r}))))
from lab.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("name", "known", "words"),
    [
        ("goe", KINDS, "did you mean geo?"),
        ("wifi", KINDS, "did you mean wifi-low or wifi-high?"),
        ("Cubci", ("bbr", "cubic"), "did you mean cubic?"),
        ("x", ("a", "b"), "a, b"),
        ("x" * 10**6, ("a", "b"), "a, b"),
        ("x", tuple("abcdefgh"), "a, b, c, d, e, f, g, h"),
        ("x", tuple("abcdefghi"), "a, b, c, d, e, and 4 more"),
        ("", ("a", "b"), "a, b"),
        ("path", [f"path{number}" for number in range(9)], "did you mean path8, path7, path6, path5 or path4?"),
    ],
)
def test_near_names_are_suggested(name: str, known: tuple[str, ...], words: str) -> None:
    assert suggested(name, known) == words


def test_a_known_name_is_returned_another_refused_and_senders_are_their_stanzas() -> None:
    assert choose("kind", "geo", KINDS, "file", "link") == "geo"
    with pytest.raises(UserError, match=r"^file: link=gio: must be a known kind: did you mean geo\?$"):
        choose("kind", "gio", KINDS, "file", "link")
    assert kernel_senders() == list(load_ccas())


@pytest.mark.parametrize(
    "words",
    [
        "run nosuch",
        "run --profile nosuch --cca cubic",
        "run --profile geo-viasat --cca nosuch",
        "compare --cca cubic,nosuch",
        "compare --cca cubic,bbr --links nosuch",
        "try own.c --links nosuch",
        "reproduce nosuch",
        "verify nosuch",
        "report /nowhere",
    ],
)
def test_a_wrong_name_is_refused_before_anything_heavy_is_loaded(words: str) -> None:
    command = [str(REPO / "scripts" / "python"), "-c", PROGRAM, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("", "must name a scenario (see 'lab list'), or --profile"),
        ("--profile no-such --cca cubic", "profile=no-such: must be a known profile of trace-profiles/: "),
        (
            "--profile agree --cca cubic,./my.c",
            "cca=./my.c: must be a sender's name: 'lab try FILE.c' runs your own module",
        ),
        ("--profile agree --cca cubic,no-such", "cca=no-such: must be a known sender of lab/cca.yml or a package: "),
        ("--profile agree --cca cubic,cubic", "ccas=['cubic', 'cubic']: must be a list that names each sender once"),
        ("--profile geo-viasat --cca ,", "cca=: must be a known sender of lab/cca.yml or a package: "),
        ("geo --profile geo-viasat --cca cubic", "profile=geo-viasat: must be absent with a scenario (geo)"),
        ("my.yaml", "scenario=my.yaml: must be a name, or a file that ends in .yml"),
        ("--profile my.yaml", "profile=my.yaml: must be a name, or a file that ends in .yml"),
        (
            "geo-viasat",
            "scenario=geo-viasat: must be a scenario: 'lab run --profile geo-viasat' runs this link without",
        ),
        ("geo --cca cubic", "cca=cubic: must be used with --profile, not with a scenario"),
        ("geo --topology path", "topology=path: must be used with --profile, not with a scenario"),
        ("--profile geo-viasat --cca cubic --topology ring", "topology=ring: must be a known topology: "),
        ("--profile geo-viasat --cca cubic --trials 0", "trials=0: must be greater than or equal to 1"),
    ],
)
def test_a_mistake_is_one_line(refusal: Callable[..., str], words: str, line: str) -> None:
    assert refusal("run", *words.split()).startswith(f"command line: {line}")


def test_a_link_and_a_scenario_that_are_taken_for_each_other_are_named_with_the_command_that_runs_them(
    refusal: Callable[..., str],
) -> None:
    link, scenario = paths.PROFILES / "agree.yml", paths.SCENARIOS / "geo.yml"
    wrong = (
        "trace-profiles/agree.yml: down=...: must be left out of a scenario: 'lab run --profile trace-profiles/agree"
    )
    assert refusal("run", str(link)).startswith(wrong)
    wrong = "lab/scenarios/geo.yml: question=...: must be left out of a link: 'lab run lab/scenarios/geo.yml' runs a"
    assert refusal("run", "--profile", str(scenario)).startswith(wrong)


def test_a_run_is_named_by_its_folder_by_that_above_it_or_by_its_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    run = store_run(tmp_path, 1, senders=("cubic",), latest=True)
    for name in (run, f"geo/{run.name}", "geo", run.parent):
        assert require_run(name).resolve() == run
    strangers = folder_at(tmp_path / "strangers")
    (strangers / "latest").symlink_to(run)
    for wrong in ("mars", tmp_path, "x" * 5000, strangers):
        with pytest.raises(UserError, match=f"^--run={str(wrong)[:200]}: must be a run's folder, or a scenario with a"):
            require_run(wrong, "--run=")
    (run.parent / "latest").unlink()  # as a zip file loses it
    with pytest.raises(UserError, match=f"geo: must be a run's folder, such as {run}: no link 'latest' leads to one"):
        require_run("geo")


@pytest.mark.parametrize(
    ("words", "field"),
    [("try own.c --against nosuch", "against"), ("whatif my.pcap --was nosuch", "was"), ("break nosuch", "sender")],
)
def test_a_wrong_sender_is_refused_by_its_options_name(refusal: Callable[..., str], words: str, field: str) -> None:
    assert refusal(*words.split()).startswith(f"command line: {field}=nosuch: must be a known sender of lab/cca.yml")


def test_make_passes_a_link_on() -> None:
    command = ["make", "-n", "experiment", "PROFILE=geo-viasat", "CCA=search,cubic", "TRIALS=2"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)
    assert "scripts/lab run --profile geo-viasat --cca search,cubic --trials 2" in done.stdout


def test_a_tried_link_is_the_same_trial_as_that_of_a_scenario(tmp_path: Path) -> None:
    tried = try_link("geo-viasat", ["cubic_plain"], {"trials": 2, "duration_s": 3, "seed": 7})
    loaded = load_experiment(str(scenario_file(tmp_path, question=tried.scenario.question)))
    assert tried.name == "try-geo-viasat"
    assert specification(tried)["digests"] == specification(loaded)["digests"]


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        (["compare", "--cca", "search,cubic", "--links", ""], "links=: must be some text, or left out"),
        (["compare", "--cca", "search,cubic", "--links="], "links=: must be some text, or left out"),
        (["race", "search,cubic", "--links", " "], "links=: must be some text, or left out"),
        (["break", ""], "argument=: must be some text, or left out"),
        (["bundle", "make", ""], "argument=: must be some text, or left out"),
        (["compare", "--cca", "search,cubic", "--links", "geo", "--links=leo"], "--links: must be given once"),
        (["traces", "show", "mine.csv", "--format", "a", "--format", "b"], "--format: must be given once"),
    ],
)
def test_a_word_that_would_pass_for_another_is_refused(line: list[str], refusal: str) -> None:
    assert error_of(app, line) == f"command line: {refusal}"


@pytest.mark.parametrize("line", [["--set", "scale=2", "--set", "skip=1"], ["--set=scale="]])
def test_an_option_that_may_be_repeated_may_and_a_value_may_end_in_a_sign(line: list[str]) -> None:
    assert error_of(app, ["traces", "show", "nothing", *line]).startswith("nothing: must be a file, or a recording")


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        (["bundle", "make", "/"], "/: must be a file in a folder that is there"),
        (["bundle", "make", "nowhere/lab.bundle"], "nowhere/lab.bundle: must be a file in a folder that is there"),
        (["page", "nowhere"], "nowhere: must be the folder of all results"),
        (["break", "cubic,bbr"], "command line: sender=cubic,bbr: must be one sender, or one path"),
        (
            ["break", "./stack.yml"],
            "command line: sender=./stack.yml: must be a sender's name, a C file or its folder: stacks of your own run "
            "in lab try",
        ),
    ],
)
def test_a_path_or_a_name_that_a_command_cannot_use_is_refused_before_it_begins(line: list[str], refusal: str) -> None:
    assert error_of(app, line) == refusal


NO_UTF8 = os.fsdecode(b"a\xff")


@pytest.mark.parametrize("line", [["report", NO_UTF8], ["run", f"{NO_UTF8}/mine.yml"], ["page", "--help", NO_UTF8]])
def test_a_path_that_is_no_utf8_is_refused_before_anything_runs(line: list[str]) -> None:
    with pytest.raises(UserError, match=r"^command line: argument='a\\udcff.*': must be UTF-8 text$"):
        app(line)


@pytest.mark.parametrize("name", ["LAB_RESULTS", "LAB_CACHE", "TMPDIR", "HOME", "PWD"])
def test_a_place_that_is_no_utf8_is_refused_before_anything_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, f"/{NO_UTF8}")
    with pytest.raises(UserError, match=rf"^environment: {name}='/a\\udcff': must be UTF-8 text$"):
        app(["list"])


@pytest.mark.parametrize(("name", "value"), [("HOME", ""), ("XDG_CACHE_HOME", "mine")])
def test_a_home_without_a_whole_path_puts_no_cache_into_the_root_or_where_the_user_is(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("LAB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(name, value)
    rule = "a folder's whole path, or LAB_CACHE must name a folder"
    assert error_of(paths.cache) == f"environment: {name}={value}: must be {rule}"
    monkeypatch.setenv("LAB_CACHE", "/nowhere")
    assert str(paths.cache()) == "/nowhere"
