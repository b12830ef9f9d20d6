# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials of senders in the kernel: its trace, and the TCP headers of the capture, as tables."""

from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import polars as pl

from lab.base.stats import largest, smallest
from lab.node.plan import Plan
from lab.node.record import NodeRecord
from lab.senders.records import RawTrial, check
from lab.tables.acks import Clock, ack_table, retransmit_table, state_table
from lab.tables.downloads import FLOW
from lab.tables.exits import bin_table, exit_table
from lab.tables.link import read_link
from lab.tables.node_json import on_trace_clock
from lab.tables.packets import PacketDecoder
from lab.tables.pieces import Frame, collected, outside
from lab.tables.qdisc import COUNTS, qdisc_table
from lab.tables.trace import Events, read_events
from lab.tables.trial_json import Check, Download

PORT = 5201
SNAPLEN_BYTES = 96  # Ethernet (14), IP (20) and the longest TCP header (60)
CAPTURED, PACKETS = "client.pcapng", "packets.arrow"
OF_TCP = {"dport", "snd_cwnd", "ssthresh", "srtt", "snd_una", "snd_nxt", "snd_wnd", "state", "cong_state"}
OF_BINS = {"bin", "cwnd", "rtt_us", "bin_us", "curr_delv", "prev_delv", "norm_permille", "enough", "exit"}
OF_EXITS = {"cwnd_pkts", "ssthresh_pkts", "cause", "late_ns"}
TIME_STAMP_MS = 1.0  # what TCP takes a round trip from where it does not know when it sent
READ = frozenset({*OF_TCP, *OF_BINS, *OF_EXITS, *COUNTS})  # fields of the trace's events


def client_port(flow: int) -> int:
    """Return the port of a rival's client: its connection is not captured, and is known in the trace by it."""
    return 20_000 + flow


class Traced:
    """A trial of which the kernel traced the sender."""

    def __init__(self, raw: RawTrial) -> None:
        self.raw = raw

    @cached_property
    def tables(self) -> dict[str, Frame]:
        return tables_of(self.raw.folder, self.raw.node, *(sender.exit_causes for sender in self.raw.senders))

    def checks(self, tables: Mapping[str, Frame]) -> list[Check]:
        """Return the checks of TCP's segments."""
        return packet_checks(self.raw.plan, tables)

    def counted(self, download: Download) -> Download:
        """Return the download as the capture has it."""
        return download

    def keep(self) -> list[str]:
        """Return nothing: the capture and the tables have all."""
        return []


def tables_of(folder: Path, node: NodeRecord, *causes: Mapping[str, str]) -> dict[str, Frame]:
    """Decode the raw records of a trial; `causes` are those of the exit of each flow's sender (Cca.exit_causes).

    The packets of a long one lie in a file of the folder.
    """
    capture = PacketDecoder(folder / CAPTURED, PORT, SNAPLEN_BYTES)
    packets = outside(capture.pieces(), folder / PACKETS)
    start_ns = on_trace_clock(node, capture.start_ns, capture.file)
    events = read_events(folder / "trace.raw", folder / "formats", READ)
    rivals = {client_port(flow): flow for flow in range(FLOW + 1, len(causes) + 1)}
    clock = Clock(start_ns, capture.client_ports | rivals)
    exits = [exit_table(events, clock, own).filter(pl.col("flow") == flow) for flow, own in enumerate(causes, 1)]
    return {
        "packets": packets,
        "acks": ack_table(events, clock, capture.server_isn),
        "ca_states": state_table(events, clock),
        "retransmits": retransmit_table(events, clock),
        "bins": bin_table(events, clock),
        "exits": pl.concat(exits),
        **link_tables(folder, node, events, start_ns),
    }


def link_tables(folder: Path, node: NodeRecord, events: Events, start_ns: int) -> dict[str, pl.DataFrame]:
    """Decode the link and its queue, which are the same for every way; `start_ns` is t_s = 0 on the trace's clock."""
    return {
        "link": read_link(folder, node["applied"], (node["start_ns"] - start_ns) / 1e9),
        "qdisc": qdisc_table(events, start_ns),
    }


def packet_checks(plan: Plan, tables: Mapping[str, Frame]) -> list[Check]:
    """Check segments, and what the kernel traced against the packets: a module may write any field of its socket."""
    acks = collected(tables["acks"]).filter(pl.col("flow") == 1)
    return [
        segments(plan, tables["packets"]),
        _acknowledged(acks, tables["packets"]),
        _round_trip(plan, acks),
        *_shut_by_the_sender(acks),
    ]


def _acknowledged(acks: pl.DataFrame, packets: Frame) -> Check:
    """Count up to how many places the server's kernel held data for acknowledged without an ACK of the client."""
    sent = collected(packets.filter(~pl.col("to_client") & (pl.col("flow") == 1)).select("ack_bytes"))
    known = acks.select(pl.col("snd_una_bytes").unique())
    unsent = known.join(sent, left_on="snd_una_bytes", right_on="ack_bytes", how="anti", nulls_equal=True).height
    return check("acknowledged without an ACK of the client", 0, unsent, "places", 0)


def _round_trip(plan: Plan, acks: pl.DataFrame) -> Check:
    """Compare the smallest smoothed round trip with the link's, which nothing is faster than."""
    target, got = plan["link"]["base_rtt_ms"], smallest(acks.filter(pl.col("srtt_ms") > 0)["srtt_ms"])
    found = check("smallest smoothed round trip, at least", target, got, "ms", TIME_STAMP_MS, missing_ok=True)
    return {**found, "ok": got is None or got >= target - TIME_STAMP_MS}


def _shut_by_the_sender(acks: pl.DataFrame) -> list[Check]:
    """Return a failed check where the congestion window was 0, as only a module sets it: nothing new leaves then."""
    count = acks.filter(pl.col("cwnd_pkts") == 0).height
    return [check("ACKs at which the congestion window was 0", 0, count, "ACKs", 0)] if count else []


def segments(plan: Plan, packets: Frame) -> Check:
    """Compare the largest data segment with what the MTU and the headers leave, of both ends.

    Where each object of a workload that came is smaller, a segment may hold anything from the largest one to several.
    """
    data = packets.filter(pl.col("to_client") & (pl.col("flow") == 1) & (pl.col("len_bytes") > 0))
    target, flow = plan["mss_bytes"], plan["flows"][0]
    exchanges = flow["workload"]["exchanges"] if "workload" in flow else []
    sizes = [size for each in exchanges for size in each["objects_bytes"]]
    ends = collected(data.select("len_bytes", (pl.col("seq_bytes") + pl.col("len_bytes") - 1).alias("came")))
    longest, came = largest(ends["len_bytes"]), int(largest(ends["came"]) or 0)
    begun = [min(size, came - ahead) for ahead, size in zip(accumulate(sizes, initial=0), sizes, strict=False)]
    spare = max(target - max(begun), 0) if sizes else 0
    found = check("largest data segment", target, longest, "bytes", spare)
    return {**found, "ok": found["ok"] and (found["got"] or 0) <= target}
