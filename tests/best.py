# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of BEST from Python."""

from dataclasses import dataclass
from pathlib import Path

from tests.c_core import Core as CCore
from tests.c_core import functions, new

SAMPLES = 300
MSS_BYTES = 1000


@dataclass(frozen=True)
class Params:
    skip_rounds: int = 3


class Core(CCore):
    """One flow of best_core.c; each ACK is for one packet of 1000 bytes."""

    def __init__(self, library: Path, skip_rounds: int = 3, snd_nxt: int = 0) -> None:
        super().__init__(library, "best", Params(skip_rounds))
        self.lib.best_begin(self.state, snd_nxt)
        self.now_us, self.una = 1_000_000, snd_nxt

    def ack(self, after_us: int, snd_nxt: int, rtt_us: int = 100_000, acked_bytes: int = MSS_BYTES) -> int:
        """Return the window at which slow start ends; 0: not known."""
        self.now_us += after_us
        self.una += acked_bytes
        ack = new("best_ack", self.now_us, self.una % 2**32, snd_nxt % 2**32, acked_bytes, rtt_us, MSS_BYTES)
        return int(self.taken("on_ack", ack))

    def round(self, *gaps_us: int, rtt_us: int = 100_000, pause_us: int = 50_000) -> int:
        """Take the ACKs of a round, with so much time between them, after a pause; return the window after it."""
        end = self.una + MSS_BYTES * (len(gaps_us) + 1)
        return [self.ack(gap_us, end, rtt_us) for gap_us in (pause_us, *gaps_us)][-1]

    def rounds(self, count: int, gap_us: int = 1000, acks: int = 8) -> int:
        """Take rounds, and the ACK that ends the last one."""
        for _ in range(count):
            self.round(*[gap_us] * (acks - 1))
        return self.ack(50_000, self.una + 8 * MSS_BYTES)


def median(library: Path, samples: list[int]) -> int:
    return int(functions(library).best_median(samples, len(samples)))
