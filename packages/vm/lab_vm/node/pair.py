# SPDX-License-Identifier: GPL-2.0-or-later
"""Engine `pair`: the client's TCP runs on a second machine's kernel; everything else is namespaces of this one.

The client's node here passes on what the link delivers, over a wire between the machines, to a node of the next address
there. Capture and probes stay on this machine, so that every time is of one clock; what the wire adds is measured.
"""

import ipaddress
import json
import re
import socket
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lab
import lab_vm
from lab.node.net import netns, sysctl
from lab.node.net.namespace import entered
from lab.node.system.tools import NodeError, run, run_json
from lab_vm.node import far_end

if TYPE_CHECKING:
    from lab.node.plan import Plan, Topology
    from lab.node.record import MachineLoad

NAME = "search-lab-client"  # to ssh, and in /etc/hosts (ansible/roles/pair)
DEV = "far"
SERVE = (
    "place=$(mktemp -d /var/tmp/search-lab-XXXXXX) && head -c {size} | tar -x -C $place && cd $place && "
    "sudo --preserve-env=SSH_CONNECTION python3 -m lab_vm.node.far_end; sudo rm -rf $place"
)
PINGS = 20
PATIENCE_S = 60


class Far:
    """The second machine, while a session with it lasts; `here` is the node that reaches its node at an address."""

    def __init__(self, here: str, address: str) -> None:
        self.here, self.address = here, address
        self.machine: MachineLoad | None = None  # how busy it was, known once its client is stopped
        self.wire_us: list[float] = []  # round trips over the wire between the machines
        code = _code()
        self.process = subprocess.Popen(
            ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", NAME, SERVE.format(size=len(code))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._send(code)

    def request(self, name: str, **arguments: Any) -> Any:
        """Send a request to far_end and return its answer."""
        assert self.process.stdout
        self._send(json.dumps([name, arguments]).encode() + b"\n")
        line = self.process.stdout.readline()
        if not line:
            raise NodeError(f"{NAME}: cannot be reached, or went away")
        reply = json.loads(line)
        if "error" in reply:
            raise NodeError(f"{NAME}: {reply['error']}")
        return reply["answer"]

    def client(self, argv: list[str]) -> "ClientAfar":
        """Start a client there."""
        return ClientAfar(self, argv)

    def measure_wire(self) -> None:
        """Measure the round trip over the wire between the machines; the first finds the way, and does not count."""
        printed = run("ip", "netns", "exec", self.here, "ping", "-c", str(1 + PINGS), "-i", "0.05", self.address)
        self.wire_us = [1e3 * float(ms) for ms in re.findall(r"time=([\d.]+) ms", printed)[1:]]

    def close(self) -> None:
        """End the session, and wait until everything there is taken down."""
        try:
            self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()  # the other machine notices by itself

    def _send(self, data: bytes) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing answer shows it


class ClientAfar:
    """A client's process on the second machine, from its construction on."""

    def __init__(self, far: Far, argv: list[str]) -> None:
        self.far = far
        self._printed: str | None = None
        far.request("start", argv=argv)

    def ended(self, within_s: float) -> bool:
        """Wait for its end, at most for some seconds."""
        return bool(self.far.request("ended", within_s=within_s))

    def stop(self) -> str:
        """End it, if it has not ended; returns what it printed."""
        if self._printed is None:
            stopped = self.far.request("stop")
            self._printed, self.far.machine = stopped["printed"], stopped["machine"]
        return self._printed


@contextmanager
def client_afar(plan: "Plan", _folder: Path) -> Iterator[Far]:
    """Bring the nodes up, the client's TCP on the second machine."""
    node = plan["flows"][0]["receiver"]
    here = plan["addresses"][node]
    there = str(ipaddress.ip_address(here) + 1)
    require()
    with netns.namespaces_up(plan["topology"]), ExitStack() as stack:
        far = Far(node, there)
        stack.callback(far.close)
        given = {"senders": plan["modules"], "sysctls": plan["sysctls"]}
        far.request("up", holder=plan["holder"], address=there, gateway=here, **given)
        _pass_on(plan["topology"], node, here, there)
        far.measure_wire()
        yield far


def require() -> None:
    """Refuse what cannot work, in one line."""
    try:
        socket.gethostbyname(NAME)
    except OSError:
        raise NodeError(f"{NAME}: not known here: run 'LAB_VMS=2 vagrant up'") from None


def _pass_on(topology: "Topology", node: str, here: str, there: str) -> None:
    """Route the far address over the client's node, and nothing else."""
    wire = run_json("ip", "-j", "route", "get", socket.gethostbyname(NAME))[0]["dev"]
    run("ip", "-batch", "-", stdin=far_end.joined(wire, node, DEV))
    far_end.attach(wire, node, DEV)
    with entered(node):
        sysctl.write("net.ipv4.ip_forward", "1")
    run("ip", "-n", node, "route", "add", there, "dev", DEV)
    for router in _neighbours(topology, node):
        run("ip", "-n", router, "route", "add", there, "via", here)


def _neighbours(topology: "Topology", node: str) -> list[str]:
    ends = [[end.split(":")[0] for end in link["endpoints"]] for link in topology["links"]]
    return [b if a == node else a for a, b in ends if node in (a, b)]


def _code() -> bytes:
    """Pack what this node's code is."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for folder in (Path(package.__path__[0]) for package in (lab, lab_vm)):
            for name in ("__init__.py", "node"):
                place = f"{folder.name}/{name}"
                tar.add(folder / name, place, filter=lambda info: None if "__pycache__" in info.name else info)
    return packed.getvalue()
