# SPDX-License-Identifier: GPL-2.0-or-later
"""What an exit from slow start costs short flows: every scenario with a workload, as one published measurement.

`python -m bench.short_flows [SCENARIO...]` runs each scenario of which no whole run is stored, and stores the
figures of all in results/bench/short-flows.json.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence

from lab_papers.fullest import first_stored

from bench.measured import Figure, run_command, show_and_store
from lab.base import paths
from lab.base.errors import UserError, field_error
from lab.evaluation.short_flows import REFERENCE, Cost, costs, short_flows
from lab.judge.stored import Stored
from lab.report.short_flows import unit_of
from lab.schema.scenario import load_scenario, scenarios

COMMAND = "make bench-short-flows"


def with_workload() -> list[str]:
    """Return the scenarios that have a workload."""
    return [name for name in scenarios() if load_scenario(name)[1].workload]


def run(scenario: str) -> Stored:
    """Return the newest whole run of a scenario; run it where there is none."""
    found = _whole(scenario)
    if found is None:
        argv = [sys.executable, "-m", "lab", "run", scenario, "--no-pcap"]
        if status := subprocess.run(argv, check=False).returncode:
            raise UserError(f"lab run {scenario}: status={status}: must be 0")
        found = _whole(scenario)
    if found is None:
        raise UserError(f"lab run {scenario}: trials: must all have a result")
    return found


def _whole(scenario: str) -> Stored | None:
    found = first_stored(paths.results(), [scenario])
    return found if found and found.run.complete else None


def figures(name: str, label: str, cost: Cost, unit: str) -> Iterator[Figure]:
    """Give how one sender left slow start in a scenario, and what that cost."""
    subject = f"{name}, {label}"
    yield {"name": f"{subject}: connections", "value": len(cost.flows), "unit": ""}
    yield {"name": f"{subject}: left slow start", "value": cost.left, "unit": ""}
    yield {"name": f"{subject}: early", "value": cost.early, "unit": ""}
    yield {"name": f"{subject}: limited by the application then", "value": cost.limited, "unit": ""}
    if cost.cca != REFERENCE:
        difference = cost.group_ms
        yield {"name": f"{subject}: cost", "value": _rounded(difference.difference), "unit": f"ms per {unit}"}
        yield {"name": f"{subject}: from", "value": _rounded(difference.lo), "unit": "ms"}
        yield {"name": f"{subject}: to", "value": _rounded(difference.hi), "unit": "ms"}
        yield {"name": f"{subject}: separated", "value": "yes" if cost.separated else "no", "unit": ""}


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def of_run(name: str, stored: Stored) -> list[Figure]:
    """Return the figures of a scenario."""
    workload = stored.run.scenario["workload"]
    assert workload
    unit = unit_of(str(workload["kind"]))
    senders = [stanza["name"] for stanza in stored.ccas]
    found = costs(short_flows(stored), senders, len(stored.run.meta["seeds"]))
    return [figure for cost in found for figure in figures(name, stored.label(cost.cca), cost, unit)]


def main(names: Sequence[str]) -> None:
    """Run what is missing, and store the figures of all."""
    known = with_workload()
    for name in names:
        if name not in known:
            raise field_error("command line", "scenario", name, f"one of {', '.join(known)}")
    found = [figure for name in names or known for figure in of_run(name, run(name))]
    command = COMMAND + (f' BENCH="{" ".join(names)}"' if names else "")
    show_and_store("short-flows", command, found)


if __name__ == "__main__":
    run_command(main, sys.argv[1:])
