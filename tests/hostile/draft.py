# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel under test left of a trial, with all that a plan can have, stored with one file exchanged."""

import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from lab.runs.experiment import Experiment, load_experiment
from lab.runs.trial import Job, store
from lab.tables.node_json import PLAYED

DRAFT = Path(__file__).parents[1] / "data" / "draft"
VIRTUAL = cast(Any, SimpleNamespace(kind="virtual", engine="netns"))
FOLLOWS = {"kind": "delay_line", "delay_us": 50_000, "loss_pct": 3.0}
STEPS = "0\t50000\t3\n9000000\tend\n"
REQUESTS = {"request_bytes": 99, "buffer_s": 0.0} | {
    "exchanges": [{"group": 1, "wait_s": 0.0, "objects_bytes": [9000, 1000], "media_s": 0.0}]
}


def _recorded(name: str) -> Any:
    return json.loads((DRAFT / f"{name}.json").read_text())


def _planned() -> Any:
    """Return the draft's plan, with a delay that follows a series, a rival and requests."""
    plan = _recorded("plan")
    plan["shapes"][1] |= {"spec": FOLLOWS, "steps": "link"}
    plan["flows"] = [flow | {"workload": REQUESTS} for flow in plan["flows"] * 2]
    plan["modules"][0]["params"] = {"threshold_pct": 26, "late": 1}
    return plan


def _left() -> dict[str, Any]:
    """Return what the kernel left of that plan, by the file."""
    node, plan = _recorded("node"), _planned()
    at_ns = node["downloads"][0]["data_ns"]
    second = {"busy_pct": 5.0, "steal_pct": 0.0}
    machine = {"processors": 2, "seconds": [second], "wake_ups": 1, "late_us": {"p50": 1.0, "p99": 2.0, "max": None}}
    counted = dict.fromkeys(PLAYED["delay_line"], 2) | {"start_ns": at_ns, "end_ns": None}
    node["applied"][1] |= plan["shapes"][1]
    node["changes"] = [{"part": plan["shapes"][1]["part"], "played": counted}]
    node["downloads"] += _recorded("node")["downloads"]
    node["modules"]["tcp_search"] = {"threshold_pct": "26", "late": "Y", "window": "10"}
    node |= {"machine": machine, "far": {"machine": machine, "wire_us": [90.0]}, "server_start_s": 0.1}
    client = {"whole_ns": [[at_ns, at_ns + 10**8], [at_ns, at_ns + 10**9]], "stalled_s": 0.0}
    server = {"limited_ns": [[at_ns, 1]], "samples": 2, "busy_us": 5, "rwnd_limited_us": 0, "sndbuf_limited_us": 0}
    return {"node.json": node, "workload-client.json": client, "workload-server.json": server}


PLANNED, LEFT = _planned(), _left()


def record_of(name: str) -> Callable[[Path], None]:
    """Return what stores a trial whose kernel left this file, of a plan with a series, a rival and requests."""

    def store_with(file: Path) -> None:
        with tempfile.TemporaryDirectory() as place:
            draft = whole_draft(Path(place) / "draft")
            shutil.copy(file, draft / name)
            store(Job(_rivals(), next(iter(_rivals().ccas)), 1, draft, VIRTUAL), PLANNED, draft)

    return store_with


def whole_draft(folder: Path) -> Path:
    """Make a folder with all that a kernel left of the plan."""
    shutil.copytree(DRAFT, folder)
    (folder / "link").write_text(STEPS)
    for name, content in LEFT.items():
        (folder / name).write_text(json.dumps(content))
    return folder


@cache
def _rivals() -> Experiment:
    return load_experiment("compete-cubic")
