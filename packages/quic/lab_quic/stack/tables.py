# SPDX-License-Identifier: GPL-2.0-or-later
"""A download over a user's stack as the tables of any download: packets from the capture, the rest from its qlog.

What the capture cannot show of encrypted datagrams is null: a place in the stream, and what was sent again. Bytes are
those of the datagrams' payload, each counted as new, in the order in which they came.
"""

import fnmatch
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.base.stats import smallest
from lab.judge.packet_exit import Estimate, Flight, Seen
from lab.schema.cca import ESTIMATED
from lab.senders.records import RawTrial, check
from lab.tables import acks, exits, packets
from lab.tables.columns import schema
from lab.tables.downloads import FLOW, idle_up_delay_s
from lab.tables.pieces import Frame
from lab.tables.tcp_headers import ETHERNET_BYTES
from lab.tables.trial_json import Check, Download
from lab_quic.node.stack import DATA_BYTES
from lab_quic.plan import PACKET_BYTES, UDP_BYTES
from lab_quic.stack import qlog
from lab_quic.stack.link_loss import lost_bytes
from lab_quic.stack.prepared import stored
from lab_quic.tables import Datagrams, compress, of_link

SERVER = "qlog/server"
KEPT = "server.qlog.zst"
LOSS, OTHER = "loss", "other"
SAME_MS = 1.0  # between a loss and the state or threshold that follows from it


class OverStack:
    """A trial over a stack of a user's."""

    def __init__(self, raw: RawTrial) -> None:
        self.raw, self.plan, self.sender = raw, raw.plan, raw.senders[0]
        self.datagrams = Datagrams(raw.folder, raw.plan["flows"][0]["port"])
        self.full_bytes = raw.plan["mss_bytes"] + PACKET_BYTES
        self.log = find_log(raw.folder / SERVER, stored(self.sender.module_digest or "").stack.qlog)

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        _, link = of_link(self.raw.folder, self.raw.node, self.datagrams)
        found, up_s = self._packets(), idle_up_delay_s(self.raw.node["probes"])
        log = Reported(self._events(up_s), self.full_bytes)
        frame_bytes = self.full_bytes + UDP_BYTES + ETHERNET_BYTES
        path = Seen.of(self.plan["shapes"], self.plan["link"]["base_rtt_ms"], up_s, frame_bytes)
        lost = lost_bytes(self.plan["shapes"], link["link"], link["qdisc"], found, frame_bytes)
        seen = Flight.of(link["qdisc"], found, path, lost).exit(path.rtt_s)
        if log.reports_exits:
            left = log.exit_table(self.sender.slow_start_exit, lossy_from_s(link))
            upon_loss = seen is not None and seen.upon_loss and (left["t_s"] - seen.t_s).abs() <= path.rtt_s / 2
            left = left.with_columns(cause=pl.when(upon_loss, cause=OTHER).then(pl.lit(LOSS)).otherwise("cause"))
        else:
            left = estimated(seen, self.full_bytes)
        return {
            "packets": found,
            "acks": log.ack_table(),
            "ca_states": pl.DataFrame(schema=schema(acks.STATES)),
            "retransmits": log.loss_table(),
            "bins": pl.DataFrame(schema=schema(exits.BINS)),
            "exits": left,
            **link,
        }

    def _packets(self) -> pl.DataFrame:
        return packet_table(self.datagrams, self.plan["flows"][0]["stack"]["long_headers"])

    def _events(self, up_s: float) -> pl.DataFrame:
        if not self.log:
            return pl.DataFrame(schema=qlog.SCHEMA | {"t_s": pl.Float64})
        shown = f"{self.sender.stack}: qlog {self.log.name}"
        found = qlog.read(self.log, shown)
        trial_ms, base_ms = float(np.ptp(self.datagrams.time_ns)) / 1e6, self.plan["link"]["base_rtt_ms"]
        qlog.require_ms(found, base_ms, trial_ms, shown)
        down_bytes = int(self.datagrams.bytes[self.datagrams.to_client].sum())
        qlog.require_bytes(found, down_bytes * base_ms / max(trial_ms, base_ms), shown)
        over_quic = self.plan["flows"][0]["stack"]["long_headers"]
        return timed(found, up_s + (self.datagrams.connects_s if over_quic else 0.0))

    def checks(self, _tables: Mapping[str, Frame]) -> list[Check]:
        """Return the check of the largest datagram; smaller ones are the stack's own choice."""
        name = "largest UDP datagram (no segmentation offload)"
        found = check(name, self.full_bytes, self.datagrams.largest_bytes, "bytes", self.full_bytes)
        return [{**found, "ok": found["ok"] and self.datagrams.largest_bytes <= self.full_bytes}]

    def counted(self, download: Download) -> Download:
        """Return a download with the packets reported lost; null where some were lost and none is reported."""
        lost = self.tables["retransmits"]
        known = self.log and (lost.height or lossy_from_s(self.tables) > download["end_s"])
        count = lost.filter(pl.col("t_s") <= download["end_s"]).height
        return {**download, "retransmits_pkts": count if known else None}

    def keep(self) -> list[str]:
        """Keep the server's qlog, compressed."""
        if not self.log:
            return []
        compress(self.log, self.raw.folder / KEPT)
        return [KEPT]


def lossy_from_s(link: dict[str, pl.DataFrame]) -> float:
    """Return from when on the link may have lost packets, infinity where it lost none: quiche and mvfst name none."""
    if link["link"].filter(pl.col("quantity") == "down.loss_pct", pl.col("value") > 0).height:
        return -math.inf
    dropped_s = smallest(link["qdisc"].filter(pl.col("drops_pkts") > 0)["t_s"])
    return math.inf if dropped_s is None else dropped_s


def find_log(folder: Path, place: str | None) -> Path | None:
    """Return the server's qlog; None where the stack writes none. UserError where there is not exactly one."""
    if place is None:
        return None
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
    found = [name for name in names if fnmatch.fnmatchcase(name, place)]
    if len(found) != 1:
        count = f"{len(found)} files ({', '.join(names[:3]) or 'none at all'})"
        raise UserError(f"qlog={place}: {count}: must be one file that the server writes below {{qlog}}")
    return folder / found[0]


def packet_table(datagrams: Datagrams, long_headers: bool) -> pl.DataFrame:
    """Return the datagrams of both ways; the payload of the server's counts from 1 on, as TCP counts from its SYN.

    Data begin where the node found them: with the first full datagram that is no handshake (lab_quic/node/stack.py).
    """
    down = datagrams.to_client
    full = down & (datagrams.bytes >= DATA_BYTES) & ~(datagrams.long_header & long_headers)
    data = down & (np.cumsum(full) > 0)
    payload = np.where(data, datagrams.bytes, 0)
    got = np.concatenate(([0], np.cumsum(payload)))
    table = pl.DataFrame(
        {
            "t_s": (datagrams.time_ns - datagrams.start_epoch_ns) / 1e9,
            "flow": np.full(len(down), FLOW),
            "to_client": down,
            "frame_bytes": datagrams.frame_bytes,
            "before": got[:-1] + 1,
            "len_bytes": payload,
            "flags": datagrams.flags(),
        }
    )
    none = [pl.lit(None).alias(name) for name in ("window_bytes", "tsval", "tsecr", "sack_edges")]
    own = [
        pl.when(pl.col("len_bytes") > 0).then("before").alias("seq_bytes"),
        pl.when(~pl.col("to_client")).then("before").alias("ack_bytes"),
    ]
    return table.with_columns(*own, *none).select(*packets.COLUMNS).cast(schema(packets.COLUMNS))


def timed(events: pl.DataFrame, up_s: float) -> pl.DataFrame:
    """Add t_s, and sort by it: the first packet is the client's first one, a delay later, or the server's answer to it.

    Where the log has no packets, the first report of the connection stands for it.
    """
    events = events.sort("t_ms", maintain_order=True)
    packet = pl.any_horizontal(pl.col("received_pkts", "sent_bytes").is_not_null())
    zero_ms = pl.coalesce(pl.col("t_ms").filter(packet).first(), pl.col("t_ms").first())
    return events.with_columns(t_s=(pl.col("t_ms") - zero_ms) / 1e3 + up_s)


class Reported:
    """What a server's qlog reports."""

    def __init__(self, events: pl.DataFrame, full_bytes: int) -> None:
        names = ("cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "srtt_ms", "rtt_ms")
        self.events = events.with_columns(
            *(pl.col(name).forward_fill().alias(f"last_{name}") for name in names),
            sent=pl.col("sent_bytes").cum_sum().forward_fill(),
        ).with_columns(
            _pkts("last_cwnd_bytes", full_bytes).alias("cwnd_pkts"),
            pl.when(pl.col("last_ssthresh_bytes") < qlog.NO_THRESHOLD)
            .then(_pkts("last_ssthresh_bytes", full_bytes))
            .alias("ssthresh_pkts"),
            flow=pl.lit(FLOW, pl.UInt8),
        )

    @property
    def reports_exits(self) -> bool:
        """Return whether it reports states, or thresholds beside windows."""
        return qlog.states(self.events).height > 0 or self.events["ssthresh_bytes"].drop_nulls().len() > 0

    def ack_table(self) -> pl.DataFrame:
        """One row per report of a window or a round trip."""
        rows = self.events.filter(pl.any_horizontal(pl.col("cwnd_bytes", "in_flight_bytes", "srtt_ms").is_not_null()))
        rows = rows.filter(pl.col("cwnd_pkts").is_not_null()).with_columns(
            srtt_ms=pl.col("last_srtt_ms"),
            snd_nxt_bytes=pl.col("sent") + 1,
            snd_una_bytes=pl.col("sent") + 1 - pl.col("last_in_flight_bytes"),
            snd_wnd_bytes=pl.lit(None),
        )
        return rows.select(*acks.ACKS).cast(schema(acks.ACKS))

    def loss_table(self) -> pl.DataFrame:
        """One row per packet reported lost."""
        lost = self.events.filter(pl.col("lost_pkts") > 0).with_columns(state=pl.lit("established"))
        return lost.select(*acks.RETRANSMITS).cast(schema(acks.RETRANSMITS))

    def exit_table(self, cause: str, lossy_s: float = math.inf) -> pl.DataFrame:
        """One row: the end of the first slow start; none where it did not end.

        A log that names no loss, on a link that may have lost packets by then (`lossy_s`), does not show the cause.
        """
        states = qlog.states(self.events)
        left = [not qlog.in_slow_start(state) for state in states["state"]]
        by_threshold = self.events.filter(pl.col("ssthresh_pkts").is_not_null())
        rows = (states.filter(pl.Series(left, dtype=pl.Boolean)) if states.height else by_threshold).head(1)
        lost = self.events.filter(pl.col("lost_pkts") > 0)["t_ms"]
        if rows.height and (((lost - rows["t_ms"][0]).abs() <= SAME_MS).any() or qlog.of_loss(rows["state"][0] or "")):
            cause = LOSS
        elif rows.height and lost.is_empty() and rows["t_s"][0] >= lossy_s:
            cause = OTHER
        rows = rows.with_columns(rtt_ms=pl.col("last_rtt_ms"), cause=pl.lit(cause))
        return rows.select(*exits.EXITS).cast(schema(exits.EXITS))


def estimated(left: Estimate | None, full_bytes: int) -> pl.DataFrame:
    """Return the exit that the packets show; what was in flight stands for the window."""
    if left is None:
        return pl.DataFrame(schema=schema(exits.EXITS))
    pkts = round(left.flight_bytes / full_bytes)
    cause = LOSS if left.upon_loss else ESTIMATED
    row = {"t_s": left.t_s, "flow": FLOW, "cwnd_pkts": pkts, "ssthresh_pkts": None, "rtt_ms": None, "cause": cause}
    return pl.DataFrame([row], schema=schema(exits.EXITS))


def _pkts(name: str, full_bytes: int) -> pl.Expr:
    return (pl.col(name) / full_bytes).floor()
