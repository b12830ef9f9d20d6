# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of Rapid Start from Python."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

from tests.c_core import struct, words


@dataclass(frozen=True)
class Params:
    """struct rapid_start_params; the draft's values."""

    iw_pkts: int = 20
    queue_us: int = 4000
    queue_pct: int = 10


class _State(ctypes.Structure):
    _fields_ = words("round_end", "min_us", "round_min_us", "last_min_us", "rounds")


class Core:
    def __init__(self, library: Path, snd_nxt: int = 0, params: Params = Params()) -> None:
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), struct(params), _State()
        self.lib.rapid_start_begin(ctypes.byref(self.state), ctypes.c_uint32(snd_nxt))

    def grown(self, snd_una: int, snd_nxt: int, rtt_us: int, acked_pkts: int = 1) -> int:
        """Take an ACK; return what the window grows by."""
        words = [ctypes.c_uint32(word) for word in (snd_una, snd_nxt, rtt_us)]
        self.lib.rapid_start_sample(ctypes.byref(self.state), *words)
        flow = ctypes.byref(self.state), ctypes.byref(self.params)
        return int(self.lib.rapid_start_growth_pkts(*flow, ctypes.c_uint32(acked_pkts)))

    def recovering(self, before_pkts: int, acked_pkts: int, lost_pkts: int) -> int:
        """Return the window within the recovery period."""
        self.lib.rapid_start_recovering_pkts.restype = ctypes.c_uint32
        words = [ctypes.c_uint32(word) for word in (before_pkts, acked_pkts, lost_pkts)]
        return int(self.lib.rapid_start_recovering_pkts(ctypes.byref(self.params), *words))

    def w_max(self, cwnd_pkts: int) -> int:
        """Return CUBIC's W_max after a period that ended with a window."""
        self.lib.rapid_start_w_max_pkts.restype = ctypes.c_uint32
        return int(self.lib.rapid_start_w_max_pkts(ctypes.c_uint32(cwnd_pkts)))
