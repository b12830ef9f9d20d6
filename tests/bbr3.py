# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of BBR version 3 from Python; its unit of data is a packet."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.c_core import Core as CCore
from tests.c_core import new
from tests.paced_flow import Link, PacedFlow, Packet

INFINITY = 2**32 - 1
RATE_ONE = 1 << 24  # a packet per microsecond
RATE = 0.002  # packets per microsecond
BDP = 80  # packets in 40 ms
STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT, NO_MODE = range(8)


@dataclass(frozen=True)
class Params:
    """struct bbr3_params, as the draft has them."""

    growth_pct: int = 25
    full_rounds: int = 3
    loss_pct: int = 2
    loss_ranges: int = 6


class Sent(NamedTuple):
    """struct bbr3_sent."""

    delivered: int
    lost: int
    inflight: int
    app_limited: int


Ack, Loss = partial(new, "bbr3_ack"), partial(new, "bbr3_loss")


class Core(CCore):
    def __init__(self, library: Path, *start: int, params: Params = Params(), now_us: int = 0) -> None:
        """`start`: the fields of struct bbr3_start behind the time."""
        super().__init__(library, "bbr3", params)
        self.lib.bbr3_begin(self.state, new("bbr3_start", now_us, *start))

    def restart(self, now_us: int, cwnd: int, delivered: int) -> int:
        return int(self.lib.bbr3_restart_from_idle(self.state, now_us, cwnd, delivered))


def tcp_core(library: Path, cwnd: int, srtt_us: int, params: Params = Params(), sack: int = 1) -> Core:
    return Core(library, 1, 45, 3, cwnd, srtt_us, 0, sack, 7, params=params)


class OfBbr(PacedFlow):
    """A flow of BBR, or of a core that is made of it, over a path."""

    core: CCore

    @property
    def pacing(self) -> float:
        return float(self.state.pacing_rate) / RATE_ONE

    @property
    def rate(self) -> float:
        """BBR's filter of the most, in packets per microsecond."""
        return float(max(self.state.max_bw_of)) / RATE_ONE

    def acknowledged(self, packet: Packet, rtt_us: int, interval_us: int) -> None:
        ack = Ack(
            self.now_us, self.delivered, self.lost, self.inflight, self.cwnd, 1, self.newly_lost, rtt_us, rtt_us,
            interval_us, 1, sent(packet), int(self.cwnd_full), int(self.recovering),
        )  # fmt: skip
        self.cwnd = self.core.taken("on_ack", ack)
        self.cwnd_full &= not self.state.round_start
        if self.mode == PROBE_RTT:
            self.limited_until = self.delivered + self.inflight

    def declared_lost(self, packet: Packet) -> None:
        loss = Loss(self.now_us, self.delivered, self.lost, self.cwnd, 1, sent(packet))
        self.core.taken("lost", loss)


class Flow(OfBbr):
    """A flow of BBR, whose core learns of recovery and of idle times, too."""

    core: Core

    def __init__(self, library: Path, path: Link | None = None, params: Params = Params(), limit: float = 0) -> None:
        path = path or Link()
        self.core = tcp_core(library, 10, path.rtt_us, params)
        self.state = self.core.state
        super().__init__(path, limit)

    def recovery_begins(self) -> None:
        self.core.lib.bbr3_enter_recovery(self.state, self.cwnd, self.delivered)

    def recovery_ends(self) -> None:
        self.cwnd = self.core.lib.bbr3_exit_recovery(self.state, self.cwnd)

    def idle_ends(self) -> None:
        self.cwnd = self.core.restart(self.now_us, self.cwnd, self.delivered)


def sent(packet: Packet) -> Sent:
    return Sent(packet.delivered, packet.lost, packet.inflight, int(packet.app_limited))


def in_mode(library: Path, mode: int, path: Link | None = None) -> Flow:
    """A flow that has just entered a state after Startup."""
    return Flow(library, path or Link()).run(20, until=lambda flow: flow.state.mode == mode)


def left(mode: int) -> Callable[[Flow], bool]:
    return lambda flow: flow.state.mode != mode


def after_round(number: int) -> Callable[[Flow], bool]:
    return lambda flow: flow.state.round_count > number


def lose_ten(flow: Flow) -> None:
    """The path drops the next ten packets."""
    first = flow.number
    flow.path.drop = lambda number: first <= number < first + 10
