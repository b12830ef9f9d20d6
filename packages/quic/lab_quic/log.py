# SPDX-License-Identifier: GPL-2.0-or-later
"""The logs of a QUIC stack's two ends: one row per line, its kind first, times of CLOCK_MONOTONIC."""

import heapq
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.base.plain_file import GIGABYTE, read_plain
from lab.tables import acks, exits
from lab.tables.columns import schema
from lab.tables.downloads import FLOW

WINDOW_BYTES = 1 << 30  # of the client for the stream (peer.rs, peer.c)
MOST_LOST_PKTS = 10_000_000  # a trial sends fewer
NO_THRESHOLD = (1 << 64) - 1
MOST_BYTES = 1 << 40  # of a window or a threshold, and more than any trial sends
RANGES = {
    "window": (0, MOST_BYTES),
    "ssthresh": (0, MOST_BYTES),  # where there is one
    "una": (0, MOST_BYTES),
    "sent": (0, MOST_BYTES),
    "bin": (-(1 << 31), (1 << 31) - 1),
}
COMPARED, LEFT = 7, 8  # enum search_verdict of lab/kernel/search/search_core.h, from COMPARED on
FIELDS = {
    "got": ("t_ns", "bytes"),
    "piece": ("offset", "new_bytes"),
    "sent": ("t_ns", "bytes"),
    "ack": ("t_ns", "window", "ssthresh", "srtt_ns", "rtt_us", "una", "delivered", "sent", "in_flight", "limited"),
    "bin": ("t_ns", "window", "ssthresh", "bin", "rtt_us", "bin_us", "curr", "prev", "norm_permille", "verdict"),
    "exit": ("t_ns", "window", "ssthresh", "rtt_us", "cause"),
    "lost": ("t_ns", "pkts"),
}
Server = dict[str, pl.DataFrame]


@dataclass(frozen=True)
class ClientLog:
    """Datagrams that the client got, the new pieces of the stream in them, and datagrams that it sent.

    `got_before` is how many it had got by then, the one with the piece included.
    """

    got: pl.DataFrame
    pieces: pl.DataFrame
    sent: pl.DataFrame


def read_client(file: Path) -> ClientLog:
    """Read a client's log."""
    lines = _lines(file)
    lines = lines.with_columns(got_before=(pl.col("kind") == "got").cum_sum().cast(pl.Int64))
    pieces, sent = (_rows(lines, kind, file, "got_before") for kind in ("piece", "sent"))
    if (pieces["got_before"] < 1).any():
        raise UserError(f"{file}: piece: must follow the datagram that holds it")
    return ClientLog(_rows(lines, "got", file), pieces, sent)


def read_server(file: Path) -> Server:
    """Read a server's log: a table for each kind of line."""
    lines = _lines(file)
    found = {kind: _in_range(_rows(lines, kind, file), kind, file) for kind in ("ack", "bin", "exit", "lost")}
    lost_pkts = found["lost"]["pkts"]
    if (lost_pkts < 0).any() or lost_pkts.cast(pl.Float64).sum() > MOST_LOST_PKTS:  # each becomes a row
        raise UserError(f"{file}: lost: must be from 0 to {MOST_LOST_PKTS} packets in all")
    return found


def _lines(file: Path) -> pl.DataFrame:
    text = read_plain(file, 4 * GIGABYTE).decode(errors="replace")
    whole = text[: text.rfind("\n") + 1].splitlines()  # a killed end may leave half a line
    kind, _, rest = zip(*(line.partition("\t") for line in whole), strict=True) if whole else ((), (), ())
    return pl.DataFrame({"kind": kind, "rest": rest}, schema={"kind": pl.String, "rest": pl.String})


def _rows(lines: pl.DataFrame, kind: str, file: Path, *more: str) -> pl.DataFrame:
    names = FIELDS[kind]
    own = lines.filter(pl.col("kind") == kind)
    fields = own["rest"].str.split_exact("\t", len(names) - 1).struct.unnest()
    fields.columns = list(names)
    table = fields.with_columns(_typed(name) for name in names).with_columns(own[name] for name in more)
    if any(table[name].null_count() for name in names):
        raise UserError(f"{file}: {kind}: must have {len(names)} fields, whole numbers but for a cause")
    return table


def _in_range(table: pl.DataFrame, kind: str, file: Path) -> pl.DataFrame:
    """Return the table; UserError where a number does not fit into a trial's tables."""
    for name in RANGES.keys() & set(table.columns):
        least, most = RANGES[name]
        values = table[name].filter(table[name] != NO_THRESHOLD) if name == "ssthresh" else table[name]
        if not values.is_between(least, most).all():
            raise UserError(f"{file}: {kind}: {name}: must be from {least} to {most}")
    return table


def _typed(name: str) -> pl.Expr:
    if name == "cause":
        return pl.col(name)
    return pl.col(name).cast(pl.UInt64 if name == "ssthresh" else pl.Int64, strict=False)


@dataclass(frozen=True)
class Clock:
    """Brings a server's log to the trial's time and units: windows in packets of a full datagram."""

    start_ns: int
    packet_bytes: int

    def _base(self) -> list[pl.Expr]:
        window = pl.col("window") // self.packet_bytes
        threshold = pl.when(pl.col("ssthresh") < NO_THRESHOLD).then(pl.col("ssthresh") // self.packet_bytes)
        return [*self._when(), window.alias("cwnd_pkts"), threshold.alias("ssthresh_pkts")]

    def _when(self) -> list[pl.Expr]:
        return [((pl.col("t_ns") - self.start_ns) / 1e9).alias("t_s"), pl.lit(FLOW, pl.UInt8).alias("flow")]

    def ack_table(self, server: Server) -> pl.DataFrame:
        """One row per ACK frame that acknowledged data, with the connection as it was before it took the frame in."""
        return (
            server["ack"]
            .select(
                *self._base(),
                srtt_ms=pl.col("srtt_ns") / 1e6,
                snd_una_bytes=pl.col("una") + 1,
                snd_nxt_bytes=pl.col("sent") + 1,
                snd_wnd_bytes=pl.lit(WINDOW_BYTES),
            )
            .cast(schema(acks.ACKS))
        )

    def loss_table(self, server: Server) -> pl.DataFrame:
        """One row per packet declared lost."""
        rows = server["lost"].select(*self._when(), state=pl.lit("established"), pkts=pl.col("pkts"))
        return rows.select(pl.exclude("pkts").repeat_by("pkts").explode()).drop_nulls().cast(schema(acks.RETRANSMITS))

    def bin_table(self, server: Server) -> pl.DataFrame:
        """One row per bin of SEARCH."""
        enough = pl.col("verdict") >= COMPARED
        return (
            server["bin"]
            .select(
                *self._base(),
                bin="bin",
                rtt_ms=pl.col("rtt_us") / 1e3,
                bin_ms=pl.col("bin_us") / 1e3,
                curr_delv_bytes=pl.when(enough).then("curr"),
                prev_delv_bytes=pl.when(enough).then("prev"),
                norm_pct=pl.when(enough).then(pl.col("norm_permille") / 10),
                exit=pl.col("verdict") == LEFT,
            )
            .select(*exits.BINS)
            .cast(schema(exits.BINS))
        )

    def exit_table(self, server: Server) -> pl.DataFrame:
        """One row: the end of the first slow start; none where it did not end."""
        rtt_ms = pl.when(pl.col("rtt_us") > 0).then(pl.col("rtt_us") / 1e3)
        return server["exit"].select(*self._base(), rtt_ms=rtt_ms, cause="cause").head(1).cast(schema(exits.EXITS))


Numbers = NDArray[np.int64]


class Received:
    """The stream at the client.

    Of each datagram that it got: `length` counts the new bytes, `begin` is where the first of them stands. `had` and
    `pieces` are what it had when it sent each of its own: bytes without a gap, and 1 where it had more behind a gap.
    """

    def __init__(self, log: ClientLog) -> None:
        number = log.pieces["got_before"].to_numpy() - 1
        offset, new = log.pieces["offset"].to_numpy(), log.pieces["new_bytes"].to_numpy()
        self.length = _sums(number, new, log.got.height)
        self.begin: Numbers = np.zeros(log.got.height, dtype=np.int64)
        self.begin[number[::-1]] = offset[::-1]  # the first one stays
        had, more = _progress(offset.tolist(), (offset + new).tolist())
        pieces_before = np.concatenate([[0], np.searchsorted(number, np.arange(log.got.height), side="right")])
        at = pieces_before[log.sent["got_before"].to_numpy()]
        self.had, self.pieces = np.array(had, dtype=np.int64)[at], np.array(more, dtype=np.int64)[at]


def _sums(places: Numbers, values: Numbers, count: int) -> Numbers:
    found: Numbers = np.zeros(count, dtype=np.int64)
    np.add.at(found, places, values)
    return found


def _progress(begins: list[int], ends: list[int]) -> tuple[list[int], list[int]]:
    """Return, before the first piece and after each one, the bytes without a gap, and 1 where there is more behind."""
    whole, waiting = 0, list[tuple[int, int]]()
    had, more = [0], [0]
    for piece in zip(begins, ends, strict=True):
        heapq.heappush(waiting, piece)
        while waiting and waiting[0][0] <= whole:
            whole = max(whole, heapq.heappop(waiting)[1])
        had.append(whole)
        more.append(1 if waiting else 0)
    return had, more
