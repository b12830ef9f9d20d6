# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of senders over QUIC: quic.yml, a program for each stack, and tables from the logs of its two ends."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import field_error
from lab.base.named_files import shown
from lab.schema.cca import Cca
from lab.senders.way import Progress, Senders, Way

if TYPE_CHECKING:
    from lab.backends.backend import Backend
    from lab.backends.virtual import Virtual
    from lab.kernel.build import Kernel
    from lab.kernel.program import Buildable
    from lab.node.plan import Plan
    from lab.senders.module import Described
    from lab.senders.records import RawTrial
    from lab_quic.tables import OverQuic

TRANSPORT = "quic"
NAMES = ("quinn", "ngtcp2")  # programs.py has each
WITH_CORES = "quinn"
WITHOUT = ("cubic", "newreno", "bbr")  # its own controllers


class Quic(Way):
    """Senders over QUIC."""

    file = Path(__file__).with_name("quic.yml")
    order = 1
    only_virtual = "senders over QUIC ({}) run in the virtual kernel only"
    alone = "a sender over QUIC"
    part = "quic"
    part_note = """\
The folders quic and ngtcp2 are programs of the lab, whose source is packages/quic of the repository. The first holds
the crates that its Cargo.lock names, from the Rust registry; the second Debian's libngtcp2. The licence of each is in
the folder licences beside the program.
"""

    def check(self, cca: Cca) -> None:
        """Refuse a stanza that is not over QUIC, or has a part in the kernel."""
        if cca.transport != TRANSPORT:
            raise field_error(shown(self.file), "name", cca.name, f"given with transport: {TRANSPORT}")
        if any((cca.module, cca.sysctls, cca.qdisc, cca.first_window_pkts)):
            rule = "a sender over QUIC without module, sysctls, qdisc and first_window_pkts"
            raise field_error(shown(self.file), "name", cca.name, rule)
        if cca.stack not in NAMES:
            raise field_error(shown(self.file), f"{cca.name}.stack", cca.stack or "", " or ".join(NAMES))
        if cca.params and not self.has_parameters(cca):
            rule = f"left out: only controllers around a core have some, on {WITH_CORES}"
            raise field_error(shown(self.file), f"{cca.name}.params", cca.params, rule)

    def owns(self, cca: Cca) -> bool:
        """Return whether it is a sender over QUIC."""
        return cca.transport == TRANSPORT

    def prepare(self, senders: Senders, virtual: "Virtual", progress: Progress) -> "tuple[Senders, Virtual]":
        """Build the programs of the senders' stacks."""
        from lab_quic.programs import with_programs

        return with_programs(senders, virtual, progress)

    def shares_boot(self, _cca: Cca) -> bool:
        """Return False: a program has a boot to itself."""
        return False

    def plan(self, plan: "Plan", cca: Cca, mtu_bytes: int) -> "Plan":
        """Return the plan with QUIC's two ends."""
        from lab_quic.plan import planned

        return planned(plan, cca, mtu_bytes)

    def files(self, cca: Cca, backend: "Backend") -> dict[str, Path]:
        """Return the program of the sender's stack."""
        from lab_quic.programs import program_of, stack_of

        return {stack_of(cca).place: program_of(cca, backend)}

    def decode(self, raw: "RawTrial") -> "OverQuic":
        """Decode the capture and the logs of both ends."""
        from lab_quic.tables import OverQuic

        return OverQuic(raw)

    def where(self, cca: Cca) -> str:
        """Return the name of the stack's program."""
        from lab_quic.programs import stack_of

        return stack_of(cca).program

    def has_parameters(self, cca: Cca) -> bool:
        """Return whether the controller has a core of the kernel's modules."""
        return cca.stack == WITH_CORES and cca.algorithm not in WITHOUT

    def describe(self, cca: Cca, _kernel: "Kernel", world: Path) -> "Described":
        """Describe the controller by its stack, whose program is built where a core has parameters."""
        from lab_quic.programs import parameters, stack_of

        core = " around the core of a kernel module" if self.has_parameters(cca) else ""
        return {
            "module": f"none: a controller of {stack_of(cca).program}{core}, over UDP",
            "source": stack_of(cca).source,
            "exit": "reported by the sender itself",
            "memory": "of the program, not of a socket",
            "parameters": parameters(cca, world) if self.has_parameters(cca) else [],
        }

    def programs(self) -> "Sequence[Buildable]":
        """Return the programs of all stacks."""
        from lab_quic.programs import STACKS

        return list(STACKS.values())


QUIC = Quic()
