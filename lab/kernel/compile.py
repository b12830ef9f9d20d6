# SPDX-License-Identifier: GPL-2.0-or-later
"""One build in the builder's root: commands in a sandbox that may write only the build's folder."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from lab import paths, sandbox
from lab.errors import UserError

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
STEP = re.compile(r"^  (CC|AR|LD|AS|HOSTCC|CC \[M\]|LD \[M\]) ")
ERROR = re.compile(r"(?:^|: )(?:fatal )?error: |undefined reference|^make.*\*\*\* |Can't open perl|\[tree\]")


class Compile:
    """A build folder, writable at `place`; a built kernel stays where it was made, at /build, read-only."""

    def __init__(
        self,
        builder: Path,
        folder: Path,
        progress: Callable[[int], None],
        place: str = KERNEL,
        kernel: Path | None = None,
    ) -> None:
        self.builder = builder
        self.folder = folder
        self.progress = progress
        self.place = place
        self.kernel = kernel
        self.steps = 0
        self.log = paths.cache() / f"{folder.name.strip('.').removesuffix('.draft')}.log"
        self.log.write_text("")

    def run(self, *argv: str, read_only: dict[Path, str] | None = None, words: str = "") -> None:
        """Run a command of the builder; UserError with the first error it printed where it fails."""
        binds = dict(read_only or {}) | ({self.kernel: KERNEL} if self.kernel else {})
        sandbox.own_tree(self.folder)
        wrapped = sandbox.command(
            self.builder, list(argv), read_only=binds, writable={self.folder: self.place}, folder=self.place
        )
        process = subprocess.Popen(wrapped, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout
        with self.log.open("a", buffering=1) as log:
            for line in process.stdout:
                log.write(line)
                if STEP.match(line):
                    self.steps += 1
                    self.progress(self.steps)
        if process.wait():
            raise UserError(f"build: {words or argv[0]}: {self._first_error()} (log: {self.log})")

    def unpack(self, tarball: Path) -> None:
        """Unpack a kernel tarball into src/."""
        self.run("mkdir", "src")
        excludes = [f"--exclude=*/{name}/*.{kind}" for name in NOT_NEEDED for kind in ("c", "h", "S", "rst", "dtsi")]
        self.run(
            "tar",
            "-x",
            "-f",
            "/lab/tarball",
            "-C",
            "src",
            "--strip-components=1",
            *excludes,
            read_only={tarball: "/lab/tarball"},
        )

    def configure(self, config: Path) -> None:
        """Make the configuration, and refuse it where a line of ours did not hold."""
        self.run("mkdir", "obj")
        self.make("tinyconfig")
        self.run(
            "sh",
            "-c",
            f"cd src && scripts/kconfig/merge_config.sh -m -O /build/obj /build/obj/.config /build/{config.name}",
        )
        self.make("olddefconfig")
        for line in refused(config.read_text(), (self.folder / "obj/.config").read_text()):
            raise UserError(
                f"{config.name}: {line}: must be an option that this kernel source has and its other options allow"
            )

    def make(self, *targets: str) -> None:
        """Run the kernel's own make."""
        cores = len(os.sched_getaffinity(0))
        self.run(
            "make",
            "-C",
            "src",
            "ARCH=um",
            "O=/build/obj",
            f"-j{cores}",
            "KBUILD_BUILD_USER=lab",
            "KBUILD_BUILD_HOST=lab",
            "KBUILD_BUILD_TIMESTAMP=1970-01-01",
            *targets,
            words=f"make {targets[-1]}",
        )

    def _first_error(self) -> str:
        lines = self.log.read_text().splitlines()
        found = [line for line in lines if ERROR.search(line)]
        return (found or lines or ["failed"])[0].strip()


def refused(asked: str, got: str) -> list[str]:
    """List the lines of a configuration that did not hold; an option that does not exist is off."""
    kept = set(got.splitlines())
    on = {line.split("=")[0] for line in kept if line.startswith("CONFIG_")}
    lines = [line for line in asked.splitlines() if re.match(r"CONFIG_|# CONFIG_\w+ is not set$", line)]
    return [line for line in lines if (line not in kept if line.startswith("CONFIG_") else line.split()[1] in on)]
