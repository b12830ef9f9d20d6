# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded series of a profile: a column of a recording, from a point that the trial's seed draws."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from pydantic import model_validator

from lab.errors import UserError, field_error
from lab.links.models import NotNegative, Positive
from lab.links.steps import Row, Steps
from lab.schema.load import Strict
from lab.traces import recording
from lab.traces.imported import imported, imported_dataset

FRAME_BYTES = 1514  # what one opportunity carries: a packet of 1500 bytes in its Ethernet frame, as tc counts
ROWS_AT_ONCE = 100_000
ROUNDING_S = 1e-9
BINNED = "rate_mbps"  # what opportunities become where they serve as a rate


class Series(Strict):
    """A recorded quantity: a dataset of datasets.yml, or a file beside the profile."""

    dataset: str | None = None
    file: str | None = None
    format: str | None = None  # the file's importer, where its content does not tell
    column: str | None = None  # of the recording; else the one that fits the quantity
    bin_ms: Positive = 10.0  # opportunities are counted in bins of this length
    scale: Positive = 1.0
    clock: str | None = None  # series of one clock were recorded together, and start together
    loop: bool = False  # else a trial longer than the recording is refused
    zero: Literal["stall", "missing"] = "stall"
    under_load_s: NotNegative = 0.0  # RTT of a loaded path: take the minimum over this time, without the queue

    @model_validator(mode="after")
    def _one_origin(self) -> "Series":
        if (self.dataset is None) == (self.file is None):
            raise ValueError("a series with either dataset or file")
        return self

    @property
    def name(self) -> str:
        """Return what the report calls it."""
        return self.dataset or str(self.file)

    @property
    def group(self) -> str:
        """Return the clock it shares, else one of its own."""
        return self.clock or self.name


@dataclass(frozen=True)
class Recorded:
    """A series with its data at hand: rows of (t_s, value), read from disk as needed."""

    asked: Series
    frame: pl.LazyFrame  # t_s and value, in order, without gaps
    length_s: float
    meaning: str | None
    holds: bool = True  # a value until the next one; an opportunity is for its instant only

    def nominal(self) -> float:
        """Return the mean over the recording's time."""
        return float(_collect(self.frame.select(_mean_over_time(self.length_s))).item())

    def least(self) -> float:
        """Return the smallest value."""
        return float(_collect(self.frame.select(pl.col("value").min())).item())

    def window(self, phase_s: float, duration_s: float) -> Steps:
        """Return the series from `phase_s` on for `duration_s`, going round where it ends."""
        return Steps(lambda: self._rows(phase_s, duration_s))

    def _rows(self, phase_s: float, duration_s: float) -> Iterator[Row]:
        shown_s, begin_s = 0.0, phase_s
        while duration_s - shown_s > ROUNDING_S:
            end_s = min(self.length_s, begin_s + duration_s - shown_s)
            if self.holds:
                yield shown_s, self._at(begin_s)
            inside = self.frame.filter((pl.col("t_s") > begin_s) & (pl.col("t_s") < end_s))
            for batch in inside.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True):
                for t_s, value in batch.iter_rows():
                    yield shown_s + t_s - begin_s, value
            shown_s, begin_s = shown_s + end_s - begin_s, 0.0

    def _at(self, t_s: float) -> float:
        """Return the value in force at a time; before the first row, that row's."""
        before = _collect(self.frame.filter(pl.col("t_s") <= t_s).select("value").last())
        return float(before.item() if before.height and before.item() is not None else self._first())

    def _first(self) -> float:
        return float(_collect(self.frame.select("value").first()).item())


def load_series(series: Series, columns: tuple[str, ...], profile: Path, field: str) -> Recorded:
    """Find a series' recording and its column; `columns` are those that fit the quantity, best first."""
    scan = recording.scan(_stored(series, profile, field))
    if scan.kind == "samples":
        raise field_error(profile, field, series.name, "a recording with a clock, not samples")
    frame = scan.frame
    known = [name for name in frame.collect_schema().names() if name not in ("t_s", "opportunities")]
    known += [BINNED] if scan.kind == "opportunities" else []
    column = _column(series, columns, known, profile, field)
    frame = _binned(frame, series.bin_ms) if column == BINNED else frame
    values = _cleaned(frame.select("t_s", pl.col(column).cast(pl.Float64).alias("value")), series)
    return Recorded(series, values, _length_s(values, profile, field, series), scan.meaning)


def load_opportunities(series: Series, profile: Path, field: str) -> Recorded:
    """Find a recording of delivery opportunities, as bytes that may pass at each of its times."""
    scan = recording.scan(_stored(series, profile, field))
    if scan.kind != "opportunities":
        raise field_error(profile, field, series.name, "a recording of delivery opportunities (mahimahi's format)")
    bytes_ = (pl.col("opportunities").cast(pl.Float64) * FRAME_BYTES * series.scale).alias("value")
    values = scan.frame.select("t_s", bytes_).drop_nulls()
    return Recorded(series, values, _length_s(values, profile, field, series), scan.meaning, holds=False)


def draw_phases(series: list[Recorded], duration_s: float, rng: np.random.Generator, profile: Path) -> dict[str, float]:
    """Draw where each clock's series start; a series that is too short and does not loop is refused."""
    room_s: dict[str, float] = {}
    for one in series:
        if one.length_s < duration_s and not one.asked.loop:
            needed = f"as long as the trial until all is closed ({duration_s:g} s; it has {one.length_s:.6g} s)"
            raise field_error(profile, "series", one.asked.name, f"{needed}, or used with `loop: true`")
        room = one.length_s if one.asked.loop else one.length_s - duration_s
        room_s[one.asked.group] = min(room_s.get(one.asked.group, room), room)
    return {group: float(rng.uniform(0, room)) for group, room in sorted(room_s.items())}


def _stored(series: Series, profile: Path, field: str) -> Path:
    """Return the stored recording; UserError says what to fetch or which file is missing."""
    if series.dataset:
        return imported_dataset(series.dataset)
    path = profile.parent / str(series.file)
    if not path.exists():
        raise field_error(profile, f"{field}.file", series.file, "a file beside the profile")
    return imported(path, series.format)


def _column(series: Series, fitting: tuple[str, ...], known: list[str], profile: Path, field: str) -> str:
    asked = (series.column,) if series.column else fitting
    for name in asked:
        if name in known:
            return name
    raise field_error(profile, f"{field}.column", series.column or series.name, f"one of {', '.join(known)}")


def _binned(frame: pl.LazyFrame, bin_ms: float) -> pl.LazyFrame:
    """Count opportunities in bins, empty ones included, as a rate."""
    mbps = 8 * FRAME_BYTES / bin_ms / 1e3
    number = (pl.col("t_s") * 1e3 / bin_ms + 1e-9).floor().cast(pl.Int64).alias("bin")
    counts = frame.group_by(number).agg(pl.col("opportunities").sum()).sort("bin")
    last = int(_collect(counts.select(pl.col("bin").max())).item())
    every = pl.LazyFrame({"bin": pl.arange(0, last + 1, dtype=pl.Int64, eager=True)})
    return every.join(counts, on="bin", how="left", maintain_order="left").select(
        (pl.col("bin") * bin_ms / 1e3).alias("t_s"), (pl.col("opportunities").fill_null(0) * mbps).alias(BINNED)
    )


def _cleaned(frame: pl.LazyFrame, series: Series) -> pl.LazyFrame:
    """Hold the last value where one is missing; leave a gap at the beginning out."""
    value = pl.col("value").fill_nan(None)
    if series.zero == "missing":
        value = pl.when(value != 0).then(value)
    held = frame.with_columns((value * series.scale).fill_null(strategy="forward")).drop_nulls("value")
    held = held.with_columns(pl.col("t_s") - pl.col("t_s").first())
    if not series.under_load_s:
        return held
    clock = (pl.col("t_s") * 1e6).cast(pl.Int64).alias("t_us")
    around = pl.col("value").rolling_min_by("t_us", window_size=f"{round(series.under_load_s * 1e6)}i")
    return held.with_columns(clock).with_columns(around).drop("t_us")


def _length_s(frame: pl.LazyFrame, profile: Path, field: str, series: Series) -> float:
    """Return how long the recording lasts: its last row as long as its rows usually do."""
    t_s = pl.col("t_s")
    last, step, count = _collect(frame.select(t_s.last(), t_s.diff().median().alias("step"), pl.len())).row(0)
    if count < 2:
        raise field_error(profile, field, series.name, "a recording of at least two rows")
    return float(last + step)


def _mean_over_time(length_s: float) -> pl.Expr:
    held_s = pl.col("t_s").shift(-1).fill_null(length_s) - pl.col("t_s")
    return (pl.col("value") * held_s).sum() / held_s.sum()


def _collect(frame: pl.LazyFrame) -> pl.DataFrame:
    try:
        return frame.collect()
    except (OSError, pl.exceptions.ComputeError) as error:
        raise UserError(f"recording: {error}: must be a readable recording: fetch or import it again") from None
