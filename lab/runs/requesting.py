# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs in the plan of a trial with a workload: its ends, its length, the room for its trace."""

from dataclasses import asdict
from typing import cast

from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.links.draw import Link
from lab.node.plan import ExchangePlan, Plan, WorkloadPlan
from lab.runs import sizes
from lab.runs.experiment import Experiment
from lab.schema.workload import exchanges, workload_of


def planned(plan: Plan, experiment: Experiment, link: Link) -> Plan:
    """Return the plan with the exchanges that its seed decides; it ends with the last response."""
    workload = workload_of(experiment.scenario.workload)
    try:
        sampled = exchanges(workload, plan["seed"])
    except UserError as error:
        raise UserError(f"scenario {experiment.name}: {error}") from None
    size_bytes = sum(sum(each.objects_bytes) for each in sampled)
    requests: WorkloadPlan = {
        "request_bytes": workload.request_bytes,
        "buffer_s": workload.buffer_s,
        "exchanges": [
            cast("ExchangePlan", asdict(each) | {"objects_bytes": [*each.objects_bytes]}) for each in sampled
        ],
    }
    (flow,) = plan["flows"]
    duration_s = experiment.scenario.duration_s
    return plan | {
        "work": plan.get("work", "workload"),
        "flows": [flow | {"size_bytes": size_bytes, "workload": requests}],
        "trace": plan["trace"] | {"buffer_kb": sizes.trace_kb(link, duration_s, plan["mss_bytes"], size_bytes)},
        "memory_mb": sizes.memory_mb(link, duration_s, plan["mss_bytes"], size_bytes),
    }


def refuse_real_time(experiment: Experiment, backend: str) -> None:
    """Raise UserError where a workload would run in real time."""
    if experiment.scenario.workload:
        rule = f"virtual: workload {experiment.scenario.workload['kind']} runs in the virtual kernel only"
        raise field_error(COMMAND_LINE, "backend", backend, rule)
