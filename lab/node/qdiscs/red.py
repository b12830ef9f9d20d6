# SPDX-License-Identifier: GPL-2.0-or-later
"""RED: drops at random at arrival, by an average of the queue's length.

tc makes the average's weight from burst, avpkt and bandwidth, and the kernel keeps only that: it is read back as the
power of two it is.
"""

from typing import Any

from lab.node.qdiscs.kind import ByTc, Spec


def _words(spec: Spec) -> list[str]:
    return [
        "limit",
        str(spec["limit_bytes"]),
        "min",
        str(spec["min_bytes"]),
        "max",
        str(spec["max_bytes"]),
        "avpkt",
        str(spec["avpkt_bytes"]),
        "burst",
        str(spec["burst_pkts"]),
        "bandwidth",
        f"{round(spec['bandwidth_bps'])}bit",
        "probability",
        str(spec["probability"]),
        *(["ecn"] if spec["ecn"] else []),
    ]


def _got(options: dict[str, Any]) -> Spec:
    return {
        "limit_bytes": options["limit"],
        "min_bytes": options["min"],
        "max_bytes": options["max"],
        "probability": options["probability"],
        "ecn": options["ecn"],
    }


KIND = ByTc(_words, _got, details=True)
