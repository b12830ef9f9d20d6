# SPDX-License-Identifier: GPL-2.0-or-later
"""CoDel: drops by the time that packets spend in the queue. And fq_codel, one such queue a flow."""

from typing import Any

from lab.node.qdiscs.kind import ByTc, Spec, microseconds_slack, switch


def _codel_words(spec: Spec) -> list[str]:
    return [
        "limit",
        str(spec["limit_pkts"]),
        "target",
        f"{spec['target_us']}us",
        "interval",
        f"{spec['interval_us']}us",
        switch(spec["ecn"], "ecn"),
    ]


def _codel_got(options: dict[str, Any]) -> Spec:
    return {
        "limit_pkts": options["limit"],
        "target_us": options["target"],
        "interval_us": options["interval"],
        "ecn": options.get("ecn", False),
    }


def _fq_codel_words(spec: Spec) -> list[str]:
    return [
        *_codel_words(spec),
        "flows",
        str(spec["flows"]),
        "quantum",
        str(spec["quantum_bytes"]),
        "memory_limit",
        str(spec["memory_limit_bytes"]),
        "drop_batch",
        str(spec["drop_batch_pkts"]),
    ]


def _fq_codel_got(options: dict[str, Any]) -> Spec:
    return _codel_got(options) | {
        "flows": options["flows"],
        "quantum_bytes": options["quantum"],
        "memory_limit_bytes": options["memory_limit"],
        "drop_batch_pkts": options["drop_batch"],
    }


KIND = ByTc(_codel_words, _codel_got, slack=microseconds_slack)
FQ_KIND = ByTc(_fq_codel_words, _fq_codel_got, slack=microseconds_slack)
