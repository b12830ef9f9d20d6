# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: a whole trial, as a run of the lab has it."""

import json
from pathlib import Path
from typing import Any

from lab.node.engines.far_end import NODE, Running
from lab.node.plan import Plan
from lab.node.system.tools import run
from lab.node.trial import run_trial

STUBBORN = "trap '' TERM; echo began; while :; do sleep 1; done"


def trial(plan: Plan) -> float:
    """Execute a plan beside the test's other files; returns the throughput that iperf3 reports, in Mb/s."""
    run_trial(plan, Path("/trial"))
    record = json.loads(Path("/trial/node.json").read_text())
    (download,) = record["downloads"]
    return float(download["iperf3"]["end"]["sum_received"]["bits_per_second"]) / 1e6


def far_client() -> dict[str, Any]:
    """Start, as a client's far machine does, a program that does not end by itself nor upon a signal, and end it."""
    run("ip", "netns", "add", NODE)
    running = Running()
    running.start(["sh", "-c", STUBBORN])
    ended = running.ended(1.0)
    stopped = running.stop()
    left = run("ip", "netns", "pids", NODE).split()
    return {"ended": ended, **stopped, "left": [words for words in map(_words, left) if "trap" in words]}


def _words(pid: str) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()
