# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of HyStart++ from Python, and a plain reading of RFC 9406 to hold it against."""

import ctypes
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from tests.c_core import octets, struct, words

SLOW_START, CSS, EXIT = range(3)  # enum hystartpp_phase
SEQ = 2**32


@dataclass(frozen=True)
class Params:
    """struct hystartpp_params; the RFC's values."""

    min_rtt_thresh_us: int = 4000
    max_rtt_thresh_us: int = 16000
    min_rtt_divisor: int = 8
    n_rtt_sample: int = 8
    css_growth_divisor: int = 4
    css_rounds: int = 5
    l_pkts: int = 8


class _State(ctypes.Structure):
    _fields_ = [
        *words("window_end", "last_min", "current_min", "baseline"),
        *octets("rtt_samples", "css_rounds", "css_acked_pkts", "reserved"),
    ]


@dataclass(frozen=True)
class Ack:
    """One ACK: what it newly acknowledges, the RTT that it gives (0: none), and what has been sent by then."""

    snd_una: int
    snd_nxt: int
    rtt_us: int
    acked_pkts: int = 1


class Core:
    def __init__(self, library: Path, snd_nxt: int, params: Params = Params(), paced: bool = False) -> None:
        self.lib = ctypes.CDLL(str(library))
        self.params, self.state, self.paced = struct(params), _State(), ctypes.c_bool(paced)
        self.lib.hystartpp_start(ctypes.byref(self.state), ctypes.c_uint32(snd_nxt % SEQ))

    def take(self, ack: Ack) -> tuple[int, int]:
        """Return the phase after an ACK, and the segments that the window grows by (0 on exit)."""
        flow = ctypes.byref(self.state), ctypes.byref(self.params)
        words = [ctypes.c_uint32(word % SEQ) for word in (ack.snd_una, ack.snd_nxt, ack.rtt_us)]
        phase = self.lib.hystartpp_on_ack(*flow, *words)
        if phase == EXIT:
            return phase, 0
        return phase, self.lib.hystartpp_growth_pkts(*flow, ctypes.c_uint32(ack.acked_pkts), self.paced)


@dataclass
class Rfc:
    """Section 4.2 of RFC 9406 with sequence numbers that never wrap, infinities and fractions."""

    window_end: int
    params: Params = Params()
    paced: bool = False
    last_min: float = inf
    current_min: float = inf
    baseline: float = inf
    samples: int = 0
    rounds: int = 0
    grown: float = 0.0
    given: int = field(default=0)

    def take(self, ack: Ack) -> tuple[int, int]:
        """Return the phase after an ACK, and the whole segments that the window grows by."""
        ends_here = ack.snd_una == self.window_end
        if ack.snd_una > self.window_end:
            self._next_round(ack)
        if ack.rtt_us:
            self._sample(ack.rtt_us)
        if ends_here:
            self._next_round(ack)
        if self.baseline == inf:
            return SLOW_START, self._counted(ack)
        if self.rounds >= self.params.css_rounds:
            return EXIT, 0
        return CSS, self._slowly(ack)

    def _next_round(self, ack: Ack) -> None:
        self.window_end, self.last_min, self.current_min, self.samples = ack.snd_nxt, self.current_min, inf, 0
        self.rounds += self.baseline < inf

    def _sample(self, rtt_us: int) -> None:
        p = self.params
        self.current_min, self.samples = min(self.current_min, rtt_us), self.samples + 1
        if self.samples < p.n_rtt_sample:
            return
        if self.baseline < inf:
            self.baseline = inf if self.current_min < self.baseline else self.baseline
        elif self.last_min < inf:
            thresh = max(p.min_rtt_thresh_us, min(self.last_min // p.min_rtt_divisor, p.max_rtt_thresh_us))
            if self.current_min >= self.last_min + thresh:
                self.baseline, self.rounds, self.grown, self.given = self.current_min, 0, 0.0, 0

    def _counted(self, ack: Ack) -> int:
        return ack.acked_pkts if self.paced else min(ack.acked_pkts, self.params.l_pkts)

    def _slowly(self, ack: Ack) -> int:
        """All growth of this CSS so far, rounded down, less what was given."""
        self.grown += self._counted(ack)
        before, self.given = self.given, int(self.grown // self.params.css_growth_divisor)
        return self.given - before
