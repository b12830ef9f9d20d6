# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a recording is shown: rate, round trip and loss, each as a series over time and as a distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces import batches
from lab.traces.recording import Recording

NAMES = {
    "rate_down_mbps": ("rate down", "Mb/s"),
    "rate_up_mbps": ("rate up", "Mb/s"),
    "rtt_ms": ("round trip", "ms"),
    "delay_ms": ("one-way delay", "ms"),
    "loss_pct": ("loss", "%"),
}
PACKET_BITS = 1500 * 8  # what one delivery opportunity carries
MOST_BINS = 50_000_000
BIN_MS = 100.0  # of delivery opportunities; a millisecond holds none or a few
TAIL = 2.0  # times p99
OUTLIERS = 6.0  # times p99: values beyond would press all others flat
SHARES = (0.05, 0.5, 0.95, 1.0)  # that are shown
LOSS_BINS = 100  # of probes: a probe alone is lost or not


@dataclass(frozen=True)
class Panel:
    """One quantity of a recording."""

    name: str
    unit: str
    table: pl.DataFrame  # t_s (not for samples), lasts_s, value; null is missing

    @property
    def label(self) -> str:
        """Return what stands at the axis."""
        return f"{self.name} ({self.unit})"

    @property
    def values(self) -> pl.Series:
        return self.table["value"].drop_nulls().sort()

    @property
    def long_tail(self) -> bool:
        """Return whether the last hundredth of the values is longer than all before it; it is then not drawn."""
        (ninety_nine,), most = self._quantiles([0.99]), self.values[-1]
        return bool(most > TAIL * (ninety_nine or most))

    @property
    def cut_at(self) -> float | None:
        """Return where a drawing over time ends because of a few values far above all others; none: it does not."""
        (ninety_nine,) = self._quantiles([0.99])
        return TAIL * ninety_nine if 0 < OUTLIERS * ninety_nine < self.values[-1] else None

    @property
    def range_label(self) -> str:
        """Return what stands at the distribution's axis."""
        unit = f"{self.unit}, up to p99" if self.long_tail else self.unit
        return unit if "t_s" in self.table else f"{self.name} ({unit})"

    def cumulative(self, points: int = 400) -> pl.DataFrame:
        """Return value and share_pct of the time that has at most this value, thinned; up to p99 of a long tail."""
        share = np.linspace(0, 0.99 if self.long_tail else 1, points)
        return pl.DataFrame({"value": self._quantiles(share.tolist()), "share_pct": 100 * share})

    def spans(self, buckets: int) -> pl.DataFrame:
        """Return t_s, low, middle and high of the values that begin in each of so many equal times; null for none."""
        end_s = float(self.table["t_s"][-1]) or 1.0
        bucket = (pl.col("t_s") / end_s * buckets).floor().clip(0, buckets - 1).cast(pl.Int64).alias("bucket")
        known = (
            self.table.drop_nulls("value")
            .group_by(bucket)
            .agg(low=pl.min("value"), middle=pl.median("value"), high=pl.max("value"))
        )
        every = pl.DataFrame({"bucket": np.arange(buckets)}).join(known, on="bucket", how="left", maintain_order="left")
        return every.select(((pl.col("bucket") + 0.5) * end_s / buckets).alias("t_s"), "low", "middle", "high")

    def in_words(self) -> str:
        """Return the distribution as a line of text."""
        missing_pct = 100 * float(np.average(self.table["value"].is_null(), weights=self.table["lasts_s"]))
        lack = f", {missing_pct:.1f} % missing" if missing_pct else ""
        values_text = "/".join(f"{value:.4g}" for value in self._quantiles(SHARES))
        return f"{self.name}: p5/50/95/max {values_text} {self.unit}{lack}"

    def _quantiles(self, shares: Sequence[float]) -> list[float]:
        return quantiles(self.table["value"], self.table["lasts_s"], shares)


def lasting_s(recording: Recording) -> pl.Series:
    """Return for how long the value of each row holds; of samples and opportunities each row counts alike."""
    if recording.kind != "series":
        return pl.ones(recording.frame.height, eager=True)
    t_s = recording.frame["t_s"]
    end_s = recording.length_s or t_s[-1] + (t_s.diff().median() or 1.0)
    return t_s.diff().shift(-1).fill_null(max(end_s - t_s[-1], 1e-9))  # the last row may be no more than the end


def quantiles(values: pl.Series, lasts_s: pl.Series, shares: Sequence[float]) -> list[float]:
    """Return the values that are not exceeded for such shares of the known time, the largest for all of it."""
    known = values.is_not_null()
    found, weights = (column.filter(known).to_numpy() for column in (values, lasts_s))
    return list(np.quantile(found, shares, weights=weights, method="inverted_cdf")) if found.size else []


def panels(recording: Recording) -> list[Panel]:
    """Return the panels of a recording: those of its columns that have a value; UserError where none has."""
    frame = recording.frame.with_columns(lasting_s(recording).alias("lasts_s"))
    clock = [name for name in ("t_s", "lasts_s") if name in frame]
    apart = "value" if recording.kind == "opportunities" else []  # a row without a delay is one of a packet
    meant = f", {recording.meaning}" if recording.meaning else ""
    found = [
        Panel(name + meant * column.startswith("rate_"), unit, frame.select(*clock, value=column).drop_nulls(apart))
        for column, (name, unit) in NAMES.items()
        if column in frame and frame[column].count()
    ]
    if recording.kind == "opportunities":
        binned = binned_mbps(recording, BIN_MS).select("t_s", pl.lit(1.0).alias("lasts_s"), value="rate_mbps")
        found.insert(0, Panel(f"capacity in {BIN_MS:g} ms", "Mb/s", binned))
    found += [_lost(frame)] if "lost" in frame and frame["lost"].count() else []
    if not found:
        raise UserError(f"{recording.source}: content: must have a value to show: of {', '.join(NAMES)} or lost")
    return found


def _lost(frame: pl.DataFrame) -> Panel:
    """Return the share of probes that were lost in each hundredth of the time."""
    known = frame.drop_nulls("lost")
    end_s = float(frame["t_s"][-1]) or 1.0
    bucket = (pl.col("t_s") / end_s * LOSS_BINS).floor().clip(0, LOSS_BINS - 1)
    table = known.group_by((bucket * end_s / LOSS_BINS).alias("t_s")).agg(
        value=100 * pl.col("lost").mean(), lasts_s=1.0
    )
    return Panel(f"probes lost in {end_s / LOSS_BINS:.3g} s", "%", table.sort("t_s"))


def binned_mbps(recording: Recording, step_ms: float) -> pl.DataFrame:
    """Average the opportunities over equal steps: t_s (their begin), rate_mbps; the last ends with the recording."""
    rows = recording.frame.drop_nulls("opportunities")
    end_s, step_s = float(rows["t_s"][-1]), step_ms / 1e3
    bins = math.ceil(end_s / step_s - batches.ROUNDING)
    if not 0 < bins <= MOST_BINS:
        rule = f"above 0 and at most {MOST_BINS * step_s:,.0f} s, to be shown over time"
        raise field_error(recording.source, "length", f"{end_s:,.0f} s", rule)
    found = batches.binned(batches.column(iter([rows]), "opportunities"), step_s, step_s * 1e6 / PACKET_BITS, end_s)
    t_s, rate_mbps = map(np.concatenate, zip(*found, strict=True))
    return pl.DataFrame({"t_s": t_s, "rate_mbps": rate_mbps})
