# SPDX-License-Identifier: GPL-2.0-or-later
"""Fair queue: paces each flow as its sender asks; on a sender's host, for a congestion control that paces."""

from typing import Any

from lab.node.qdiscs.kind import ByTc, Spec


def _words(spec: Spec) -> list[str]:
    return ["limit", str(spec["limit_pkts"]), "flow_limit", str(spec["flow_limit_pkts"])]


def _got(options: dict[str, Any]) -> Spec:
    return {"limit_pkts": options["limit"], "flow_limit_pkts": options["flow_limit"]}


KIND = ByTc(_words, _got)
