# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay SEARCH over a recorded ACK stream, by the core that the kernel module runs."""

import ctypes
from dataclasses import dataclass
from functools import cache
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.base.errors import UserError, field_error
from lab.kernel.build import find

# enum search_verdict
TOO_FEW_BINS, RTT_TOO_LONG, NO_PREVIOUS, AFTER_SILENCE, NOT_FILLED, RTT_FELL, STAY, EXIT = range(1, 9)
COMPARED = (STAY, EXIT)
TWICE_DELIVERED, SENT, SENT_HELD = range(3)  # enum search_expected
WHOLE_BINS, FRACTION, NEAREST_BIN, ENDED_BINS, PERCENT, PERCENT_ONCE, TOWARDS_PRESENT = range(
    7
)  # enum search_interpolation
HISTORY_NONE, HISTORY_WHOLE, HISTORY_RESET = range(3)  # enum search_history
AGAIN_NEW, AGAIN_GO_ON, AGAIN_NEVER = range(3)  # enum search_again
KEEP_CWND, ROLL_BACK, DRAIN = range(3)  # enum search_on_exit
ROOM_BINS = 1 << 14  # of a call: memory does not grow with the stream

# struct search_replayed_bin
BIN = np.dtype(
    [
        ("ack", "u8"),
        ("bin", "i8"),
        ("curr_delv_bytes", "u8"),
        ("prev_delv_bytes", "u8"),
        ("expected_bytes", "u8"),
        ("last_rtt_bytes", "u8"),
        ("last_two_rtt_bytes", "u8"),
        ("norm_permille", "i8"),
        ("rtt_us", "u4"),
        ("bin_us", "u4"),
        ("verdict", "u4"),
        ("reserved", "u4"),
    ]
)


@dataclass(frozen=True)
class SearchParams:
    """struct search_params, by the names of the modules' parameters; the defaults are Algorithm 1 of the thesis."""

    window_factor_tenths: int = 35
    bins: int = 10
    extra_bins: int = 15
    threshold_pct: int = 35
    expected: int = TWICE_DELIVERED
    interpolation: int = FRACTION
    skip_equal: int = 0
    unchecked: int = 0
    history: int = HISTORY_NONE
    end_closes: int = 0
    missed_bins_max: int = 0
    long_rtt: int = 0
    restart_rtt_pct: int = 0
    restart_next: int = 0
    app_limited: int = 0  # for the module, as are the three that follow
    in_recovery: int = 0
    again: int = AGAIN_NEW
    epoch_blind_ms: int = 0
    on_exit: int = KEEP_CWND


PRINTED = SearchParams()  # "search2_printed"; the experiments ran "search2"


@dataclass(frozen=True)
class Version:
    """A version's published parameters, and whether a flow's state lies packed in its socket."""

    params: SearchParams
    compact: bool = False


# Of t_us, rtt_us, delivered_bytes, sent_bytes, limited and reset.
STREAM_TYPES: tuple[type[np.generic], ...] = (np.uint64, np.int32, np.uint64, np.uint64, np.uint8, np.uint8)


def replay_library() -> Path | None:
    """Return the compiled SEARCH core; none where no kernel is built."""
    kernel = find()
    return kernel.replay_library if kernel else None


def _load(library: Path) -> ctypes.CDLL:
    """Load the core; its structs are given by their address: of numbers of one size, or as bytes."""
    loaded, at = ctypes.CDLL(str(library)), ctypes.c_void_p
    loaded.search_version_name.argtypes = [ctypes.c_uint64]
    loaded.search_version_name.restype = ctypes.c_char_p
    loaded.search_version_named.argtypes = [ctypes.c_char_p, at, at]
    loaded.search_version_named.restype = ctypes.c_bool
    loaded.search_replay_bytes.argtypes = [at, ctypes.c_bool]
    loaded.search_replay_bytes.restype = ctypes.c_size_t
    loaded.search_exit_pkts.argtypes = [at, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint32]
    loaded.search_exit_pkts.restype = ctypes.c_uint32
    loaded.search_replay.argtypes = [at, ctypes.c_bool, at, at, ctypes.c_bool, at, ctypes.c_uint64]
    loaded.search_replay.restype = ctypes.c_uint64
    return loaded


def _words(params: SearchParams) -> npt.NDArray[np.uint32]:
    """Return struct search_params."""
    return np.fromiter(vars(params).values(), dtype=np.uint32)


def built_versions(library: Path) -> list[str]:
    """Return the names of the versions in a library: one per file lab/kernel/search/tcp_search*.c."""
    return [name.decode() for name in takewhile(bool, map(_load(library).search_version_name, count()))]


@cache
def version(library: Path, name: str) -> Version:
    """Return a version by its congestion control's name, with the parameters of its C file."""
    words, compact = _words(PRINTED), np.zeros(1, dtype=bool)
    if not _load(library).search_version_named(name.encode(), words.ctypes.data, compact.ctypes.data):
        rule = f"one of {', '.join(built_versions(library))}"
        raise field_error("lab/kernel/search/tcp_search*.c", "SEARCH_NAME", name, rule)
    return Version(SearchParams(*words.tolist()), bool(compact[0]))


def exit_pkts(library: Path, params: SearchParams, row: Any, cwnd_pkts: int, mss_bytes: int) -> int:
    """Return the window with which an exit (a row of dtype BIN) leaves slow start."""
    words, decision = _words(params), row.tobytes()[BIN["ack"].itemsize :]
    return int(_load(library).search_exit_pkts(words.ctypes.data, decision, cwnd_pkts, mss_bytes))


def _column(values: npt.ArrayLike, dtype: type[np.generic], acks: int) -> npt.NDArray[Any]:
    column = np.ascontiguousarray(values, dtype=dtype)
    if column.shape != (acks,):
        raise ValueError(f"shape={column.shape}: must be one value per ACK, ({acks},)")
    return column


class More(TypedDict, total=False):
    """What else a replay may be given."""

    sent_bytes: npt.ArrayLike | None
    limited: npt.ArrayLike | None  # nonzero where the sender did not fill its window
    reset: npt.ArrayLike | None  # nonzero where SEARCH started again before the ACK (idle restart, timeout)
    compact: bool  # with the packed state of search31
    stop_at_exit: bool  # the default


def replay_bins(
    library: Path,
    t_us: npt.ArrayLike,
    rtt_us: npt.ArrayLike,
    delivered_bytes: npt.ArrayLike,
    params: SearchParams = PRINTED,
    **more: Unpack[More],
) -> npt.NDArray[Any]:
    """Return every bin decision, as the core's own integers (dtype BIN).

    Arrays of the core's own types (u8, i4, u8, u8, u1, u1) are read in place.
    """
    if params.expected != TWICE_DELIVERED and more.get("sent_bytes") is None:
        raise ValueError("sent_bytes=None: must be given to versions that expect what was sent")
    loaded = _load(library)
    words, compact = _words(params), more.get("compact", False)
    state_bytes = loaded.search_replay_bytes(words.ctypes.data, compact)
    if not state_bytes:
        raise UserError(f"{params}: must be within the ranges of lab/kernel/search/search_core.h")
    acks = len(np.atleast_1d(np.asarray(t_us)))
    given = (t_us, rtt_us, delivered_bytes, more.get("sent_bytes"), more.get("limited"), more.get("reset"))
    columns = [
        None if values is None else _column(values, dtype, acks)
        for values, dtype in zip(given, STREAM_TYPES, strict=True)
    ]
    places = [0 if column is None else column.ctypes.data for column in columns]
    stream = np.array([acks, 0, *places], dtype=np.uint64)  # struct search_stream; the second: the next ACK
    stops = more.get("stop_at_exit", True)
    memory = np.zeros(-(-state_bytes // 8), dtype=np.uint64)
    parts = [np.zeros(0, dtype=BIN)]
    while stream[1] < acks:
        bins = np.zeros(min(acks, ROOM_BINS), dtype=BIN)
        flow, place = (words.ctypes.data, compact, memory.ctypes.data, stream.ctypes.data), bins.ctypes.data
        count = loaded.search_replay(*flow, stops, place, len(bins))
        parts.append(bins[:count])
    return np.concatenate(parts)


def replay(
    library: Path,
    t_us: npt.ArrayLike,
    rtt_us: npt.ArrayLike,
    delivered_bytes: npt.ArrayLike,
    params: SearchParams = PRINTED,
    *,
    sent_bytes: npt.ArrayLike | None = None,
    compact: bool = False,
    stop_at_exit: bool = True,
) -> pl.DataFrame:
    """Return one row per bin decision, with the columns of bins.parquet that follow from an ACK stream.

    An ACK with rtt_us <= 0 has no RTT sample and is skipped, as in the kernel.
    stop_at_exit=False goes on after the exit, for curves; `exit` stays true for the first only, since a
    sender that has left slow start cannot leave it again.
    """
    more = More(sent_bytes=sent_bytes, compact=compact, stop_at_exit=stop_at_exit)
    bins = replay_bins(library, t_us, rtt_us, delivered_bytes, params, **more)
    t_s = np.atleast_1d(np.asarray(t_us, dtype=np.uint64))[bins["ack"]] / 1e6
    raw = pl.DataFrame({name: bins[name] for name in BIN.names or ()} | {"t_s": t_s})
    compared, crossed = pl.col("verdict").is_in(COMPARED), pl.col("verdict") == EXIT
    return raw.select(
        "t_s",
        pl.col("bin").cast(pl.Int32),
        rtt_ms=pl.col("rtt_us") / 1e3,
        bin_ms=pl.col("bin_us") / 1e3,
        curr_delv_bytes=pl.when(compared).then(pl.col("curr_delv_bytes").cast(pl.Int64)),
        prev_delv_bytes=pl.when(compared).then(pl.col("prev_delv_bytes").cast(pl.Int64)),
        norm_pct=pl.when(compared).then(pl.col("norm_permille") / 10),
        exit=crossed & (crossed.cum_sum() == 1),
    )


WINDOW_BINS, WINDOW_RTTS, EXTRA_BINS = PRINTED.bins, PRINTED.window_factor_tenths / 10, PRINTED.extra_bins


def needed_bins(trials: pl.DataFrame) -> pl.Series:
    """Return the extra bins that each trial's largest round trip needs (thesis, equation 4.5); null without one."""
    ratio = pl.col("max_rtt_ms") / pl.col("initial_rtt_ms")
    return trials.select(bins=(ratio * WINDOW_BINS / WINDOW_RTTS).ceil())["bins"]
