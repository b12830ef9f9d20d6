# SPDX-License-Identifier: GPL-2.0-or-later
"""RED: drops at random at arrival, by an average of the queue's length.

tc computes the average's weight from burst, avpkt and bandwidth, and the kernel keeps only the weight: these three are
not read back.
"""

from lab.node.qdiscs.qdisc_kind import (
    FRAME_BYTES,
    SHARE,
    Bottleneck,
    Field,
    Rule,
    Setting,
    TcKind,
    Values,
    buffer_bytes,
    constant,
    share_of_buffer,
)


def _burst_pkts(values: Values, at: Bottleneck) -> int:
    least, most = (round(values[name] * at.buffer_bytes) for name in ("min_share", "max_share"))
    burst_pkts: int = round((2 * least + most) / (3 * FRAME_BYTES)) + 1  # as tc-red(8) advises
    return burst_pkts


KIND = TcKind(
    (
        Setting("limit_bytes", "limit", value=buffer_bytes),
        Setting("min_bytes", "min", field=Field("min_share", float, None, SHARE), value=share_of_buffer("min_share")),
        Setting("max_bytes", "max", field=Field("max_share", float, None, SHARE), value=share_of_buffer("max_share")),
        Setting("avpkt_bytes", "avpkt", json=None, value=constant(FRAME_BYTES)),
        Setting("burst_pkts", "burst", json=None, value=_burst_pkts),
        Setting(
            "bandwidth_bps",
            "bandwidth",
            json=None,
            value=lambda _, at: at.rate_bps,
            format=lambda bps: ["bandwidth", f"{round(bps)}bit"],
        ),
        Setting("probability", "probability", field=Field("probability", float, 0.02, SHARE)),
        Setting("ecn", "ecn", field=Field("ecn", bool, False), format=lambda on: ["ecn"] if on else []),
    ),
    queue="Random early detection; both thresholds are shares of the buffer.",
    rules=(Rule("a min_share below max_share", lambda values: values["min_share"] < values["max_share"]),),
    details=True,
)
