# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload's objects and the limits of its sender, from the logs of both ends, on the clock of the tables."""

from pathlib import Path
from typing import Any

from lab.base import strict_json
from lab.base.contract import check
from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, read_plain
from lab.node.plan import FlowPlan
from lab.node.record import DownloadRecord, WorkloadClient, WorkloadServer
from lab.tables.trial_json import Download, ObjectJson, WorkloadJson

CLIENT, SERVER = "workload-client.json", "workload-server.json"  # as lab/node/workload.py names them
MOST_LOG_BYTES = 50 * MEGABYTE


def read(folder: Path, flow: FlowPlan, node: DownloadRecord, measured: Download) -> WorkloadJson:
    """Read both logs of a trial's folder; UserError where one breaks its contract, or has too many objects."""
    client: WorkloadClient = _log(folder / CLIENT, WorkloadClient)
    server: WorkloadServer = _log(folder / SERVER, WorkloadServer)

    def t_s(time_ns: int) -> float:
        return measured["data_s"] + (time_ns - node["data_ns"]) / 1e9

    whole_ns = _pairs(client["whole_ns"], folder / CLIENT, "whole_ns")
    times_s = [(t_s(begun), t_s(whole)) for begun, whole in whole_ns]
    limited_ns = _pairs(server["limited_ns"], folder / SERVER, "limited_ns")
    return {
        "objects": _objects(flow, times_s, measured["end_s"], folder / CLIENT),
        "stalled_s": client["stalled_s"],
        "limited": [[t_s(at), float(limited)] for at, limited in limited_ns],
        "busy_s": server["busy_us"] / 1e6,
        "rwnd_limited_s": server["rwnd_limited_us"] / 1e6,
        "sndbuf_limited_s": server["sndbuf_limited_us"] / 1e6,
    }


def _log(file: Path, contract: Any) -> Any:
    try:
        content = strict_json.loads(read_plain(file, MOST_LOG_BYTES))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except ValueError:
        raise UserError(f"{file}: must be whole JSON") from None
    check(content, contract, file)
    return content


def _pairs(rows: list[list[int]], file: Path, field: str) -> list[tuple[int, int]]:
    """Return rows of two numbers; UserError where one has another length."""
    for row in rows:
        if len(row) != 2:
            raise UserError(f"{file}: {field}={row}: must be two numbers")
    return [(first, second) for first, second in rows]


def _objects(flow: FlowPlan, whole: list[tuple[float, float]], end_s: float, file: Path) -> list[ObjectJson]:
    """Pair what was requested with what came: objects arrive in the order of the plan, and the last ones may lack."""
    requested = [
        (number, each["group"], size)
        for number, each in enumerate(flow["workload"]["exchanges"], start=1)
        for size in each["objects_bytes"]
    ]
    if len(whole) > len(requested):
        raise UserError(f"{file}: objects={len(whole)}: must be at most {len(requested)}, as many as requested")
    if len(whole) < len(requested):  # the client went on for a moment: those objects lie behind the trial's tables
        whole = [times for times in whole if times[1] <= end_s]
    times: list[tuple[float | None, float | None]] = [*whole, *[(None, None)] * (len(requested) - len(whole))]
    return [
        {"exchange": number, "group": group, "bytes": size, "requested_s": begun, "whole_s": end}
        for (number, group, size), (begun, end) in zip(requested, times, strict=True)
    ]
