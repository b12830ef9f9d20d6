# SPDX-License-Identifier: GPL-2.0-or-later
"""Records leave a guest's folder, and files a stranger's build, as plain files or not at all."""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.backends import watched
from lab.backends.records import MOST_FILES, TrialError, require, require_few, take, take_tar
from lab.backends.watched import MOST_CONSOLE_BYTES, Limits, Watched
from lab.base.errors import UserError
from lab.base.plain_file import copy_made
from lab.base.remove import remove
from tests.brief import deepened, folder_at, put
from tests.processors import ALL, bound_to

MOST_BYTES = 1 << 20


@pytest.fixture
def room(tmp_path: Path) -> Path:
    room = tmp_path / "room"
    (room / "formats").mkdir(parents=True)
    (room / "node.json").write_text("{}")
    (room / "formats/tcp").write_text("a format")
    return room


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_at(tmp_path / "folder")


def content(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_plain_files_and_folders_are_copied_and_the_host_keeps_its_own_inputs_and_log(room: Path, folder: Path) -> None:
    own = ("plan.json", "kernel.log")
    for name in own:
        (room / name).write_text("the guest's")
        (folder / name).write_text("the host's")
    take(room, folder, MOST_BYTES)
    assert content(folder) == content(room) | dict.fromkeys(own, b"the host's")


KINDS: dict[str, Callable[[Path, Path], object]] = {
    "symbolic": lambda path, secret: path.symlink_to(secret),
    "symbolic_folder": lambda path, secret: path.symlink_to(secret.parent),
    "hard": lambda path, secret: path.hardlink_to(secret),
    "fifo": lambda path, _: os.mkfifo(path),
    "nowhere": lambda path, _: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("name", ["trial.json", "packets.parquet", "client.pcapng.zst", "error.txt", "formats/tcp2"])
@pytest.mark.parametrize("kind", KINDS)
def test_anything_else_is_refused_and_the_host_is_unchanged(room: Path, folder: Path, kind: str, name: str) -> None:
    secret = put(room.parent / "secret", "a host's secret")
    KINDS[kind](room / name, secret)
    with pytest.raises(TrialError, match=rf"^trial: {name}: must be a plain file or folder$"):
        take(room, folder, MOST_BYTES)
    assert secret.read_text() == "a host's secret"
    assert b"a host's secret" not in content(folder).values()


def test_a_device_is_refused_and_the_room_itself_is_no_link(room: Path, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TrialError, match=r"^trial: (ptmx|\d+): must be a plain file or folder$"):
        take(Path("/dev/pts"), folder, MOST_BYTES)
    (tmp_path / "link").symlink_to(room)
    with pytest.raises(TrialError, match=r"must be a plain file or folder$"):
        take(tmp_path / "link", folder, MOST_BYTES)


@pytest.mark.parametrize("look", [take, lambda room, _, most: require_few([room], most)])
def test_files_without_number_are_refused(room: Path, folder: Path, look: Callable[[Path, Path, int], None]) -> None:
    for number in range(MOST_FILES):
        (room / str(number)).touch()
    with pytest.raises(TrialError, match=rf"^trial: files={MOST_FILES + 1}: must be at most {MOST_FILES}$"):
        look(room, folder, MOST_BYTES)


def test_a_folder_that_goes_away_while_a_guest_is_watched_is_left_out(room: Path) -> None:
    def come_and_go() -> None:
        while not over.is_set():
            (room / "gone" / "inner").mkdir(parents=True)
            (room / "gone" / "inner").rmdir()
            (room / "gone").rmdir()

    over = threading.Event()
    guest = threading.Thread(target=come_and_go)
    guest.start()
    try:
        for _ in range(20_000):
            require_few([room], MOST_BYTES)
        assert guest.is_alive()
    finally:
        over.set()
        guest.join()


def test_a_sparse_file_of_100_gb_is_refused_before_it_is_copied(room: Path, folder: Path) -> None:
    with (room / "trace.raw").open("wb") as stream:
        stream.truncate(100 * 10**9)
    with pytest.raises(TrialError, match=r"^trial: trace.raw: bytes=1000000\d+: must be at most 1048576 in all$"):
        take(room, folder, MOST_BYTES)


def test_folders_in_folders_without_end_are_refused_and_removed(room: Path, folder: Path) -> None:
    deepened(room, 300)
    with pytest.raises(TrialError, match=r"must be at most 8 folders deep, each name of at most 255 bytes$"):
        take(room, folder, MOST_BYTES)
    remove(room)
    assert not room.exists()


def test_a_name_that_no_terminal_should_show_is_quoted(room: Path, folder: Path) -> None:
    (room / "\x1b[2J\n").symlink_to("/")
    with pytest.raises(TrialError, match=r"^trial: '\\x1b\[2J\\n': must be a plain file or folder$"):
        take(room, folder, MOST_BYTES)


def test_an_error_of_the_node_is_one_line_of_bounded_length(folder: Path) -> None:
    (folder / "error.txt").write_text("first\nsecond\x1b[2J" + "x" * 10**6)
    with pytest.raises(TrialError, match=r"^first second\?\[2Jx{500,600}$"):
        require(folder, "node.json", "no record")


def archive(*members: tuple[str, bytes, str]) -> io.BytesIO:
    """Build a machine's archive: name, type and target of each member."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, kind, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    stream.seek(0)
    return stream


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_machine_sends_plain_files_only(folder: Path, kind: bytes) -> None:
    sent = archive(("./node.json", tarfile.REGTYPE, ""), ("./trial.json", kind, "node.json"))
    with pytest.raises(TrialError, match=r"^trial: trial.json: must be a plain file or folder$"):
        take_tar(sent, folder, MOST_BYTES)
    assert not (folder / "trial.json").is_symlink()


def test_a_machine_sends_no_file_to_another_place_and_no_more_than_a_trial_may_leave(folder: Path) -> None:
    with pytest.raises(TrialError, match=r"^trial: ../outside: must be a plain file or folder$"):
        take_tar(archive(("../outside", tarfile.REGTYPE, "")), folder, MOST_BYTES)
    with pytest.raises(TrialError, match=r"^trial: a/b: must be a plain file or folder$"):
        take_tar(archive(("./a", tarfile.REGTYPE, ""), ("./a/b", tarfile.REGTYPE, "")), folder, MOST_BYTES)
    assert not (folder.parent / "outside").exists()
    with pytest.raises(TrialError, match=r"éé: must be at most 8 folders deep, each name of at most 255 bytes$"):
        take_tar(archive((128 * "é", tarfile.REGTYPE, "")), folder, MOST_BYTES)
    members = [(str(number), tarfile.REGTYPE, "") for number in range(MOST_FILES + 1)]
    with pytest.raises(TrialError, match="must be at most"):
        take_tar(archive(*members), folder, MOST_BYTES)


def watch(room: Path, script: str, seconds: float = 600) -> "subprocess.CompletedProcess[str]":
    return Watched(["sh", "-c", script], [room], Limits(seconds, 600, MOST_BYTES, 1)).run()


def test_a_kernel_has_one_processor_the_next_one_another_and_the_caller_keeps_its_own(room: Path) -> None:
    script = f"{sys.executable} -c 'import os; print(*os.sched_getaffinity(0))'"
    with bound_to(ALL):
        given = [int(watch(room, script).stdout) for _ in ALL]
        assert sorted(given) == ALL == sorted(os.sched_getaffinity(0))


def test_a_console_without_end_is_kept_in_its_first_and_its_last_part(room: Path) -> None:
    done = watch(room, "echo the beginning; head -c 20M /dev/zero; echo the end")
    assert len(done.stdout) == MOST_CONSOLE_BYTES
    assert done.stdout.startswith("the beginning\n")
    assert done.stdout.endswith("the end\n")


SLEEPS = "BUG: scheduling while atomic: swapper/0/0x00000100"
REMOVED = "cd {room}; exec 3>1 4>2; rm 1 2; head -c 2M /dev/zero >&3; head -c 2M /dev/zero >&4; sleep 600"


@pytest.mark.parametrize(
    ("script", "seconds", "line"),
    [
        (f"for i in 1 2 3; do head -c {MOST_BYTES} /dev/zero >{{room}}/$i; done; sleep 600", 600, ".*1048576 in all"),
        (REMOVED, 600, r"trial: removed files: bytes=\d+: must be at most 1048576 in all"),
        ("exec >&-; sleep 600", 0.1, "virtual kernel: no end after 0.1 s"),
        (f"echo {SLEEPS}; exec sleep 600", 600, r"virtual kernel: a hook sleeps \(scheduling while atomic\)"),
        (f"echo {SLEEPS}", 600, r"virtual kernel: a hook sleeps \(scheduling while atomic\)"),
    ],
    ids=["writes too much", "holds too much in removed files", "without end", "sleeps for ever", "has slept"],
)
def test_a_kernel_that_passes_a_limit_is_ended(room: Path, script: str, seconds: float, line: str) -> None:
    with pytest.raises(TrialError, match=rf"^{line}$"):
        watch(room, script.format(room=room), seconds)


def test_a_kernel_whose_programs_have_no_turn_is_ended_long_before_its_processor_time_is_over(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "LEAST_STUCK_S", 1.0)
    shutil.copy("/bin/sh", room / "linux")
    loops, turns = "while :; do :; done", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); (:); done; echo the end"
    with pytest.raises(
        TrialError, match=r"^virtual kernel: a hook does not return: no program ran for 1 s of processor"
    ):
        Watched([str(room / "linux"), "-c", loops], [room], Limits(600, 10, MOST_BYTES, 1)).run()
    assert (
        Watched([str(room / "linux"), "-c", turns], [room], Limits(600, 10, MOST_BYTES, 1)).run().stdout == "the end\n"
    )


def test_a_slow_machine_has_more_time(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "slowness", lambda: 100.0)
    assert watch(room, "sleep 1; echo the end", 0.2).stdout == "the end\n"


def test_a_machine_is_as_slow_as_it_starts_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "USUAL_START_S", 1e-6)
    assert 100 < watched.slowness.__wrapped__() < 1e6
    monkeypatch.setattr(watched, "USUAL_START_S", 1e6)
    assert watched.slowness.__wrapped__() == 1


NAME, HELD = "made", "held by the host alone"


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").write_text(HELD)
    return tmp_path / "work"


def test_a_plain_file_is_copied(build: Path) -> None:
    (build / NAME).write_bytes(b"\x7fELF")
    copy_made(build, NAME, build.parent / "copy")
    assert (build.parent / "copy").read_bytes() == b"\x7fELF"


@pytest.mark.parametrize(
    "make",
    [
        lambda made: made.symlink_to("../secret"),
        lambda made: made.symlink_to(made),
        lambda made: os.link(made.parent.parent / "secret", made),
        os.mkfifo,
        Path.mkdir,
        lambda _made: None,
    ],
    ids=["link", "loop", "hard link", "pipe", "folder", "nothing"],
)
def test_anything_else_is_refused_in_one_line(build: Path, make: Callable[[Path], object]) -> None:
    make(build / NAME)
    with pytest.raises(UserError, match=r"^build: made: .*: must be a plain file, which the build makes itself$"):
        copy_made(build, NAME, build.parent / "copy")
    assert not (build.parent / "copy").exists()


def test_a_link_in_place_of_the_folder_is_not_followed(build: Path) -> None:
    (build.parent / "other").symlink_to(build)
    with pytest.raises(OSError, match="other"):
        copy_made(build.parent / "other", NAME, build.parent / "copy")
