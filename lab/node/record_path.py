# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder instead of a flow: what an emulated path gives, measured as a live one would be."""

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.node import recorder
from lab.node.net import netns
from lab.node.net.forked import Forked
from lab.node.qdiscs import link

if TYPE_CHECKING:
    from lab.node.plan import Plan


def record_path(plan: "Plan", folder: Path) -> None:
    """Bring a plan's nodes and link up, measure from its `record` client to its server; leaves raw/ and node.json."""
    record = plan["record"]
    (folder / "raw").mkdir()
    with ExitStack() as stack:
        stack.enter_context(netns.nodes_up(plan["topology"]))
        link.shaped(plan["shapes"])
        server = Forked(record["server"], recorder.serve, recorder.PORT, None, 1)
        time.sleep(0.5)  # until it listens
        clocks = {"monotonic_ns": time.monotonic_ns(), "realtime_ns": time.time_ns()}
        start_ns = clocks["monotonic_ns"] + link.AHEAD_NS
        changes = stack.enter_context(link.following(plan["shapes"], folder, start_ns))
        address = plan["addresses"][record["server"]]
        Forked(record["client"], _measure, address, record["asked"], str(folder / "raw")).answer()
        server.answer()
    (folder / "node.json").write_text(json.dumps({"clocks": clocks, "changes": changes}))


def _measure(address: str, asked: dict[str, Any], folder: str) -> None:
    recorder.measure(address, recorder.PORT, recorder.Request(**asked), Path(folder))
