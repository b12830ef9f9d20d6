# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: a trial of `lab_vm.node.host`, as a machine in real time runs it, and what it leaves of the machine."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from lab.node.measure import trace
from lab.node.net import sysctl
from lab.node.system.tools import run

FOLDER = Path("/tmp/host")
HOST = ["env", "PYTHONPATH=/lab:/vm", sys.executable, "-S", "-m", "lab_vm.node.host"]
STUBBORN = "trap '' TERM; echo began; while :; do sleep 1; done"
TRAFFIC_S = 6.0


def whole(plan: dict[str, Any]) -> dict[str, Any]:
    """Run a trial to its end; returns the machine before and after it, and what the trial reported."""
    before = _machine(plan)
    _begin(plan).wait()
    return {"before": before, "after": _machine(plan), **_told()}


def twice(plan: dict[str, Any]) -> dict[str, Any]:
    """Begin a trial while another one runs; returns what the second reported."""
    first = _begin(plan)
    time.sleep(TRAFFIC_S)
    other = Path("/tmp/other")
    other.mkdir()
    (other / "plan.json").write_text(json.dumps(plan))
    subprocess.Popen([*HOST, str(other)], stdin=subprocess.PIPE).wait()  # its input stays open: we are not gone
    first.wait()
    return {"error": (other / "error.txt").read_text().strip(), "first": _told()}


def left_by(plan: dict[str, Any], how: str) -> dict[str, Any]:
    """Kill a trial in its traffic, or end the command that started it; returns the machine at each step."""
    before = _machine(plan)
    process = _begin(plan)
    time.sleep(TRAFFIC_S)
    during = _machine(plan)
    if how == "killed":
        process.kill()
    else:
        assert process.stdin
        process.stdin.close()
    process.wait()
    ended = _machine(plan)
    cleaned = subprocess.run([*HOST, "--clean"], capture_output=True, text=True, check=False)
    return {
        "before": before,
        "during": during,
        "ended": ended,
        "cleaned": cleaned.stdout + cleaned.stderr,
        "after": _machine(plan),
    }


def stranger(plan: dict[str, Any]) -> dict[str, Any]:
    """Run a trial where another program has a namespace of that name; returns its report, and what is there then."""
    run("ip", "netns", "add", "client")
    _begin(plan).wait()
    return {**_told(), "after": _machine(plan)}


def far_client() -> dict[str, Any]:
    """Start, as a client's far machine does, a program that does not end by itself nor upon a signal, and end it."""
    sys.path.append("/vm")
    from lab_vm.node.far_end import NODE, Running

    run("ip", "netns", "add", NODE)
    running = Running()
    running.start(["sh", "-c", STUBBORN])
    ended = running.ended(1.0)
    stopped = running.stop()
    left = run("ip", "netns", "pids", NODE).split()
    return {"ended": ended, **stopped, "left": [words for words in map(_words, left) if "trap" in words]}


def _words(pid: str) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def _begin(plan: dict[str, Any]) -> "subprocess.Popen[bytes]":
    FOLDER.mkdir()
    (FOLDER / "plan.json").write_text(json.dumps(plan))
    return subprocess.Popen([*HOST, str(FOLDER)], stdin=subprocess.PIPE, preexec_fn=_deaf)


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _told() -> dict[str, Any]:
    error, node = FOLDER / "error.txt", FOLDER / "node.json"
    return {
        "error": error.read_text().strip() if error.exists() else None,
        "machine": json.loads(node.read_text()).get("machine") if node.exists() else None,
    }


def _machine(plan: dict[str, Any]) -> dict[str, Any]:
    """See what a trial may leave behind."""
    modules = [line.split()[0] for line in Path("/proc/modules").read_text().splitlines()]
    return {
        "namespaces": run("ip", "netns", "list").split(),
        "sysctls": sysctl.read(None, plan["sysctls"]["kernel"]),
        "modules": sorted(modules),
        "tracing": trace.TRACEFS.exists(),
        "processes": sorted(_names() & {"iperf3", "dumpcap"}),
    }


def _names() -> set[str]:
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            status = (entry / "stat").read_text() if entry.name.isdigit() else ""
        except OSError:  # it ended meanwhile
            continue
        if ") Z" not in status:
            found.add(status.partition("(")[2].partition(")")[0])
    return found
