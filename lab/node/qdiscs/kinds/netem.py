# SPDX-License-Identifier: GPL-2.0-or-later
"""Network emulator: the delay line, and random loss.

A command states its seed once: a change that repeats it would begin the random sequence again.
"""

from lab.node.qdiscs.qdisc_kind import SKIPPED, Setting, TcKind

KIND = TcKind(
    (
        Setting("limit_pkts", "limit"),
        Setting("delay_us", "delay", "us", "delay.delay", scale=1e6, absent=0),
        Setting("loss_pct", "loss", "%", "loss-random.loss", scale=100, absent=0),
        Setting(
            "rate_bps", "rate", "bit", "rate.rate", scale=8, absent=0, format=lambda bps: ["rate", f"{round(bps)}bit"]
        ),
        # before 6.6 netem has no seed: it draws from the kernel's pool, which the trial's seed fills
        Setting("seed", "seed", absent=SKIPPED, once=True),
    )
)
