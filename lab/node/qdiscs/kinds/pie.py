# SPDX-License-Identifier: GPL-2.0-or-later
"""PIE: drops at random at arrival, by an estimate of the queueing delay."""

from lab.node.qdiscs.qdisc_kind import (
    CODEL_SLACK_US,
    ECN,
    WHOLE_FRAMES,
    Field,
    Setting,
    TcKind,
    constant,
    duration,
    switch,
)

GAIN = {"ge": 1, "le": 32}  # 0 is not stated by tc, and leaves the kernel's own
TARGET = {"ge": 0.001, "le": 4294}  # the kernel shows it in ns, in 32 bits
TICKS = {"ge": 1, "le": 60_000, "multiple_of": 1}  # the kernel counts it in ticks, of which the lab's has 1000 a second
KIND = TcKind(
    (
        WHOLE_FRAMES,
        duration("target", 15.0, CODEL_SLACK_US, TARGET),
        duration("tupdate", 15.0, CODEL_SLACK_US, TICKS),
        Setting("alpha", "alpha", field=Field("alpha", int, 2, GAIN)),
        Setting("beta", "beta", field=Field("beta", int, 20, GAIN)),
        ECN,
        switch("bytemode", value=constant(False)),
    ),
    queue="PIE (RFC 8033).",
)
