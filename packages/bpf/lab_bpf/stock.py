# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's stock kernel in QEMU, booted from memory to run modules of lab_bpf.node as root. No disk, no network.

Its files are those of image bpf-stock; the job's files come in a second archive and go back over a serial line.
"""

import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from lab.base import paths
from lab.base.cache import ensured
from lab.base.errors import UserError
from lab.base.processes import ENDING_WITH_THIS
from lab.base.scratch import scratch_folder
from lab.images import image

Entry = tuple[str, Path | bytes]  # a name there, and the file, folder or link that it is, or a program's text
IMAGE = "bpf-stock"
QEMU = "qemu-system-x86_64"
MODULES = ("veth", "sch_netem")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
LEFT_OUT = (
    *("boot", "dev", "usr/share", "var"),
    *(f"usr/lib/{name}" for name in ("apt", "modules", "systemd", "udev")),
    *(f"{LIBRARIES}/{name}" for name in ("gconv", "perl-base", "systemd")),
)
ARCHIVE = "root.cpio"
JOB, RESULTS = "job", "results"
MEMORY_MB, LIMIT_S = 1024, 1500  # a busy machine takes long
# Software emulation: KVM may be there and yet not boot.
MACHINE = ("-accel", "tcg", "-cpu", "max", "-smp", "1", "-display", "none", "-no-reboot", "-nodefaults")
INIT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /proc /sys /dev /run /tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
exec </dev/console >/dev/console 2>&1
ip link set lo up
export PYTHONPATH=/job PYTHONDONTWRITEBYTECODE=1
mkdir /job/results && cd /job
( {commands} ) >output 2>&1
echo $? >status
stty -F /dev/ttyS1 raw -echo
tar -c output status results | cat >/dev/ttyS1
sync
busybox poweroff -f
"""


def write_archive(stream: BinaryIO, entries: Iterable[Entry]) -> None:
    """Write entries, each folder before what is in it; all belong to root."""
    for number, (name, source) in enumerate(entries, start=1):
        if isinstance(source, bytes):
            mode, content = stat.S_IFREG | 0o755, source
        else:
            mode = source.lstat().st_mode
            content = b"" if stat.S_ISDIR(mode) else _content(source)
        _write_entry(stream, name, number, mode, content)
    _write_entry(stream, "TRAILER!!!", 0, 0, b"")


def _content(source: Path) -> bytes:
    return os.fsencode(source.readlink()) if source.is_symlink() else source.read_bytes()


def _write_entry(stream: BinaryIO, name: str, number: int, mode: int, content: bytes) -> None:
    called = os.fsencode(name) + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(called), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + called
    for part in (head, content):
        stream.write(part + bytes(-len(part) % 4))


HERE = Path(__file__).parent
PACKAGE = HERE.name


def run_stock(files: Mapping[str, Path], *jobs: tuple[str, ...]) -> dict[str, bytes]:
    """Run modules of lab_bpf.node there, each with its arguments; return what they wrote to /job/results, by name.

    files: what they find below /job, by name.
    """
    if not shutil.which(QEMU):
        raise UserError(f"{QEMU}: not installed: run 'make setup-vm'")
    root = image.ensure(IMAGE).root
    (kernel,) = (root / "boot").glob("vmlinuz-*")
    with scratch_folder() as scratch:
        initrd, back = scratch / "initrd", scratch / "back.tar"
        with initrd.open("wb") as stream, _base(root).open("rb") as base:
            shutil.copyfileobj(base, stream)
            write_archive(stream, _job(files, jobs))
        options = ["-m", str(MEMORY_MB), "-kernel", str(kernel), "-initrd", str(initrd)]
        lines = ["-serial", f"file:{scratch / 'console'}", "-serial", f"file:{back}"]
        argv = [*ENDING_WITH_THIS, QEMU, *MACHINE, *options, "-append", "console=ttyS0 panic=-1", *lines]
        try:
            subprocess.run(argv, check=True, timeout=LIMIT_S, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            raise UserError(f"{QEMU}: did not end within {LIMIT_S} s: {_last_line(scratch / 'console')}") from None
        except subprocess.CalledProcessError as error:
            raise UserError(f"{QEMU}: {error.stderr.strip()}") from None
        return _taken(back, scratch / "console")


def _taken(back: Path, console: Path) -> dict[str, bytes]:
    """Return what the guest sent back; UserError with its last line where a job failed."""
    try:
        with tarfile.open(back) as tar:
            sent = {name: file.read() for name in tar.getnames() if (file := tar.extractfile(name))}
    except (tarfile.TarError, OSError):
        raise UserError(f"{QEMU}: sent no result: {_last_line(console)}") from None
    output = sent["output"].decode(errors="replace")
    if int(sent["status"]):
        raise UserError(f"stock kernel: {(output.strip().splitlines() or ['failed'])[-1]}")
    return {Path(name).name: content for name, content in sent.items() if name.startswith(f"{RESULTS}/")}


def _last_line(console: Path) -> str:
    lines = console.read_text(errors="replace").split("\n") if console.is_file() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "nothing on its console")


def _base(root: Path) -> Path:
    """Return the archive of the image, from the cache or made."""
    digest = hashlib.sha256(repr((root.parent.name, LEFT_OUT, MODULES)).encode()).hexdigest()[:16]

    def fill(draft: Path) -> None:
        with (draft / ARCHIVE).open("wb") as stream:
            write_archive(stream, _tree(root))

    return ensured(paths.cache() / f"bpf-stock-archive-{digest}", fill) / ARCHIVE


def _tree(root: Path) -> Iterator[Entry]:
    for folder, names, files in os.walk(root):
        here = Path(folder).relative_to(root)
        names[:] = [name for name in names if str(here / name) not in LEFT_OUT]
        yield from ((str(here / name), Path(folder) / name) for name in [*names, *files])
    yield from _modules(root)


def _modules(root: Path) -> Iterator[Entry]:
    """List the few modules that are needed, with those they need, and what modprobe reads."""
    (folder,) = (root / "usr/lib/modules").iterdir()
    needs = dict(line.split(":", 1) for line in (folder / "modules.dep").read_text().splitlines())
    wanted = [file for file in needs if Path(file).name.partition(".")[0] in MODULES]
    files = {folder / file for name in wanted for file in (name, *needs[name].split())}
    kept = [*sorted(folder.glob("modules.*")), *sorted(files)]
    parents = {parent for file in kept for parent in file.parents if parent.is_relative_to(root / "usr/lib/modules")}
    yield from ((str(path.relative_to(root)), path) for path in [*sorted(parents), *kept])


def _job(files: Mapping[str, Path], jobs: Sequence[tuple[str, ...]]) -> Iterator[Entry]:
    commands = " && ".join(f"python3 -m {shlex.join(words)}" for words in jobs)
    yield "init", INIT.format(commands=commands).encode()
    yield JOB, paths.LAB
    yield f"{JOB}/lab", paths.LAB
    yield f"{JOB}/lab/__init__.py", paths.LAB / "__init__.py"
    node = paths.LAB / "node"
    for path in sorted([node, *(path for path in node.rglob("*") if path.is_dir() or path.suffix == ".py")]):
        if path.name != "__pycache__":
            yield f"{JOB}/lab/{path.relative_to(paths.LAB)}", path
    yield from (
        (f"{JOB}/{name}", HERE.parent / name) for name in (PACKAGE, f"{PACKAGE}/__init__.py", f"{PACKAGE}/node")
    )
    yield from ((f"{JOB}/{PACKAGE}/node/{file.name}", file) for file in sorted((HERE / "node").glob("*.py")))
    yield from ((f"{JOB}/{name}", file) for name, file in files.items())
