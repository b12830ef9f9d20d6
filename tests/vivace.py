# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of PCC Vivace from Python."""

from dataclasses import dataclass
from pathlib import Path

from tests.c_core import Core as CCore
from tests.c_core import new, number
from tests.paced_flow import Link, PacedFlow, Packet

STARTS, TRIES = range(2)
PACKET_BITS = 12_000


@dataclass(frozen=True)
class Params:
    """struct vivace_params, as the paper has them."""

    latency: int = 900
    loss_pct: int = 1135
    epsilon_pct: int = 5


class Core(CCore):
    def __init__(self, library: Path, rate_kbps: int = 3000, params: Params = Params(), seed: int = 1) -> None:
        super().__init__(library, "vivace", params)
        self.lib.vivace_begin(self.state, rate_kbps, seed)

    def next(self) -> tuple[int, bool]:
        """The next interval's rate, and whether it is measured."""
        rate = number()
        measured = self.taken("next", rate)
        return rate[0], bool(measured)

    def measured(self, rate_kbps: int, loss_ppm: int = 0, gradient_ppm: int = 0) -> bool:
        return bool(self.taken("measured", new("vivace_interval", rate_kbps, loss_ppm, gradient_ppm)))

    def utility(self, rate_kbps: int, loss_ppm: int = 0, gradient_ppm: int = 0) -> int:
        interval = new("vivace_interval", rate_kbps, loss_ppm, gradient_ppm)
        return int(self.lib.vivace_utility(self.params, interval))

    def gradient_ppm(self, samples: list[tuple[int, int]]) -> int:
        slope = new("vivace_slope")
        for sent_us, rtt_us in samples:
            self.lib.vivace_sample(slope, sent_us, rtt_us)
        return int(self.lib.vivace_gradient_ppm(slope))


class Flow(PacedFlow):
    """A flow of Vivace over a path: intervals of a round trip."""

    def __init__(self, library: Path, path: Link | None = None, rate_kbps: int = 3000) -> None:
        self.core = Core(library, rate_kbps)
        self.rate_kbps, self.measures = self.core.next()
        self.begin, self.begin_us = 0, 0
        self.open: list[tuple[int, int, int, int]] = []  # intervals sent: first and last packet, rate, time
        self.samples: list[tuple[int, int]] = []
        self.losses = 0
        super().__init__(path)
        self.cwnd = 10_000

    @property
    def mode(self) -> int:
        return int(self.core.state.phase)

    @property
    def pacing(self) -> float:
        return self.rate_kbps * 1000 / PACKET_BITS / 1e6

    def acknowledged(self, packet: Packet, rtt_us: int, interval_us: int) -> None:
        del interval_us
        while self.open and packet.number >= self.open[0][1]:
            self._report(*self.open.pop(0))
        if self.open and packet.number >= self.open[0][0]:
            self.samples.append((packet.sent_us - self.open[0][3], rtt_us))
        if not self.measures or self.now_us >= self.begin_us + rtt_us:
            self._turn()

    def declared_lost(self, packet: Packet) -> None:
        self.losses += bool(self.open and self.open[0][0] <= packet.number < self.open[0][1])

    def _turn(self) -> None:
        if self.measures:
            self.open.append((self.begin, self.number, self.rate_kbps, self.begin_us))
        self.begin, self.begin_us = self.number, self.now_us
        self.rate_kbps, self.measures = self.core.next()

    def _report(self, first: int, end: int, rate_kbps: int, _begin_us: int) -> None:
        loss_ppm = self.losses * 1_000_000 // max(end - first, 1)
        self.core.measured(rate_kbps, loss_ppm, self.core.gradient_ppm(self.samples))
        self.samples, self.losses = [], 0
