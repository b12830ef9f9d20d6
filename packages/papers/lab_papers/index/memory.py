# SPDX-License-Identifier: GPL-2.0-or-later
"""The static memory of a flow, sender by sender, with the values of the NetDev talk."""

from collections.abc import Sequence

from lab.base.format import NONE
from lab.images import image
from lab.kernel import build
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_ccas
from lab.senders.module import SOCKET_BYTES, load_module

# NetDev 0x18, "Static Memory Footprint Analysis", kernel 5.10.79: bytes by sender of lab/cca.yml.
PUBLISHED_BYTES = {"cubic": 72, "search2": 121, "bbr": 156}
SOURCE = "NetDev 0x18"
HEADER = ("Source", "Bytes per flow", "In the socket", "Allocated in addition")


def memory_table(senders: Sequence[str]) -> Table:
    """Build one group per sender; its module is loaded where a kernel is built."""
    kernel, world = build.find(), image.find("world")
    ccas = load_ccas()
    groups = []
    for name in senders:
        cca = ccas[name]
        module = load_module(cca, kernel, world.root) if kernel and world else None
        values = {parameter["name"]: parameter["value"] for parameter in module["parameters"]} if module else {}
        ours = Row(("here", values.get("flow_bytes", NONE), f"up to {SOCKET_BYTES}", f"{cca.allocates_bytes}"))
        published = PUBLISHED_BYTES.get(name)
        theirs = [] if published is None else [Row((SOURCE, str(published), NONE, NONE), published=True)]
        groups.append(Group(cca.label, (*theirs, ours)))
    notes = (
        f"Every socket has {SOCKET_BYTES} bytes for its congestion control, used or not. Bytes per flow: as the "
        "module reports them with its default parameters, CUBIC's included; a dash where a sender reports none.",
    )
    caption = f"Static memory per flow ({SOURCE}, static memory footprint)."
    return Table("static-memory", caption, HEADER, tuple(groups), notes)
