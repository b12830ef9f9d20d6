# SPDX-License-Identifier: GPL-2.0-or-later
"""Where in a user's source an address of a module is."""

import shutil
from pathlib import Path

from lab.base.scratch import scratch_folder
from lab.images.steps.bounded import Step
from lab.kernel.own.build import DEBUG, OwnModule
from lab.kernel.own.builder import PLACE


class Where:
    """The functions and lines of one module."""

    def __init__(self, module: OwnModule) -> None:
        self.module = module

    def line(self, function: str, offset: int) -> str | None:
        """Return file:line of an offset in a function, or None where the module's information lacks it."""
        address = _address(self.module.symbols, function)
        if address is None:
            return None
        find = Step(("addr2line", "-e", DEBUG, "-j", ".text", hex(address + offset)))
        with scratch_folder() as folder:
            shutil.copyfile(self.module.debug_file, folder / DEBUG)
            (done,) = self.module.tree.builder.run([find], folder, [], None)
        return self._own(done.output.strip())

    def _own(self, found: str) -> str | None:
        """Return a place as the user knows it; None for one in the kernel's headers."""
        name, _, line = found.partition(" ")[0].rpartition(":")
        path = Path(name)
        if not (line.isdigit() and path.is_relative_to(PLACE)):
            return None
        return f"{self.module.source.folder / path.relative_to(PLACE)}:{line}"


def _address(symbols: str, function: str) -> int | None:
    """Read the address of a function from nm's output; several parts of one name: the first."""
    for row in symbols.splitlines():
        fields = row.split()
        if len(fields) == 3 and fields[1] in "tT" and fields[2] == function:
            return int(fields[0], 16)
    return None
