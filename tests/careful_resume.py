# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of Careful Resume from Python."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.c_core import Core as CCore
from tests.c_core import new

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


class Change(NamedTuple):
    """struct careful_resume_change; 0: as it is."""

    cwnd_pkts: int
    ssthresh_pkts: int


class Core(CCore):
    def __init__(self, library: Path, params: Params = Params()) -> None:
        super().__init__(library, "careful_resume", params)
        self.lib.careful_resume_begin(self.state, self.usable())

    @property
    def phase(self) -> int:
        return int(self.state.phase)

    @property
    def pipe_pkts(self) -> int:
        return int(self.state.pipe_pkts)

    def usable(self) -> bool:
        return bool(self.lib.careful_resume_usable(self.params))

    def ack(self, **fields: int) -> Change:
        ack = new(
            "careful_resume_ack", **({"rtt_us": 100_000, "acked_pkts": 1, "cwnd_pkts": 10, "limited": 1} | fields)
        )
        change = new("careful_resume_change")
        self.taken("on_ack", ack, change)
        return Change(change.cwnd_pkts, change.ssthresh_pkts)

    def congested(self, snd_nxt: int = 0) -> Change:
        change = new("careful_resume_change")
        self.lib.careful_resume_congested(self.state, snd_nxt, change)
        return Change(change.cwnd_pkts, change.ssthresh_pkts)

    def timeout(self) -> None:
        self.lib.careful_resume_stop(self.state)
