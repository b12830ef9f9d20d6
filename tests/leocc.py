# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core of LeoCC from Python: BBR's (tests/bbr3.py) with a model that begins again."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

from tests.bbr3 import RATE_ONE, OfBbr, Start, State
from tests.bbr3 import Core as BbrCore
from tests.bbr3 import Params as BbrParams
from tests.c_core import words
from tests.paced_flow import Link

ONE = 1 << 16  # of the filter's variance
BBR = BbrParams()


@dataclass(frozen=True)
class Params:
    """struct leocc_params, without BBR's: the module's defaults."""

    period_ms: int = 15_000
    offset_ms: int = 15_000
    fluctuation_us: int = 10_000


class _Params(ctypes.Structure):
    _fields_ = [
        *words(*(f"bbr_{name}" for name in BbrParams.__dataclass_fields__)),
        *words(*Params.__dataclass_fields__),
    ]


class LeoState(ctypes.Structure):
    _fields_ = [
        ("bbr", State),
        *((name, ctypes.c_uint64) for name in ("begin_us", "last_us", "kalman_rate", "round_rate")),
        ("paced_rate", ctypes.c_uint64 * 2),
        *words("variance", "round_delivered"),
        ("settle_rounds", ctypes.c_uint8),
    ]


class Core(BbrCore):
    def __init__(self, library: Path, srtt_us: int, params: Params = Params(), bbr: BbrParams = BBR) -> None:
        values = [*vars(bbr).values(), *vars(params).values()]
        self.lib, self.params, self.state = ctypes.CDLL(str(library)), _Params(*values), LeoState()
        self.lib.leocc_begin(ctypes.byref(self.state), ctypes.byref(Start(0, 1, 45, 3, 10, srtt_us, 0, 1, 7)))

    def valid(self) -> bool:
        self.lib.leocc_params_valid.restype = ctypes.c_bool
        return bool(self.lib.leocc_params_valid(ctypes.byref(self.params)))

    def queues(self, srtt_us: int) -> bool:
        self.lib.leocc_queues.restype = ctypes.c_bool
        return bool(self.lib.leocc_queues(ctypes.byref(self.state), ctypes.byref(self.params), srtt_us))


class Flow(OfBbr):
    name = "leocc"
    core: Core

    def __init__(self, library: Path, path: Link | None = None, params: Params = Params()) -> None:
        path = path or Link()
        self.core = Core(library, path.rtt_us, params)
        self.state = self.bbr = self.core.state.bbr
        super().__init__(path)

    @property
    def bandwidth(self) -> float:
        """What it sends by, in packets per microsecond."""
        return float(self.bbr.bw) / RATE_ONE

    @property
    def filtered(self) -> float:
        """What the Kalman filter has, in packets per microsecond."""
        return float(self.core.state.kalman_rate) / RATE_ONE
