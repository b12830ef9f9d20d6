# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of C4 from Python."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

from tests.c_core import flags, octets, struct, words
from tests.paced_flow import Link, PacedFlow, Packet

INITIAL, RECOVERY, CRUISING, PROBING, PUSHING = range(5)
ONE = 65536
PACKET_BYTES = 1500


@dataclass(frozen=True)
class Params:
    """struct c4_params, as the draft has them."""

    still_eras: int = 3
    loss_pkts: int = 20


class Ack(ctypes.Structure):
    _fields_ = [
        ("rate_Bps", ctypes.c_uint64),
        *words("rtt_us", "delivered", "sent_delivered", "has_data", "acked_pkts", "lost_pkts", "ce_pkts", "ect_pkts"),
        *words("inflight_bytes", "app_limited"),
    ]


class State(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("nominal_Bps", "era_begin_Bps", "cycle_begin_Bps", "probe_begin_Bps")),
        ("recent_most_Bps", ctypes.c_uint64),
        *words("cwnd_bytes", "initial_cwnd_bytes", "mss_bytes", "nominal_rtt_us", "running_min_us", "era_most_us"),
        *words("era_least_us", "era_delivered", "acked_pkts", "smoothed_loss", "ecn_alpha"),
        *octets("mode", "came_from", "alpha", "last_alpha", "eras", "still_eras"),
        ("successive", ctypes.c_uint8),
        *flags("era_app_limited", "cycle_app_limited", "congested", "marked", "again"),
    ]


class Core:
    def __init__(self, library: Path, params: Params = Params(), cwnd_pkts: int = 10) -> None:
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), struct(params), State()
        self.lib.c4_pacing_Bps.restype = ctypes.c_uint64
        self.lib.c4_begin(ctypes.byref(self.state), cwnd_pkts * PACKET_BYTES, PACKET_BYTES, 0)

    def take(self, ack: Ack) -> None:
        self.lib.c4_on_ack(*(ctypes.byref(each) for each in (self.state, self.params, ack)))

    @property
    def pacing_bytes_per_s(self) -> int:
        return int(self.lib.c4_pacing_Bps(ctypes.byref(self.state)))


class Flow(PacedFlow):
    def __init__(self, library: Path, path: Link | None = None, params: Params = Params(), limit: float = 0) -> None:
        self.core = Core(library, params)
        self.state = self.core.state
        self.marks = 0  # of the next ACK, of one packet
        super().__init__(path, limit)

    @property
    def mode(self) -> int:  # type: ignore[override]
        return int(self.state.mode)

    @property
    def pacing(self) -> float:
        return self.core.pacing_bytes_per_s / PACKET_BYTES / 1e6

    @property
    def rate(self) -> float:
        """The nominal rate, in packets per microsecond."""
        return float(self.state.nominal_Bps) / PACKET_BYTES / 1e6

    def acknowledged(self, packet: Packet, rtt_us: int, interval_us: int) -> None:
        rate = int((self.delivered - packet.delivered) * PACKET_BYTES * 1e6 / interval_us)
        counts = self.delivered, packet.delivered, 1, 1, self.newly_lost, self.marks, 1 - self.marks
        self.core.take(Ack(rate, rtt_us, *counts, self.inflight * PACKET_BYTES, int(packet.app_limited)))
        self.cwnd = max(self.state.cwnd_bytes // PACKET_BYTES, 2)
