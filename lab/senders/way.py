# SPDX-License-Identifier: GPL-2.0-or-later
"""The protocol of a way in which senders exist: in the kernel's tree, in a user's file, in what a package brings.

A package brings a way by an entry point of the group `lab.senders`, which names an object of a class below Way. Its
module imports what takes time inside the methods: the names of all senders are read by most commands.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.schema.cca import Cca, load_senders

if TYPE_CHECKING:
    from lab.backends.backend import Backend
    from lab.backends.virtual import Virtual
    from lab.kernel.build import Kernel
    from lab.kernel.program import Buildable
    from lab.node.plan import Plan
    from lab.senders.module import Described
    from lab.senders.records import Decoded, RawTrial

Progress = Callable[[str], None]
Senders = Mapping[str, Cca]
# Senders whose trials depend on what came before them in their boot. TCP-LP's one-way delay is the other end's time
# stamp less its own, which counts from the boot, and it drops by the value, not by its changes alone (tcp_lp.c). The
# first throughput of H-TCP is over the time since the boot (tcp_htcp.c: lasttime is 0). The module of Careful Resume
# shows what the flow before observed as a parameter, and trial.json has all parameters.
OWN_BOOT = ("lp", "htcp", "careful_resume")


class Way:
    """One way in which senders exist. The defaults are those of a congestion control of the kernel under test."""

    file: Path | None = None  # the stanzas of its senders, as lab/cca.yml has them
    order = 100  # its place among the ways of packages, in every table
    alone = ""  # what its senders are called, where no second download can run beside them
    only_virtual = ""  # why its senders, {}, run in the virtual kernel alone, where they do
    has_workloads = True  # whether its senders can send what a workload requests
    part = ""  # the name by which a bundle takes the programs
    part_note = ""  # on them, for the read-me of a bundle's licences

    def senders(self) -> dict[str, Cca]:
        """Return the senders of its file by name."""
        return {name: cca for name, cca in load_senders().items() if self.owns(cca)}

    def own(self, _name: str) -> dict[str, Cca]:
        """Return the senders of a user's file by the part of their names behind a colon; none of another way's file."""
        return {}

    def check(self, cca: Cca) -> None:
        """Raise UserError where a stanza of the file is no sender of this way."""

    def owns(self, cca: Cca) -> bool:
        """Return whether a sender exists in this way."""
        raise NotImplementedError

    def prepare(self, senders: Senders, virtual: "Virtual", _progress: Progress) -> "tuple[Senders, Virtual]":
        """Build what senders of this way need; return them with its digest, and the virtual kernel with its files."""
        return senders, virtual

    def refuse(self, names: Sequence[str], backend: str) -> str | None:
        """Return which backend senders of this way need instead, and why; None where they can run."""
        needed = self.only_virtual and backend != "virtual"
        return f"virtual: {self.only_virtual.format(', '.join(names))}" if needed else None

    def shares_boot(self, cca: Cca) -> bool:
        """Return whether several trials of a sender may run in one boot."""
        return not (cca.module_digest or cca.kernel or cca.algorithm in OWN_BOOT)

    def plan(self, plan: "Plan", _cca: Cca, _mtu_bytes: int) -> "Plan":
        """Return a plan of a download by the kernel's TCP as this way runs it."""
        return plan

    def files(self, _cca: Cca, _backend: "Backend") -> dict[str, Path]:
        """Return files to copy into a trial's folder, by their place there."""
        return {}

    def decode(self, raw: "RawTrial") -> "Decoded":
        """Decode the raw records of a trial."""
        from lab.senders.traced import Traced

        return Traced(raw)

    def where(self, cca: Cca) -> str:
        """Return in a word what holds a sender's code."""
        return cca.module or "built in"

    def has_parameters(self, cca: Cca) -> bool:
        """Return whether a sender may have parameters: `params` of its stanza, and what `--vary` changes."""
        return cca.module is not None

    def describe(self, cca: Cca, kernel: "Kernel", world: Path) -> "Described":
        """Return what is known of a sender's code."""
        from lab.senders.module import describe_module

        return describe_module(cca, kernel, world)

    def programs(self) -> "Sequence[Buildable]":
        """Return the programs that senders of this way need."""
        return ()
