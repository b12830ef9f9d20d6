# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder instead of a flow: what an emulated path gives, measured as a live one would be."""

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.node.net import netns
from lab.node.net.forked import Forked
from lab.node.qdiscs import link

sys.path.append("/live")  # which the guest has packages/live at
from lab_live.node import recorder

if TYPE_CHECKING:
    from lab.node.plan import Plan

FOLDER = Path("/trial")


def record_path(plan: "Plan", server: str, client: str, asked: dict[str, Any]) -> None:
    """Bring a plan's nodes and link up, measure from one node to a server; leaves raw/ and node.json."""
    (FOLDER / "raw").mkdir()
    with ExitStack() as stack:
        stack.enter_context(netns.nodes_up(plan["topology"]))
        link.shaped(plan["shapes"])
        serving = Forked(server, recorder.serve, recorder.PORT, None, 1)
        time.sleep(0.5)  # until it listens
        clocks = {"monotonic_ns": time.monotonic_ns(), "realtime_ns": time.time_ns()}
        start_ns = clocks["monotonic_ns"] + link.AHEAD_NS
        changes = stack.enter_context(link.following(plan["shapes"], FOLDER, start_ns))
        address = plan["addresses"][server]
        Forked(client, _measure, address, asked, str(FOLDER / "raw")).answer()
        serving.answer()
    (FOLDER / "node.json").write_text(json.dumps({"clocks": clocks, "changes": changes}))


def _measure(address: str, asked: dict[str, Any], folder: str) -> None:
    recorder.measure(address, recorder.PORT, recorder.PathRequest(**asked), Path(folder))
