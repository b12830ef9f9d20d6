# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of SUSS from Python."""

import ctypes
from dataclasses import astuple, dataclass
from pathlib import Path

from tests.c_core import words

MSS_BYTES = 1000


@dataclass(frozen=True)
class Params:
    """struct suss_params: the module's defaults."""

    k_max: int = 1
    least_rtt_us: int = 10_000


class _Params(ctypes.Structure):
    _fields_ = words(*Params.__dataclass_fields__)


class _State(ctypes.Structure):
    _fields_ = [
        *words("round_begin", "round_end", "clocked_end", "next_clocked_end", "first_us", "last_us"),
        *words("min_rtt_us", "round_min_us"),
        *((name, ctypes.c_uint8) for name in ("decided", "k", "full")),
    ]


class _Ack(ctypes.Structure):
    _fields_ = words("now_us", "snd_una", "snd_nxt", "rtt_us", "mss_bytes", "limited")


class Core:
    """One flow of suss_core.c, each of whose ACKs is for one packet of 1000 bytes."""

    def __init__(self, library: Path, params: Params = Params(), snd_nxt: int = 0, window_pkts: int = 10) -> None:
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), _Params(*astuple(params)), _State()
        self.lib.suss_on_ack.restype = ctypes.c_uint32
        self.lib.suss_begin(ctypes.byref(self.state), ctypes.c_uint32(snd_nxt))
        self.una, self.nxt, self.now_us = snd_nxt, snd_nxt + window_pkts * MSS_BYTES, 1_000_000
        self.cwnd = window_pkts

    def valid(self) -> bool:
        self.lib.suss_params_valid.restype = ctypes.c_bool
        return bool(self.lib.suss_params_valid(ctypes.byref(self.params)))

    def ack(self, after_us: int = 0, rtt_us: int = 100_000, limited: bool = True, pkts: int = 1) -> int:
        """Take an ACK, grow and send as slow start does; return what SUSS grants in addition."""
        self.now_us += after_us
        self.una += pkts * MSS_BYTES
        values = (self.now_us, self.una, self.nxt, rtt_us, MSS_BYTES, int(limited))
        taken = _Ack(*(value % 2**32 for value in values))
        more = int(self.lib.suss_on_ack(*(ctypes.byref(each) for each in (self.state, self.params, taken))))
        self.cwnd += pkts + more
        self.nxt = self.una + self.cwnd * MSS_BYTES
        return more

    def round(self, train_us: int = 900, rtt_us: int = 100_000, limited: bool = True) -> list[int]:
        """Take the ACKs of all in flight, clocked ones in a train, then those of paced packets; return the grants."""
        begin_us, count = self.now_us, (self.nxt - self.una) // MSS_BYTES
        state, granted = self.state, [self.ack(0, rtt_us, limited)]
        clocked = max((state.clocked_end - state.round_begin) % 2**32 // MSS_BYTES, 2)
        for number in range(1, count):
            gap_us = train_us // (clocked - 1) if number < clocked else 100
            granted.append(self.ack(gap_us, rtt_us, limited))
        self.now_us = max(begin_us + rtt_us, self.now_us)
        return granted
