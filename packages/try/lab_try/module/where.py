# SPDX-License-Identifier: GPL-2.0-or-later
"""Where in a user's source an address of a module is."""

import shutil
from pathlib import Path

from lab.base.scratch import scratch_folder
from lab_try.module.build import DEBUG, OwnModule
from lab_try.module.builder import PLACE
from lab_try.node.bounded import Step


class Where:
    """The functions and lines of one module."""

    def __init__(self, module: OwnModule) -> None:
        self.module = module

    def line(self, function: str, offset: int) -> str | None:
        """Return file:line of an offset in a function, or None where the module's information lacks it."""
        found = _address(self.module.symbols, function)
        if found is None:
            return None
        address, section = found
        find = Step(("addr2line", "-e", DEBUG, "-j", section, hex(address + offset)))
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


def _address(symbols: str, function: str) -> tuple[int, str] | None:
    """Read the address of a function and its section from nm's table; several parts of one name: the first."""
    for row in symbols.splitlines():
        fields = [field.strip() for field in row.split("|")]
        if len(fields) == 7 and fields[0] == function and fields[3] == "FUNC":
            return int(fields[1], 16), fields[6]
    return None
