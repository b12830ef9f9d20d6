# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of Careful Resume from Python."""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.c_core import octets, struct, words

NORMAL, RECONNAISSANCE, UNVALIDATED, VALIDATING, SAFE_RETREAT = range(5)  # enum careful_resume_phase


@dataclass(frozen=True)
class Params:
    """struct careful_resume_params: a saved window of 300 packets over a round trip of 100 ms."""

    saved_cwnd_pkts: int = 300
    saved_rtt_us: int = 100_000
    saved_age_s: int = 0
    lifetime_s: int = 3600
    path_changed: int = 0
    max_jump_pkts: int = 1000
    beta_pct: int = 50


@dataclass(frozen=True)
class Ack:
    now_us: int = 0
    snd_una: int = 0
    snd_nxt: int = 0
    rtt_us: int = 100_000
    acked_pkts: int = 1
    before_pkts: int = 0
    flight_pkts: int = 0
    cwnd_pkts: int = 10
    limited: int = 1


class Change(NamedTuple):
    """struct careful_resume_change; 0: as it is."""

    cwnd_pkts: int
    ssthresh_pkts: int


class _Change(ctypes.Structure):
    _fields_ = words(*Change._fields)


class _State(ctypes.Structure):
    _fields_ = [
        *words("first_seq", "last_seq", "min_rtt_us", "pipe_pkts", "entered_us", "rtt"),
        *octets("phase", "initial_sent", "reserved", "reserved_too"),
    ]


class Core:
    def __init__(self, library: Path, params: Params = Params()) -> None:
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), struct(params), _State()
        self.lib.careful_resume_begin(ctypes.byref(self.state), ctypes.c_bool(self.usable()))

    @property
    def phase(self) -> int:
        return int(self.state.phase)

    @property
    def pipe_pkts(self) -> int:
        return int(self.state.pipe_pkts)

    def usable(self) -> bool:
        self.lib.careful_resume_usable.restype = ctypes.c_bool
        return bool(self.lib.careful_resume_usable(ctypes.byref(self.params)))

    def ack(self, **fields: int) -> Change:
        taken, change = struct(Ack(**fields)), _Change()
        references = (ctypes.byref(each) for each in (self.state, self.params, taken, change))
        self.lib.careful_resume_on_ack(*references)
        return Change(change.cwnd_pkts, change.ssthresh_pkts)

    def congested(self, snd_nxt: int = 0) -> Change:
        change = _Change()
        self.lib.careful_resume_congested(ctypes.byref(self.state), ctypes.c_uint32(snd_nxt), ctypes.byref(change))
        return Change(change.cwnd_pkts, change.ssthresh_pkts)

    def timeout(self) -> None:
        self.lib.careful_resume_stop(ctypes.byref(self.state))
