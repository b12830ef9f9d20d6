# SPDX-License-Identifier: GPL-2.0-or-later
"""What the link was at every time of a trial: from what the node applied, and the steps that it followed."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from lab.node.plan import Shape
from lab.tables.columns import Column, Columns

WAYS = {"bottleneck": "down", "delay-down": "down", "bottleneck-up": "up", "delay-up": "up"}
# a field of a spec or a step -> the quantity, and what one of its units is in it
QUANTITIES = {
    "start_bps": ("rate_mbps", 1e-6),
    "rate_bps": ("rate_mbps", 1e-6),
    "bytes": ("opportunity_bytes", 1.0),
    "delay_us": ("delay_ms", 1e-3),
    "loss_pct": ("loss_pct", 1.0),
}
COLUMNS: Columns = {
    "quantity": Column(
        pl.String, "down. or up., then rate_mbps, opportunity_bytes (may pass at that instant), delay_ms, loss_pct"
    ),
    "t_s": Column(
        pl.Float64,
        "from then on the value holds; it also holds before the first time of its quantity: the first row of a rate "
        "that changes is the mean rate, which the link has until its series begins 1 us later",
    ),
    "value": Column(pl.Float64, "the value", "that of the quantity's name"),
}
CONSTANTS = {"tbf": ("rate_bps",), "replay": ("start_bps",), "netem": ("delay_us", "loss_pct"), "on_demand": ()}
STEPS = {"rate": ("rate_bps",), "opportunities": ("bytes",), "tbf": ("rate_bps",)}  # by mode, else by kind
DELAYS = ("delay_us", "loss_pct")  # of every other kind
BEFORE_US = -1.0  # of the series' begin


def read_link(folder: Path, applied: Sequence[Shape], offset_s: float) -> pl.DataFrame:
    """Return quantity, t_s, value: each value holds until its quantity's next; before the first, the first held.

    `offset_s` is when the steps began, on the trial's clock.
    """
    parts = [part for shape in applied if shape["part"] in WAYS for part in _parts(folder, shape)]
    return pl.concat(parts).with_columns(pl.col("t_s") + offset_s)


def _parts(folder: Path, shape: Shape) -> list[pl.DataFrame]:
    way, spec = WAYS[shape["part"]], shape["spec"]
    if shape["steps"]:
        names: tuple[str, ...] = STEPS.get(spec.get("mode") or spec["kind"], DELAYS)
        table = _steps(folder / shape["steps"], names)
        if names == ("rate_bps",):
            until_then = {
                "t_us": [BEFORE_US],
                "rate_bps": [float(spec["start_bps" if "start_bps" in spec else "rate_bps"])],
            }
            table = pl.concat([pl.DataFrame(until_then), table])
    else:
        names = CONSTANTS[spec["kind"]]
        table = pl.DataFrame({"t_us": [0]} | {name: [float(spec[name])] for name in names})
    return [_part(table, way, name) for name in names]


def _steps(file: Path, names: tuple[str, ...]) -> pl.DataFrame:
    """Read a file of steps (lab/node/qdiscs/series.py); the end of a series is no step."""
    columns = dict.fromkeys(("t_us", *names), pl.String)
    table = pl.read_csv(file, separator="\t", has_header=False, schema=columns, glob=False)
    return table.filter(pl.col(names[0]) != "end").select(pl.all().cast(pl.Float64))


def _part(table: pl.DataFrame, way: str, name: str) -> pl.DataFrame:
    quantity, unit = QUANTITIES[name]
    return table.select(
        pl.lit(f"{way}.{quantity}").alias("quantity"),
        (pl.col("t_us").cast(pl.Float64) / 1e6).alias("t_s"),
        (pl.col(name).cast(pl.Float64) * unit).alias("value"),
    )
