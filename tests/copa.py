# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of Copa from Python."""

from dataclasses import dataclass
from pathlib import Path

from tests.c_core import Core as CCore
from tests.c_core import new

ONE = 1 << 16  # a packet, as the window counts it


@dataclass(frozen=True)
class Params:
    """struct copa_params; the paper's delta of 0.5."""

    inverse_delta: int = 2
    competes: int = 1


class Core(CCore):
    """One flow of copa_core.c, over a path whose queueing delay the caller sets."""

    def __init__(self, library: Path, cwnd_pkts: int = 10, params: Params = Params()) -> None:
        super().__init__(library, "copa", params)
        self.taken("begin", cwnd_pkts, 0)
        self.now_us = self.una = 0

    @property
    def cwnd(self) -> float:
        return int(self.state.cwnd_fp) / ONE

    def ack(self, **fields: int) -> bool:
        """Take an ACK; return whether it ended slow start."""
        self.now_us += fields.pop("after_us", 1000)
        self.una += 1
        sent = {"now_us": self.now_us % 2**32, "snd_una": self.una % 2**32, "snd_nxt": self.una}
        usual = {"rtt_us": 100_000, "srtt_us": 100_000, "acked_pkts": 1, "limited": 1}
        return bool(self.taken("on_ack", new("copa_ack", **(sent | usual | fields))))

    def round(self, rtt_us: int = 100_000, acks: int | None = None) -> bool:
        """Take the ACKs of a whole window, evenly over a round trip; return whether one ended slow start."""
        count = acks or max(int(self.cwnd), 1)
        end = self.una + count
        each = {"rtt_us": rtt_us, "srtt_us": rtt_us, "after_us": rtt_us // count, "snd_nxt": end}
        return sum(self.ack(**each) for _ in range(count)) > 0

    def lose(self) -> None:
        self.lib.copa_lost(self.state)
