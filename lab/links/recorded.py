# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded series of a profile: a column of a recording, from a point that the trial's seed draws."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from lab.base.errors import field_error
from lab.base.plain_file import require_plain
from lab.links.model import MOST, NotNegative, Positive
from lab.links.steps import Row, Steps
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab.schema.load import Real, Strict
from lab.traces import batches, importers, recording
from lab.traces.batches import Batches
from lab.traces.importers import imported, imported_dataset
from lab.traces.recording import Scan

ROUNDING_S = 1e-9
SHORT_S = 1.0  # a loop shorter than this is held in memory several times over
STORED = "recording"  # the format of what the lab stored itself
BINNED = "rate_mbps"  # what opportunities become where they serve as a rate
OF_VALUES = ("column", "bin_ms", "zero", "under_load_s")  # fields of a series that opportunities do not have


class Series(Strict):
    """A recorded quantity: a dataset of datasets.yml, or a file in the folder of the profile."""

    dataset: str | None = None
    file: str | None = None
    format: str | None = None  # the file's importer, where its content does not show it
    column: str | None = None  # of the recording; else the one that fits the quantity
    bin_ms: Annotated[Real, Field(ge=1, le=MOST)] = 10.0  # opportunities are counted in bins of this length
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

    def changed(self, names: Iterable[str]) -> list[str]:
        """Return which of these fields have another value than by default."""
        return [name for name in names if getattr(self, name) != Series.model_fields[name].default]

    @property
    def name(self) -> str:
        return self.dataset or str(self.file)

    @property
    def group(self) -> str:
        """Return the clock it shares, else one of its own."""
        return self.clock or self.name


@dataclass(frozen=True)
class Recorded:
    """A series with its data at hand: values over time, read from disk as needed."""

    series: Series
    batches: Callable[[], Batches]  # from its beginning with each call; times rise from 0, nothing is missing
    length_s: float
    meaning: str | None
    gaps_s: Callable[[], list[float]] = list  # how long each one lasts over which the last value is held
    holds: bool = True  # a value until the next one; an opportunity is for its instant only

    def nominal(self) -> float:
        """Return the mean over the recording's time; of what is for its instant only, the sum a second."""
        if not self.holds:
            return sum(float(value.sum()) for _, value in self.batches()) / self.length_s
        total, last_s, last = 0.0, 0.0, 0.0
        for t_s, value in self.batches():
            total += float(np.diff(t_s, prepend=last_s) @ np.concatenate([[last], value[:-1]]))
            last_s, last = float(t_s[-1]), float(value[-1])
        return (total + (self.length_s - last_s) * last) / self.length_s

    def least(self) -> float:
        """Return the smallest value."""
        return min(float(value.min()) for _, value in self.batches())

    def window(self, phase_s: float, duration_s: float) -> Steps:
        """Return the series from `phase_s` on for `duration_s`, starting again where it ends."""
        whole = self._in_fewer_loops() if self.length_s < min(SHORT_S, duration_s) else self
        return Steps(lambda: whole._rows(phase_s, duration_s))

    def _in_fewer_loops(self) -> "Recorded":
        """Hold a recording of milliseconds as often as a second takes: a trial would read it a thousand times."""
        times = math.ceil(SHORT_S / self.length_s)
        piece = batches.repeated(self.batches(), self.length_s, times)
        return replace(self, batches=lambda: iter([piece]), length_s=times * self.length_s)

    def _rows(self, phase_s: float, duration_s: float) -> Iterator[Row]:
        shown_s, begin_s = 0.0, phase_s
        while duration_s - shown_s > ROUNDING_S:
            end_s = min(self.length_s, begin_s + duration_s - shown_s)
            for t_s, value in self._between(begin_s, end_s):
                yield from zip((t_s + (shown_s - begin_s)).tolist(), value.tolist(), strict=True)
            shown_s, begin_s = shown_s + end_s - begin_s, 0.0

    def _between(self, begin_s: float, end_s: float) -> Batches:
        """Cut a span out; first comes what holds as it begins: before the first row, that row's value.

        An opportunity at its end is part of it, as mahimahi's last line is of each loop; a value there begins later.
        """
        before: float | None = None
        begun = not self.holds
        side: Literal["left", "right"] = "left" if self.holds else "right"
        for t_s, value in self.batches():
            first, last = np.searchsorted(t_s, begin_s, "right"), np.searchsorted(t_s, end_s, side)
            before = float(value[first - 1]) if first else before
            if first == len(t_s):
                continue
            if not begun:
                yield np.array([begin_s]), np.array([value[first] if before is None else before])
                begun = True
            yield t_s[first:last], value[first:last]
            if last < len(t_s):
                return
        if not begun:
            yield np.array([begin_s]), np.array([before])


def load_series(series: Series, columns: tuple[str, ...], profile: Path, field: str) -> Recorded:
    """Find a series' recording and its column; `columns` are those that fit the quantity, best first."""
    scan = recording.scan(_stored(series, profile, field))
    if scan.kind == "samples":
        raise field_error(profile, field, series.name, "a recording with a clock, not samples")
    known = [name for name in scan.frame.collect_schema().names() if name not in ("t_s", "opportunities")]
    known += [BINNED] if scan.kind == "opportunities" else []
    column = _column(series, columns, known, profile, field)
    if column != BINNED and series.changed(["bin_ms"]):
        rule = f"left out: {column} has values, and opportunities alone are counted in bins"
        raise field_error(profile, f"{field}.bin_ms", series.bin_ms, rule)

    end_s = _last_opportunity_s(scan, profile, field, series) if column == BINNED else None

    def source() -> Batches:
        return batches.column(scan.batches(), column) if end_s is None else _binned(scan, series, end_s)

    def values() -> Batches:
        return _cleaned(source(), series)

    length_s = end_s or _length_s(values(), scan, profile, field, series)
    return Recorded(series, values, length_s, scan.meaning, lambda: batches.gaps_s(source(), series.zero == "missing"))


def load_opportunities(series: Series, profile: Path, field: str) -> Recorded:
    """Find a recording of delivery opportunities, as bytes that may pass at each of its times."""
    scan = recording.scan(_stored(series, profile, field))
    if scan.kind != "opportunities":
        raise field_error(profile, field, series.name, "a recording of delivery opportunities (mahimahi's format)")
    unit, end_s = FRAME_BYTES * series.scale, _last_opportunity_s(scan, profile, field, series)

    def values() -> Batches:
        return ((t_s, count * unit) for t_s, count in _opportunities(scan, series))

    return Recorded(series, values, end_s, scan.meaning, holds=False)


def draw_phases(series: list[Recorded], duration_s: float, rng: np.random.Generator, profile: Path) -> dict[str, float]:
    """Draw where each clock's series start; a series that is too short and does not loop is refused."""
    room_s: dict[str, float] = {}
    for one in series:
        if one.length_s < duration_s and not one.series.loop:
            needed = f"as long as the trial until all is closed ({duration_s:g} s; it has {one.length_s:.6g} s)"
            raise field_error(profile, "series", one.series.name, f"{needed}, or used with `loop: true`")
        room = one.length_s if one.series.loop else one.length_s - duration_s
        room_s[one.series.group] = min(room_s.get(one.series.group, room), room)
    return {group: float(rng.uniform(0, room)) for group, room in sorted(room_s.items())}


def _stored(series: Series, profile: Path, field: str) -> Path:
    """Return the stored recording; UserError names what to fetch, or the missing file."""
    if series.dataset:
        return imported_dataset(series.dataset)
    path = profile.parent / str(series.file)
    require_plain(path)
    if not path.exists():
        raise field_error(profile, f"{field}.file", series.file, "a file in the folder of the profile")
    return imported(path, series.format or _shown_format(path, profile, field))


def _shown_format(path: Path, profile: Path, field: str) -> str | None:
    """Return the one format that a file's content shows; None where it is a stored recording itself."""
    found = importers.fitting(path)
    if len(found) == 1 and not found[0].ambiguous:
        return None if found[0].name == STORED else found[0].name
    if not found:
        rule = "a file of a known format ('lab traces formats'), or what 'lab traces import FILE --out' stored of it"
        raise field_error(profile, f"{field}.file", path.name, rule)
    names = " or ".join(f"{one.name} ({one.reads})" for one in found)
    rule = f"given, because the content of {path.name} does not decide it: {names}"
    raise field_error(profile, f"{field}.format", "", rule)


def _column(series: Series, fitting: tuple[str, ...], known: list[str], profile: Path, field: str) -> str:
    columns = (series.column,) if series.column else fitting
    for name in columns:
        if name in known:
            return name
    raise field_error(profile, f"{field}.column", series.column or series.name, f"one of {', '.join(known)}")


def _opportunities(scan: Scan, series: Series) -> Batches:
    rows = batches.present(batches.column(scan.batches(), "opportunities"))
    return batches.looped(rows) if series.loop else rows


def _last_opportunity_s(scan: Scan, profile: Path, field: str, series: Series) -> float:
    """Return the time of the last opportunity: the recording's length, and the period of its loop (mahimahi's rule)."""
    last = scan.frame.filter(pl.col("opportunities").is_not_null()).select(pl.col("t_s").last()).collect().item()
    if not last:
        raise field_error(profile, field, series.name, "a recording whose last delivery opportunity is after 0 ms")
    return float(last)


def _binned(scan: Scan, series: Series, end_s: float) -> Batches:
    """Count opportunities in bins, as a rate in Mb/s."""
    megabit = series.bin_ms * 1e3 / 8 / FRAME_BYTES  # that many opportunities a bin are 1 Mb/s
    return batches.binned(_opportunities(scan, series), series.bin_ms / 1e3, megabit, end_s)


def _cleaned(values: Batches, series: Series) -> Batches:
    """Fill gaps, scale, and take the queue out where the profile requires it."""
    whole = batches.held(values, series.zero == "missing", series.scale)
    return batches.least_of(whole, series.under_load_s) if series.under_load_s else whole


def _length_s(values: Batches, scan: Scan, profile: Path, field: str, series: Series) -> float:
    """Return how long values last: as stated, less a gap at the begin; else the last row as rows usually do."""
    steps_s, last_s = np.empty(0), -1.0
    for t_s, _ in values:
        steps_s, last_s = steps_s if len(steps_s) else np.diff(t_s), float(t_s[-1])
    if last_s < 0 or not (scan.length_s or len(steps_s)):
        raise field_error(profile, field, series.name, "a recording of at least two rows, with values")
    if scan.length_s is not None:
        return scan.length_s - (float(scan.frame.select(pl.col("t_s").last()).collect().item()) - last_s)
    return last_s + float(np.median(steps_s))
