# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel under test reports of a trial, as the host takes it: as its contract and the trial's plan have it.

A stranger's module runs in that kernel, and may write there whatever it wants.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.base.contract import read_checked
from lab.base.errors import field_error
from lab.base.plain_file import MEGABYTE
from lab.node.plan import Module, Plan
from lab.node.record import NodeRecord
from lab.node.system.modules import shown_as

MOST_BYTES = 100 * MEGABYTE
SPARE_S = 300  # a trial may take longer than its downloads: its connections open late, and a machine may be slow
CLOCK_NS = 10**9  # between the readings of two clocks at one instant
PLAYED = {  # what is counted of a series, by the kind of its qdisc
    "delay_line": ("late_pkts", "latest_ns", "loss_sum", "lost_pkts", "overflow_pkts", "sent_pkts"),
    "replay": ("capacity_bytes", "rate_bps"),
    **dict.fromkeys(("tbf", "netem"), ("changes", "late_max_ns", "late_p99_ns")),
}
Fault = tuple[str, object, str]  # field, value and rule


def read_node(file: Path, plan: Plan) -> NodeRecord:
    """Read node.json; UserError where it is not what a node leaves that executes the plan."""
    node: NodeRecord = read_checked(file, NodeRecord, MOST_BYTES)
    for fault in _faults(node, plan):
        raise field_error(file, *fault)
    return node


def on_trace_clock(node: NodeRecord, epoch_ns: int, capture: Path) -> int:
    """Return a time of the capture on the clock of the trace; UserError where it lies outside of the trial."""
    clocks = node["clocks"]
    found_ns = epoch_ns - clocks["realtime_ns"] + clocks["monotonic_ns"]
    if not clocks["monotonic_ns"] - CLOCK_NS <= found_ns <= max(each["until_ns"] for each in node["downloads"]):
        raise field_error(capture, "begin_ns", epoch_ns, "a time of the trial, by the clocks of its node.json")
    return found_ns


def times_ns(node: NodeRecord, plan: Plan) -> range:
    """Return the times that a trial can have, on the clock of the trace."""
    longest_s = max(flow.get("start_s", 0) + flow["duration_s"] for flow in plan["flows"])
    begin_ns = node["clocks"]["monotonic_ns"]
    return range(begin_ns, begin_ns + round((longest_s + plan.get("server_start_s", 0) + SPARE_S) * 1e9))


def out_of(times: range, field: str, time_ns: int) -> Iterator[Fault]:
    """Yield a fault where a time is none of these."""
    if time_ns not in times:
        yield field, time_ns, f"from {times.start} to {times.stop - 1}, a time of the trial"


def _faults(node: NodeRecord, plan: Plan) -> Iterator[Fault]:
    """Yield what does not fit the plan: what it was to apply and to measure, and when."""
    followed = [shape for shape in plan["shapes"] if shape["steps"]]
    yield from _others("applied", node["applied"], [*plan["shapes"], *plan["egress"]])
    yield from _others("probes", node["probes"], plan["probes"])
    yield from _others("changes", node["changes"], [{"part": shape["part"]} for shape in followed])
    yield from _others("downloads", node["downloads"], [{}] * len(plan["flows"]))
    yield from _of_modules(node["modules"], plan["modules"])
    ends = (end for wire in plan["topology"]["links"] for end in wire["endpoints"])
    yield from _missing("counters.interfaces", node["counters"]["interfaces"], ends)
    for number, (shape, change) in enumerate(zip(followed, node["changes"], strict=True)):
        lost = ("lost_pkts",) if "loss_sum" in change["played"] else ()
        yield from _missing(f"changes[{number}].played", change["played"], PLAYED[shape["spec"]["kind"]] + lost)
    times = times_ns(node, plan)
    yield from out_of(times, "start_ns", node["start_ns"])
    for number, record in enumerate(node["downloads"]):
        yield from out_of(times, f"downloads[{number}].data_ns", record["data_ns"])
        yield from out_of(range(record["data_ns"], times.stop), f"downloads[{number}].until_ns", record["until_ns"])
        if (record["iperf3"] is None) != isinstance(record["iperf3_error"], str):
            yield f"downloads[{number}].iperf3_error", record["iperf3_error"], "a text where iperf3 is null, else null"


def _others(name: str, found: Sequence[Mapping[str, Any]], planned: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield where a list differs from that of the plan: in its length, or in a field that the plan has."""
    if len(found) != len(planned):
        yield name, len(found), f"{len(planned)}, as many as planned"
    for number, (one, of_plan) in enumerate(zip(found, planned, strict=False)):
        fields = (field for field in of_plan if one[field] != of_plan[field])
        yield from ((f"{name}[{number}].{field}", one[field], f"{of_plan[field]}, as planned") for field in fields)


def _of_modules(found: Mapping[str, Mapping[str, str]], planned: Sequence[Module]) -> Iterator[Fault]:
    """Yield where other modules are loaded than planned, or one has another parameter."""
    names = sorted({module["name"] for module in planned})
    if sorted(found) != names:
        yield "modules", ", ".join(sorted(found)), f"{', '.join(names) or 'none'}, as planned"
    for module in planned:
        had = found.get(module["name"], {})
        for name, value in module["params"].items():
            if not shown_as(had.get(name, ""), value):
                yield f"modules.{module['name']}.{name}", had.get(name, ""), f"{value}, as planned"


def _missing(name: str, found: Mapping[str, Any], required: Iterable[str]) -> Iterator[Fault]:
    yield from ((f"{name}.{each}", "", "given") for each in required if each not in found)
