# SPDX-License-Identifier: GPL-2.0-or-later
"""Network emulator: the delay line, and random loss.

Its seed is said once: a change that says it again begins the draws anew.
"""

from typing import Any

from lab.node.qdiscs.kind import ByTc, Spec


def _words(spec: Spec) -> list[str]:
    return [
        "limit",
        str(spec["limit_pkts"]),
        "delay",
        f"{spec['delay_us']}us",
        "loss",
        f"{spec['loss_pct']}%",
        "rate",
        f"{round(spec['rate_bps'])}bit",
    ]


def _made_words(spec: Spec) -> list[str]:
    return ["seed", str(spec["seed"])]


def _got(options: dict[str, Any]) -> Spec:
    # before 6.6 netem has no seed: it draws from the kernel's pool, which the trial's seed fills
    seed = {"seed": options["seed"]} if "seed" in options else {}
    return seed | {
        "limit_pkts": options["limit"],
        "delay_us": options.get("delay", {}).get("delay", 0) * 1e6,
        "loss_pct": options.get("loss-random", {}).get("loss", 0) * 100,
        "rate_bps": options.get("rate", {}).get("rate", 0) * 8,
    }


KIND = ByTc(_words, _got, _made_words)
