# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit from slow start: the first departure that the sender's kernel recorded for the flow."""

from dataclasses import dataclass

import polars as pl

BY_LOSS = ("loss", "timeout")  # causes


@dataclass(frozen=True)
class SlowStartExit:
    """When, at which window and RTT, and what made the sender leave: its rule (search, hystart, bbr), loss, timeout."""

    t_s: float
    cwnd_pkts: int | None
    rtt_ms: float | None
    cause: str

    def bitrate_mbps(self, mss_bytes: int) -> float | None:
        """Return what the window sends in a round trip at the exit; null where one of them is not known."""
        if self.cwnd_pkts is None or not self.rtt_ms:
            return None
        return self.cwnd_pkts * mss_bytes * 8 / self.rtt_ms / 1000


def first_exit(exits: pl.DataFrame, flow: int = 1) -> SlowStartExit | None:
    """Return the flow's first exit; null for a sender that never left slow start within the trial."""
    left = exits.filter(pl.col("flow") == flow).sort("t_s", maintain_order=True).head(1)
    if left.is_empty():
        return None
    row = left.row(0, named=True)
    return SlowStartExit(row["t_s"], row["cwnd_pkts"], row["rtt_ms"], row["cause"])
