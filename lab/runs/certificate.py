# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial's certificate: the requested link against the measured one. One failed check makes the trial invalid."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from lab.links.shapes import late_us
from lab.node.measure.splats import splats
from lab.node.plan import Plan, Shape, Spec
from lab.node.qdiscs.series import WHOLE
from lab.node.record import Change, DownloadRecord, MachineLoad, NodeRecord, Played, Probed
from lab.senders.records import check as _check
from lab.senders.traced import packet_checks
from lab.tables.link_capacity import LinkCapacity
from lab.tables.pieces import Frame, collected, pieces_of
from lab.tables.trial_json import Certificate, Check

RATE_TOLERANCE_PCT = 0.5
DELAY_TOLERANCE_MS = 0.1
DELAY_SHARE, WHOLE_US_MS = 0.1, 0.002  # of a short delay, and what a probe and a qdisc round it by
LATE_TOLERANCE_PCT = 1.0  # of the packets that leave a delay line in real time
BUSY_TOLERANCE_PCT = 95.0  # above it anything may have waited for a processor
STEAL_TOLERANCE_PCT = 5.0
WINDOW_LIMITED_TOLERANCE_PCT = 0.1
LOSS_SDS = 4.0  # so far from the requested one a loss rate drawn at random lies in one of 16,000 trials
BUSY_SAMPLES = 20
AHEAD_PKTS = 3  # at most so many packets cross a bottleneck before the first probe: ARP's, and one in real time
SILENT_RTTS = 2  # from one ACK to the next: longer than what is in flight takes
END_TOLERANCE_S = 0.1  # a machine in real time may wake up late


def certify(
    plan: Plan, node: NodeRecord, tables: Mapping[str, Frame], of_packets: list[Check] | None = None, log: str = ""
) -> Certificate:
    """Check a trial; returns {valid, checks: [{name, asked, got, unit, tolerance, ok}]}.

    of_packets: the checks of packets by the sender's way (lab/senders/way.py); absent: those of TCP's. log: what the
    kernel under test printed.
    """
    checks = [
        _rate(plan, LinkCapacity(collected(tables["link"]), plan["mss_bytes"]), collected(tables["qdisc"])),
        *(_delay(plan, probe) for probe in node["probes"]),
        _order(plan, node["probes"], tables["packets"]),
        *(packet_checks(plan, tables) if of_packets is None else of_packets),
        _check("packets the capture dropped", 0, node["capture"]["dropped_pkts"], "packets", 0),
        _elsewhere(plan, node),
        _check("kernel log", 0, len(splats(log)), "complaints", 0),
        *_losses(plan, node),
        *_receive_window(collected(tables["acks"]), plan["mss_bytes"], hidden="stack" in plan["flows"][0]),
        *_lateness(plan, node["changes"]),
        *_late_changes(plan, node["changes"]),
        *_machine(node, _late_ms(plan)),
        *_server_start(plan, node),
        _duration(plan, node["downloads"][0]),
    ]
    return {"valid": all(check["ok"] for check in checks), "checks": checks}


def _rate(plan: Plan, link: LinkCapacity, qdisc: pl.DataFrame) -> Check:
    """Compare the bottleneck's rate while it was surely busy; without a queue there is nothing to compare.

    Surely busy: at each sample more was queued than the link can send before the next one, at its fastest, and a frame
    more: the first one may be all but sent, and counts as queued until it is.
    """
    enough_bytes = link.most_bytes_in(plan["sampler"]["interval_us"] / 1e6) + link.frame_bytes
    numbered = qdisc.with_columns((pl.col("backlog_bytes") <= enough_bytes).cum_sum().alias("spell"))
    spells = (
        numbered.filter(pl.col("backlog_bytes") > enough_bytes)
        .group_by("spell", maintain_order=True)
        .agg(
            (pl.col("sent_bytes").last() - pl.col("sent_bytes").first()).alias("sent_bytes"),
            pl.col("t_s").first().alias("begin_s"),
            pl.col("t_s").last().alias("end_s"),
            pl.len().alias("samples"),
        )
        .filter(pl.col("samples") >= BUSY_SAMPLES)
    )
    busy_s = float((spells["end_s"] - spells["begin_s"]).sum())
    allowed_bytes = sum(link.bytes_between(*span) for span in spells.select("begin_s", "end_s").iter_rows())
    name = "rate while the bottleneck had a queue"
    if not busy_s:
        return _check(name, plan["link"]["rate_mbps"], None, "Mb/s", 0.0, missing_ok=not qdisc.is_empty())
    target, got = (count * 8 / 1e6 / busy_s for count in (allowed_bytes, float(spells["sent_bytes"].sum())))
    frames_mbps = link.frame_bytes * 8 / 1e6 * spells.height / busy_s  # one is on its way as each spell begins and ends
    return _check(name, target, got, "Mb/s", target * RATE_TOLERANCE_PCT / 100 + frames_mbps)


def _late_ms(plan: Plan) -> float:
    """How late anything may be: in real time a share of the round trip, in case the machine is slow."""
    real_ms = late_us(plan["link"]["base_rtt_ms"]) / 1e3
    return real_ms if plan.get("clock") == "real" else DELAY_TOLERANCE_MS


def _delay(plan: Plan, probe: Probed) -> Check:
    """Every probe of the idle path but those that its queue held to reorder them; of one that it copied, the first.

    Where capacity is granted, one may wait for its grant: as long as a frame. No probe is early.
    """
    target = probe["delay_ms"]
    exact_ms = min(DELAY_TOLERANCE_MS, DELAY_SHARE * target + WHOLE_US_MS)
    late_ms = (_late_ms(plan) if plan.get("clock") == "real" else exact_ms) + probe["grant_ms"]
    part = {"down": "bottleneck", "up": "bottleneck-up"}[probe["way"]]
    child = next((_child(shape) for shape in plan["shapes"] if shape["part"] == part), {})
    came_us = dict(reversed(probe["arrived"]))  # a second one waits until the first has crossed

    def worst_ms(ahead: int) -> float | None:
        held = _held(child, ahead, probe["count"])
        on_time = (delay_us / 1e3 for number, delay_us in came_us.items() if number not in held)
        return max(on_time, key=lambda got: abs(got - target), default=None)

    found = [got for got in map(worst_ms, range(AHEAD_PKTS + 1)) if got is not None]
    worst = min(found, key=lambda got: abs(got - target), default=None)
    check = _check(f"one-way delay {probe['way']}, worst probe", target, worst, "ms", late_ms)
    early = any(delay_us / 1e3 < target - exact_ms for _, delay_us in probe["arrived"])
    return {**check, "ok": check["ok"] and not early}


def _held(child: Mapping[str, Any], ahead: int, count: int) -> set[int]:
    """Return the probes that a queue holds to reorder them, with so many packets before the first of them."""
    held, every, free = set[int](), int(child.get("hold_every_pkts", 0)), 1
    for arrival in range(1, ahead + count + 1):
        if every and arrival >= free and arrival % every == 0:
            held.add(arrival - ahead - 1)
            free = arrival + int(child["hold_pkts"]) + 1
    return held


def _order(plan: Plan, probes: list[Probed], packets: Frame) -> Check:
    """Probes out of order, and data segments sent before the one that arrived before them (by time stamp).

    A queue that reorders by its specification may do so once per packet that it holds.
    """
    probed = sum(later < earlier for p in probes for (earlier, _), (later, _) in pairwise(p["arrived"]))
    data = packets.filter(pl.col("to_client") & (pl.col("len_bytes") > 0) & pl.col("tsval").is_not_null())
    late, last = 0, dict[int, int]()
    for piece in pieces_of(data.select("flow", pl.col("tsval").cast(pl.Int64))):
        for (flow,), own in piece.group_by("flow", maintain_order=True):
            sent = own["tsval"].to_numpy()
            late += int(((np.diff(sent, prepend=last.get(flow, sent[0])) + 2**31) % 2**32 < 2**31).sum())
            last[flow] = int(sent[-1])
    captured = sum(piece.height for piece in pieces_of(packets))
    held = sum(captured // every for shape in plan["shapes"] if (every := _child(shape).get("hold_every_pkts")))
    return _check("packets out of order", 0, probed + late, "packets", held)


def _child(shape: Shape) -> Spec:
    """Return the queue of a bottleneck; none of others, and of a FIFO in real time."""
    return shape["spec"].get("child") or {}


def _elsewhere(plan: Plan, node: NodeRecord) -> Check:
    """Count drops that are neither the bottleneck's nor a requested loss."""
    counters = node["counters"]
    lossy = {c["part"] for c in node["changes"] if c["played"].get("loss_sum")}
    lossy |= {"bottleneck", "bottleneck-up"} | {s["part"] for s in plan["shapes"] if s["spec"].get("loss_pct")}
    intended = {f"{s['node']}:{s['dev']}" for s in plan["shapes"] if s["part"] in lossy}
    overflow = sum(c["played"].get("overflow_pkts", 0) for c in node["changes"])
    dropped = sum(
        c["rx_dropped_pkts"] + (0 if end in intended else c["tx_dropped_pkts"] + c["qdisc_dropped_pkts"])
        for end, c in counters["interfaces"].items()
    )
    return _check(
        "drops anywhere but at the bottleneck",
        0,
        dropped + overflow + sum(sum(t.values()) for t in counters["tcp"].values()),
        "packets",
        0,
    )


def _losses(plan: Plan, node: NodeRecord) -> list[Check]:
    """Compare random loss with the requested share: netem's by its counters, a delay line's by its own count."""
    checks = [_followed_loss(c["part"], c["played"]) for c in node["changes"] if c["played"].get("loss_sum")]
    for shape in plan["shapes"]:
        target = shape["spec"].get("loss_pct", 0)
        if target and shape["spec"]["kind"] == "netem" and not shape["steps"]:
            counts = node["counters"]["interfaces"][f"{shape['node']}:{shape['dev']}"]
            lost = counts["qdisc_dropped_pkts"]
            offered = counts["tx_pkts"] + lost
            got = 100 * lost / offered if offered else None
            off = 100 * _off_pkts(lost, target / 100 * offered, 1 - target / 100) / max(offered, 1)
            checks.append(_check(f"random loss, {shape['part']}", target, got, "%", off))
    return checks


def _followed_loss(part: str, played: Played) -> Check:
    target, lost = played["loss_sum"] / WHOLE, played["lost_pkts"]
    return _check(f"random loss, {part}", target, lost, "packets", _off_pkts(lost, target))


def _off_pkts(lost: int, expected: float, kept: float = 1.0) -> float:
    """Return how far from the expected number of lost packets chance may lead; kept: the share that is not lost.

    A rare number is skewed: much of a standard deviation is below one packet (Cornish and Fisher, 1938).
    """
    skew = (LOSS_SDS**2 - 1) / 6 if expected < min(lost, LOSS_SDS**2) else 0.0
    return LOSS_SDS * math.sqrt(expected * kept) + skew


def _receive_window(acks: pl.DataFrame, mss_bytes: int, hidden: bool) -> list[Check]:
    """Share of ACKs that found the sender held by the client's window, and of the time; null where it is hidden.

    Of the time, silences count: while data are in flight an ACK comes each round trip, and where the window is 0, none.
    A download that is through with its first flight has the handshake's ACK alone, and no time between two.
    """
    held = pl.col("snd_nxt_bytes") - pl.col("snd_una_bytes") + mss_bytes > pl.col("snd_wnd_bytes")
    since_s = pl.col("t_s").diff().over("flow")
    silent_s = (held & (since_s > SILENT_RTTS * pl.col("srtt_ms") / 1e3)) * since_s
    of_acks, held_s, all_s = acks.select(held.mean(), silent_s.sum().alias("held_s"), since_s.sum()).row(0)
    shares = {"ACKs at which": of_acks, "time for which": held_s / all_s if all_s else of_acks}
    return [
        _check(
            f"{name} the receive window was the limit",
            0,
            None if share is None else 100 * share,
            "%",
            WINDOW_LIMITED_TOLERANCE_PCT,
            missing_ok=hidden,
        )
        for name, share in shares.items()
    ]


def _machine(node: NodeRecord, late_ms: float) -> list[Check]:
    """In real time: whether the machines kept up, seen every second of the download, and what their wire adds."""
    checks = _kept_up(node["machine"], "", late_ms) if "machine" in node else []
    if "far" in node:
        worst_us = max(node["far"]["wire_us"], default=None)
        wire_ms = None if worst_us is None else worst_us / 1e3
        checks.append(_check("round trip between the machines, worst", 0, wire_ms, "ms", late_ms))
        checks += _kept_up(node["far"]["machine"], " of the client's machine", late_ms)
    return checks


def _kept_up(machine: MachineLoad, which: str, late_ms: float) -> list[Check]:
    seconds, late_us = machine["seconds"], machine["late_us"]
    busy = max((second["busy_pct"] for second in seconds), default=None)
    stolen = max((second["steal_pct"] for second in seconds), default=None)
    late = None if late_us["p99"] is None else late_us["p99"] / 1e3
    return [
        _check(f"processors{which} taken in the busiest second", 0, busy, "%", BUSY_TOLERANCE_PCT),
        _check(f"processors{which} taken by other machines, worst second", 0, stolen, "%", STEAL_TOLERANCE_PCT),
        _check(f"late wake-ups{which}, 99th percentile", 0, late, "ms", late_ms),
    ]


def _lateness(plan: Plan, changes: list[Change]) -> list[Check]:
    """How late packets left the delay lines that follow a series: a machine that is too busy shows here."""
    lines = [(c["part"], c["played"]) for c in changes if "late_pkts" in c["played"]]
    if plan.get("clock") == "real":
        shares = [(part, 100 * played["late_pkts"] / max(played["sent_pkts"], 1)) for part, played in lines]
        return [_check(f"departures too late, {part}", 0, share, "%", LATE_TOLERANCE_PCT) for part, share in shares]
    return [
        _check(f"latest departure, {part}", 0, played["latest_ns"] / 1e6, "ms", DELAY_TOLERANCE_MS)
        for part, played in lines
    ]


def _late_changes(plan: Plan, changes: list[Change]) -> list[Check]:
    """How late tc changed tbf and netem: the latest change; in real time the 99th percentile."""
    name, key = ("99th percentile", "late_p99_ns") if plan.get("clock") == "real" else ("latest", "late_max_ns")
    late_ns = [(c["part"], c["played"].get(key)) for c in changes if "changes" in c["played"]]
    return [
        _check(f"late changes by tc, {part}, {name}", 0, late / 1e6, "ms", _late_ms(plan))
        for part, late in late_ns
        if isinstance(late, int)
    ]


def _server_start(plan: Plan, node: NodeRecord) -> list[Check]:
    """Compare how late the server's process began; nothing where it begins at once."""
    if "server_start_s" not in plan:
        return []
    got_ms = 1e3 * node["server_start_s"] if "server_start_s" in node else None
    return [_check("start of the server", 1e3 * plan["server_start_s"], got_ms, "ms", _late_ms(plan))]


def _duration(plan: Plan, download: DownloadRecord) -> Check:
    """How long the client was there from the first data on, or by iperf3's own time, which begins with its request.

    A download of a size may be through before its time.
    """
    target, got = plan["flows"][0]["duration_s"], (download["until_ns"] - download["data_ns"]) / 1e9
    if "size_bytes" in plan["flows"][0]:
        check = _check("download lasted at most", target, got, "s", END_TOLERANCE_S)
        return {**check, "ok": got <= target + END_TOLERANCE_S}
    if got < target and download["iperf3"]:
        got = max(got, min(download["iperf3"]["end"]["sum_received"]["seconds"], target))
    return _check("download lasted", target, got, "s", END_TOLERANCE_S)
