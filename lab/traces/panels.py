# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a recording is shown: rate, round trip and loss, each as a series over time and as a distribution."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.traces.rates import binned_mbps
from lab.traces.recording import Recording

NAMES = {
    "rate_down_mbps": ("rate down", "Mb/s"),
    "rate_up_mbps": ("rate up", "Mb/s"),
    "rtt_ms": ("round trip", "ms"),
    "delay_ms": ("one-way delay", "ms"),
    "loss_pct": ("loss", "%"),
}
BIN_MS = 100.0  # of delivery opportunities; a millisecond holds none or a few
TAIL = 2.0  # times p99
OUTLIERS = 6.0  # times p99: values beyond would press all others flat
LOSS_BINS = 100  # of probes: a probe alone is lost or not


@dataclass(frozen=True)
class Panel:
    """One quantity of a recording."""

    name: str
    unit: str
    table: pl.DataFrame  # t_s (not for samples), value; null is missing

    @property
    def label(self) -> str:
        """Return what stands at the axis."""
        return f"{self.name} ({self.unit})"

    @property
    def values(self) -> pl.Series:
        """Return the known values, in order of size."""
        return self.table["value"].drop_nulls().sort()

    @property
    def long_tail(self) -> bool:
        """Return whether the last hundredth of the values is longer than all before it; it is then not drawn."""
        values = self.values
        return bool(values[-1] > TAIL * (values.quantile(0.99) or values[-1]))

    @property
    def cut_at(self) -> float | None:
        """Return where a drawing over time ends because of a few values far above all others; none: it does not."""
        ninety_nine = self.values.quantile(0.99) or 0.0
        return TAIL * ninety_nine if 0 < OUTLIERS * ninety_nine < self.values[-1] else None

    @property
    def range_label(self) -> str:
        """Return what stands at the distribution's axis."""
        unit = f"{self.unit}, up to p99" if self.long_tail else self.unit
        return unit if "t_s" in self.table else f"{self.name} ({unit})"

    def cumulative(self, points: int = 400) -> pl.DataFrame:
        """Return value and share_pct of the rows that have at most this value, thinned; up to p99 of a long tail."""
        share = np.linspace(0, 0.99 if self.long_tail else 1, points)
        return pl.DataFrame({"value": np.quantile(self.values.to_numpy(), share), "share_pct": 100 * share})

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
        values = self.values
        five, middle, ninety_five = (values.quantile(share) for share in (0.05, 0.5, 0.95))
        missing_pct = 100 * (1 - values.len() / self.table.height)
        lack = f", {missing_pct:.1f} % missing" if missing_pct else ""
        values_text = "/".join(f"{value:.4g}" for value in (five, middle, ninety_five, values[-1]) if value is not None)
        return f"{self.name}: p5/50/95/max {values_text} {self.unit}{lack}"


def panels(recording: Recording) -> list[Panel]:
    """Return the panels of a recording: those of its columns that have a value; UserError where none has."""
    frame, clock = recording.frame, ["t_s"] if "t_s" in recording.frame else []
    meant = f", {recording.meaning}" if recording.meaning else ""
    found = [
        Panel(name + meant * column.startswith("rate_"), unit, frame.select(*clock, pl.col(column).alias("value")))
        for column, (name, unit) in NAMES.items()
        if column in frame and frame[column].count()
    ]
    if recording.kind == "opportunities":
        binned = binned_mbps(recording, BIN_MS).rename({"rate_mbps": "value"})
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
    table = known.group_by((bucket * end_s / LOSS_BINS).alias("t_s")).agg(value=100 * pl.col("lost").mean()).sort("t_s")
    return Panel(f"probes lost in {end_s / LOSS_BINS:.3g} s", "%", table)
