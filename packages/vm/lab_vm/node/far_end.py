# SPDX-License-Identifier: GPL-2.0-or-later
"""The client's end on a kernel of its own, on a second machine, as root.

Run it as   python3 -m lab_vm.node.far_end

A request is a JSON line on standard input, [name, arguments]. Each gets a line back, with its result or its error. When
the input closes, because the trial is over or was killed, everything made here is taken down.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypedDict

from lab.node.measure import counters
from lab.node.net import interface, netns, route, sysctl
from lab.node.net.forked import Forked
from lab.node.net.namespace import entered, named
from lab.node.net.netlink import Netlink
from lab.node.system import modules
from lab.node.system.tools import NodeError, run, run_json
from lab.node.traffic import flow
from lab_vm.node.exclusive import held_alone
from lab_vm.node.machine import watch
from lab_vm.node.named import let_go

if TYPE_CHECKING:
    from lab.node.plan import Module, Sysctls
    from lab.node.record import MachineLoad

NODE, DEV = "search-lab-far", "near"
STATE = Path("/run/search-lab")


class Answer(TypedDict, total=False):
    """The reply to a request: its result, or its error."""

    answer: Any
    error: str


class Stopped(TypedDict):
    """The client's output, and how busy this machine was meanwhile."""

    printed: str
    machine: "MachineLoad"


def main() -> None:
    """Serve one trial."""
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    with ExitStack() as stack:
        running = Running()
        known: dict[str, Callable[..., Any]] = {
            "up": partial(_up, stack),
            "start": running.start,
            "ended": running.ended,
            "stop": running.stop,
            "losses": lambda: counters.tcp_losses(NODE),
        }
        while True:
            name, arguments = json.loads(lines.get())
            print(json.dumps(_answer(known[name], arguments)), flush=True)


def _read(lines: "SimpleQueue[str]") -> None:
    """Pass requests on. EOF: the first machine has gone, so this process ends, whatever is under way."""
    for line in sys.stdin:
        lines.put(line)
    os.kill(os.getpid(), signal.SIGTERM)


def _answer(work: Callable[..., Any], arguments: dict[str, Any]) -> Answer:
    try:
        return {"answer": work(**arguments)}
    except (NodeError, OSError, subprocess.SubprocessError) as error:
        return {"error": str(error)}


def _up(stack: ExitStack, holder: str, address: str, gateway: str, senders: "list[Module]", sysctls: "Sysctls") -> None:
    """Build the client on the wire that this request came over, beside this machine's own address on it.

    iperf3's client sets the requested sender on its own end too, so the modules must be here.
    """
    STATE.mkdir(exist_ok=True)
    stack.enter_context(held_alone(STATE / "far.lock", holder))
    _down()  # what a killed one left
    stack.enter_context(modules.given_back([module["name"] for module in senders]))
    for module in senders:
        modules.load(module["name"], module["params"])
    stack.callback(_down)
    stack.enter_context(sysctl.given_back(sysctls["kernel"]))
    sysctl.pin(None, sysctls["kernel"])
    run("ip", "-batch", "-", stdin=f"netns add {NODE}\n{joined(_wire(), NODE, DEV)}\n")
    attach(_wire(), NODE, DEV)
    routes = [
        f"address add {address}/32 dev {DEV}",
        f"route add {gateway} dev {DEV}",
        f"route add default via {gateway}",
    ]
    run("ip", "-n", NODE, "-batch", "-", stdin="\n".join(routes))
    sysctl.pin(NODE, sysctls["ends"])
    route.pin(NODE, sysctls["route"])


def _down() -> None:
    if NODE in named():
        for process in map(int, run("ip", "netns", "pids", NODE).split()):
            os.kill(process, signal.SIGKILL)
        let_go([NODE])
        netns.unname([NODE])


def joined(wire: str, node: str, dev: str) -> str:
    """Build the `ip` line for an interface of a node that lies on a wire of its machine."""
    return f"link add link {wire} name {dev} netns {node} type macvlan mode bridge"


def attach(wire: str, node: str, dev: str) -> None:
    """Set it up over a wire without offloads, which nothing else uses.

    A macvlan always reports that it can segment (ALWAYS_ON_OFFLOADS in macvlan.c); the wire then does, in software.
    """
    on = interface.switch_offloads_off(wire)
    with entered(node), Netlink(node) as link:
        route.bring_up(link, "lo")
        route.bring_up(link, dev)
    if on:
        raise NodeError(f"{wire}: {on[0]}=on: must be off")


def _wire() -> str:
    """Name the interface over which ssh reached this machine."""
    own = os.environ["SSH_CONNECTION"].split()[2]
    (found,) = run_json("ip", "-j", "address", "show", "to", own)
    return str(found["ifname"])


class Running:
    """iperf3's client in the node, and how busy this machine is meanwhile."""

    def start(self, argv: list[str]) -> None:
        """Start it."""
        self.watching = Forked(NODE, watch)
        self.client = flow.Client(argv, NODE)

    def ended(self, within_s: float) -> bool:
        """Wait for its end, at most for some seconds."""
        return self.client.ended(within_s)

    def stop(self) -> Stopped:
        """End it; returns its output, and how busy this machine was."""
        return {"printed": self.client.stop(), "machine": self.watching.stop()}


if __name__ == "__main__":
    main()
