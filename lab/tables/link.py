# SPDX-License-Identifier: GPL-2.0-or-later
"""What the link was at every time of a trial: from what the node applied, and the steps that it followed."""

from pathlib import Path
from typing import Any

import polars as pl

WAYS = {"bottleneck": "down", "delay-down": "down", "bottleneck-up": "up", "delay-up": "up"}
# a spec's or a step's field -> the quantity, and what one of its units is in it
QUANTITIES = {
    "start_bps": ("rate_mbps", 1e-6),
    "rate_bps": ("rate_mbps", 1e-6),
    "bytes": ("opportunity_bytes", 1.0),
    "delay_us": ("delay_ms", 1e-3),
    "loss_pct": ("loss_pct", 1.0),
    "slot_pkts": ("slot_pkts", 1.0),
}
OF_KIND = {"tbf": ("rate_bps",), "replay": ("start_bps",), "netem": ("delay_us", "loss_pct"), "on_demand": ()}


def read_link(folder: Path, applied: list[dict[str, Any]], offset_s: float) -> pl.DataFrame:
    """Return quantity, t_s, value: each value holds until its quantity's next; before the first, the first held.

    `offset_s` is when the steps began, on the trial's clock.
    """
    parts = [part for shape in applied for part in _parts(folder, shape)]
    return pl.concat(parts).with_columns(pl.col("t_s") + offset_s)


def _parts(folder: Path, shape: dict[str, Any]) -> list[pl.DataFrame]:
    steps = _steps(folder, shape)
    way, spec = WAYS[shape["part"]], shape["spec"]
    stepped = [name for name in steps.columns if name != "t_us"]
    moved = {QUANTITIES[name][0] for name in stepped}
    fixed = [name for name in OF_KIND[spec["kind"]] if name in spec and QUANTITIES[name][0] not in moved]
    constants = pl.DataFrame({"t_us": [0.0]} | {name: [float(spec[name])] for name in fixed})
    return [_part(table, way, name) for table, names in ((steps, stepped), (constants, fixed)) for name in names]


def _steps(folder: Path, shape: dict[str, Any]) -> pl.DataFrame:
    return pl.read_csv(folder / shape["steps"], separator="\t") if shape["steps"] else pl.DataFrame()


def _part(table: pl.DataFrame, way: str, name: str) -> pl.DataFrame:
    quantity, unit = QUANTITIES[name]
    return table.select(
        pl.lit(f"{way}.{quantity}").alias("quantity"),
        (pl.col("t_us") / 1e6).alias("t_s"),
        (pl.col(name).cast(pl.Float64) * unit).alias("value"),
    )
