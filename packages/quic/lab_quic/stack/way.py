# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of stacks that users bring: a file that names two programs, and tables from packets and a qlog."""

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.schema.cca import Cca
from lab.senders.way import Progress, Senders, Way

if TYPE_CHECKING:
    from pathlib import Path

    from lab.backends.virtual import Virtual
    from lab.kernel.build import Kernel
    from lab.node.plan import Plan
    from lab.senders.module import Described
    from lab.senders.records import RawTrial
    from lab_quic.stack.tables import OverStack

TRANSPORT = "udp"


class OwnStack(Way):
    """Stacks that users bring."""

    order = 9
    only_virtual = "stacks of one's own ({}) run in the virtual kernel only"
    alone = "a stack of one's own"
    has_workloads = False

    def own(self, name: str) -> dict[str, Cca]:
        """Return the senders of a stack's file by control."""
        from lab_quic.stack.prepared import own

        return own(name)

    def owns(self, cca: Cca) -> bool:
        """Return whether it is a sender of such a stack."""
        return cca.transport == TRANSPORT

    def prepare(self, senders: Senders, virtual: "Virtual", progress: Progress) -> "tuple[Senders, Virtual]":
        """Let each stack pass a short trial, once."""
        from lab_quic.stack.prepared import stored
        from lab_quic.stack.smoke import repeats

        digests = {str(cca.module_digest): stored(cca.module_digest or "").files for cca in senders.values()}
        with_files = replace(virtual, own_modules={**virtual.own_modules, **digests})
        found = dict(senders)
        for name, cca in senders.items():
            if not repeats(cca, with_files, progress):
                found[name] = cca.model_copy(update={"label": f"{cca.label} (not repeatable)"})
        return found, with_files

    def shares_boot(self, _cca: Cca) -> bool:
        """Return False: a program has a boot to itself."""
        return False

    def plan(self, plan: "Plan", cca: Cca, mtu_bytes: int) -> "Plan":
        """Return the plan with the stack's two ends."""
        from lab_quic.stack.plan import planned

        return planned(plan, cca, mtu_bytes)

    def decode(self, raw: "RawTrial") -> "OverStack":
        """Decode the capture and the server's qlog."""
        from lab_quic.stack.tables import OverStack

        return OverStack(raw)

    def where(self, cca: Cca) -> str:
        """Return the name of the stack."""
        return cca.stack or ""

    def describe(self, cca: Cca, _kernel: "Kernel", _world: "Path") -> "Described":
        """Describe the stack by its file."""
        from lab_quic.stack.prepared import stored

        stack = stored(cca.module_digest or "").stack
        return {
            "module": f"none: a control of {stack.name} {stack.version}, over UDP",
            "source": f"programs of its user's, licence {stack.licence}",
            "exit": cca.exit_label,
            "memory": "of the program, not of a socket",
            "parameters": [],
        }


STACK = OwnStack()
