# SPDX-License-Identifier: GPL-2.0-or-later
"""Network emulator: the delay line, and random loss.

A command states its seed once: a change that repeats it would begin the random sequence again.
"""

from struct import Struct

from lab.node.net.netlink import attribute, attributes
from lab.node.qdiscs.qdisc_kind import Encoded, Setting, Spec, TcKind

OPTIONS = Struct("=6I")  # struct tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter
RATE = Struct("=I12x")  # struct tc_netem_rate: bytes per second
WIDE = Struct("=Q")
ALL = 2**32 - 1  # of a share
TCA_NETEM_RATE, TCA_NETEM_LATENCY64, TCA_NETEM_PRNG_SEED = 6, 10, 14


def _options(spec: Spec) -> bytes:
    seed = attribute(TCA_NETEM_PRNG_SEED, WIDE.pack(spec["seed"])) if "seed" in spec else b""
    return (
        OPTIONS.pack(0, spec["limit_pkts"], round(spec["loss_pct"] / 100 * ALL), 0, 0, 0)
        + attribute(TCA_NETEM_LATENCY64, WIDE.pack(round(1000 * spec["delay_us"])))
        + attribute(TCA_NETEM_RATE, RATE.pack(round(spec["rate_bps"]) // 8))
        + seed
    )


def _settings(data: bytes) -> Spec:
    _, limit_pkts, loss, *_ = OPTIONS.unpack_from(data)
    found = attributes(data[OPTIONS.size :])
    seed = found.get(TCA_NETEM_PRNG_SEED)
    return {
        "limit_pkts": limit_pkts,
        "delay_us": WIDE.unpack(found[TCA_NETEM_LATENCY64])[0] / 1000,
        "loss_pct": 100 * loss / ALL,
        "rate_bps": 8 * RATE.unpack(found[TCA_NETEM_RATE])[0] if TCA_NETEM_RATE in found else 0,
    } | ({"seed": WIDE.unpack(seed)[0]} if seed else {})


KIND = TcKind(
    (
        Setting("limit_pkts", "limit"),
        Setting("delay_us", "delay", "us"),
        Setting("loss_pct", "loss", "%"),
        Setting("rate_bps", "rate", format=lambda bps: ["rate", f"{round(bps)}bit"]),
        # before 6.6 netem has no seed: it draws from the kernel's pool, which the trial's seed fills
        Setting("seed", "seed", once=True),
    ),
    encoded=Encoded(_options, _settings),
)
