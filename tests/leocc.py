# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of LeoCC from Python: BBR's (tests/bbr3.py) with a model that begins again."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

from tests.bbr3 import PROBE_RTT, RATE_ONE, Ack, Sent, State, sent
from tests.bbr3 import Params as BbrParams
from tests.c_core import words
from tests.paced_flow import Link, PacedFlow, Packet

ONE = 1 << 16  # of the filter's variance
BBR = BbrParams()


@dataclass(frozen=True)
class Params:
    """struct leocc_params, without BBR's: the module's defaults."""

    period_ms: int = 15_000
    offset_ms: int = 15_000
    fluctuation_us: int = 10_000


class _Params(ctypes.Structure):
    _fields_ = [
        *words(*(f"bbr_{name}" for name in BbrParams.__dataclass_fields__)),
        *words(*Params.__dataclass_fields__),
    ]


class _Start(ctypes.Structure):
    _fields_ = [
        ("now_us", ctypes.c_uint64),
        *words("smss", "most_quantum", "budget_quanta", "cwnd", "srtt_us", "delivered", "selective_acks", "seed"),
    ]


class Loss(ctypes.Structure):
    """struct bbr3_loss."""

    _fields_ = [("now_us", ctypes.c_uint64), *words("delivered", "lost", "cwnd", "size"), ("packet", Sent)]


class LeoState(ctypes.Structure):
    """struct leocc_state."""

    _fields_ = [
        ("bbr", State),
        *((name, ctypes.c_uint64) for name in ("begin_us", "last_us", "kalman_rate", "round_rate")),
        ("paced_rate", ctypes.c_uint64 * 2),
        *words("variance", "round_delivered"),
        ("settle_rounds", ctypes.c_uint8),
    ]


class Core:
    """The core's functions for one flow."""

    def __init__(self, library: Path, srtt_us: int, params: Params = Params(), bbr: BbrParams = BBR) -> None:
        values = [*vars(bbr).values(), *vars(params).values()]
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), _Params(*values), LeoState()
        self.lib.leocc_begin(ctypes.byref(self.state), ctypes.byref(_Start(0, 1, 45, 3, 10, srtt_us, 0, 1, 7)))

    def valid(self) -> bool:
        self.lib.leocc_params_valid.restype = ctypes.c_bool
        return bool(self.lib.leocc_params_valid(ctypes.byref(self.params)))

    def queues(self, srtt_us: int) -> bool:
        self.lib.leocc_queues.restype = ctypes.c_bool
        return bool(self.lib.leocc_queues(ctypes.byref(self.state), ctypes.byref(self.params), srtt_us))

    def taken(self, name: str, event: ctypes.Structure) -> int:
        function = getattr(self.lib, name)
        function.restype = ctypes.c_uint32
        return int(function(*(ctypes.byref(each) for each in (self.state, self.params, event))))


class Flow(PacedFlow):
    """A flow of LeoCC over a path."""

    def __init__(self, library: Path, path: Link | None = None, params: Params = Params()) -> None:
        path = path or Link()
        self.core = Core(library, path.rtt_us, params)
        self.bbr = self.core.state.bbr
        super().__init__(path)

    @property
    def mode(self) -> int:  # type: ignore[override]
        return int(self.bbr.mode)

    @property
    def pacing(self) -> float:
        return float(self.bbr.pacing_rate) / RATE_ONE

    @property
    def max_bw(self) -> float:
        """BBR's filter of the most, in packets per microsecond."""
        return float(max(self.bbr.max_bw_of)) / RATE_ONE

    @property
    def bandwidth(self) -> float:
        """What it sends by, in packets per microsecond."""
        return float(self.bbr.bw) / RATE_ONE

    @property
    def filtered(self) -> float:
        """What the Kalman filter has, in packets per microsecond."""
        return float(self.core.state.kalman_rate) / RATE_ONE

    def acknowledged(self, packet: Packet, rtt_us: int, interval_us: int) -> None:
        ack = Ack(
            self.now_us, self.delivered, self.lost, self.inflight, self.cwnd, 1, self.newly_lost, rtt_us, rtt_us,
            interval_us, 1, sent(packet), int(self.cwnd_full), int(self.recovering),
        )  # fmt: skip
        self.cwnd = self.core.taken("leocc_on_ack", ack)
        self.cwnd_full &= not self.bbr.round_start
        if self.mode == PROBE_RTT:
            self.limited_until = self.delivered + self.inflight

    def declared_lost(self, packet: Packet) -> None:
        self.core.taken("leocc_lost", Loss(self.now_us, self.delivered, self.lost, self.cwnd, 1, sent(packet)))
