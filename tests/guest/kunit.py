# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: load every KUnit suite that the module folders build; what they find is in the kernel's log."""

import os
from pathlib import Path

from lab.node.system.tools import run


def load_suites() -> list[str]:
    """Load each suite, which runs it; returns their names."""
    files = sorted((Path("/usr/lib/modules") / os.uname().release).glob("*_kunit.ko"))
    for file in files:
        run("modprobe", file.stem)
    return [file.stem for file in files]
