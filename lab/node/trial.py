# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial, from a plan to raw records: nodes up, link applied and read back, traffic, capture, nodes down."""

import json
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lab.node import capture, counters, flow, netns, qdisc, replay, sysctl, trace
from lab.node.tools import NodeError, inside, run

Plan = dict[str, Any]
HERE = Path(__file__).parent


def run_trial(plan: Plan, folder: Path) -> None:
    """Execute a plan and leave its raw records in a folder: capture, trace pages, qdisc samples, node.json."""
    for module in plan["modules"]:
        run("modprobe", module["name"], *(f"{k}={v}" for k, v in module["params"].items()))
    sysctl.pin(None, plan["sysctls"]["kernel"])
    with netns.nodes_up(plan["topology"]):
        for node in plan["ends"]:
            sysctl.pin(node, plan["sysctls"]["ends"])
            sysctl.pin_route(node, plan["sysctls"]["route"])
        applied = [
            {**shape, "got": qdisc.apply(shape["node"], shape["dev"], shape["spec"])} for shape in plan["shapes"]
        ]
        probes = _probe(plan)
        record = _traffic(plan, folder)
        record |= {
            "applied": applied,
            "probes": probes,
            "counters": counters.read(plan["topology"], plan["ends"]),
            "kernel": Path("/proc/version").read_text().strip(),
        }
    (folder / "node.json").write_text(json.dumps(record, indent=1))


def _traffic(plan: Plan, folder: Path) -> dict[str, Any]:
    """Start everything that watches, then the flow, then the changes of the link."""
    (download,) = plan["flows"]  # more than one flow: a later issue
    preload = plan["preload"]
    node, dev = plan["capture"]["interface"]
    with ExitStack() as stack:
        stack.enter_context(flow.server(download["sender"], download["port"]))
        counts = stack.enter_context(
            capture.capturing(node, dev, folder / "client.pcapng", plan["capture"]["snaplen_bytes"], preload)
        )
        stack.enter_context(trace.tracing(plan["trace"]["events"], folder, plan["trace"]["buffer_kb"]))
        stack.enter_context(_Sampling(plan["sampler"], folder / "qdisc.raw"))
        clocks = {"monotonic_ns": time.monotonic_ns(), "realtime_ns": time.time_ns()}
        time.sleep(plan["start_phase_s"])
        start_ns = time.monotonic_ns()
        late = [
            stack.enter_context(replay.replaying(change["node"], change["dev"], change["steps"], start_ns))
            for change in plan["changes"]
        ]
        iperf3 = flow.download(download, plan["addresses"][download["sender"]], preload)
    return {"clocks": clocks, "start_ns": start_ns, "capture": counts, "late_us": late, "iperf3": iperf3}


class _Sampling:
    """The bottleneck's qdisc sampled by a process in its node."""

    def __init__(self, sampler: Plan, file: Path) -> None:
        node, dev = sampler["interface"]
        self.argv = inside(node, "python3", "-S", str(HERE / "sampler.py"), dev, str(sampler["interval_us"]), str(file))

    def __enter__(self) -> None:
        self.process = subprocess.Popen(self.argv)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        if self.process.wait(timeout=10):
            raise NodeError("sampler: stopped early")


def _probe(plan: Plan) -> list[dict[str, Any]]:
    """Measure the idle path both ways before there is traffic."""
    started = []
    for probe in plan["probes"]:
        words = [plan["addresses"][probe["from"]], str(probe["count"]), str(probe["interval_ms"])]
        argv = inside(probe["to"], "python3", "-S", str(HERE / "probe.py"), *words)
        started.append(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
    answers = [process.communicate()[0] for process in started]
    return [{**probe, "arrived": json.loads(answer)} for probe, answer in zip(plan["probes"], answers, strict=True)]
