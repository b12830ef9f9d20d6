# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `bursts`: a FIFO whose arrivals are lost in bursts, by the model of Gilbert and Elliott."""

from lab.node.qdiscs.qdisc_kind import Attribute, Field, NetlinkKind, State, buffer_bytes

PPM_PER_PCT = 10_000
PERCENT = {"ge": 0.0001, "le": 100, "multiple_of": 0.0001}  # the kernel counts millionths


def _share(name: str, number: int, default: float | None = None) -> Attribute:
    return Attribute(
        f"{name}_pct",
        number,
        "I",
        f"{name}_ppm",
        encode=lambda pct: round(pct * PPM_PER_PCT),
        decode=lambda ppm: ppm / PPM_PER_PCT,
        field=Field(f"{name}_pct", float, default, PERCENT),
    )


KIND = NetlinkKind(
    (
        Attribute("limit_bytes", 2, "I", value=buffer_bytes),
        _share("begin", 3),
        _share("end", 4),
        _share("loss", 5, 100.0),
        Attribute("seed", 6, "Q", value=lambda _, at: at.seed),
    ),
    State("I limit_bytes I begin_ppm I end_ppm I loss_ppm Q seed Q bursts Q bad_pkts Q lost_pkts Q overflow_pkts"),
    queue="Loses arrivals in bursts: begin_pct and end_pct are each arrival's chances (Gilbert and Elliott).",
)
