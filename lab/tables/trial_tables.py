# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a trial, and how they are stored: each file holds the meaning and unit of its columns."""

from collections.abc import Mapping
from pathlib import Path

from lab.tables import acks, exits, link, packets, qdisc
from lab.tables.columns import Described
from lab.tables.pieces import Frame
from lab.tables.stored_parquet import write_table

TRIAL_TABLES = {
    "packets": Described("One row per frame of the client's capture.", packets.COLUMNS),
    "acks": Described(
        "One row per ACK (tcp:tcp_probe), with the socket as it was before it took the ACK in.", acks.ACKS
    ),
    "retransmits": Described("One row per retransmitted buffer (tcp:tcp_retransmit_skb).", acks.RETRANSMITS),
    "ca_states": Described("One row per change of the congestion state (tcp:tcp_cong_state_set).", acks.STATES),
    "bins": Described("One row per bin of SEARCH (search:search_bin); empty for other senders.", exits.BINS),
    "exits": Described("One row per flow: the end of its first slow start; none where it did not end.", exits.EXITS),
    "qdisc": Described("One row per sample of the bottleneck's qdisc.", qdisc.COLUMNS),
    "link": Described("One row per value of the link.", link.COLUMNS),
}


def write_tables(tables: Mapping[str, Frame], folder: Path, level: int = 3) -> None:
    """Write all tables of a trial, compressed with zstd of that level."""
    for name, (row, columns) in TRIAL_TABLES.items():
        write_table(tables[name], folder / f"{name}.parquet", level, row, columns)
