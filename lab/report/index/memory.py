# SPDX-License-Identifier: GPL-2.0-or-later
"""The static memory of a flow, sender by sender, beside what the NetDev talk publishes."""

from collections.abc import Sequence

from lab.backends.senders import SOCKET_BYTES, ask
from lab.base.format import NONE
from lab.images import image
from lab.kernel import build
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_ccas

# NetDev 0x18, "Static Memory Footprint Analysis", kernel 5.10.79: bytes by sender of lab/cca.yml.
PUBLISHED_BYTES = {"cubic": 72, "search2": 121, "bbr": 156}
SOURCE = "NetDev 0x18"
HEADER = ("From", "Bytes of a flow", "In the socket", "Allocated beyond it")


def memory_table(senders: Sequence[str]) -> Table:
    """A group a sender; its module is asked where a kernel is built."""
    kernel, world = build.find(), image.find("world")
    ccas = load_ccas()
    groups = []
    for name in senders:
        cca = ccas[name]
        said = ask(cca, kernel, world.root) if kernel and world else None
        told = {parameter["name"]: parameter["value"] for parameter in said["parameters"]} if said else {}
        ours = Row(("here", told.get("flow_bytes", NONE), f"up to {SOCKET_BYTES}", f"{cca.allocates_bytes}"))
        published = PUBLISHED_BYTES.get(name)
        theirs = [] if published is None else [Row((SOURCE, str(published), NONE, NONE), published=True)]
        groups.append(Group(cca.label, (*theirs, ours)))
    notes = (
        f"Every socket has {SOCKET_BYTES} bytes for its congestion control, used or not. Bytes of a flow: as the "
        "module says with its default parameters, CUBIC's included; a dash where a sender does not say.",
    )
    caption = f"Static memory of a flow ({SOURCE}, static memory footprint)."
    return Table("static-memory", caption, HEADER, tuple(groups), notes)
