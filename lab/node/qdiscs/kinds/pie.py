# SPDX-License-Identifier: GPL-2.0-or-later
"""PIE: drops at random at arrival, by an estimate of the queueing delay."""

from lab.node.qdiscs.qdisc_kind import (
    CODEL_SLACK_US,
    ECN,
    Field,
    Setting,
    TcKind,
    constant,
    duration,
    limit_pkts,
    switch,
)

GAIN = {"ge": 0, "le": 32}
KIND = TcKind(
    (
        limit_pkts(),
        duration("target", 15.0, CODEL_SLACK_US),
        duration("tupdate", 15.0, CODEL_SLACK_US),
        Setting("alpha", "alpha", field=Field("alpha", int, 2, GAIN)),
        Setting("beta", "beta", field=Field("beta", int, 20, GAIN)),
        ECN,
        switch("bytemode", value=constant(False)),
    ),
    queue="PIE (RFC 8033).",
)
