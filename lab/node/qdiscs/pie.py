# SPDX-License-Identifier: GPL-2.0-or-later
"""PIE: drops at random at arrival, by the delay that the queue means."""

from typing import Any

from lab.node.qdiscs.kind import ByTc, Spec, microseconds_slack, switch


def _words(spec: Spec) -> list[str]:
    return [
        "limit",
        str(spec["limit_pkts"]),
        "target",
        f"{spec['target_us']}us",
        "tupdate",
        f"{spec['tupdate_us']}us",
        "alpha",
        str(spec["alpha"]),
        "beta",
        str(spec["beta"]),
        switch(spec["ecn"], "ecn"),
        switch(spec["bytemode"], "bytemode"),
    ]


def _got(options: dict[str, Any]) -> Spec:
    return {
        "limit_pkts": options["limit"],
        "target_us": options["target"],
        "tupdate_us": options["tupdate"],
        "alpha": options["alpha"],
        "beta": options["beta"],
        "ecn": options.get("ecn", False),
        "bytemode": options.get("bytemode", False),
    }


KIND = ByTc(_words, _got, slack=microseconds_slack)
