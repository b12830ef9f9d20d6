# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes and interfaces of a network that somebody else built: found, taken while a block runs, given back."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab_vm.node.leases import Lease

from lab.node.net import namespace, netns
from lab.node.system.tools import NodeError, run, run_json

DEFAULT = "0:"  # handle of the qdisc that the kernel itself gives an interface


@contextmanager
def named(node: str, lease: Lease) -> Iterator[str]:
    """Yield the name of a node's namespace: its own, or one that lasts as long as the block."""
    if node in namespace.named():
        yield node
        return
    process = _mininet(node) or _container(node)
    if process is None:
        raise NodeError(f"{node}: must be a network namespace, a Mininet host or a running container")
    name = lease.new_name()
    lease.add(names=[name])
    try:
        run("ip", "netns", "attach", name, str(process))
        yield name
    finally:
        netns.unname([name])


@contextmanager
def taken(node: str, dev: str, lease: Lease) -> Iterator[None]:
    """Take an interface whose qdisc is the kernel's own, and give it that back after the block."""
    devices = [shown["ifname"] for shown in run_json("ip", "-n", node, "-j", "link", "show")]
    if dev not in devices:
        raise NodeError(f"{node}:{dev}: must be an interface of {node}, which has {', '.join(sorted(devices))}")
    kind, handle = root_qdisc(node, dev)
    if handle != DEFAULT:
        raise NodeError(f"{node}:{dev}: qdisc={kind}: must be the kernel's own: 'tc qdisc del dev {dev} root' there")
    lease.add(interfaces=[[node, dev]])
    try:
        yield
    finally:
        with suppress(NodeError):  # the network is gone already
            give_back(node, dev)


def give_back(node: str, dev: str) -> None:
    """Take the qdisc of an interface away; the kernel puts its own there."""
    if root_qdisc(node, dev)[1] != DEFAULT:
        run("tc", "-n", node, "qdisc", "del", "dev", dev, "root")


def root_qdisc(node: str, dev: str) -> tuple[str, str]:
    """Return kind and handle of an interface's root qdisc."""
    shown = run_json("tc", "-n", node, "-j", "qdisc", "show", "dev", dev)
    return next(((one["kind"], one["handle"]) for one in shown if one.get("root")), ("none", DEFAULT))


def _mininet(node: str) -> int | None:
    """Find a Mininet host: its shell's last argument is `mininet:` and its name."""
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended
            words = (place / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            if words[-1] == f"mininet:{node}".encode():
                return int(place.name)
    return None


def _container(node: str) -> int | None:
    """Find a running container of Docker's: containerlab's are named clab-<lab>-<node>."""
    if not shutil.which("docker"):
        return None
    try:
        return int(run("docker", "inspect", "--type", "container", "--format", "{{.State.Pid}}", node)) or None
    except NodeError:  # no such container, or no daemon
        return None
