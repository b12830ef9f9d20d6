# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of Rapid Start from Python."""

from dataclasses import dataclass
from pathlib import Path

from tests.c_core import Core as CCore


@dataclass(frozen=True)
class Params:
    """struct rapid_start_params; the draft's values."""

    iw_pkts: int = 20
    queue_us: int = 4000
    queue_pct: int = 10


class Core(CCore):
    def __init__(self, library: Path, snd_nxt: int = 0, params: Params = Params()) -> None:
        super().__init__(library, "rapid_start", params)
        self.lib.rapid_start_begin(self.state, snd_nxt)

    def grown(self, snd_una: int, snd_nxt: int, rtt_us: int, acked_pkts: int = 1) -> int:
        """Take an ACK; return what the window grows by."""
        self.lib.rapid_start_sample(self.state, snd_una, snd_nxt, rtt_us)
        return int(self.taken("growth_pkts", acked_pkts))

    def recovering(self, before_pkts: int, acked_pkts: int, lost_pkts: int) -> int:
        """Return the window within the recovery period."""
        return int(self.lib.rapid_start_recovering_pkts(self.params, before_pkts, acked_pkts, lost_pkts))

    def w_max(self, cwnd_pkts: int) -> int:
        """Return CUBIC's W_max after a period that ended with a window."""
        return int(self.lib.rapid_start_w_max_pkts(cwnd_pkts))
