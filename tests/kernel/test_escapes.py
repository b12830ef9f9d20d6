# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that leaves the kernel under test is refused every system call that a kernel does not need, in both modes."""

import ctypes
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from lab_try.confined import virtual_tree
from lab_try.module.build import OwnModule, build_own
from lab_try.module.source import read_source

from lab.backends import boot, guest_tree, records, watched
from lab.backends.records import TrialError
from lab.base import landlock, paths, sandbox, sandbox_mode, seccomp, system_calls
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs.trial import prepare
from tests.brief import folder_at, put
from tests.command import ENOUGH_S, wait_for
from tests.conftest import SMALL, Bench, experiment_on
from tests.guest.modules import loaded
from tests.hostile.escapes import ordinary
from tests.hostile.escapes.table import Outcomes

HERE = Path(__file__).parents[1] / "hostile" / "escapes"
MOST_NUMBER = 600  # of calls: Linux 6.18 has 470
UPROBES = {
    335,
    336,
}  # no filter sees them (seccomp.c); outside a probe of the kernel's own they end the caller by SIGILL
X86_64 = 0xC000003E  # AUDIT_ARCH_X86_64: seccomp.h
ME = os.getpid()
AT_FDCWD, A_PATH = -100, 1
NO_ARGUMENTS = (0,) * 6
MEMORY_MB = 192  # of a guest that an attack of 384 MB cannot hide in
# Calls that a kernel needs with other arguments: name, arguments.
WITH_ARGUMENTS = {
    "a user namespace": ("clone", 0x10000011),
    "a network namespace": ("clone", 0x40000011),
    "a child of its parent's": ("clone", 0x8011),
    "a child of its parent's with a network of its own": ("clone", 0x40008411),
    "sockets of the network": ("socketpair", 2, 1, 0, 0),
    "data that is code": ("personality", 0x400000),
    "limits of another process": ("prlimit64", ME, 0, 0, 0),
    "every process ends": ("kill", -1, 0),
    "a group of others ends": ("kill", -ME, 0),
    "another process is traced": ("ptrace", 16, ME, 0, 0),
    "another process is seized": ("ptrace", 0x4206, ME, 0, 0),
    "words to a terminal": ("ioctl", 0, 0x5412, 0),
    "a disk": ("ioctl", 0, 0x4C00, 0),
    "a file that runs as its owner": ("fchmod", 1, 0o4755),
    "a file that all may write": ("fchmod", 1, 0o666),
    "a new file that runs as its owner": ("openat", AT_FDCWD, A_PATH, 0o100, 0o4755),
    "times by a path": ("utimensat", AT_FDCWD, A_PATH, 0, 0),
    "no filter any more": ("prctl", 22, 0, 0, 0, 0),
    "memory that nobody counts": ("mmap", 0, 4096, 3, 0x21, -1, 0),
}
ONLY_WITHOUT_NAMESPACES = {
    "signals by a descriptor": ("fcntl", 1, 8, ME),
    "a signal to a thread of others": ("tgkill", ME, ME, 0),
}
Probe = tuple[int, ...]


def named(number: int) -> str | None:
    """Return a call's name, or None where libseccomp knows none."""
    library = seccomp.library()
    library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_char_p
    name = library.seccomp_syscall_resolve_num_arch(ctypes.c_uint32(X86_64), number)
    return name.decode() if name else None


def number_of(name: str) -> int:
    return int(seccomp.library().seccomp_syscall_resolve_name(name.encode()))


def not_listed(mode: str) -> dict[str, Probe]:
    """Return a probe for each number whose call no rule names, whatever the host has there."""
    rules = system_calls.kernel()
    if mode == sandbox_mode.BUBBLEWRAP and os.geteuid() == 0:
        rules = system_calls.dropping(rules)
    listed = {call for call, _ in rules}
    numbers = [each for each in range(MOST_NUMBER) if named(each) not in listed and each not in UPROBES]
    return {f"{number} {named(number)}": (number, *NO_ARGUMENTS) for number in numbers}


def with_arguments(probes: Mapping[str, tuple[str | int, ...]]) -> dict[str, Probe]:
    return {name: (number_of(str(call)), *map(int, arguments)) for name, (call, *arguments) in probes.items()}


def all_probes(mode: str) -> dict[str, Probe]:
    more = ONLY_WITHOUT_NAMESPACES if mode == sandbox_mode.NONE else {}
    return {**not_listed(mode), **with_arguments(WITH_ARGUMENTS), **with_arguments(more)}


def escape(folder: Path, kernel: Kernel, probes: dict[str, Probe]) -> OwnModule:
    shutil.copy(HERE / "escape.c", folder)
    rows = [f"\t{{ {{ {', '.join(map(str, (*probe, *NO_ARGUMENTS)[:7]))} }} }},\n" for probe in probes.values()]
    (folder / "probes.h").write_text("".join(rows))
    (folder / "Kbuild").write_text("obj-m := escape.o\n")
    return build_own(read_source(folder), virtual_tree(kernel))


def ready(folder: Path, module: OwnModule) -> Path:
    """Return a folder for a kernel that loads the module."""
    (folder / "own").mkdir(parents=True)
    shutil.copy(module.file, folder / "own" / "escape.ko")
    return folder


@pytest.mark.attack("a module makes system calls of the host that a kernel does not need, by number and with arguments")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_every_call_that_a_kernel_does_not_need_is_refused(
    tmp_path: Path, kernel: Kernel, world: Image, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    probes = all_probes(mode)
    (tmp_path / "source").mkdir()
    module = escape(tmp_path / "source", kernel, probes)
    monkeypatch.setenv(sandbox_mode.VARIABLE, mode)
    arguments = {"file": "/trial/own/escape.ko", "options": "", "wait_s": 0}
    called = boot.call(loaded, arguments, ready(tmp_path / "run", module), kernel, world.root)
    found = {int(at): int(result) for at, result in re.findall(r"probe (\d+) = (-?\d+)", called.log)}
    assert called.result == 0
    assert len(found) == len(probes) > 80
    passed = {name: found[at] for at, name in enumerate(probes) if found[at] != -errno.ENOSYS}
    assert passed == {}


OTHER_ENTRIES = {"int80": ("int80", 20), "x32": ("probe", 0x40000000 + 39)}  # act, number of getpid


@pytest.fixture
def plain(tmp_path: Path, kernel: Kernel) -> OwnModule:
    """The module without a probe that matters."""
    (tmp_path / "source").mkdir()
    return escape(tmp_path / "source", kernel, {"nothing": (number_of("getpid"), *NO_ARGUMENTS)})


def attempted(room: Path, module: OwnModule, kernel: Kernel, world: Image, options: str) -> tuple[str, str]:
    """Load the module in a kernel; returns its log, and how it was ended, if it was."""
    arguments = {"file": "/trial/own/escape.ko", "options": options, "wait_s": 0}
    ended = ""
    try:
        boot.call(loaded, arguments, ready(room, module), kernel, world.root, memory_mb=MEMORY_MB)
    except TrialError as error:
        ended = str(error)
    wait_for(lambda: not left_on(room), "end of all its processes", 20)
    return (room / records.LOG).read_text(), ended


@pytest.mark.attack("a module makes a system call by the entry of 32-bit programs, or by a number of x32")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
@pytest.mark.parametrize("entry", OTHER_ENTRIES)
def test_no_other_entry_of_system_calls_is_open(
    tmp_path: Path, kernel: Kernel, world: Image, monkeypatch: pytest.MonkeyPatch, mode: str, entry: str
) -> None:
    act, number = OTHER_ENTRIES[entry]
    (tmp_path / "source").mkdir()
    module = escape(tmp_path / "source", kernel, {entry: (number, *NO_ARGUMENTS)})
    monkeypatch.setenv(sandbox_mode.VARIABLE, mode)
    log, ended = attempted(tmp_path / "run", module, kernel, world, f"act={act}")
    assert ended or f"probe 0 = {-errno.ENOSYS}" in log


@pytest.mark.attack("a module opens files, devices and other processes' memory to write")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_a_module_opens_nothing_of_the_host_to_write(
    tmp_path: Path, kernel: Kernel, world: Image, plain: OwnModule, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    canary = put(tmp_path / "canary", "of the host")
    program, code = world.root / "usr/bin/python3", paths.LAB / "__init__.py"
    files = [canary, program, code, kernel.linux, "/lab/linux", "/usr/bin/python3", "/etc/passwd", "/escaped"]
    devices = ["/dev/shm/escaped", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/sys/fs/cgroup/cgroup.procs"]
    processes = [f"/proc/{ME}/mem", f"/proc/{ME}/oom_score_adj", "/proc/1/mem", "/proc/sys/kernel/core_pattern"]
    tried = [str(path) for path in (*files, *devices, *processes)]
    monkeypatch.setenv(sandbox_mode.VARIABLE, mode)
    log, ended = attempted(tmp_path / "run", plain, kernel, world, f"act=open paths={','.join(tried)}")
    found = dict(re.findall(r"open (\S+) = (-?\d+)", log))
    assert not ended
    assert [*found] == tried
    assert [path for path, result in found.items() if int(result) >= 0] == []
    assert canary.read_text() == "of the host"


@pytest.mark.attack("a module takes processes, memory, or files without a name, without end")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
@pytest.mark.parametrize(
    ("act", "limit"),
    [
        ("fork", r"processes=\d+|fork = -11\b"),
        ("threads", r"processes=\d+|threads = \d{2}\b"),
        ("memory", r"memory_bytes=\d+"),
        ("orphan", r"memory_bytes=\d+"),
        ("memfd", r"removed files: bytes=\d+"),
        ("mapped", r"removed files: bytes=\d+"),
        ("thread_memfd", r"removed files: bytes=\d+"),
        ("files", r"bytes=\d+|files = -30\b"),
        ("descriptors", r"descriptors = \d{1,4}\b"),
    ],
)
def test_what_a_module_takes_is_bounded_in_all(
    tmp_path: Path,
    kernel: Kernel,
    world: Image,
    plain: OwnModule,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    act: str,
    limit: str,
) -> None:
    monkeypatch.setattr(sandbox, "MOST_PROCESSES", 100)
    monkeypatch.setattr(watched, "OWN_BYTES", 64 << 20)
    monkeypatch.setattr(watched, "LOOK_S", 0.1)  # or the machine would feel the attack
    monkeypatch.setattr(records, "LEAST_BYTES", 64 << 20)
    monkeypatch.setenv(sandbox_mode.VARIABLE, mode)
    log, ended = attempted(tmp_path / "run", plain, kernel, world, f"act={act}")
    assert re.search(limit, ended + log)


STAYING = """
import sys
from pathlib import Path
from lab.backends import boot
from lab.backends.virtual import find_built
from lab.kernel.recipe import Recipe
from tests.guest.modules import loaded

built = find_built(Recipe())
arguments = {"file": "/trial/own/escape.ko", "options": sys.argv[2], "wait_s": float(sys.argv[3])}
boot.call(loaded, arguments, Path(sys.argv[1]), built.kernel, built.world.root)
print((Path(sys.argv[1]) / "kernel.log").read_text())
"""
LONG_S = 1e9  # of the guest, whose clock jumps to its next timer: 1e6 are over at once


def left_on(folder: Path) -> list[str]:
    """List the processes that have a folder mounted, or named in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            texts = [(process / name).read_bytes() for name in ("mountinfo", "environ")]
        except OSError:  # ended meanwhile
            continue
        if any(os.fsencode(folder) in text for text in texts):
            found.append(process.name)
    return found


def staying(folder: Path, module: OwnModule, mode: str, wait_s: float, *files: int) -> "subprocess.Popen[str]":
    """Start a kernel that loads the module, which leaves a process; `files`: open in the command that starts it."""
    room = ready(folder, module)
    alive = "/trial/alive" if mode == sandbox_mode.BUBBLEWRAP else str(room / "guest" / "alive")
    return subprocess.Popen(
        [sys.executable, "-c", STAYING, str(room), f"act=stay alive={alive}", str(wait_s)],
        cwd=paths.REPO,
        env=os.environ | {sandbox_mode.VARIABLE: mode, "SECRET": "of the host"},
        pass_fds=files,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def children_of(pid: int) -> list[int]:
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


@pytest.mark.attack("a module leaves a process that outlives its run, however that ends")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
@pytest.mark.parametrize("how", ["it ends", "SIGKILL", "SIGTERM", "SIGKILL of its watcher"])
def test_no_process_that_a_module_leaves_outlives_its_kernel(
    tmp_path: Path, kernel: Kernel, plain: OwnModule, mode: str, how: str
) -> None:
    assert kernel
    folder = tmp_path / "run"
    process = staying(folder, plain, mode, 0 if how == "it ends" else LONG_S)
    if how == "it ends":
        printed, _ = process.communicate(timeout=ENOUGH_S)
        assert "stays: " in printed, printed
    else:
        wait_for(lambda: (folder / "guest" / "alive").exists(), "process that stays")
        time.sleep(0.5)
        assert left_on(folder)
        name, _, of_watcher = how.partition(" ")
        for each in children_of(process.pid) if of_watcher else [process.pid]:
            os.kill(each, getattr(signal, name))
        process.communicate(timeout=60)
    wait_for(lambda: not left_on(folder), "end of all its processes", 20)


KNOWN = {*sandbox.ENVIRONMENT, *guest_tree.ENVIRONMENT, "PWD", "LAB_SANDBOX"}  # and HOSTFS_0, HOSTFS_1, ...


@pytest.mark.attack("a module uses what the command that started it had open, or in its environment")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_a_kernel_inherits_no_file_and_no_variable(tmp_path: Path, kernel: Kernel, plain: OwnModule, mode: str) -> None:
    assert kernel
    canary, folder = tmp_path / "canary", tmp_path / "run"
    canary.write_text("of the host")
    with canary.open("r+") as stream:
        process = staying(folder, plain, mode, LONG_S, stream.fileno())
        try:
            wait_for(lambda: (folder / "guest" / "alive").exists(), "process that stays")
            kernels = [pid for pid in left_on(folder) if Path(f"/proc/{pid}/comm").read_text() == "linux\n"]
            files = {one.stat().st_ino for pid in kernels for one in Path(f"/proc/{pid}/fd").iterdir() if one.exists()}
            variables = [Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in kernels]
        finally:
            process.terminate()
            process.communicate(timeout=60)
    names = {each.decode().partition("=")[0] for environment in variables for each in environment if each}
    assert kernels
    assert canary.stat().st_ino not in files
    assert {name for name in names - KNOWN if not re.fullmatch(r"HOSTFS_\d+", name)} == set()


# A copy of mount(8) is not setuid: the owner of an ordinary user's world is not root.
# Two views of one folder: what the first has in its cache, the second replaces by a link out of it.
SWAPPED = """
cp /usr/bin/mount /tmp/mount
mkdir -p /trial/d /tmp/second && touch /trial/d/canary && /tmp/mount -t hostfs -o hostfs=/trial none /tmp/second
stat /trial/d/canary
mv /tmp/second/d /tmp/second/e && ln -s {folder} /tmp/second/d
try 'chmod 4777 /trial/d/canary'
try 'touch -d 2001-01-01 /trial/d/canary'
try 'chown 1:1 /trial/d/canary'
try 'truncate -s 0 /trial/d/canary'
try 'echo x >>/trial/d/canary'
try 'rm /trial/d/canary'
try 'mv /trial/d/canary /trial/d/taken'
try 'mkdir /trial/d/made'
try 'ln -s x /trial/d/made'
try 'ls /trial/d/ | grep canary'
ln -s {folder}/canary /trial/aimed
(touch -h -d 2001-01-01 /trial/aimed; chown -h 1:1 /trial/aimed) || true
try '/tmp/mount -t hostfs -o hostfs={folder} none /mnt'
try '/tmp/mount -t hostfs -o hostfs=/trial/d none /mnt && ls /mnt | grep canary'
rm -f /trial/aimed /tmp/second/d
"""
TRY = 'try() { if (eval "$1") >/dev/null 2>&1; then echo "done: $1"; else echo "refused: $1"; fi >>/trial/tried; }'


@pytest.mark.attack("a topology changes, reads or mounts a host's file through a link")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_no_link_that_a_guest_makes_is_followed_on_the_host(
    tmp_path: Path, bench: Bench, kernel: Kernel, world: Image, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    canary = put(tmp_path / "canary", "of the host")
    os.utime(canary, (1, 1))
    tmp_path.chmod(0o755)
    before = canary.stat()
    folder = folder_at(bench.folder / f"swapped-{mode}")
    monkeypatch.setenv(sandbox_mode.VARIABLE, mode)
    plan = prepare(bench.job(experiment_on(SMALL, "cubic", duration_s=1), "cubic", folder.name), folder)
    lines = [TRY, *SWAPPED.format(folder=tmp_path).strip().splitlines()]
    plan["topology"]["nodes"]["server"]["exec"] += lines
    boot.run_plan(plan, folder, kernel, world.root)
    after = canary.stat()
    tried = (folder / "tried").read_text().splitlines()
    assert canary.read_text() == "of the host"
    assert (after.st_mode, after.st_mtime, after.st_uid) == (before.st_mode, before.st_mtime, before.st_uid)
    assert [path.name for path in tmp_path.iterdir()] == ["canary"]
    assert len(tried) == 12
    assert not [line for line in tried if line.startswith("done: ")]


def test_this_machine_shows_the_protection_of_signals() -> None:
    assert landlock.abi() >= landlock.SIGNALS_SINCE, "signals to others are kept in by Landlock of Linux 6.12 and later"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's tests are those above")
def test_every_attack_of_these_is_refused_for_an_ordinary_user_too(kernel: Kernel) -> None:
    with ordinary.open_folder() as place:
        done, outcomes = attacked(kernel, place / "user")
    assert done.returncode == 0, done.stdout[-4000:]
    assert all(passed for by_mode in outcomes.values() for each in by_mode.values() for passed in each.values())
    assert len(outcomes) > 8


def attacked(kernel: Kernel, folder: Path) -> "tuple[subprocess.CompletedProcess[str], Outcomes]":
    """Run the attacks as an ordinary user; returns how that ended, and the outcomes."""
    attacks = [sys.executable, "-m", "tests.hostile.escapes.table", "--outcomes", str(folder / "outcomes.json")]
    done = subprocess.run(
        ordinary.command(kernel, folder, attacks), cwd=paths.REPO, capture_output=True, text=True, check=False
    )
    return done, json.loads((folder / "outcomes.json").read_text())
