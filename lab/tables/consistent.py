# SPDX-License-Identifier: GPL-2.0-or-later
"""What a stored trial states in two ways agrees: whoever edits one of them can write the digests again."""

import math
from collections.abc import Iterator

import polars as pl

from lab.tables.downloads import FLOW
from lab.tables.trial_json import FlowJson, TrialJson

Contradiction = tuple[str, object, str]  # field, value and rule
SPARE_S, SPARE_SHARE = 1e-6, 1e-6  # a table has times to the nearest 2^-30 s
SPARE_BYTES = 32  # by which a datagram of a user's stack is larger than its data


def of_downloads(meta: TrialJson) -> Iterator[Contradiction]:
    """Yield what other numbers of trial.json contradict."""
    for place, flow in enumerate(meta["flows"]):
        name, seconds = f"flows[{place}]", flow["end_s"] - flow["data_s"]
        if flow["flow"] == FLOW and flow["data_s"] < 0:
            yield f"{name}.data_s", flow["data_s"], "0 or more"
        if abs(flow["seconds"] - seconds) > SPARE_S:
            yield f"{name}.seconds", flow["seconds"], f"{seconds:g}, from data_s to end_s"
        if flow["seconds"] > meta["duration_s"] + SPARE_S:
            yield f"{name}.seconds", flow["seconds"], f"at most {meta['duration_s']}, the trial's duration_s"
        rate_mbps = flow["bytes"] * 8 / 1e6 / flow["seconds"] if flow["seconds"] > 0 else 0.0
        if not math.isclose(flow["throughput_mbps"], rate_mbps, rel_tol=SPARE_SHARE):
            yield f"{name}.throughput_mbps", flow["throughput_mbps"], f"{rate_mbps:g}, its bytes over its seconds"
    most_bytes = meta["capture"]["received_pkts"] * (meta["mss_bytes"] + SPARE_BYTES)
    if meta["certificate"]["valid"] and meta["flows"][0]["bytes"] > most_bytes:
        yield "flows[0].bytes", meta["flows"][0]["bytes"], f"at most {most_bytes}, which its captured frames hold"
    for place, each in enumerate(meta.get("workload", {"objects": []})["objects"]):
        begun_s, whole_s = each["requested_s"], each["whole_s"]
        if begun_s is not None and whole_s is not None and whole_s < begun_s:
            yield f"workload.objects[{place}].whole_s", whole_s, f"at least {begun_s:g}, its requested_s"


def of_exits(table: pl.DataFrame, flows: list[FlowJson]) -> Iterator[Contradiction]:
    """Yield the time of an exit that is not of its download."""
    for flow in flows:
        begin_s = 0.0 if flow["flow"] == FLOW else -math.inf  # a rival may begin before the download under test
        outside = ~pl.col("t_s").is_between(begin_s, flow["end_s"] + SPARE_S) & (pl.col("flow") == flow["flow"])
        for t_s in table.filter(outside)["t_s"]:
            yield "t_s", t_s, f"from {begin_s:g} to {flow['end_s']:g}, when its download ended"
