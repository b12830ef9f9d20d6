# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up ACK streams for the tests of SEARCH, and what the core decides on them."""

from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from lab_papers.search_replay import COMPARED, PRINTED, SearchParams, Version, replay_bins, version

from lab.schema.cca import search_versions

ALL_VERSIONS = search_versions()
FORWARD = "search9_printed"  # its earlier window lies too late: it leaves flows that still double (test_search_neqo.py)
VERSIONS = tuple(name for name in ALL_VERSIONS if name != FORWARD)
AT_26_PCT = ("search", "search9")
PUBLISHED = ("search2", "search31")  # with the habits of the published code
PACKED = "packed"  # 3.1's state in its socket, without its habits
SOUND = (*(name for name in VERSIONS if name not in PUBLISHED), PACKED)

Bins = npt.NDArray[Any]
RTT_US = 1000
BIN_US = 350  # of an initial RTT of RTT_US
DECISION = ["ack", "bin", "curr_delv_bytes", "prev_delv_bytes", "norm_permille", "verdict"]


class Acks(NamedTuple):
    t_us: npt.NDArray[np.uint64]
    rtt_us: npt.NDArray[np.int32]
    delivered_bytes: npt.NDArray[np.uint64]

    def only(self, which: npt.ArrayLike | slice) -> "Acks":
        """The ACKs that an index, slice or mask picks."""
        index = which if isinstance(which, slice) else np.asarray(which)
        return Acks(self.t_us[index], self.rtt_us[index], self.delivered_bytes[index])

    def without(self, which: int | slice) -> "Acks":
        return self.only(np.delete(np.arange(len(self.t_us)), which))


def decide(library: Path, acks: Acks, params: SearchParams = PRINTED, **options: Any) -> Bins:
    return replay_bins(library, *acks, params, **({"stop_at_exit": False} | options))


def known(library: Path, name: str) -> Version:
    """A version by its name, or the packed state."""
    return Version(SearchParams(extra_bins=14), compact=True) if name == PACKED else version(library, name)


def decide_as(library: Path, name: str, acks: Acks, **options: Any) -> Bins:
    """What a version decides; fields of its parameters may be among the options.

    A flow in slow start has sent twice what was delivered, so that all versions expect the same.
    """
    published = known(library, name)
    changes = {field: options.pop(field) for field in list(options) if field in SearchParams.__dataclass_fields__}
    given = {"sent_bytes": 2 * acks.delivered_bytes, "compact": published.compact} | options
    return decide(library, acks, replace(published.params, **changes), **given)


def compared(bins: Bins) -> Bins:
    return bins[np.isin(bins["verdict"], COMPARED)]


def one_ack_a_bin(bytes_per_bin: list[int], last_rtt_us: int = RTT_US) -> Acks:
    """A start, then an ACK 1 us after the end of each bin; the last one has an RTT of its own."""
    t_us = np.arange(len(bytes_per_bin) + 1, dtype=np.uint64) * np.uint64(BIN_US)
    t_us[1:] += np.uint64(1)
    rtt_us = np.full(len(t_us), RTT_US, dtype=np.int32)
    rtt_us[-1] = last_rtt_us
    return Acks(t_us, rtt_us, np.cumsum([0, *bytes_per_bin], dtype=np.uint64))


def slow_start(rtt_us: int, rounds: float, spacing: float, capacity_round: float = 1e9) -> Acks:
    """Delivery at a rate that doubles each RTT, up to a capacity; an ACK every `spacing` RTTs."""
    r = np.arange(0, rounds, spacing)
    growing, full = np.minimum(r, capacity_round), np.maximum(r - capacity_round, 0)
    delivered = 1e6 * (2**growing / log(2) + 2 ** min(capacity_round, rounds) * full)
    t_us = np.floor(r * rtt_us).astype(np.uint64)
    return Acks(t_us, np.full(len(r), rtt_us, dtype=np.int32), delivered.astype(np.uint64))


Whole = st.SearchStrategy[int]


@st.composite
def rough_acks(draw: st.DrawFn, step_us: Whole, rtt_us: Whole, acked_bytes: Whole, first_rtt_us: Whole) -> Acks:
    """ACKs now close, now far apart, of few bytes or many, with RTT samples of all sizes."""
    ack = st.tuples(step_us, rtt_us, acked_bytes)
    rows = np.array(draw(st.lists(ack, min_size=1, max_size=200)), dtype=np.int64)
    rows[0, 1] = draw(first_rtt_us)
    t_us, delivered = np.cumsum(rows[:, 0]), np.cumsum(rows[:, 2])
    return Acks(t_us.astype(np.uint64), rows[:, 1].astype(np.int32), delivered.astype(np.uint64))
