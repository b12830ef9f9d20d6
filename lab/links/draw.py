# SPDX-License-Identifier: GPL-2.0-or-later
"""From a profile and a seed to the link of one trial: every number drawn, every series placed in time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.base.errors import field_error
from lab.links.model import Model
from lab.links.profile import MOST_BUFFER_BYTES, MOST_FRAMES, OnDemand, Profile, SeriesBegin, Way, series_of
from lab.links.recorded import Recorded, Series, draw_phases, load_opportunities, load_series
from lab.links.steps import Quantity, Steps, added, first, least, mapped, mean
from lab.links.values import DELAY_LIMIT_MS, RATE_LIMIT_MBPS
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab.node.traffic.flow import handshake_s

CLOSING_S = 10.0  # 3 s to close and stop iperf3 (node/download.py); 7 s in which a handshake loses three packets
LEAST_MEAN_MBPS = 0.001  # as of a constant rate: the link has it until its steps begin
CAP_LIMIT_BYTES = GUARANTEED_LIMIT_PKTS = 2**31 - 1
LIMITS = {
    "rate_mbps": RATE_LIMIT_MBPS,
    "delay_ms": DELAY_LIMIT_MS,
    "loss_pct": 100.0,
    "request_delay_ms": DELAY_LIMIT_MS,
    "guaranteed_pkts": GUARANTEED_LIMIT_PKTS,
    "cap_bytes": CAP_LIMIT_BYTES,
    "buffer_bytes": MOST_BUFFER_BYTES,
}
COLUMNS = {
    "down.rate_mbps": ("rate_down_mbps", "rate_mbps"),
    "up.rate_mbps": ("rate_up_mbps", "rate_mbps"),
    "delay_ms": ("delay_ms",),
    "loss_pct": ("loss_pct",),
    "rtt_ms": ("rtt_ms",),
}


@dataclass(frozen=True)
class DrawnOnDemand:
    """What of a link on demand differs between trials."""

    frame_phase_ms: float
    guaranteed_pkts: int
    request_delay_ms: float
    cap_bytes: int


@dataclass(frozen=True)
class DrawnWay:
    """One direction of a trial's link."""

    rate_mbps: Quantity | None
    opportunity_bytes: Steps | None
    mean_rate_mbps: float | None  # over the trial; none without a bottleneck, or where the rate follows demand
    delay_ms: Quantity
    loss_pct: Quantity
    buffer_bytes: int | None
    on_demand: DrawnOnDemand | None
    frame_bytes: int = FRAME_BYTES  # the largest that passes


@dataclass(frozen=True)
class Link:
    """A trial's link."""

    down: DrawnWay
    up: DrawnWay
    base_rtt_ms: float  # of the path with empty queues, at its shortest
    start_phase_s: float
    server_start_s: float
    series_begin: SeriesBegin
    series_s: float  # for how long its steps are known: until iperf3 has been stopped

    @property
    def mean_rate_mbps(self) -> float:
        """Return what the bottleneck can carry over the trial, on average."""
        assert self.down.mean_rate_mbps is not None
        return self.down.mean_rate_mbps

    @property
    def buffer_bytes(self) -> int:
        assert self.down.buffer_bytes is not None
        return self.down.buffer_bytes


def draw_link(profile: Profile, duration_s: float, rng: np.random.Generator, frame_bytes: int = FRAME_BYTES) -> Link:
    """Draw a trial's link, which frames of this size pass; the generator decides all that differs between trials."""
    start_phase_s = float(rng.uniform(0, profile.noise.start_phase_ms)) / 1e3
    server_start_s = float(rng.spawn(1)[0].uniform(0, profile.noise.server_start_ms)) / 1e3  # takes nothing from rng
    drawing = _Drawing(profile, duration_s, rng, frame_bytes)
    ways = (drawing.way("down"), drawing.way("up"))
    return Link(*ways, drawing.base_rtt_ms, start_phase_s, server_start_s, profile.series_begin, drawing.needed_s)


def nominal_rtt_ms(profile: Profile) -> float:
    """Return the RTT that stands for a profile: its recording's least, else its delays' nominal values.

    Each nominal delay counts within what a delay may be: the length of a trial depends on it, and values beyond are
    refused when they are read.
    """
    if profile.rtt_ms:
        return load_recorded(profile.rtt_ms.series, "rtt_ms", profile.file).least()
    nominal_ms = (_nominal(way.delay_ms, f"{name}.delay_ms", profile.file) for name, way in _ways(profile))
    return sum(min(max(each_ms, 0.0), DELAY_LIMIT_MS) for each_ms in nominal_ms)


def held_gaps(profile: Profile) -> Iterator[str]:
    """Yield a sentence for each recording that has gaps: what the link is in them is assumed."""
    for field, series in series_of(profile):
        if gaps_s := load_recorded(series, field, profile.file).gaps_s():
            count = "a gap" if len(gaps_s) == 1 else f"{len(gaps_s)} gaps"
            length = f"{sum(gaps_s):.4g} s in all, the longest {max(gaps_s):.4g} s"
            yield f"{field} holds its last value over {count} of {series.name} ({length})"


class _Drawing:
    """One trial's draw: the recordings it needs, their phases, then each quantity in a fixed order."""

    def __init__(self, profile: Profile, duration_s: float, rng: np.random.Generator, frame_bytes: int) -> None:
        self.profile, self.file, self.rng, self.frame_bytes = profile, profile.file, rng, frame_bytes
        self.least_bytes = max(FRAME_BYTES, frame_bytes)
        self.nominal_rtt_ms = nominal_rtt_ms(profile)
        self.trial_s = duration_s + handshake_s(self.nominal_rtt_ms)
        self.needed_s = self.trial_s + CLOSING_S
        self.recorded = {field: load_recorded(series, field, self.file) for field, series in series_of(profile)}
        self.phases = draw_phases(list(self.recorded.values()), self.needed_s, rng, self.file)
        self.delays = self._delays()
        self.base_rtt_ms = least(added(*self.delays.values()))

    def way(self, name: str) -> DrawnWay:
        """Draw one direction."""
        way: Way = getattr(self.profile, name)
        rate = None if way.rate_mbps is None else self._quantity(way.rate_mbps, f"{name}.rate_mbps")
        opportunities = self._placed(f"{name}.opportunities") if way.opportunities else None
        return DrawnWay(
            rate,
            opportunities,
            self._mean_rate_mbps(rate, opportunities, f"{name}.{'opportunities' if opportunities else 'rate_mbps'}"),
            self.delays[name],
            self._quantity(way.loss_pct, f"{name}.loss_pct"),
            self._buffer_bytes(name, way),
            self._on_demand(way.on_demand, f"{name}.on_demand") if way.on_demand else None,
            self.frame_bytes,
        )

    def _mean_rate_mbps(self, rate: Quantity | None, opportunities: Steps | None, field: str) -> float | None:
        found = None if rate is None else mean(rate, self.trial_s)
        if opportunities is not None:
            passed_bytes = sum(size_bytes for t_s, size_bytes in opportunities.rows() if t_s < self.trial_s)
            found = passed_bytes * 8 / 1e6 / self.trial_s
        if found is not None and found < LEAST_MEAN_MBPS:
            rule = f"at least {LEAST_MEAN_MBPS:g} on average over the trial"
            raise field_error(self.file, field, f"{found:.6g}", rule)
        return found

    def _on_demand(self, way: OnDemand, field: str) -> DrawnOnDemand:
        phase_ms = float(self.rng.uniform(0, way.frame_ms))
        delay_ms = first(self._quantity(way.request_delay_ms, f"{field}.request_delay_ms"))
        if delay_ms > MOST_FRAMES * way.frame_ms:
            raise field_error(self.file, f"{field}.request_delay_ms", delay_ms, f"at most {MOST_FRAMES} frames")
        if delay_ms > self.trial_s * 1e3:
            rule = f"shorter than the trial ({self.trial_s:.6g} s): no request would be granted in it"
            raise field_error(self.file, f"{field}.request_delay_ms", delay_ms, rule)
        cap_bytes = max(round(first(self._quantity(way.cap_bytes, f"{field}.cap_bytes"))), 1)
        guaranteed_pkts = round(first(self._quantity(way.guaranteed_pkts, f"{field}.guaranteed_pkts")))
        return DrawnOnDemand(phase_ms, guaranteed_pkts, delay_ms, cap_bytes)

    def _quantity(self, value: float | Series | Model | None, field: str) -> Quantity:
        """Draw a value; each of its numbers is checked as it is read."""
        assert value is not None
        if isinstance(value, float | int):
            return float(value)
        drawn = self._placed(field) if isinstance(value, Series) else value.draw(self.rng, self.needed_s)
        return checked(drawn, LIMITS[field.split(".")[-1]], self.file, field)

    def _placed(self, field: str) -> Steps:
        recorded = self.recorded[field]
        return recorded.window(self.phases[recorded.series.group], self.needed_s)

    def _delays(self) -> dict[str, Quantity]:
        if not self.profile.rtt_ms:
            return {name: self._quantity(way.delay_ms, f"{name}.delay_ms") for name, way in _ways(self.profile)}
        base_ms, rtt = self.nominal_rtt_ms, self._placed("rtt_ms")
        share = {"down": (1.0, 0.0), "up": (0.0, 1.0), "both": (0.5, 0.5)}[self.profile.rtt_ms.put_on]
        return {
            name: checked(_varied(rtt, base_ms, part), DELAY_LIMIT_MS, self.file, "rtt_ms")
            for name, part in zip(("down", "up"), share, strict=True)
        }

    def _buffer_bytes(self, name: str, way: Way) -> int | None:
        """Return what the queue holds at most: of one that counts packets, full frames."""
        buffer_bytes = self._size_bytes(name, way)
        if buffer_bytes and (rule := way.queue.fault(buffer_bytes, self.frame_bytes)):
            sizes = f"(buffer: {buffer_bytes} bytes, frame: {self.frame_bytes})"
            raise field_error(self.file, f"{name}.queue", way.queue.kind, f"{rule} {sizes}")
        if not (buffer_bytes and way.queue.counts_packets):
            return buffer_bytes
        full_pkts = buffer_bytes // self.frame_bytes
        limit_pkts: int = way.queue.model_dump()["limit_pkts"] or full_pkts
        if limit_pkts > full_pkts:
            rule = f"at most {full_pkts}: a buffer of {buffer_bytes} bytes holds no more frames of {self.frame_bytes}"
            raise field_error(self.file, f"{name}.queue.limit_pkts", limit_pkts, rule)
        return limit_pkts * self.frame_bytes

    def _size_bytes(self, name: str, way: Way) -> int | None:
        """Draw the buffer of this trial where it is a model; a constant takes nothing from the generator."""
        if way.buffer_bytes is not None:
            size_bytes = round(first(self._quantity(way.buffer_bytes, f"{name}.buffer_bytes")))
            if size_bytes < self.least_bytes:
                rule = f"at least one frame of {self.least_bytes} bytes at every draw: a model needs `least`"
                raise field_error(self.file, f"{name}.buffer_bytes", size_bytes, rule)
            return size_bytes
        if way.buffer_bdps is None:
            return None
        bdp_bytes = self._nominal_rate_mbps(name, way) * 1e6 / 8 * self.nominal_rtt_ms / 1e3
        buffer_bytes = round(way.buffer_bdps * bdp_bytes)
        if not self.least_bytes <= buffer_bytes <= MOST_BUFFER_BYTES:
            rule = f"one of {self.least_bytes} to {MOST_BUFFER_BYTES} bytes (it is of {buffer_bytes:.4g})"
            raise field_error(self.file, f"{name}.buffer_bdps", way.buffer_bdps, rule)
        return buffer_bytes

    def _nominal_rate_mbps(self, name: str, way: Way) -> float:
        if way.opportunities:
            return self.recorded[f"{name}.opportunities"].nominal() * 8 / 1e6
        return _nominal(way.rate_mbps, f"{name}.rate_mbps", self.file)


def load_recorded(series: Series, field: str, file: Path) -> Recorded:
    """Find the recording of a profile's field."""
    if field.endswith("opportunities"):
        return load_opportunities(series, file, field)
    return load_series(series, COLUMNS.get(field) or COLUMNS[field.split(".")[-1]], file, field)


def _ways(profile: Profile) -> tuple[tuple[str, Way], ...]:
    return (("down", profile.down), ("up", profile.up))


def _varied(rtt: Quantity, base_ms: float, part: float) -> Quantity:
    return base_ms / 2 if not part else mapped(rtt, lambda value: base_ms / 2 + part * (value - base_ms))


def _nominal(value: float | Series | Model | None, field: str, file: Path) -> float:
    assert value is not None
    if isinstance(value, float | int):
        return float(value)
    if isinstance(value, Series):
        return load_recorded(value, field, file).nominal()
    return value.nominal


def checked(quantity: Quantity, most: float, file: Path, field: str) -> Quantity:
    """Refuse a value that no qdisc takes, when it is read: before anything starts."""

    def one(value: float) -> float:
        if not (math.isfinite(value) and 0 <= value <= most):
            raise field_error(file, field, f"{value:.6g}", f"from 0 to {most:g} at every time of the trial")
        return value

    return mapped(quantity, one)
