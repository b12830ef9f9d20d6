# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree that a guest sees, the same in every mode: hostfs reads it from the kernel's environment.

HOSTFS_0, HOSTFS_1, ... each name a guest's path and where that lies on the host (lab/kernel/patches). They stand in the
environment: the kernel's command line is the same in every mode.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.backends import guest_code
from lab.kernel.build import Kernel

LINUX = "/lab/linux"  # in the sandbox, and the first word of the command line without one
TRIAL = "/trial"
BOUND = "/lab"  # below which a sandbox holds the tree
# A guest process begins as a copy of the kernel's. The host would go on to write to that copy's rseq(2) area, where the
# guest's own program now lies.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


@dataclass(frozen=True)
class GuestTree:
    """Where the folders and files of a guest lie on the host."""

    kernel: Kernel
    world: Path
    code: Path
    room: Path  # all that the guest may write
    more: Mapping[str, Path] = field(default_factory=dict)  # to read, by the guest's path

    @property
    def read_only(self) -> dict[str, Path]:
        """Return the host's path of each path of the guest that it may only read."""
        return {
            "/": self.world,
            guest_code.ROOT: self.code,
            f"{guest_code.ROOT}/fewer_wakeups.so": self.kernel.preload,
            "/usr/lib/modules": self.kernel.modules,
            **self.more,
        }

    def environment(self) -> dict[str, str]:
        """Return the environment of a kernel that sees the host's own paths."""
        return _environment({inside: str(host) for inside, host in self.read_only.items()}, str(self.room))

    def bound(self) -> tuple[dict[Path, str], dict[Path, str], dict[str, str]]:
        """Return what a sandbox binds read-only and writable, and the environment of a kernel inside."""
        places = {inside: f"{BOUND}/{number}" for number, inside in enumerate(self.read_only)}
        read_only = {host: places[inside] for inside, host in self.read_only.items()} | {self.kernel.linux: LINUX}
        return read_only, {self.room: TRIAL}, _environment(places, TRIAL)


def _environment(read_only: dict[str, str], writable: str) -> dict[str, str]:
    entries = [*(f"ro:{inside}={host}" for inside, host in read_only.items()), f"rw:{TRIAL}={writable}"]
    return ENVIRONMENT | {f"HOSTFS_{number}": entry for number, entry in enumerate(entries)}
