# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of Copa from Python."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

from tests.c_core import octets, struct, words

ONE = 1 << 16  # a packet, as the window counts it


@dataclass(frozen=True)
class Params:
    """struct copa_params; the paper's delta of 0.5."""

    inverse_delta: int = 2
    competes: int = 1


@dataclass(frozen=True)
class Ack:
    now_us: int
    snd_una: int
    snd_nxt: int
    rtt_us: int = 100_000
    srtt_us: int = 100_000
    acked_pkts: int = 1
    limited: int = 1


class _Extreme(ctypes.Structure):
    _fields_ = words("begin_us", "now", "before")


class _State(ctypes.Structure):
    _fields_ = [
        ("cwnd_fp", ctypes.c_uint64),
        *((name, _Extreme) for name in ("standing", "least", "most")),
        *words("window_end", "window_pkts", "empty_us", "inverse_delta"),
        ("velocity", ctypes.c_uint16),
        *octets("same_windows", "up", "slow_start", "started", "competing", "lost"),
    ]


class Core:
    """One flow of copa_core.c, over a path whose queueing delay the caller sets."""

    def __init__(self, library: Path, cwnd_pkts: int = 10, params: Params = Params()) -> None:
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), struct(params), _State()
        self.lib.copa_on_ack.restype = ctypes.c_bool
        words = ctypes.c_uint32(cwnd_pkts), ctypes.c_uint32(0)
        self.lib.copa_begin(ctypes.byref(self.state), ctypes.byref(self.params), *words)
        self.now_us = self.una = 0

    @property
    def cwnd(self) -> float:
        return int(self.state.cwnd_fp) / ONE

    def ack(self, **fields: int) -> bool:
        """Take an ACK; return whether it ended slow start."""
        self.now_us += fields.pop("after_us", 1000)
        self.una += 1
        taken = Ack(
            now_us=self.now_us % 2**32, snd_una=self.una % 2**32, snd_nxt=fields.pop("snd_nxt", self.una), **fields
        )
        references = (ctypes.byref(each) for each in (self.state, self.params, struct(taken)))
        return bool(self.lib.copa_on_ack(*references))

    def round(self, rtt_us: int = 100_000, acks: int | None = None) -> bool:
        """Take the ACKs of a whole window, evenly over a round trip; return whether one ended slow start."""
        count = acks or max(int(self.cwnd), 1)
        end = self.una + count
        each = {"rtt_us": rtt_us, "srtt_us": rtt_us, "after_us": rtt_us // count, "snd_nxt": end}
        return sum(self.ack(**each) for _ in range(count)) > 0

    def lose(self) -> None:
        self.lib.copa_lost(ctypes.byref(self.state))
