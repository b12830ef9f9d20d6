# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF on the running kernel: loaded and unloaded by bpftool, and its exits from slow start.

`python -m lab_bpf.node.loader load OBJECT BPFTOOL...`, `unload`, `exits`; each refusal is a NodeError of one line.
"""

import json
import os
import platform
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from lab.node.system.tools import NodeError, run

NAME = "search_bpf"
EXITS = "search_exits"  # the map of search_bpf_exits.h
CAUSES = ("search", "loss", "timeout", "other")  # enum search_bpf_cause
PREFIX = "search_"  # of all its programs and maps
LEAST_RELEASE = (6, 12)
BTF = Path("/sys/kernel/btf/vmlinux")
KFUNC = b"\0cubictcp_acked\0"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
UNLOAD_S = 3.0
LOADED = f"{NAME}: must not be loaded already: 'lab senders unload {NAME}' unloads it"


class Exit(TypedDict):
    """A flow's exit from slow start."""

    t_s: float  # CLOCK_MONOTONIC
    cause: str
    cwnd_pkts: int
    ssthresh_pkts: int
    rtt_ms: float
    sport: int
    dport: int


class Entry(TypedDict):
    """An exit in the map: struct search_bpf_exit of search_bpf_exits.h."""

    number: int  # 0: not written yet
    t_ns: int
    cause: int
    cwnd_pkts: int
    ssthresh_pkts: int
    rtt_us: int
    sport: int
    dport: int


@dataclass(frozen=True)
class Machine:
    """What decides whether a kernel can load it."""

    uid: int
    release: str
    btf: Path = BTF

    def require_able(self, command: str) -> None:
        """Raise NodeError with the first reason why this machine cannot run a command of these."""
        if self.uid:
            raise NodeError(f"{command}: user={self.uid}: must be root: run it with sudo")
        if release_of(self.release) < LEAST_RELEASE:
            raise NodeError(f"{command}: kernel={self.release}: must be 6.12 or newer")
        if not self.btf.is_file():
            raise NodeError(f"{command}: {self.btf}: must be there: a kernel with CONFIG_DEBUG_INFO_BTF has it")
        if KFUNC not in self.btf.read_bytes():
            raise NodeError(f"{command}: kernel={self.release}: must have CUBIC built in, with its functions for BPF")


def this_machine() -> Machine:
    """Return the machine that runs this."""
    return Machine(os.geteuid(), platform.release())


def release_of(release: str) -> tuple[int, int]:
    """Return the version of a kernel's release; (0, 0) where it has none."""
    found = re.match(r"(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def is_loaded() -> bool:
    """Report whether flows can choose it."""
    return NAME in AVAILABLE.read_text(errors="replace").split()


def load(program: Path, bpftool: list[str]) -> None:
    """Load a built program and register its congestion control."""
    if is_loaded():
        raise NodeError(LOADED)
    run(*bpftool, "struct_ops", "register", str(program))
    if not is_loaded():
        raise NodeError(f"{NAME}: must be in {AVAILABLE} once it is registered")


def unload(bpftool: list[str]) -> list[str]:
    """Unregister it; return the names of programs and maps that sockets still use: they go with the sockets."""
    require_loaded()
    run(*bpftool, "struct_ops", "unregister", "name", NAME)
    end_s = time.monotonic() + UNLOAD_S
    while (left := traces(bpftool)) and time.monotonic() < end_s:
        time.sleep(0.1)
    return left


def traces(bpftool: list[str]) -> list[str]:
    """Return the names of its programs and maps that the kernel holds."""
    listed = [*_json(bpftool, "prog", "list"), *_json(bpftool, "map", "list")]
    return sorted(each["name"] for each in listed if each.get("name", "").startswith(PREFIX))


def exits(bpftool: list[str]) -> list[Exit]:
    """Return the newest exits from slow start since it was loaded, oldest first."""
    require_loaded()
    newest = max(each["id"] for each in _json(bpftool, "map", "list") if each.get("name") == EXITS)
    rows: list[Entry] = [row["formatted"]["value"] for row in _json(bpftool, "map", "dump", "id", str(newest))]
    return [_exit(row) for row in sorted(rows, key=lambda row: row["number"]) if row["number"]]


def _exit(row: Entry) -> Exit:
    return {
        "t_s": row["t_ns"] / 1e9,
        "cause": CAUSES[row["cause"]],
        "cwnd_pkts": row["cwnd_pkts"],
        "ssthresh_pkts": row["ssthresh_pkts"],
        "rtt_ms": row["rtt_us"] / 1e3,
        "sport": row["sport"],
        "dport": row["dport"],
    }


def require_loaded() -> None:
    """Raise NodeError where it is not loaded."""
    if not is_loaded():
        raise NodeError(f"{NAME}: must be loaded: 'lab senders load {NAME}' loads it")


def _json(bpftool: list[str], *words: str) -> Any:
    """Return the list that a command of bpftool prints."""
    return json.loads(run(*bpftool, "-j", *words) or "[]")


if __name__ == "__main__":
    word, *rest = sys.argv[1:]
    if word == "load":
        load(Path(rest[0]), rest[1:])
    else:
        print(json.dumps(unload(rest) if word == "unload" else exits(rest)))
