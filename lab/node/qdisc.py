# SPDX-License-Identifier: GPL-2.0-or-later
"""Queueing disciplines: worded in full for tc, and read back from the kernel.

A spec is a dict with `kind`, and values whose names carry the unit. Every value is always stated: tc resets what a
change leaves out (netem's limit to 1000, its loss and rate to 0).
"""

from typing import Any

from lab.node.tools import NodeError, run, run_json

Spec = dict[str, Any]


def _tbf_words(spec: Spec) -> list[str]:
    return [
        "rate",
        f"{round(spec['rate_bps'])}bit",
        "burst",
        str(spec["burst_bytes"]),
        "limit",
        str(spec["limit_bytes"]),
    ]


def _netem_words(spec: Spec) -> list[str]:
    words = [
        "limit",
        str(spec["limit_pkts"]),
        "delay",
        f"{spec['delay_us']}us",
        "loss",
        f"{spec['loss_pct']}%",
        "rate",
        f"{round(spec['rate_bps'])}bit",
    ]
    if spec["slot_us"]:
        words += ["slot", f"{spec['slot_us']}us", f"{spec['slot_us']}us", "packets", str(spec["slot_pkts"])]
    return [*words, "seed", str(spec["seed"])]


def _tbf_got(options: dict[str, Any]) -> Spec:
    # limit comes back as the latency it means: limit = rate * lat + burst (tc/q_tbf.c)
    return {
        "rate_bps": options["rate"] * 8,
        "burst_bytes": options["burst"],
        "limit_bytes": options["rate"] * options["lat"] / 1e6 + options["burst"],
    }


def _netem_got(options: dict[str, Any]) -> Spec:
    slot = options.get("slot") or {}
    # before 6.6 netem has no seed: it draws from the kernel's pool, which the trial's seed fills
    seed = {"seed": options["seed"]} if "seed" in options else {}
    return seed | {
        "limit_pkts": options["limit"],
        "delay_us": options.get("delay", {}).get("delay", 0) * 1e6,
        "loss_pct": options.get("loss-random", {}).get("loss", 0) * 100,
        "rate_bps": options.get("rate", {}).get("rate", 0) * 8,
        "slot_us": slot.get("min-delay", 0) * 1e6,
        "slot_pkts": slot.get("packets", 0),
    }


WORDS = {"tbf": _tbf_words, "netem": _netem_words}
GOT = {"tbf": _tbf_got, "netem": _netem_got}
ROUNDING = 1e-4  # tc prints floats
TICK_S = 64e-9  # tc keeps TBF's burst as the time it takes (PSCHED_TICKS_PER_SEC)


def command(dev: str, spec: Spec, verb: str = "replace") -> str:
    """Word the tc command that makes a spec the root of an interface."""
    return " ".join(["qdisc", verb, "dev", dev, "root", "handle", "1:", spec["kind"], *WORDS[spec["kind"]](spec)])


def apply(node: str, dev: str, spec: Spec) -> Spec:
    """Apply a spec, and return what the kernel says it now is; NodeError where the two differ."""
    run("tc", "-n", node, *command(dev, spec).split())
    return read_back(node, dev, spec)


def read_back(node: str, dev: str, spec: Spec) -> Spec:
    """Compare the kernel's root qdisc with a spec."""
    shown = run_json("tc", "-n", node, "-j", "qdisc", "show", "dev", dev, "root")[0]
    if shown["kind"] != spec["kind"]:
        raise NodeError(f"{node}:{dev}: qdisc={shown['kind']}: must be {spec['kind']}, as asked")
    got = GOT[spec["kind"]](shown["options"])
    for name, value in got.items():
        if abs(value - spec[name]) > _slack(spec, name):
            raise NodeError(f"{node}:{dev}: {name}={value}: must be {spec[name]}, as asked of {spec['kind']}")
    return got


def _slack(spec: Spec, name: str) -> float:
    """Return by how much tc's own units may round a value."""
    slack = float(ROUNDING * max(abs(spec[name]), 1))
    return slack + 2 * TICK_S * spec["rate_bps"] / 8 + 1 if name in ("burst_bytes", "limit_bytes") else slack
