# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile replayed on interfaces of a network that somebody else built, as root: `lab replay`.

Run it as   python3 -m lab_live.node.own_network FOLDER

FOLDER holds replay.json (Replay) and the files of its steps. It ends after its time, at a signal, or with its standard
input, and gives each interface the kernel's own qdisc back.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from lab_vm.node import leases

from lab.node.qdiscs import link, qdisc, replay, tc_alone
from lab.node.qdiscs.qdisc import CHILD, ROOT, QdiscPlace
from lab.node.qdiscs.qdisc_counts import CountedQdiscs
from lab.node.system import modules
from lab.node.system.tools import NodeError, run_json
from lab_live.node import networks

if TYPE_CHECKING:
    from lab.node.plan import Shape
    from lab.node.record import Played

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HEADER_BYTES, SPARE_BYTES = 14, 86  # of Ethernet, and of tags


class Replay(TypedDict):
    """replay.json: the qdiscs, netem before the tbf that shares its interface."""

    shapes: "list[Shape]"  # `node` is a namespace, a Mininet host or a container
    duration_s: float


def main(argv: list[str]) -> None:
    """Replay, and report each qdisc in a line; an error is one line, with exit status 1."""
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    for number in ENDINGS:
        signal.signal(number, _end)
    folder = Path(argv[0])
    try:
        print("\n".join(replayed(json.loads((folder / "replay.json").read_text()), folder)))
    except (NodeError, OSError) as error:
        sys.exit(" ".join(str(error).split()))


def _end(*_: object) -> None:
    """Let every block end as it should, once."""
    for number in ENDINGS:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(1)


def replayed(request: Replay, folder: Path) -> list[str]:
    """Replay for the time that is requested; return a line per qdisc."""
    if os.geteuid():
        raise NodeError(f"host: uid={os.geteuid()}: must be 0: qdiscs are made by root")
    leases.clear()
    names: dict[str, str] = {}
    try:
        with ExitStack() as stack:
            placed = _placed(stack, request["shapes"], folder, names)
            _make(placed)
            lines = _follow(placed, folder, request["duration_s"])
    except NodeError as error:
        raise NodeError(_renamed(str(error), names)) from None
    return [_renamed(line, names) for line in lines]


def _renamed(text: str, names: dict[str, str]) -> str:
    """Call a node as the user does."""
    for node, name in names.items():
        text = text.replace(name, node)
    return text


def _placed(
    stack: ExitStack, shapes: "list[Shape]", folder: Path, names: dict[str, str]
) -> "list[tuple[Shape, QdiscPlace]]":
    """Enter the nodes and take their interfaces until the stack ends; `names` gets the namespace of each node."""
    lease = stack.enter_context(leases.leased(folder))
    for node in sorted({shape["node"] for shape in shapes}):
        names[node] = stack.enter_context(networks.named(node, lease))
    there: list[Shape] = [{**shape, "node": names[shape["node"]]} for shape in shapes]
    own = [name for name in link.modules_of(there) if name not in tc_alone.MODULES]  # tc loads the kernel's
    lease.add(modules=[name for name in own if not modules.loaded(name)])
    stack.enter_context(modules.given_back(own))
    for node, dev in sorted({(shape["node"], shape["dev"]) for shape in there}):
        stack.enter_context(networks.taken(node, dev, lease))
    return list(zip(map(_fitting, there), _places(there), strict=True))


def _fitting(shape: "Shape") -> "Shape":
    """Fit a spec to the interface and to the tc that are there.

    tbf's bucket holds the largest frame: containerlab's wires carry 9,500 bytes. tc before iproute2 6.6 states no seed.
    """
    spec = shape["spec"]
    if spec["kind"] == "tbf":
        (shown,) = run_json("ip", "-n", shape["node"], "-j", "link", "show", "dev", shape["dev"])
        least = shown["mtu"] + HEADER_BYTES + SPARE_BYTES
        return {**shape, "spec": spec | {"burst_bytes": max(spec["burst_bytes"], least)}}
    if spec["kind"] == "netem" and not _tc_states_seeds():
        return {**shape, "spec": {name: value for name, value in spec.items() if name != "seed"}}
    return shape


def _tc_states_seeds() -> bool:
    usage = ["tc", "qdisc", "add", "dev", "lo", "root", "netem", "help"]
    return "seed" in subprocess.run(usage, capture_output=True, text=True, check=False).stderr


def _places(shapes: "list[Shape]") -> Iterator[QdiscPlace]:
    """Yield where each hangs: at the root, or tbf behind the netem of its interface, as tc-netem(8) has it."""
    for shape in shapes:
        shared = sum((one["node"], one["dev"]) == (shape["node"], shape["dev"]) for one in shapes) > 1
        yield CHILD if shared and shape["spec"]["kind"] == "tbf" else ROOT


def _make(placed: "list[tuple[Shape, QdiscPlace]]") -> None:
    for shape, place in placed:
        node, dev, spec = shape["node"], shape["dev"], shape["spec"]
        try:
            if spec["kind"] in link.TC_ALONE:
                qdisc.made(node, dev, spec, place)
            else:
                qdisc.apply(node, dev, spec)
        except NodeError as error:
            if "kind is unknown" not in str(error):
                raise
            release = os.uname().release
            raise NodeError(f"{node}:{dev}: qdisc={spec['kind']}: must be part of this kernel ({release})") from None


def _follow(placed: "list[tuple[Shape, QdiscPlace]]", folder: Path, duration_s: float) -> list[str]:
    """Let the qdiscs follow their steps for a time; return what each did."""
    start_ns = time.monotonic_ns() + link.AHEAD_NS
    all_played: list[Played] = []
    with ExitStack() as stack:
        for shape, place in placed:
            node, dev, spec = shape["node"], shape["dev"], shape["spec"]
            played: Played = {}
            if shape["steps"]:
                at = (folder / shape["steps"], start_ns)
                played = stack.enter_context(
                    tc_alone.playing(node, dev, spec, *at, place)
                    if spec["kind"] in link.TC_ALONE
                    else replay.playing(node, dev, spec, *at)
                )
            all_played.append(played)
        _wait(duration_s)
    return [_line(shape, place, played) for (shape, place), played in zip(placed, all_played, strict=True)]


def _wait(duration_s: float) -> None:
    """Wait for the time, or for the end of standard input: the command that requested this has gone."""
    until_s = time.monotonic() + duration_s
    while (left_s := until_s - time.monotonic()) > 0:
        readable, _, _ = select.select([sys.stdin], [], [], left_s)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            return


def _line(shape: "Shape", place: QdiscPlace, played: "Played") -> str:
    with CountedQdiscs(shape["node"], shape["dev"]) as counted:
        counts = counted.counts(place.parent)
    line = f"{shape['node']}:{shape['dev']}: {shape['part']}, {shape['spec']['kind']}: "
    if "changes" in played:
        line += f"{played['changes']} changes, the latest {played['late_max_ns'] / 1e6:.3g} ms late; "
    return line + f"{counts.sent_pkts} packets passed, {counts.dropped_pkts} dropped"


if __name__ == "__main__":
    main(sys.argv[1:])
