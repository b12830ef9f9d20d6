# SPDX-License-Identifier: GPL-2.0-or-later
"""How round trips swing: the thesis's Fourier transform (section 4.5.1, figure 4.7) of a recording.

The thesis averages slow starts, each some 20 round trips long; so a recording is cut into windows of that length, and
the amplitudes of all windows are averaged. A swing that a window does not hold twice counts as its trend.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # loads scipy.fft and scipy.signal at their first use, as in lab/base/stats.py

from lab.base.errors import UserError, field_error
from lab.traces.recording import Recording

# Cycle in s and minimum round trip in ms: thesis, section 4.5.1; WiFi's is given as a ratio only.
PUBLISHED: dict[str, tuple[float | None, float | None, float]] = {
    "GEO": (2.0, 600.0, 3.33),
    "LEO": (0.1, 30.0, 3.33),
    "WiFi": (None, None, 3.75),
    "4G LTE": (0.17, 60.0, 2.8),
}
WINDOW_RTTS = 20.0
LEAST_SAMPLES = 64  # of a window: fewer give too few frequencies
LEAST_CYCLES = 2.0  # in a window
FINER = 8  # zero padding: frequencies between those of a window, so that a peak is found where it is
MOST_MISSING = 0.25  # of a window
UNEVEN = 0.05  # of the step: by which the steps of an even clock may differ
BATCH = 4096  # windows transformed at once
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """The averaged amplitudes of the swings of a recording's round trips."""

    table: pl.DataFrame  # frequency_hz, amplitude_ms; from two cycles a window to half the sampling rate
    peaks: pl.DataFrame  # the same, cycle_s, cycle_rtts, rises_ms above its surroundings; the first, dominant, most
    min_rtt_ms: float
    step_s: float
    window_s: float
    windows: int
    notes: tuple[str, ...]

    @property
    def shortest_rtts(self) -> float:
        """Return the shortest cycle that the sampling can show, in minimum round trips."""
        return 2e3 * self.step_s / self.min_rtt_ms

    @property
    def longest_rtts(self) -> float:
        """Return the longest cycle that a window can show, in minimum round trips."""
        return 1e3 * self.window_s / LEAST_CYCLES / self.min_rtt_ms

    @property
    def rise(self) -> float | None:
        """Return which share of the dominant amplitude rises above its surroundings: near 0 there is no cycle."""
        return float(self.peaks["rises_ms"][0] / self.peaks["amplitude_ms"][0]) if self.peaks.height else None


def spectrum(recording: Recording, window_s: float | None = None) -> Spectrum:
    """Transform a recording's round trips; UserError where it has none, no clock, or too few."""
    t_s, rtt_ms, notes = _round_trips(recording)
    min_rtt_ms = float(rtt_ms.min())
    if min_rtt_ms <= 0:
        raise field_error(recording.source, "rtt_ms", min_rtt_ms, "above 0 to count cycles in round trips")
    step_s, clock_notes = _clock(recording, t_s)
    even_ms, missing = _resampled(t_s, rtt_ms, step_s)
    wanted_s = window_s or max(WINDOW_RTTS * min_rtt_ms / 1e3, LEAST_SAMPLES * step_s)
    samples = min(round(wanted_s / step_s), even_ms.size)
    if samples < LEAST_SAMPLES:
        rule = f"at least {LEAST_SAMPLES} samples a window (one every {step_s:.4g} s)"
        raise field_error(recording.source, "window_s", f"{samples * step_s:.4g}", rule)
    frequency_hz, amplitude_ms, windows, kept_notes = _averaged(even_ms, missing, samples, step_s, recording.source)
    if not window_s and wanted_s > WINDOW_RTTS * min_rtt_ms / 1e3:
        least = f"{LEAST_SAMPLES} values make a window of {wanted_s * 1e3 / min_rtt_ms:.0f} RTTs"
        notes.append(f"Sampled too seldom for windows of {WINDOW_RTTS:g} RTTs: {least}.")
    resolved = frequency_hz >= LEAST_CYCLES / (samples * step_s)
    table = pl.DataFrame({"frequency_hz": frequency_hz[resolved], "amplitude_ms": amplitude_ms[resolved]})
    peaks = _peaks(table, min_rtt_ms)
    return Spectrum(table, peaks, min_rtt_ms, step_s, samples * step_s, windows, (*notes, *clock_notes, *kept_notes))


def _round_trips(recording: Recording) -> tuple[Floats, Floats, list[str]]:
    """Take the known round trips, or twice the one-way delay."""
    if "t_s" not in recording.frame:
        raise UserError(f"{recording.source}: t_s: must be given: samples have no clock, so nothing that swings")
    column = next((name for name in ("rtt_ms", "delay_ms") if name in recording.frame), None)
    known = recording.frame.drop_nulls(column) if column else recording.frame.clear()
    if column is None or known.height < LEAST_SAMPLES:
        rule = f"must be {LEAST_SAMPLES} round trips or more (has {known.height})"
        raise UserError(f"{recording.source}: rtt_ms: {rule}")
    t_s, values = known["t_s"].to_numpy(), known[column].to_numpy()
    if column == "delay_ms":
        return t_s, 2 * values, ["Only one-way delay was recorded: a round trip is taken as twice that."]
    return t_s, values, []


def _clock(recording: Recording, known_s: Floats) -> tuple[float, list[str]]:
    """Return the usual step of the clock, lost probes included, and a note per irregularity."""
    steps_s = np.diff(recording.frame["t_s"].to_numpy())
    step_s = float(np.median(steps_s))
    notes = []
    uneven = float((np.abs(steps_s - step_s) > UNEVEN * step_s).mean())
    if uneven > UNEVEN:
        low, high = np.quantile(steps_s, (0.05, 0.95))
        notes.append(
            f"The clock is uneven (steps of {low:.4g} to {high:.4g} s, p5 to p95): resampled by straight lines at its "
            f"median, {step_s:.4g} s."
        )
    lacking = recording.frame.height - known_s.size
    if lacking:
        gap_s = float(np.diff(known_s).max())
        share_pct = 100 * lacking / recording.frame.height
        notes.append(
            f"{lacking} of {recording.frame.height} values are missing ({share_pct:.2f} %): bridged by straight lines; "
            f"the longest gap is {gap_s:.4g} s."
        )
    return step_s, notes


def _resampled(t_s: Floats, values: Floats, step_s: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Resample at even times, and mark those without a value near."""
    even_s = np.arange(t_s[0], t_s[-1] + step_s / 2, step_s)
    after = np.clip(np.searchsorted(t_s, even_s), 1, t_s.size - 1)
    near_s = np.minimum(np.abs(even_s - t_s[after - 1]), np.abs(even_s - t_s[after]))
    return np.interp(even_s, t_s, values), near_s > 0.75 * step_s


def _averaged(
    even_ms: Floats, missing: npt.NDArray[np.bool_], samples: int, step_s: float, source: str
) -> tuple[Floats, Floats, int, list[str]]:
    """Average the amplitudes of half-overlapping windows (Hann), each without its linear trend."""
    hop = max(samples // 2, 1)
    cut = np.lib.stride_tricks.sliding_window_view
    lacking = cut(missing, samples)[::hop].mean(axis=1)
    kept = np.flatnonzero(lacking <= MOST_MISSING)
    if not kept.size:
        raise UserError(f"{source}: rtt_ms: must have a window of {samples} values with three quarters of them known")
    shape, windows = scipy.signal.get_window("hann", samples), cut(even_ms, samples)[::hop]
    total = np.zeros(FINER * samples // 2 + 1)
    for first in range(0, kept.size, BATCH):
        flat = scipy.signal.detrend(windows[kept[first : first + BATCH]], axis=1, type="linear")
        total += np.abs(scipy.fft.rfft(flat * shape, n=FINER * samples, axis=1)).sum(axis=0)
    notes = []
    if kept.size < lacking.size:
        notes.append(f"{lacking.size - kept.size} of {lacking.size} windows lack more than a quarter: left out.")
    return scipy.fft.rfftfreq(FINER * samples, step_s), 2 * total / shape.sum() / kept.size, int(kept.size), notes


def _peaks(table: pl.DataFrame, min_rtt_ms: float) -> pl.DataFrame:
    numbers, found = scipy.signal.find_peaks(table["amplitude_ms"].to_numpy(), prominence=0)
    cycle_s = 1 / pl.col("frequency_hz")
    peaks: pl.DataFrame = table[numbers].with_columns(
        cycle_s.alias("cycle_s"),
        (cycle_s * 1e3 / min_rtt_ms).alias("cycle_rtts"),
        pl.Series("rises_ms", found["prominences"], dtype=pl.Float64),
    )
    return peaks.sort("rises_ms", descending=True)
