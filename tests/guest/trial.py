# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: a whole trial, as a run of the lab has it."""

import json
from pathlib import Path

from lab.node.plan import Plan
from lab.node.trial import run_trial


def trial(plan: Plan) -> float:
    """Execute a plan beside the test's other files; returns the throughput that iperf3 reports, in Mb/s."""
    run_trial(plan, Path("/trial"))
    record = json.loads(Path("/trial/node.json").read_text())
    (download,) = record["downloads"]
    return float(download["iperf3"]["end"]["sum_received"]["bits_per_second"]) / 1e6
