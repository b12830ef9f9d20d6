# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of BBR version 3 from Python, and a path that it runs over: one flow, packets of 1 unit, no kernel."""

import ctypes
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, field
from pathlib import Path

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


def _words(*names: str) -> list[tuple[str, type]]:
    return [(name, ctypes.c_uint32) for name in names]


class _Params(ctypes.Structure):
    _fields_ = _words(*Params.__dataclass_fields__)


class Sent(ctypes.Structure):
    """struct bbr3_sent."""

    _fields_ = _words("delivered", "lost", "inflight", "app_limited")


class _Start(ctypes.Structure):
    _fields_ = [
        ("now_us", ctypes.c_uint64),
        *_words("smss", "most_quantum", "budget_quanta", "cwnd", "srtt_us", "delivered", "selective_acks", "seed"),
    ]


class Ack(ctypes.Structure):
    """struct bbr3_ack."""

    _fields_ = [
        ("now_us", ctypes.c_uint64),
        *_words("delivered", "lost", "inflight", "cwnd", "acked", "newly_lost", "rtt_us", "srtt_us", "interval_us"),
        *_words("has_data"),
        ("newest", Sent),
        *_words("cwnd_limited", "fast_recovery"),
    ]


class _Loss(ctypes.Structure):
    _fields_ = [("now_us", ctypes.c_uint64), *_words("delivered", "lost", "cwnd", "size"), ("packet", Sent)]


class State(ctypes.Structure):
    """struct bbr3_state."""

    _fields_ = [
        ("pacing_rate", ctypes.c_uint64),
        ("bw", ctypes.c_uint64),
        ("max_bw_of", ctypes.c_uint64 * 2),
        *((name, ctypes.c_uint64) for name in ("bw_shortterm", "bw_latest", "full_bw", "undo_bw_shortterm")),
        *((name, ctypes.c_uint64) for name in ("min_rtt_us_at", "probe_rtt_min_us_at", "probe_rtt_done_us")),
        *((name, ctypes.c_uint64) for name in ("cycle_us_at", "aggregation_us_at")),
        *_words("min_rtt_us", "probe_rtt_min_us", "wait_us", "round_count", "next_round_delivered"),
        *_words("loss_round_delivered", "recovery_delivered", "begin_delivered", "drain_start_round"),
        *_words("rounds_since_up", "inflight_longterm", "inflight_shortterm", "inflight_latest"),
        *_words("undo_inflight_shortterm", "undo_inflight_longterm", "up_acked", "up_acked_per_inc", "prior_cwnd"),
        *_words("aggregation_acked"),
        ("extra_acked_of", ctypes.c_uint32 * 10),
        *_words("extra_acked", "quantum", "smss", "most_quantum", "budget_quanta", "initial_cwnd", "random"),
        *((name, ctypes.c_uint8) for name in ("mode", "undo_mode", "ack_phase", "up_rounds", "full_bw_count")),
        *((name, ctypes.c_uint8) for name in ("loss_ranges", "selective_acks")),
        *((name, ctypes.c_bool) for name in ("seen_rtt", "round_start", "loss_round_start", "loss_in_round")),
        *((name, ctypes.c_bool) for name in ("full_bw_now", "full_bw_reached", "idle_restart", "probe_sample")),
        *((name, ctypes.c_bool) for name in ("too_high", "precautionary", "probe_rtt_expired")),
        *((name, ctypes.c_bool) for name in ("probe_rtt_round_done", "recovering")),
    ]


class Core:
    """The core's functions for one flow."""

    def __init__(self, library: Path, cwnd: int, srtt_us: int, params: Params = Params(), sack: int = 1) -> None:
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), _Params(*astuple(params)), State()
        start = _Start(0, 1, 45, 3, cwnd, srtt_us, 0, sack, 7)
        self.lib.bbr3_begin(ctypes.byref(self.state), ctypes.byref(start))

    def valid(self) -> bool:
        self.lib.bbr3_params_valid.restype = ctypes.c_bool
        return bool(self.lib.bbr3_params_valid(ctypes.byref(self.params)))

    def call(self, name: str, *words: int) -> int:
        function = getattr(self.lib, name)
        function.restype = ctypes.c_uint32
        return int(function(ctypes.byref(self.state), *words))

    def taken(self, name: str, event: ctypes.Structure) -> int:
        function = getattr(self.lib, name)
        function.restype = ctypes.c_uint32
        return int(function(*(ctypes.byref(each) for each in (self.state, self.params, event))))


@dataclass
class Packet:
    """One on its way."""

    number: int
    sent_us: int
    first_sent_us: int
    delivered_us: int
    note: Sent
    back_us: int  # when its ACK comes
    dropped: bool


@dataclass
class Link:
    """A bottleneck with a buffer, and a round trip; all may change while a flow runs."""

    rate: float = 0.002  # packets per microsecond: 24 Mb/s of 1500 bytes
    rtt_us: int = 40_000
    buffer_pkts: int = 1000
    drop: Callable[[int], bool] = lambda _number: False


@dataclass
class Flow:
    """A sender of BBR over a path: paced, with a window; every packet is acknowledged, losses by three later ones."""

    library: Path
    path: Link = field(default_factory=Link)
    params: Params = Params()
    limit: float = 0  # packets per microsecond that the application has; 0: no limit
    paused: bool = False

    def __post_init__(self) -> None:
        self.cwnd = 10
        self.core = Core(self.library, self.cwnd, self.path.rtt_us, self.params)
        self.state = self.core.state
        self.now_us = self.next_us = self.busy_us = self.delivered_us = self.first_sent_us = 0
        self.delivered = self.lost = self.number = self.recovery_from = self.newly_lost = 0
        self.limited_until = -1  # delivered packets; TCP's app_limited
        self.recovering = self.cwnd_full = False
        self.under_way: deque[Packet] = deque()
        self.modes: list[tuple[int, int]] = [(0, STARTUP)]

    @property
    def inflight(self) -> int:
        return len(self.under_way)

    @property
    def rate(self) -> float:
        """The bandwidth estimate, in packets per microsecond."""
        return max(self.state.max_bw_of) / RATE_ONE

    def visits(self, mode: int) -> list[tuple[int, int]]:
        """When a mode began and ended, in microseconds."""
        ends = [*(at for at, _ in self.modes[1:]), self.now_us]
        return [(at, end) for (at, each), end in zip(self.modes, ends, strict=True) if each == mode]

    def run(self, seconds: float, until: Callable[["Flow"], bool] = lambda _flow: False) -> "Flow":
        end_us = self.now_us + int(seconds * 1e6)
        for _ in self._events(end_us):
            if until(self):
                break
        return self

    def _events(self, end_us: int) -> Iterator[None]:
        while True:
            ack_us = self.under_way[0].back_us if self.under_way else INFINITY
            send_us = max(self.next_us, self.now_us) if self._may_send() else INFINITY
            if min(ack_us, send_us) > end_us:
                self.now_us = end_us
                return
            self.now_us = min(ack_us, send_us)
            if send_us <= ack_us:
                self._send()
            else:
                self._ack()
            yield

    def _may_send(self) -> bool:
        if self.paused:
            return False
        self.cwnd_full |= self.inflight >= self.cwnd
        return self.inflight < self.cwnd

    def _send(self) -> None:
        if not self.under_way:
            self.first_sent_us = self.delivered_us = self.now_us
            if self.limited_until >= self.delivered:
                self.cwnd = self.core.lib.bbr3_restart_from_idle(
                    ctypes.byref(self.state), ctypes.c_uint64(self.now_us), self.cwnd, self.delivered
                )
        waiting = max(self.busy_us - self.now_us, 0) * self.path.rate
        dropped = waiting > self.path.buffer_pkts or self.path.drop(self.number)
        if not dropped:
            self.busy_us = int(max(self.busy_us, self.now_us) + 1 / self.path.rate)
        if self.limit:
            self.limited_until = self.delivered + self.inflight + 1
        note = Sent(self.delivered, self.lost, self.inflight + 1, int(self.limited_until >= self.delivered))
        back_us = max(self.busy_us, self.now_us) + self.path.rtt_us
        last_us = self.under_way[-1].back_us if self.under_way else 0
        times = self.now_us, self.first_sent_us, self.delivered_us
        self.under_way.append(Packet(self.number, *times, note, max(back_us, last_us), dropped))
        self.number += 1
        rate = min(self.limit or 1e9, self.state.pacing_rate / RATE_ONE)
        self.next_us = self.now_us + int(1 / rate)

    def _ack(self) -> None:
        packet = self.under_way.popleft()
        if packet.dropped:
            self._lose(packet)
            return
        self.delivered += 1
        self.delivered_us, self.first_sent_us = self.now_us, packet.sent_us
        if self.recovering and packet.number >= self.recovery_from:
            self.recovering = False
            self.cwnd = self.core.call("bbr3_exit_recovery", self.cwnd)
        self.cwnd = self.core.taken("bbr3_on_ack", self._sample(packet))
        self.cwnd_full &= not self.state.round_start
        if self.state.mode == PROBE_RTT:
            self.limited_until = self.delivered + self.inflight
        if self.state.mode != self.modes[-1][1]:
            self.modes.append((self.now_us, self.state.mode))

    def _sample(self, packet: Packet) -> Ack:
        interval_us = max(packet.sent_us - packet.first_sent_us, self.now_us - packet.delivered_us)
        rtt_us = self.now_us - packet.sent_us
        newly_lost, self.newly_lost = self.newly_lost, 0
        return Ack(
            self.now_us, self.delivered, self.lost, self.inflight, self.cwnd, 1, newly_lost, rtt_us, rtt_us,
            interval_us, 1, packet.note, int(self.cwnd_full), int(self.recovering),
        )  # fmt: skip

    def _lose(self, packet: Packet) -> None:
        self.lost += 1
        self.newly_lost += 1
        self.recovery_from = self.number  # what is sent again must arrive, too
        if not self.recovering:
            self.recovering = True
            self.core.call("bbr3_enter_recovery", self.cwnd, self.delivered)
        event = _Loss(self.now_us, self.delivered, self.lost, self.cwnd, 1, packet.note)
        self.core.taken("bbr3_lost", event)
