# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH over a recorded ACK stream, by the very core that the kernel module runs."""

import ctypes
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.errors import UserError

TOO_FEW_BINS, RTT_TOO_LONG, NO_PREVIOUS, STAY, EXIT = range(1, 6)  # enum search_verdict
COMPARED = (STAY, EXIT)

# struct search_replayed_bin
BIN = np.dtype(
    [
        ("ack", "u8"),
        ("bin", "i8"),
        ("curr_delv_bytes", "u8"),
        ("prev_delv_bytes", "u8"),
        ("norm_permille", "i8"),
        ("rtt_us", "u4"),
        ("bin_us", "u4"),
        ("verdict", "u4"),
        ("reserved", "u4"),
    ]
)


@dataclass(frozen=True)
class SearchParams:
    """The parameters of the kernel module, by its names; the thesis's values unless said otherwise."""

    window_factor_tenths: int = 35
    bins: int = 10
    extra_bins: int = 15
    threshold_pct: int = 35


THESIS = SearchParams()


class _Params(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in SearchParams.__dataclass_fields__]


class _Stream(ctypes.Structure):
    _fields_ = [
        ("acks", ctypes.c_uint64),
        ("t_us", ctypes.c_void_p),
        ("rtt_us", ctypes.c_void_p),
        ("delivered_bytes", ctypes.c_void_p),
        ("reset", ctypes.c_void_p),
    ]


def _load(library: Path) -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library))
    loaded.search_params_valid.argtypes = [ctypes.POINTER(_Params)]
    loaded.search_params_valid.restype = ctypes.c_bool
    loaded.search_state_bytes.argtypes = [ctypes.POINTER(_Params)]
    loaded.search_state_bytes.restype = ctypes.c_size_t
    loaded.search_replay.argtypes = [
        ctypes.POINTER(_Params),
        ctypes.c_void_p,
        ctypes.POINTER(_Stream),
        ctypes.c_bool,
        ctypes.c_void_p,
    ]
    loaded.search_replay.restype = ctypes.c_uint64
    return loaded


def _column(values: npt.ArrayLike, dtype: type[np.generic], acks: int) -> npt.NDArray[Any]:
    column = np.ascontiguousarray(values, dtype=dtype)
    if column.shape != (acks,):
        raise ValueError(f"shape={column.shape}: must be one value per ACK, ({acks},)")
    return column


def replay_bins(
    library: Path,
    t_us: npt.ArrayLike,
    rtt_us: npt.ArrayLike,
    delivered_bytes: npt.ArrayLike,
    params: SearchParams = THESIS,
    *,
    reset: npt.ArrayLike | None = None,
    stop_at_exit: bool = True,
) -> npt.NDArray[Any]:
    """Every bin decision, as the core's own integers (dtype BIN)."""
    loaded = _load(library)
    c_params = _Params(*astuple(params))
    if not loaded.search_params_valid(c_params):
        raise UserError(f"{params}: must be within the ranges of lab/kernel/search/search_core.h")
    acks = len(np.atleast_1d(np.asarray(t_us)))
    columns = [
        _column(t_us, np.uint64, acks),
        _column(rtt_us, np.int32, acks),
        _column(delivered_bytes, np.uint64, acks),
        _column(reset if reset is not None else np.zeros(acks), np.uint8, acks),
    ]
    memory = np.zeros(loaded.search_state_bytes(c_params), dtype=np.uint8)
    bins = np.zeros(acks, dtype=BIN)
    stream = _Stream(acks, *(column.ctypes.data for column in columns))
    count = loaded.search_replay(c_params, memory.ctypes.data, stream, stop_at_exit, bins.ctypes.data)
    return bins[:count]


def replay(
    library: Path,
    t_us: npt.ArrayLike,
    rtt_us: npt.ArrayLike,
    delivered_bytes: npt.ArrayLike,
    params: SearchParams = THESIS,
    *,
    reset: npt.ArrayLike | None = None,
    stop_at_exit: bool = True,
) -> pl.DataFrame:
    """One row per bin decision, with the columns of bins.parquet that an ACK stream can tell.

    An ACK with rtt_us <= 0 has no RTT sample and is skipped, as in the kernel.
    reset: nonzero where SEARCH started anew before the ACK (idle restart, timeout).
    stop_at_exit=False goes on after the exit, for curves; `exit` stays true for the first only, since a
    sender that has left slow start cannot leave it again before a reset.
    """
    bins = replay_bins(library, t_us, rtt_us, delivered_bytes, params, reset=reset, stop_at_exit=stop_at_exit)
    t_s = np.atleast_1d(np.asarray(t_us, dtype=np.uint64))[bins["ack"]] / 1e6
    start = np.cumsum(np.asarray(reset) != 0)[bins["ack"]] if reset is not None else np.zeros(len(bins))
    return _table(bins, t_s, start)


def _table(bins: npt.NDArray[Any], t_s: npt.NDArray[Any], start: npt.NDArray[Any]) -> pl.DataFrame:
    raw = pl.DataFrame({name: bins[name] for name in BIN.names or ()} | {"t_s": t_s, "start": start})
    compared = pl.col("verdict").is_in(COMPARED)
    return raw.with_columns(crossed=pl.col("verdict") == EXIT).select(
        "t_s",
        pl.col("bin").cast(pl.Int32),
        rtt_ms=pl.col("rtt_us") / 1e3,
        bin_ms=pl.col("bin_us") / 1e3,
        curr_delv_bytes=pl.when(compared).then(pl.col("curr_delv_bytes").cast(pl.Int64)),
        prev_delv_bytes=pl.when(compared).then(pl.col("prev_delv_bytes").cast(pl.Int64)),
        norm_pct=pl.when(compared).then(pl.col("norm_permille") / 10),
        exit=pl.col("crossed") & (pl.col("crossed").cum_sum().over("start") == 1),
    )
