# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload's objects and the limits of its sender, from the logs of both ends, on the clock of the tables."""

from pathlib import Path

from lab.base.contract import read_checked
from lab.base.errors import UserError, field_error
from lab.node.plan import FlowPlan, Plan
from lab.node.record import NodeRecord, WorkloadClient, WorkloadServer
from lab.tables.node_json import MOST_BYTES, out_of, times_ns
from lab.tables.trial_json import Download, ObjectJson, WorkloadJson

CLIENT, SERVER = "workload-client.json", "workload-server.json"  # as lab/node/workload.py names them


def read(folder: Path, plan: Plan, node: NodeRecord, measured: Download) -> WorkloadJson:
    """Read both logs of a trial's folder; UserError where one breaks its contract, or is not of the plan's trial."""
    client: WorkloadClient = read_checked(folder / CLIENT, WorkloadClient, MOST_BYTES)
    server: WorkloadServer = read_checked(folder / SERVER, WorkloadServer, MOST_BYTES)
    times = times_ns(node, plan)

    def t_s(file: str, field: str, time_ns: int, since_ns: int = times.start) -> float:
        for fault in out_of(range(since_ns, times.stop), field, time_ns):
            raise field_error(folder / file, *fault)
        return measured["data_s"] + (time_ns - node["downloads"][0]["data_ns"]) / 1e9

    whole_ns = client["whole_ns"]
    times_s = [(t_s(CLIENT, "whole_ns", begun), t_s(CLIENT, "whole_ns", whole, begun)) for begun, whole in whole_ns]
    return {
        "objects": _objects(plan["flows"][0], times_s, measured, folder / CLIENT),
        "stalled_s": client["stalled_s"],
        "limited": [[t_s(SERVER, "limited_ns", at), float(limited)] for at, limited in server["limited_ns"]],
        "busy_s": server["busy_us"] / 1e6,
        "rwnd_limited_s": server["rwnd_limited_us"] / 1e6,
        "sndbuf_limited_s": server["sndbuf_limited_us"] / 1e6,
    }


def _objects(flow: FlowPlan, whole: list[tuple[float, float]], measured: Download, file: Path) -> list[ObjectJson]:
    """Pair what was requested with what came: objects arrive in the order of the plan, and the last ones may lack."""
    requested = [
        (number, each["group"], size)
        for number, each in enumerate(flow["workload"]["exchanges"], start=1)
        for size in each["objects_bytes"]
    ]
    if len(whole) > len(requested):
        raise UserError(f"{file}: objects={len(whole)}: must be at most {len(requested)}, as many as requested")
    # The client went on for a moment: those objects lie behind the trial's tables.
    last_s = measured["end_s"] if len(whole) < len(requested) else measured["data_s"] + flow["duration_s"]
    whole = [times for times in whole if times[1] <= last_s]
    times: list[tuple[float | None, float | None]] = [*whole, *[(None, None)] * (len(requested) - len(whole))]
    return [
        {"exchange": number, "group": group, "bytes": size, "requested_s": begun, "whole_s": end}
        for (number, group, size), (begun, end) in zip(requested, times, strict=True)
    ]
