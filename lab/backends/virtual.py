# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel runs, `virtual`: User Mode Linux in virtual time, as an ordinary process."""

from dataclasses import dataclass
from pathlib import Path

from lab.backends import boot
from lab.kernel.build import Kernel
from lab.node.plan import Plan


@dataclass(frozen=True)
class Virtual:
    """A kernel that boots for each trial."""

    kernel: Kernel
    world: Path
    engine: str = "netns"
    backend: str = "virtual"

    def worded(self, plan: Plan) -> Plan:
        """Return a plan as it is."""
        return plan

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Boot a kernel that executes a plan."""
        boot.run_plan(plan, folder, self.kernel, self.world)
