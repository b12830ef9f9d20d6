# SPDX-License-Identifier: GPL-2.0-or-later
"""Token bucket filter: the bottleneck of a constant rate, with its buffer."""

from struct import Struct

from lab.node.net.netlink import attribute, attributes
from lab.node.qdiscs.qdisc_kind import Encoded, Setting, Spec, TcKind

PARMS = Struct("=xB6xI12xII4x")  # struct tc_tbf_qopt: link layer, bytes per second; limit, burst in ticks
TCA_TBF_PARMS, TCA_TBF_BURST = 1, 6
ETHERNET = 1  # TC_LINKLAYER_ETHERNET
TICK_S = 64e-9  # the kernel shows the burst as the time it takes (PSCHED_TICKS_PER_SEC)


def _options(spec: Spec) -> bytes:
    parms = PARMS.pack(ETHERNET, round(spec["rate_bps"]) // 8, spec["limit_bytes"], 0)
    return attribute(TCA_TBF_PARMS, parms) + attribute(TCA_TBF_BURST, spec["burst_bytes"].to_bytes(4, "little"))


def _settings(data: bytes) -> Spec:
    _, rate, limit_bytes, burst = PARMS.unpack(attributes(data)[TCA_TBF_PARMS])
    return {"rate_bps": 8 * rate, "burst_bytes": burst * TICK_S * rate, "limit_bytes": limit_bytes}


KIND = TcKind(
    (
        Setting("rate_bps", "rate", format=lambda bps: ["rate", f"{round(bps)}bit"]),
        Setting("burst_bytes", "burst", slack=lambda spec: 2 * TICK_S * spec["rate_bps"] / 8 + 1),
        Setting("limit_bytes", "limit"),
    ),
    encoded=Encoded(_options, _settings),
)
