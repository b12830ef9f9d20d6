# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of BBR version 3 from Python; its unit of data is a packet."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

from tests.c_core import flags, octets, struct, words
from tests.paced_flow import Link, PacedFlow, Packet

INFINITY = 2**32 - 1
RATE_ONE = 1 << 24  # a packet per microsecond
STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT, NO_MODE = range(8)


@dataclass(frozen=True)
class Params:
    """struct bbr3_params, as the draft has them."""

    growth_pct: int = 25
    full_rounds: int = 3
    loss_pct: int = 2
    loss_ranges: int = 6


class Sent(ctypes.Structure):
    _fields_ = words("delivered", "lost", "inflight", "app_limited")


class Start(ctypes.Structure):
    _fields_ = [
        ("now_us", ctypes.c_uint64),
        *words("smss", "most_quantum", "budget_quanta", "cwnd", "srtt_us", "delivered", "selective_acks", "seed"),
    ]


class Ack(ctypes.Structure):
    _fields_ = [
        ("now_us", ctypes.c_uint64),
        *words("delivered", "lost", "inflight", "cwnd", "acked", "newly_lost", "rtt_us", "srtt_us", "interval_us"),
        *words("has_data"),
        ("newest", Sent),
        *words("cwnd_limited", "fast_recovery"),
    ]


class Loss(ctypes.Structure):
    _fields_ = [("now_us", ctypes.c_uint64), *words("delivered", "lost", "cwnd", "size"), ("packet", Sent)]


class State(ctypes.Structure):
    _fields_ = [
        ("pacing_rate", ctypes.c_uint64),
        ("bw", ctypes.c_uint64),
        ("max_bw_of", ctypes.c_uint64 * 2),
        *((name, ctypes.c_uint64) for name in ("bw_shortterm", "bw_latest", "full_bw", "undo_bw_shortterm")),
        *((name, ctypes.c_uint64) for name in ("min_rtt_us_at", "probe_rtt_min_us_at", "probe_rtt_done_us")),
        *((name, ctypes.c_uint64) for name in ("cycle_us_at", "aggregation_us_at")),
        *words("min_rtt_us", "probe_rtt_min_us", "wait_us", "round_count", "next_round_delivered"),
        *words("loss_round_delivered", "recovery_delivered", "begin_delivered", "drain_start_round"),
        *words("rounds_since_up", "inflight_longterm", "inflight_shortterm", "inflight_latest"),
        *words("undo_inflight_shortterm", "undo_inflight_longterm", "up_acked", "up_acked_per_inc", "prior_cwnd"),
        *words("aggregation_acked"),
        ("extra_acked_of", ctypes.c_uint32 * 10),
        *words("extra_acked", "quantum", "smss", "most_quantum", "budget_quanta", "initial_cwnd", "random"),
        *octets("mode", "undo_mode", "ack_phase", "up_rounds", "full_bw_count"),
        *octets("loss_ranges", "selective_acks"),
        *flags("seen_rtt", "round_start", "loss_round_start", "loss_in_round"),
        *flags("full_bw_now", "full_bw_reached", "idle_restart", "probe_sample"),
        *flags("too_high", "precautionary", "probe_rtt_expired"),
        *flags("probe_rtt_round_done", "recovering"),
    ]


class Core:
    params: ctypes.Structure
    state: ctypes.Structure

    def __init__(self, library: Path, *start: int, params: Params = Params(), now_us: int = 0) -> None:
        """`start`: the fields of struct bbr3_start behind the time."""
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), struct(params), State()
        begin = Start(now_us, *start)
        self.lib.bbr3_begin(ctypes.byref(self.state), ctypes.byref(begin))

    def call(self, name: str, *words: int | ctypes.c_uint64) -> int:
        function = getattr(self.lib, name)
        function.restype = ctypes.c_uint32
        return int(function(ctypes.byref(self.state), *words))

    def taken(self, name: str, event: ctypes.Structure) -> int:
        function = getattr(self.lib, name)
        function.restype = ctypes.c_uint32
        return int(function(*(ctypes.byref(each) for each in (self.state, self.params, event))))

    def restart(self, now_us: int, cwnd: int, delivered: int) -> int:
        return self.call("bbr3_restart_from_idle", ctypes.c_uint64(now_us), cwnd, delivered)


def tcp_core(library: Path, cwnd: int, srtt_us: int, params: Params = Params(), sack: int = 1) -> Core:
    return Core(library, 1, 45, 3, cwnd, srtt_us, 0, sack, 7, params=params)


class OfBbr(PacedFlow):
    """A flow of BBR, or of a core that is made of it, over a path."""

    name = "bbr3"
    core: Core
    state: ctypes.Structure  # BBR's

    @property
    def mode(self) -> int:  # type: ignore[override]
        return int(self.state.mode)

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
        self.cwnd = self.core.taken(f"{self.name}_on_ack", ack)
        self.cwnd_full &= not self.state.round_start
        if self.mode == PROBE_RTT:
            self.limited_until = self.delivered + self.inflight

    def declared_lost(self, packet: Packet) -> None:
        loss = Loss(self.now_us, self.delivered, self.lost, self.cwnd, 1, sent(packet))
        self.core.taken(f"{self.name}_lost", loss)


class Flow(OfBbr):
    """A flow of BBR, whose core learns of recovery and of idle times, too."""

    def __init__(self, library: Path, path: Link | None = None, params: Params = Params(), limit: float = 0) -> None:
        path = path or Link()
        self.core = tcp_core(library, 10, path.rtt_us, params)
        self.state = self.core.state
        super().__init__(path, limit)

    def recovery_begins(self) -> None:
        self.core.call("bbr3_enter_recovery", self.cwnd, self.delivered)

    def recovery_ends(self) -> None:
        self.cwnd = self.core.call("bbr3_exit_recovery", self.cwnd)

    def idle_ends(self) -> None:
        self.cwnd = self.core.restart(self.now_us, self.cwnd, self.delivered)


def sent(packet: Packet) -> Sent:
    return Sent(packet.delivered, packet.lost, packet.inflight, int(packet.app_limited))
