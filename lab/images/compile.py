# SPDX-License-Identifier: GPL-2.0-or-later
"""One build in the builder's root: sandboxed commands that may write only the build's folder."""

import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import IO

from lab.base import paths, sandbox
from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, read_plain, require_made
from lab.images.refused import RULE, refused
from lab.node.system.tree import limits

# Sources that User Mode Linux never compiles; their Kconfig files stay. A third of the unpacking time.
NOT_NEEDED = (
    "drivers/gpu",
    "drivers/media",
    "drivers/staging",
    "drivers/net/ethernet",
    "drivers/net/wireless",
    "drivers/scsi",
    "drivers/infiniband",
    "drivers/iio",
    "sound",
    "fs/xfs",
    "fs/btrfs",
    "Documentation",
)
KERNEL = "/build"
MOST_S = 4 * 3600  # of a command: a whole kernel takes minutes, and hours where a processor is emulated
MOST_OUTPUT_CHARS, MOST_LINE_CHARS = 1 << 26, 1 << 16  # a kernel prints some 50,000
FILE_BYTES, MEMORY_BYTES = 4 << 30, 8 << 30  # of each process
STEP = re.compile(r"^  (CC|AR|LD|AS|HOSTCC|CC \[M\]|LD \[M\]) ")
ERROR = re.compile(r"(?:^|: )(?:fatal )?error: |undefined reference|^make.*\*\*\* |Can't open perl|\[tree\]")


@dataclass
class Compile:
    """A build folder, writable at `place`; a built kernel stays at /build, read-only."""

    builder: Path
    folder: Path
    progress: Callable[[int], None]
    place: str = KERNEL
    kernel: Path | None = None
    steps: int = 0

    def __post_init__(self) -> None:
        """Begin its log."""
        self.log = paths.cache() / f"{self.folder.name.strip('.').removesuffix('.draft')}.log"
        self.log.write_text("")

    def run(self, *argv: str, read_only: dict[Path, str] | None = None, words: str = "") -> None:
        """Run a command of the builder, bounded in time and output; UserError with its first error if it fails."""
        binds = dict(read_only or {}) | ({self.kernel: KERNEL} if self.kernel else {})
        sandbox.own_tree(self.folder)
        wrapped = sandbox.command(
            self.builder, list(argv), read_only=binds, writable={self.folder: self.place}, folder=self.place
        )
        bounded, end_s = [*limits(FILE_BYTES), f"--data={MEMORY_BYTES}", *wrapped], time.monotonic() + MOST_S
        pipe, both = subprocess.PIPE, subprocess.STDOUT
        with subprocess.Popen(bounded, stdout=pipe, stderr=both, encoding="utf-8", errors="replace") as process:
            assert process.stdout
            late = Timer(MOST_S, process.kill)
            late.start()
            try:
                passed = self._follow(process.stdout)
                if not passed:
                    process.wait()
            finally:
                late.cancel()
                process.kill()  # what it builds is removed after an error
        if passed or process.returncode:
            late_line = f"no end after {MOST_S} s" if time.monotonic() >= end_s else ""
            raise UserError(
                f"build: {words or argv[0]}: {passed or late_line or self._first_error()} (log: {self.log})"
            )

    def _follow(self, output: IO[str]) -> str:
        """Keep the output; return the bound that it passes, if any."""
        left_chars = MOST_OUTPUT_CHARS
        with self.log.open("a", encoding="utf-8", buffering=1) as log:
            for line in iter(partial(output.readline, MOST_LINE_CHARS), ""):
                left_chars -= len(line)
                if left_chars < 0:
                    return f"more than {MOST_OUTPUT_CHARS} characters of output"
                log.write(line)
                if STEP.match(line):
                    self.steps += 1
                    self.progress(self.steps)
        return ""

    def unpack(self, tarball: Path) -> None:
        """Unpack a kernel tarball into src/."""
        self.run("mkdir", "src")
        excludes = [f"--exclude=*/{name}/*.{kind}" for name in NOT_NEEDED for kind in ("c", "h", "S", "rst", "dtsi")]
        argv = ["tar", "-x", "-f", "/lab/tarball", "-C", "src", "--strip-components=1", *excludes]
        self.run(*argv, read_only={tarball: "/lab/tarball"})

    def patch(self, file: Path) -> None:
        """Apply a patch to src/."""
        bound = f"/lab/{file.name}"
        argv = ["patch", "-s", "-p1", "-d", "src", "-i", bound]
        self.run(*argv, read_only={file: bound}, words=f"patch {file.name}")

    def configure(self, fragments: list[Path]) -> None:
        """Make the configuration; UserError if it lacks a line of the lab's."""
        self.run("mkdir", "obj")
        self.make("tinyconfig")
        names = {file: f"/lab/{file.name}" for file in fragments}
        merge = "cd src && scripts/kconfig/merge_config.sh -m -O /build/obj /build/obj/.config"
        self.run("sh", "-c", " ".join([merge, *names.values()]), read_only=names, words="merge_config.sh")
        self.make("olddefconfig")
        got = read_plain(require_made(self.folder, "obj/.config"), MEGABYTE).decode(errors="replace")
        for file, line in refused({file.name: file.read_text() for file in fragments}, got):
            raise UserError(f"{file}: {line}: {RULE}")

    def make(self, *targets: str) -> None:
        """Run the kernel's own make."""
        argv = ["make", "-C", "src", "ARCH=um", "O=/build/obj", f"-j{len(os.sched_getaffinity(0))}"]
        same = ["KBUILD_BUILD_USER=lab", "KBUILD_BUILD_HOST=lab", "KBUILD_BUILD_TIMESTAMP=1970-01-01"]
        self.run(*argv, *same, *targets, words=f"make {targets[-1]}")

    def _first_error(self) -> str:
        lines = self.log.read_text().splitlines()
        found = [line for line in lines if ERROR.search(line)]
        return (found or lines or ["failed"])[0].strip()
