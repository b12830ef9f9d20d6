# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine is that trials run on: `python3 -m lab_vm.node.facts ENGINE MODULE...` prints it as JSON, or fails."""

import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import TypedDict

from lab.node.system.tools import NodeError, run
from lab_vm.node import containerlab, mininet, pair

TOOLS = ("ip", "tc", "ss", "iperf3", "dumpcap", "modprobe", "sysctl")
REQUIRED = {
    "netns": lambda: None,
    "containerlab": containerlab.require,
    "mininet": mininet.require,
    "pair": pair.require,
}


class Facts(TypedDict):
    """What decides a result on a machine."""

    kernel: str  # /proc/version
    release: str
    modules: dict[str, str]  # version of each module's source
    packages: dict[str, str]  # version of each Debian package
    processors: int | None
    cpu: str


def facts(engine: str, modules: list[str]) -> Facts:
    """Return what decides a result here; NodeError at the first thing that is missing."""
    if os.geteuid():
        raise NodeError(f"uid={os.geteuid()}: must be 0: namespaces and qdiscs are made by root")
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        raise NodeError(f"{missing[0]}: not installed: run 'make provision'")
    REQUIRED[engine]()
    return {
        "kernel": Path("/proc/version").read_text().strip(),
        "release": platform.release(),
        "modules": {name: _source(name) for name in modules},
        "packages": _packages(),
        "processors": os.cpu_count(),
        "cpu": _cpu(),
    }


def _source(module: str) -> str:
    """Return the version of a module's source; a built-in module has the kernel's."""
    try:
        return run("modinfo", "--field", "srcversion", module).strip() or "built in"
    except NodeError:
        raise NodeError(f"module {module}: not installed for this kernel: run 'make provision'") from None


def _packages() -> dict[str, str]:
    lines = run("dpkg-query", "--show", "--showformat", "${Package}=${Version}\n").splitlines()
    return dict(line.split("=", 1) for line in lines)


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        print(json.dumps(facts(sys.argv[1], sys.argv[2:])))
    except NodeError as error:
        sys.exit(str(error))
