# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of C4 from Python."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.c_core import Core as CCore
from tests.c_core import new
from tests.paced_flow import Link, PacedFlow, Packet

INITIAL, RECOVERY, CRUISING, PROBING, PUSHING = range(5)
ONE = 65536
PACKET_BYTES = 1500


@dataclass(frozen=True)
class Params:
    """struct c4_params, as the draft has them."""

    still_eras: int = 3
    loss_pkts: int = 20


Ack = partial(new, "c4_ack")


class Core(CCore):
    def __init__(self, library: Path, params: Params = Params(), cwnd_pkts: int = 10) -> None:
        super().__init__(library, "c4", params)
        self.lib.c4_begin(self.state, cwnd_pkts * PACKET_BYTES, PACKET_BYTES, 0)

    def take(self, ack: Any) -> None:
        self.taken("on_ack", ack)

    @property
    def pacing_bytes_per_s(self) -> int:
        return int(self.lib.c4_pacing_Bps(self.state))


class Flow(PacedFlow):
    def __init__(self, library: Path, path: Link | None = None, params: Params = Params(), limit: float = 0) -> None:
        self.core = Core(library, params)
        self.state = self.core.state
        self.marks = 0  # of the next ACK, of one packet
        super().__init__(path, limit)

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
