# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of BEST from Python."""

import ctypes
from pathlib import Path

from tests.c_core import words

SAMPLES = 300
MSS_BYTES = 1000


class _Params(ctypes.Structure):
    _fields_ = words("skip_rounds")


class _State(ctypes.Structure):
    _fields_ = [
        ("last_us", ctypes.c_uint64),
        *words("round_end", "rounds", "min_rtt_us", "target_pkts", "samples"),
        ("rate_Bps", ctypes.c_uint32 * SAMPLES),
    ]


class _Ack(ctypes.Structure):
    _fields_ = [("now_us", ctypes.c_uint64), *words("snd_una", "snd_nxt", "acked_bytes", "rtt_us", "mss_bytes")]


class Core:
    """One flow of best_core.c; each ACK is for one packet of 1000 bytes."""

    def __init__(self, library: Path, skip_rounds: int = 3, snd_nxt: int = 0) -> None:
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), _Params(skip_rounds), _State()
        self.lib.best_on_ack.restype = ctypes.c_uint32
        self.lib.best_begin(ctypes.byref(self.state), ctypes.c_uint32(snd_nxt))
        self.now_us, self.una = 1_000_000, snd_nxt

    def valid(self) -> bool:
        self.lib.best_params_valid.restype = ctypes.c_bool
        return bool(self.lib.best_params_valid(ctypes.byref(self.params)))

    def ack(self, after_us: int, snd_nxt: int, rtt_us: int = 100_000, acked_bytes: int = MSS_BYTES) -> int:
        """Return the window at which slow start ends; 0: not known."""
        self.now_us += after_us
        self.una += acked_bytes
        taken = _Ack(self.now_us, self.una % 2**32, snd_nxt % 2**32, acked_bytes, rtt_us, MSS_BYTES)
        return int(self.lib.best_on_ack(*(ctypes.byref(each) for each in (self.state, self.params, taken))))

    def round(self, *gaps_us: int, rtt_us: int = 100_000, pause_us: int = 50_000) -> int:
        """Take the ACKs of a round, with so much time between them, after a pause; return the window after it."""
        end = self.una + MSS_BYTES * (len(gaps_us) + 1)
        return [self.ack(gap_us, end, rtt_us) for gap_us in (pause_us, *gaps_us)][-1]

    def rounds(self, count: int, gap_us: int = 1000, acks: int = 8) -> int:
        """Take rounds, and the ACK that ends the last one."""
        for _ in range(count):
            self.round(*[gap_us] * (acks - 1))
        return self.ack(50_000, self.una + 8 * MSS_BYTES)


def median(library: Path, samples: list[int]) -> int:
    found = ctypes.CDLL(str(library)).best_median
    found.restype = ctypes.c_uint32
    return int(found((ctypes.c_uint32 * len(samples))(*samples), len(samples)))
