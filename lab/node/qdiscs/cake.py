# SPDX-License-Identifier: GPL-2.0-or-later
"""CAKE without its own shaper and without its filter of acknowledgements: the link's rate is its parent's business."""

from typing import Any

from lab.node.qdiscs.kind import ByTc, Spec


def _words(spec: Spec) -> list[str]:
    plain = "unlimited besteffort nowash no-ack-filter no-split-gso raw".split()
    return [*plain, spec["flowmode"], "rtt", f"{spec['rtt_us']}us", "memlimit", str(spec["memlimit_bytes"])]


def _got(options: dict[str, Any]) -> Spec:
    return {
        "flowmode": options["flowmode"],
        "rtt_us": options["rtt"],
        "memlimit_bytes": options["memlimit"],
    }


KIND = ByTc(_words, _got)
