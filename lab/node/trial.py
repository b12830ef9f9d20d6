# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial, from a plan to raw records: nodes up, link applied and read back, traffic, capture, nodes down."""

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.node import beginning
from lab.node.measure import capture, counters, probe, trace
from lab.node.measure.sampler import sampler
from lab.node.net import netns, route, sysctl
from lab.node.net.forked import Forked
from lab.node.net.namespace import inside
from lab.node.qdiscs import link
from lab.node.system import modules, small_file
from lab.node.system.punctual import SECOND_NS, sleep_until
from lab.node.system.task import Task
from lab.node.system.tools import NodeError
from lab.node.traffic import download, flow, late_start, series_begin

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.node.plan import FlowPlan, NodesPlan, Plan
    from lab.node.record import Applied, Clocks, DownloadRecord, NodeRecord, Probed, Traffic

    Serve = Callable[[FlowPlan], AbstractContextManager[int]]
    Begin = Callable[..., AbstractContextManager[download.Download]]
    Build = Callable[[Any, Path], AbstractContextManager[Any]]

STEP_NS, VIRTUAL_STEP_NS = 10_000_000, 10_000  # a busy machine may pause between the readings of two clocks


def served(request: "FlowPlan") -> AbstractContextManager[int]:
    """Serve one download by iperf3; it yields the number of the server's process."""
    return flow.server(request["sender"], request["port"])


def namespaces(plan: "NodesPlan", _folder: Path) -> AbstractContextManager[None]:
    """Build the nodes of a plan as network namespaces of our own."""
    return netns.namespaces_up(plan["topology"])


def run_trial(
    plan: "Plan",
    folder: Path,
    serve: "Serve" = served,
    begin: "Begin" = download.begun,
    build: "Build" = namespaces,
) -> None:
    """Execute a plan and leave its raw records in a folder: capture, trace pages, qdisc samples, node.json.

    `serve` and `begin` are the two ends of a download. `build` brings the nodes up, each a named network namespace (`ip
    netns`), and takes them down whatever happens. It yields what else a package measures in real time, else None.
    """
    with network_up(plan, folder, build) as (real, applied):
        probes = _probe(plan)
        probe.require_crossed(plan["shapes"], probes)
        record: NodeRecord = {
            **_traffic(plan, folder, real, serve, begin),
            "applied": applied,
            "probes": probes,
            "counters": counters.read(plan["topology"], plan["ends"]),
            "kernel": small_file.read(Path("/proc/version")).strip(),
            "modules": {module["name"]: modules.readable(module["name"]) for module in plan["modules"]},
        }
        if real:
            real.complete(record)
    small_file.make(folder / "node.json", json.dumps(record, indent=1))


@contextmanager
def network_up(plan: "Plan", folder: Path, build: "Build" = namespaces) -> "Iterator[tuple[Any, list[Applied]]]":
    """Bring a plan's nodes and link up while the block runs; yields what `build` does, and the link's qdiscs."""
    beginning.prepare(plan)
    plain = [module["name"] for module in plan["modules"] if not module["params"] and "file" not in module]
    modules.load_all([*plain, *link.modules_of([*plan["shapes"], *plan["egress"]])])
    for module in plan["modules"]:
        modules.load(module["name"], module["params"], folder / module["file"] if "file" in module else None)
    sysctl.pin(None, plan["sysctls"]["kernel"])
    with nodes_up(plan, folder, build) as real:
        for node in plan["ends"]:
            sysctl.pin(node, plan["sysctls"]["ends"])
            route.pin(node, plan["sysctls"]["route"])
        yield real, link.shaped([*plan["shapes"], *plan["egress"]])


@contextmanager
def nodes_up(
    plan: "NodesPlan", folder: Path, build: "Callable[..., AbstractContextManager[Any]]" = namespaces
) -> Iterator[Any]:
    """Bring the nodes of a plan up, and prepare them for a trial; yields what `build` does."""
    with build(plan, folder) as real:
        netns.ready(plan["topology"])
        if plan.get("clock") == "real":
            netns.keep_order(plan["topology"])
        yield real


def _traffic(plan: "Plan", folder: Path, real: Any, serve: "Serve", begin: "Begin") -> "Traffic":
    """Start everything that watches, then the flow, then the changes of the link.

    The second beginning keeps the packets independent of how long servers and capture take to start.
    """
    with ExitStack() as stack:
        second = beginning.settle(plan, beginning.TRAFFIC_S)
        if plan.get("clock") != "real":
            stack.enter_context(sysctl.given_back(["kernel.modprobe"]))  # a later trial in this boot may need it
            sysctl.write("kernel.modprobe", "\n")  # no module has what programs ask for yet: IPv6, Bluetooth, netfilter
        beginning.begin(plan, second)
        pids = [stack.enter_context(serve(each)) for each in plan["flows"]]
        counts = stack.enter_context(capture.capturing(plan["capture"], folder / "client.pcapng", plan["preload"]))
        stack.enter_context(trace.tracing(plan["trace"]["events"], folder, plan["trace"]["buffer_kb"]))
        beginning.begin(plan, second + 1)
        clocks: Clocks = {"monotonic_ns": time.monotonic_ns(), "realtime_ns": time.time_ns()}
        sample = stack.enter_context(sampler(plan["sampler"]["interface"], plan["sampler"]["interval_us"]))
        beginning.start(plan, second + 1)
        sample()
        start = stack.enter_context(series_begin.awaited(plan, time.monotonic_ns() + link.AHEAD_NS))
        changes = stack.enter_context(link.following(plan["shapes"], folder, start))
        if real:
            stack.enter_context(real.watched())
        late = stack.enter_context(late_start.held(plan, pids[0]))
        own, *beside = plan["flows"]
        early = [None if "start_s" in each else stack.enter_context(begin(plan, each)) for each in beside]
        first = stack.enter_context(begin(plan, own, real and real.far))
        begun = zip(early, beside, strict=True)  # in the plan's order, as what is measured is read
        others = [Task(each.measure) if each else Task(_later, plan, flow, begin) for each, flow in begun]
        measured = [first.measure(), *(other.result() for other in others)]
    _require_steady(clocks, STEP_NS if plan.get("clock") == "real" else VIRTUAL_STEP_NS)
    traffic: Traffic = {
        "clocks": clocks,
        "start_ns": start if isinstance(start, int) else start(),
        "capture": counts,
        "changes": changes,
        "downloads": measured,
    }
    if late:
        traffic["server_start_s"] = late.waited_s()
    return traffic


def _require_steady(clocks: "Clocks", most_ns: int) -> None:
    """Refuse a clock that was set since two were read."""
    stepped_ns = time.time_ns() - time.monotonic_ns() - clocks["realtime_ns"] + clocks["monotonic_ns"]
    if abs(stepped_ns) > most_ns:
        raise NodeError(
            f"clock: stepped_s={stepped_ns / 1e9:.6g}: must be 0 during the traffic: captures have its time"
        )


def _later(plan: "Plan", flow: "FlowPlan", begin: "Begin") -> "DownloadRecord":
    """Begin a download at its own time after the first one has begun, and measure it."""
    sleep_until(time.monotonic_ns() + round(flow["start_s"] * SECOND_NS))
    with begin(plan, flow) as download:
        return download.measure()


def _probe(plan: "Plan") -> "list[Probed]":
    """Measure the idle path both ways before there is traffic."""
    beginning.settle(plan, beginning.PROBES_S)
    if plan.get("clock") == "real":
        _probed(plan, 1)  # what comes first through a machine that has done nothing like it yet is late
    return [{**way, "arrived": arrived} for way, arrived in zip(plan["probes"], _probed(plan), strict=True)]


def _probed(plan: "Plan", count: int | None = None) -> list[list[tuple[int, int]]]:
    """Probe each way, both at once; `count` overrides the plan's."""
    started = [
        (way["to"], probe.probe, plan["addresses"][way["from"]], count or way["count"], way["interval_ms"])
        for way in plan["probes"]
    ]
    if plan.get("clock") != "real":  # in virtual time two threads are as good, and take less
        return [task.result() for task in [Task(inside, *each) for each in started]]
    return [process.answer() for process in [Forked(*each) for each in started]]
