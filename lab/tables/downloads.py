# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trial's downloads transferred, by our own records, and where its tables end.

A download's time begins with the first data segment that arrives at its client (`data_s`) and ends `duration_s` later,
or once the client has acknowledged `size_bytes`. It ends with iperf3 at the latest, whose own time begins with its
request: where the link is silent then, the first data are late. A rival's ends with the time of the download under test
at the latest: from then on the link is spare. Where no data of a rival arrive, its time begins with its client. Where
they do behind that end although a handshake had its time before, it begins when they would have come as soon as those
of the download under test. Bytes are unique payload: what came twice counts once, what came out of order counts.
"""

import math
import statistics
from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.base.stats import largest, smallest
from lab.node.plan import FlowPlan, Plan
from lab.node.record import DownloadRecord, NodeRecord, Probed
from lab.node.traffic.flow import handshake_s
from lab.tables.pieces import Frame, collected, first_row, pieces_of
from lab.tables.trial_json import Counted, Download, Extent, Iperf3Figures

Numbers = NDArray[np.int64]
CONTROL, FLOW, RIVAL = 0, 1, 2  # flows of the tables: from RIVAL on one for each download beside that under test
NS_DIGITS = 9  # of a packet's time in seconds
EXTENT = ("seq_bytes", "len_bytes")
BY_FLOW = ("packets", "acks", "retransmits", "ca_states", "bins", "exits")


def measure(plan: Plan, node: NodeRecord, tables: Mapping[str, Frame]) -> list[Download]:
    """Return of each download flow, data_s, end_s (both on the tables' clock), bytes, seconds and retransmits."""
    first, *rivals = node["downloads"]
    captured = _captured(plan["flows"][0], _lasted_s(first), tables["packets"])
    again_s, control_s = (collected(tables["retransmits"].filter(flow=flow))["t_s"] for flow in (FLOW, CONTROL))
    counted_s = captured["data_s"] + _lasted_s(first)
    of_control = int(control_s.is_between(captured["data_s"], counted_s, closed="right").sum())
    others = 0 if rivals else of_control  # with rivals, control connections are of several hosts
    behind = _behind_pkts(first, again_s, captured, counted_s, others)
    measured: list[Download] = [{**captured, **_counted(first, behind + others)}]
    sized = "size_bytes" in plan["flows"][0]  # then it may be whole before its time
    last_s = captured["data_s"] + plan["flows"][0]["duration_s"] if sized else captured["end_s"]
    up_delay_s, hosts = idle_up_delay_s(node["probes"]), [request["sender"] for request in plan["flows"]]
    for flow, (request, record) in enumerate(zip(plan["flows"][1:], rivals, strict=True), start=RIVAL):
        came_s = measured[0]["data_s"] + (record["data_ns"] - first["data_ns"]) / 1e9
        counted_s, due_s = came_s + _lasted_s(record), measured[0]["data_s"] + request.get("start_s", 0.0)
        starved = due_s + handshake_s(plan["link"]["base_rtt_ms"]) < last_s <= came_s
        data_s = due_s if starved else came_s
        own = {name: collected(tables[name].filter(flow=flow)) for name in ("acks", "retransmits")}
        extent = _traced(flow, request, own["acks"], data_s, up_delay_s, last_s)
        again_s, until_s = own["retransmits"]["t_s"], min(extent["end_s"], last_s)
        behind = int(((again_s > until_s) & (again_s <= counted_s)).sum())
        found: Download = {**extent, **_counted(record, behind)}
        if starved or hosts.count(request["sender"]) > 1:  # the host's count is from its first data on, and of all
            found["retransmits_pkts"] = int(again_s.is_between(data_s, min(counted_s, until_s)).sum())
        measured.append(found)
    return measured


def failure(plan: Plan, node: NodeRecord, measured: list[Download]) -> str | None:
    """Return why a download of a size has neither its bytes nor its time: iperf3's error; None where all are whole."""
    for request, record, found in zip(plan["flows"], node["downloads"], measured, strict=True):
        # The first is shorter than its time where it is whole; a rival also where the first has ended.
        most_s = request["duration_s"] if found["flow"] == FLOW else min(request["duration_s"], found["seconds"])
        in_time = record["data_ns"] - node["downloads"][0]["data_ns"] < plan["flows"][0]["duration_s"] * 1e9
        if record["iperf3_error"] and in_time and _lasted_s(record) < most_s <= found["seconds"]:
            return str(record["iperf3_error"])
    return None


def cut(tables: Mapping[str, Frame], measured: list[Download]) -> dict[str, Frame]:
    """Leave out what came after the end: each flow's rows after its own, all else after the last one's.

    A rival whose first data came behind the end, which lasts no time, is none of these. How long iperf3 talks after a
    download then changes nothing of a trial. The link's steps stay whole.
    """
    ends = {download["flow"]: download["end_s"] for download in measured}
    last_s = max(each["end_s"] for each in measured if each["flow"] == FLOW or each["seconds"])
    own_end = pl.col("flow").replace_strict(ends, default=last_s, return_dtype=pl.Float64)
    ended = {name: tables[name].filter(pl.col("t_s") <= own_end) for name in BY_FLOW}
    ended["retransmits"] = ended["retransmits"].filter(pl.col("flow") > CONTROL)
    return {**tables, **ended, "qdisc": tables["qdisc"].filter(pl.col("t_s") <= last_s)}


def first_data_s(packets: Frame, flow: int = FLOW) -> float | None:
    """Return when the first data segment arrived at the client; None where none did."""
    return smallest(collected(_data(packets, flow).select("t_s"))["t_s"])


def requested_s(packets: Frame, flow: int = FLOW) -> float:
    """Return when the client sent its first payload, with which it requests its data; the SYN's time where none was."""
    sent = packets.filter(~pl.col("to_client") & (pl.col("len_bytes") > 0) & (pl.col("flow") == flow))
    return smallest(collected(sent.select("t_s"))["t_s"]) or 0.0


def unique_bytes(pieces: Iterable[tuple[Numbers, Numbers]]) -> int:
    """Count the bytes of segments, given in pieces as first byte and length, each byte once."""
    begin = end = np.empty(0, dtype=np.int64)
    for first, length in pieces:
        begin, end = _united(np.append(begin, first), np.append(end, first + length))
    return int((end - begin).sum())


def _united(begin: Numbers, end: Numbers) -> tuple[Numbers, Numbers]:
    """Unite spans that touch or overlap; returns those that are left, in order."""
    order = np.argsort(begin, kind="stable")
    begin, reached = begin[order], np.maximum.accumulate(end[order])
    apart = np.flatnonzero(begin[1:] > reached[:-1])
    return begin[np.append(0, apart + 1)[: len(begin)]], reached[np.append(apart, len(begin) - 1)[: len(begin)]]


def _data(packets: Frame, flow: int) -> Frame:
    return packets.filter(pl.col("to_client") & (pl.col("len_bytes") > 0) & (pl.col("flow") == flow))


def _lasted_s(record: DownloadRecord) -> float:
    """Return how long the client was there from the first data on."""
    return (record["until_ns"] - record["data_ns"]) / 1e9


def _captured(request: FlowPlan, lasted_s: float, packets: Frame) -> Extent:
    """Measure a download whose packets were captured; it ends with iperf3, whose time began before late first data."""
    data = _data(packets, FLOW)
    if not (begun := first_row(data.select("t_s"))):
        raise UserError("capture: must hold a data segment of the download")
    (data_s,) = begun
    most_s = request["duration_s"] if "size_bytes" in request else min(request["duration_s"], lasted_s)
    had = packets.filter((pl.col("flow") == FLOW) & (pl.col("ack_bytes") > request.get("size_bytes", np.inf)))
    end_s = min(data_s + most_s, *(first_row(had.filter(~pl.col("to_client")).select("t_s")) or (math.inf,)))
    end_s = round(end_s, NS_DIGITS)  # a sum of two such times may be a bit off
    extents = pieces_of(data.filter(pl.col("t_s") <= end_s).select(pl.col(EXTENT).cast(pl.Int64)))
    received = unique_bytes((piece[EXTENT[0]].to_numpy(), piece[EXTENT[1]].to_numpy()) for piece in extents)
    return _download(FLOW, data_s, end_s, received)


def _traced(
    flow: int, request: FlowPlan, acks: pl.DataFrame, data_s: float, up_delay_s: float, last_s: float
) -> Extent:
    """Measure a download of which only the sender's kernel was traced: what had been acknowledged to it.

    An ACK reaches the sender one delay of the return path after it was sent.
    """
    own = acks.with_columns(pl.col("t_s") - up_delay_s, pl.col("snd_una_bytes") - 1)
    enough = own.filter(pl.col("snd_una_bytes") >= request.get("size_bytes", np.inf))["t_s"].to_list()
    end_s = max(min([data_s + request["duration_s"], last_s, *enough[:1]]), data_s)
    return _download(flow, data_s, end_s, round(largest(own.filter(pl.col("t_s") <= end_s)["snd_una_bytes"]) or 0))


def idle_up_delay_s(probes: list[Probed]) -> float:
    """Return the delay of the idle return path, the median of its probes."""
    delays_us = [delay_us for probe in probes if probe["way"] == "up" for _, delay_us in probe["arrived"]]
    return statistics.median(delays_us) / 1e6 if delays_us else 0.0


def _download(flow: int, data_s: float, end_s: float, received_bytes: int) -> Extent:
    seconds = end_s - data_s
    return {
        "flow": flow,
        "data_s": data_s,
        "end_s": end_s,
        "seconds": seconds,
        "bytes": received_bytes,
        "throughput_mbps": received_bytes * 8 / 1e6 / seconds if seconds > 0 else 0.0,
    }


def _behind_pkts(record: DownloadRecord, again_s: pl.Series, found: Extent, counted_s: float, others: int) -> int:
    """Return how many segments were sent again behind the end, and counted: of a size, until iperf3 noticed its end.

    The trace has buffers, of one segment or more: behind the end as many as in all that was counted.
    """
    counted = again_s.is_between(found["data_s"], counted_s, closed="right")
    segments = max(((record["retransmits_pkts"] or 0) - others) / max(int(counted.sum()), 1), 1.0)
    return round(segments * int((counted & (again_s > found["end_s"])).sum()))


def _counted(record: DownloadRecord, behind: int) -> Counted:
    """Return what the node counted, without what is not of the download's time; and iperf3's own figures."""
    pkts = record["retransmits_pkts"]
    return {"retransmits_pkts": None if pkts is None else max(pkts - behind, 0), "iperf3": _iperf3(record)}


def _iperf3(record: DownloadRecord) -> Iperf3Figures:
    if not record["iperf3"]:
        return {"error": str(record["iperf3_error"])}
    sent, received = record["iperf3"]["end"]["sum_sent"], record["iperf3"]["end"]["sum_received"]
    return {
        "throughput_mbps": received["bits_per_second"] / 1e6,
        "retransmits_pkts": sent["retransmits"],
        "bytes": received["bytes"],
        "seconds": received["seconds"],
    }
