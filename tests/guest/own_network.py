# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: `lab_live.node.own_network` on interfaces of two nodes that are not the lab's, and what it leaves."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.node.system.tools import run, run_json

COMMAND = ["env", "PYTHONPATH=/lab:/live:/vm", sys.executable, "-S", "-m", "lab_live.node.own_network"]
FOLDER = Path("/tmp/own")
NODE, OTHER, DEV, ADDRESS = "left", "right", "eth1", "10.9.0.2"
HOST = "h1"  # the same node, as Mininet's host
UNDER_WAY_S = 1.0


def replayed(shapes: list[dict[str, Any]], files: dict[str, str], duration_s: float, end: str) -> dict[str, Any]:
    """Replay, and end it in a way; returns the qdiscs before, during and after it, and after a cleaning."""
    with _network():
        before, process = _qdiscs(), _begin(shapes, files, duration_s)
        time.sleep(UNDER_WAY_S)
        during, round_trip_ms = _qdiscs(), _round_trip_ms()
        _end(process, end)
        printed, errors = process.communicate()
        after = _state()
        cleaned = run(*COMMAND[:-1], "lab_vm.node.host", "--clean")
        return {
            "before": before,
            "during": during,
            "round_trip_ms": round_trip_ms,
            "printed": printed,
            "errors": errors,
            "after": after,
            "cleaned": cleaned,
            "at_last": _state(),
        }


def refused(shapes: list[dict[str, Any]], command: str) -> dict[str, Any]:
    """Replay on an interface that has a qdisc of somebody's; returns the refusal, and what is there then."""
    with _network():
        run(*command.split())
        before, process = _qdiscs(), _begin(shapes, {}, 1.0)
        printed, errors = process.communicate()
        return {"before": before, "printed": printed, "errors": errors, "after": _qdiscs()}


def _begin(shapes: list[dict[str, Any]], files: dict[str, str], duration_s: float) -> "subprocess.Popen[str]":
    (FOLDER / "link").mkdir(parents=True)
    for name, text in files.items():
        (FOLDER / "link" / name).write_text(text)
    (FOLDER / "replay.json").write_text(json.dumps({"shapes": shapes, "duration_s": duration_s}))
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, str(FOLDER)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _end(process: "subprocess.Popen[str]", end: str) -> None:
    if end == "killed":
        process.kill()
    elif end == "interrupted":
        process.send_signal(signal.SIGINT)
    elif end == "abandoned":
        assert process.stdin
        process.stdin.close()
        process.stdin = None
    process.wait()


@contextmanager
def _network() -> Iterator[None]:
    """Two nodes, one of which is also a Mininet host by the name of its shell."""
    for name in (NODE, OTHER):
        run("ip", "netns", "add", name)
    run("ip", "link", "add", "dev", DEV, "netns", NODE, "type", "veth", "peer", "name", DEV, "netns", OTHER)
    for name, address in ((NODE, "10.9.0.1"), (OTHER, ADDRESS)):
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", DEV)
        run("ip", "-n", name, "link", "set", "dev", DEV, "up")
    sleeping = [sys.executable, "-S", "-c", "import time; time.sleep(1000)", f"mininet:{HOST}"]
    shell = subprocess.Popen(["ip", "netns", "exec", NODE, *sleeping])
    time.sleep(0.5)
    try:
        yield
    finally:
        shell.kill()


def _qdiscs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_json("tc", "-n", NODE, "-j", "qdisc", "show", "dev", DEV)
    return found


def _state() -> dict[str, Any]:
    names = sorted(path.name for path in Path("/run/netns").iterdir())
    leases = sorted(path.name for path in Path("/run/search-lab/replay").glob("*.json"))
    return {"qdiscs": _qdiscs(), "names": names, "leases": leases}


def _round_trip_ms() -> float:
    printed = run("ip", "netns", "exec", NODE, "ping", "-c", "2", "-i", "0.5", ADDRESS)
    return float(re.findall(r"time=([\d.]+) ms", printed)[-1])
