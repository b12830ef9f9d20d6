# SPDX-License-Identifier: GPL-2.0-or-later
"""qdisc.parquet: what the bottleneck's qdisc said of itself, sample by sample (lab/node/sampler.py's records)."""

import struct
from pathlib import Path

import polars as pl

from lab.errors import UserError

RECORD = struct.Struct("<QI")
NETLINK_HEAD, TCMSG = 16, 20
NLMSG_ERROR = 2
TCA_STATS2, TCA_STATS_BASIC, TCA_STATS_QUEUE = 7, 1, 3
COLUMNS = ("t_ns", "backlog_bytes", "backlog_pkts", "sent_bytes", "sent_pkts", "drops_pkts")


def read_samples(file: Path) -> pl.DataFrame:
    """Decode samples; t_ns is the monotonic clock, sent and drops count since the qdisc was made."""
    data, at, rows = file.read_bytes(), 0, []
    while at + RECORD.size <= len(data):
        t_ns, length = RECORD.unpack_from(data, at)
        at += RECORD.size
        if at + length > len(data):
            break  # the sampler was stopped in the middle of a write
        rows.append((t_ns, *_statistics(data[at : at + length], file)))
        at += length
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Int64), orient="row")


def _statistics(message: bytes, file: Path) -> tuple[int, int, int, int, int]:
    """Take the counters out of RTM_NEWQDISC (linux/gen_stats.h)."""
    (kind,) = struct.unpack_from("<H", message, 4)
    if kind == NLMSG_ERROR:
        raise UserError(f"{file}: must hold samples of a qdisc: the kernel answered with an error")
    stats = _attributes(_attributes(message[NETLINK_HEAD + TCMSG :])[TCA_STATS2])
    sent_bytes, sent_pkts = struct.unpack_from("<QI", stats[TCA_STATS_BASIC])
    backlog_pkts, backlog_bytes, drops_pkts = struct.unpack_from("<III", stats[TCA_STATS_QUEUE])
    return backlog_bytes, backlog_pkts, sent_bytes, sent_pkts, drops_pkts


def _attributes(data: bytes) -> dict[int, bytes]:
    """Split netlink attributes (struct nlattr), by type."""
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("<HH", data, at)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[at + 4 : at + length]
        at += (length + 3) // 4 * 4
    return found
