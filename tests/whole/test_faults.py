# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever goes wrong gets one clear line and a failing exit status, and nothing that is stored is lost."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lab_vm import host, machine
from typer.testing import CliRunner

from lab.base import host_tool, paths, sandbox
from lab.base.commit import commit
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.commands.cli import app
from lab.runs.run_folder import lab_version, new_folder
from lab.tables.stored_trial import FORMAT
from tests.brief import error_of, folder_at, put
from tests.command import ENOUGH_S, ENV, lab, press_ctrl_c, refused, scenario_file, status_of, wait_for
from tests.hostile.readers import READERS
from tests.stored_run import sign, store_run
from tests.whole.test_hostile import in_a_process


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of the system's tools, from which a test takes one away."""
    folder = folder_at(tmp_path / "bin")
    for tool in ("bwrap", "mmdebstrap", "setpriv", "git", "apt-get", "readlink"):
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    return folder


def test_without_the_requested_bwrap_a_run_names_it_and_a_command_that_shows_more(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    words = ["run", str(scenario_file(tmp_path))]
    done = lab(tmp_path / "results", *words, PATH=str(tools), LAB_SANDBOX="bubblewrap")
    assert refused(done) == "sandbox: bwrap: not installed: run 'lab doctor'"


def test_without_bwrap_nothing_is_built_and_one_line_names_the_ways_out(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    cache = str(tmp_path / "cache")
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools), LAB_CACHE=cache)
    assert refused(done).startswith("sandbox: bwrap: not installed: building kernel and world needs ")
    assert "lab bundle use" in refused(done)


def test_a_sandbox_of_another_name_is_refused(tmp_path: Path) -> None:
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), LAB_SANDBOX="docker")
    assert refused(done) == "environment: LAB_SANDBOX=docker: must be bubblewrap or none"


def test_without_mmdebstrap_the_first_run_names_it(tmp_path: Path, tools: Path) -> None:
    (tools / "mmdebstrap").unlink(missing_ok=True)
    cache = tmp_path / "cache"
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools), LAB_CACHE=str(cache))
    assert refused(done) == "mmdebstrap: not installed: run 'make setup'"
    assert not [folder for folder in cache.iterdir() if folder.is_dir()]


def test_doctor_names_what_is_missing_what_mends_it_and_the_mode(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    cache = str(tmp_path / "cache")
    done = lab(tmp_path / "results", "doctor", PATH=str(tools), LAB_CACHE=cache, LAB_SANDBOX="bubblewrap")
    assert done.returncode == 1
    assert any(line.startswith("MISSING  sandbox ") and "make setup" in line for line in done.stdout.splitlines())
    done = lab(tmp_path / "results", "doctor", PATH=str(tools))
    (line,) = (line for line in done.stdout.splitlines() if "  sandbox " in line)
    assert "sandbox none, since bwrap: not installed" in line


def test_without_setpriv_the_commit_is_known_and_without_git_it_is_not(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = commit()
    (tools / "env").symlink_to(ENV)
    (tools / "setpriv").unlink()
    monkeypatch.setenv("PATH", str(tools))
    assert commit() == expected
    (tools / "git").unlink()
    assert commit() is None


def test_a_checkout_below_a_folder_with_a_colon_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "REPO", Path("/a:b"))
    line = "/a:b: must be below folders without ':': Python takes it for two paths"
    assert str(CliRunner().invoke(app, ["list"]).exception) == line


def test_the_commit_is_that_of_the_checkout_also_below_a_hook_of_another_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, *identity, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    expected = commit(), lab_version.__wrapped__()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / ".git" / "index"))
    assert (commit(), lab_version.__wrapped__()) == expected


@pytest.mark.parametrize(
    ("does", "patience_s", "why", "reported"),
    [
        ("sleep 600 & echo $! >$PID; wait", 0.5, "{}: no end after 0.5 s", "{}: no end after 0.5 s"),
        ("exec yes", 60, "{}: more than 1000 bytes printed", "{}: more than 1000 bytes printed"),
    ],
    ids=["hangs", "prints without end"],
)
def test_a_tool_that_does_not_end_holds_up_no_command(
    does: str, patience_s: float, why: str, reported: str, tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_tool, "MOST_S", patience_s)
    monkeypatch.setattr(host_tool, "MOST_BYTES", 1000)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("PID", str(tmp_path / "pid"))
    monkeypatch.setattr(machine, "FOLDER", put(tmp_path / "machines" / "lab" / "libvirt" / "id", "1").parents[3])
    monkeypatch.setattr(sandbox, "CHOWN_S", patience_s)
    monkeypatch.setattr(host, "TRANSFER_S", patience_s)
    for name in ("git", "bwrap", "vagrant", "chown", "env", "sudo"):
        (tools / name).unlink(missing_ok=True)
        put(tools / name, f"#!/bin/sh\n{does}\n").chmod(0o755)
    assert error_of(commit) == f"git: must end by itself: {why.format('git')}"
    assert error_of(machine.ssh_config) == f"vagrant: must end by itself: {why.format('vagrant')}"
    assert sandbox.why_not() == reported.format("bwrap")
    by_root = "env" if os.geteuid() == 0 else "sudo"
    assert (
        error_of(host.Host("netns").call, "lab_vm.node.facts")
        == f"{by_root}: must end by itself: {why.format(by_root)}"
    )
    if os.geteuid() == 0:
        assert error_of(sandbox.own_tree, tmp_path) == f"chown: must end by itself: {why.format('chown')}"
    if (tmp_path / "pid").exists():
        started = Path("/proc", (tmp_path / "pid").read_text().strip())
        wait_for(lambda: not (started / "exe").exists(), "end of what the tool started")


def test_a_tool_has_the_limits_of_its_command_so_that_it_may_start_the_lab() -> None:
    limits = ["sh", "-c", "ulimit -a"]
    assert host_tool.run_tool(*limits).stdout == subprocess.run(limits, check=True, stdout=subprocess.PIPE).stdout


def test_a_tool_that_prints_something_else_is_not_believed(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("git", "bwrap"):
        (tools / name).unlink()
        put(tools / name, "#!/bin/sh\necho all went well\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    assert error_of(commit) == "git: describe=all went well: must be the name of a commit, in a word: is this git?"
    assert sandbox.why_not() == "bwrap: gives a command no processes of its own"


FEW = "40"
SEED = "1"


@pytest.mark.parametrize("reads", READERS)
def test_a_changed_file_is_read_or_refused_in_one_line(reads: str) -> None:
    done = in_a_process("tests.hostile.fuzz", reads, FEW, SEED)
    assert done.returncode == 0, done.stderr[-3000:]


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
    sign(damaged)
    assert refusal("report", str(stored)).startswith(f"{damaged}: {words}")


COMMANDS = [
    *(str(known.name or getattr(known.callback, "__name__", "")) for known in app.registered_commands),
    "kernel build",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert f"Example: lab {command}" in done.stdout.replace("`", "")


def test_reproduce_refuses_an_unknown_scenario_before_anything_is_built(
    refusal: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    assert "goe" in refusal("reproduce", "geo", "goe")
    assert list(tmp_path.iterdir()) == []


def test_a_message_is_one_line_of_bounded_length() -> None:
    message = str(UserError(f"first\nsecond {'x' * 10_000} last"))
    assert message.startswith("first second xxx")
    assert message.endswith("xxx last")
    assert (len(message.splitlines()), len(message) < 2500) == (1, True)


def test_runs_that_begin_in_one_second_have_folders_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as threads:
        begun = list(threads.map(new_folder, [tmp_path / "mine"] * 3))
    assert len(set(begun)) == 3
    assert all((folder / "trials").is_dir() for folder in begun)


@pytest.mark.parametrize("after_s", [0.002, 0.01, 0.02, 0.03, 0.05, 0.1])
def test_ctrl_c_in_the_first_moment_ends_the_command_without_a_traceback(after_s: float) -> None:
    process = subprocess.Popen(
        [REPO / "scripts" / "lab", "list"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(after_s)
    press_ctrl_c(process)
    _, errors = process.communicate(timeout=ENOUGH_S)
    assert status_of(process) == 130
    assert errors in ("", "interrupted: stored trials are whole; run the command again\n")


@pytest.mark.parametrize("words", ["try {}", "report {}", "log {} cubic-001", "grade 1 {}", "page {}"])
def test_a_link_to_itself_is_refused_in_one_line(tmp_path: Path, words: str) -> None:
    (tmp_path / "loop.c").symlink_to("loop.c")
    refused(lab(tmp_path / "results", *words.format(tmp_path / "loop.c").split()))


def test_a_link_to_itself_in_a_folder_of_sources_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.c").symlink_to("a.c")
    line = refused(lab(tmp_path / "results", "try", str(tmp_path / "own")))
    assert line == f"{tmp_path}/own/a.c: Too many levels of symbolic links"
