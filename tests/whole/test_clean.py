# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab clean` removes what the lab made, and nothing else, whatever LAB_CACHE names."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.base.cache import DONE, MARKER, publish, use_lock_of
from lab.commands.clean import KEPT, tidy
from lab.images import image
from tests.brief import deepened, folder_at, put
from tests.command import lab, refused

USE = "import sys; from pathlib import Path; from lab.base.cache import use; use(Path(sys.argv[1]))"
MADE = """\
import sys
from pathlib import Path
from lab.base.cache import publish
for folder in map(Path, sys.argv[1:]):
    with publish(folder) as draft:
        (draft / "code").mkdir()
"""
DIGESTS = [f"{number:016x}" for number in range(KEPT + 3)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that the lab has made."""
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    folders = [tmp_path / "cache" / f"guest-code-{digest}" for digest in DIGESTS]
    subprocess.run([sys.executable, "-c", MADE, *map(str, folders)], check=True)
    for number, folder in enumerate(folders):
        for path in (folder, use_lock_of(folder)):
            os.utime(path, (number, number))
    return tmp_path / "cache"


@contextmanager
def another_process(code: str, *words: str) -> Iterator[None]:
    """Run code in a process that then waits until the block ends."""
    argv = [sys.executable, "-c", f"{code}\nprint(flush=True)\nsys.stdin.read()", *words]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdin
        process.stdout.readline()
        yield
        process.stdin.close()


def codes(cache: Path) -> list[str]:
    return sorted(folder.name.removeprefix("guest-code-") for folder in cache.glob("guest-code-*"))


def home(folder: Path) -> set[Path]:
    """Fill a folder like a user's own."""
    for name in (".git", ".ssh", "Documents", "traces", "kernel-sources"):
        put(folder / name / "dear", "mine")
    (folder / "build.log").write_text("mine")
    (folder / ".notes.draft").mkdir()
    return set(folder.rglob("*"))


def test_a_run_and_a_cache_of_another_user_are_left_alone_and_all_else_is_cleaned(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = [tmp_path / "results" / name / "1" / "trials" / ".cubic-001.draft" for name in ("another", "own")]
    for draft in drafts:
        draft.mkdir(parents=True)
        (draft.parents[1] / "run.json").write_text("{}")
    foreign = {drafts[0].parents[1], cache}
    monkeypatch.setattr(os, "access", lambda path, _mode: path not in foreign)  # of root everything is
    before = codes(cache)
    assert list(tidy(with_cache=False)) == [drafts[1]]
    assert (drafts[0].exists(), codes(cache)) == (True, before)


@pytest.mark.parametrize("name", ["home", "link"])
def test_a_folder_of_the_users_or_a_link_to_it_is_refused_and_keeps_everything(tmp_path: Path, name: str) -> None:
    before = home(tmp_path / "home")
    (tmp_path / "link").symlink_to("home")
    line = refused(lab(tmp_path / "results", "clean", "--cache", LAB_CACHE=str(tmp_path / name)))
    assert line.startswith(f"environment: LAB_CACHE={tmp_path / name}: must be a folder that the lab made")
    assert set((tmp_path / "home").rglob("*")) == before


def test_clean_without_the_cache_leaves_a_users_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = home(tmp_path / "home")
    (tmp_path / "tmp").mkdir()
    # in the machine's own, a killed command may have left some
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "home"))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))  # those of whoever runs the test stay
    assert list(tidy(with_cache=False)) == []
    assert set((tmp_path / "home").rglob("*")) == before


def test_a_users_folder_is_not_marked_when_used_as_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home(tmp_path / "home")
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "home"))
    with publish(tmp_path / "home" / f"modules-{DIGESTS[0]}"):
        pass
    assert not (tmp_path / "home" / MARKER).exists()


def test_the_cache_is_emptied_of_what_the_lab_made(cache: Path) -> None:
    home(cache)
    (cache / f"kernel-{DIGESTS[0]}").symlink_to(cache / "Documents")
    list(tidy(with_cache=True))
    assert codes(cache) == []
    kept = {path.name for path in cache.iterdir() if not path.name.endswith((".lock", ".use"))}
    assert kept == {MARKER, ".git", ".ssh", "Documents", "kernel-sources", "build.log", ".notes.draft"}
    assert (cache / "Documents/dear").read_text() == "mine"


def test_a_cache_from_before_the_marker_is_known_by_its_names(cache: Path) -> None:
    (cache / MARKER).unlink()
    list(tidy(with_cache=True))
    assert codes(cache) == []


def test_old_guest_code_is_removed_and_the_newest_stays(cache: Path) -> None:
    removed = list(tidy(with_cache=False))
    assert codes(cache) == DIGESTS[-KEPT:]
    assert {Path(path).name for path in removed} >= {f"guest-code-{digest}" for digest in DIGESTS[:-KEPT]}


def test_what_was_used_lately_stays_however_old_it_is(cache: Path) -> None:
    old = cache / f"guest-code-{DIGESTS[0]}"
    subprocess.run([sys.executable, "-c", USE, str(old)], check=True)
    list(tidy(with_cache=False))
    assert codes(cache) == [DIGESTS[0], *DIGESTS[-KEPT + 1 :]]


def test_what_another_process_uses_stays(cache: Path) -> None:
    used = cache / f"guest-code-{DIGESTS[0]}"
    with another_process(USE, str(used)):
        list(tidy(with_cache=True))
        assert codes(cache) == DIGESTS[:1]
    list(tidy(with_cache=True))
    assert codes(cache) == []


def test_the_builder_of_a_running_build_stays(cache: Path) -> None:
    status = put(cache / f"builder-{image.digest('builder')}" / "root/var/lib/dpkg/status", "")
    (status.parents[4] / DONE).touch()
    with another_process("import sys; from lab.images import image; assert image.find('builder')"):
        list(tidy(with_cache=True))
        assert status.exists()
    list(tidy(with_cache=True))
    assert not status.exists()


def test_what_another_process_has_just_built_stays(cache: Path) -> None:
    with another_process(MADE, str(cache / f"modules-{DIGESTS[0]}")):
        list(tidy(with_cache=True))
        assert (cache / f"modules-{DIGESTS[0]}" / DONE).exists()


def test_a_draft_of_a_killed_build_is_removed(cache: Path) -> None:
    draft = folder_at(cache / f".modules-{DIGESTS[0]}.draft")
    assert draft in list(tidy(with_cache=False))
    assert (cache / f"guest-code-{DIGESTS[-1]}" / DONE).exists()


def test_a_folder_of_an_unknown_kind_is_never_made_since_clean_would_leave_it(cache: Path) -> None:
    with pytest.raises(AssertionError, match="mystery"), publish(cache / f"mystery-{DIGESTS[0]}"):
        pass
    assert not list(cache.glob("mystery*"))


def stored(results: Path, name: str, content: str = "") -> Path:
    """Make the folder of a run as a stranger may have packed it."""
    run = results / name / "2026-11-25T21-00-00Z"
    (run / "trials").mkdir(parents=True)
    if content:
        (run / "run.json").write_text(content)
    return run


@pytest.mark.parametrize("content", ["[1]", "7", '{"name": "whatif-x", "profile": [1]}', "[" * 100_000, "\0"])
def test_a_strangers_run_of_any_json_is_passed_over(cache: Path, content: str) -> None:
    run = stored(cache.parent / "results", "whatif-x", content)
    list(tidy(with_cache=False))
    assert run.is_dir()


@pytest.mark.parametrize("make", [os.mkfifo, lambda file: file.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_a_strangers_run_without_a_plain_file_is_passed_over_at_once(cache: Path, make: Callable[[Path], None]) -> None:
    run = stored(cache.parent / "results", "whatif-x")
    make(run / "run.json")
    list(tidy(with_cache=False))
    assert run.is_dir()


def test_nothing_is_removed_behind_a_link_in_a_strangers_run(cache: Path) -> None:
    before = home(cache.parent / "home")
    run = stored(cache.parent / "results", "geo", "{}")
    (run / "trials").rmdir()
    (run / "trials").symlink_to(cache.parent / "home")
    linked = stored(cache.parent / "results", "leo", "{}") / "trials" / ".x.draft"
    linked.symlink_to(cache.parent / "home")
    list(tidy(with_cache=False))
    assert set((cache.parent / "home").rglob("*")) == before
    assert not linked.is_symlink()


def test_the_file_that_a_killed_command_was_writing_is_removed_and_the_one_being_written_stays(cache: Path) -> None:
    names = ("file.12345678.part", ".mine.part", ".file.12345678.part")
    results, elsewhere = cache.parent / "results", folder_at(cache.parent / "home")
    folders = [stored(results, "geo", "{}") / "trials", folder_at(results / "compare"), folder_at(cache / "reports")]
    files = [put(folder / name, "") for folder in (*folders, elsewhere) for name in names]
    (results / "link").symlink_to(elsewhere)
    for file in files:
        os.utime(file, (0, 0))
    written = put(results / ".file.87654321.part", "")
    list(tidy(with_cache=False))
    assert [file for file in (*files, written) if not file.exists()] == [folder / names[2] for folder in folders]


def test_a_draft_of_any_depth_is_removed(cache: Path) -> None:
    draft = folder_at(stored(cache.parent / "results", "geo", "{}") / "trials" / ".x.draft")
    deepened(draft, 3000)
    list(tidy(with_cache=False))
    assert not draft.exists()
