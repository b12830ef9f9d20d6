# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial's series thinned for the screen: smallest and largest value in each of a few hundred stretches of time.

Half of the stretches lie in slow start (up to a little after the last of its moments), for that is what one zooms into;
the other half share the rest. Values are whole numbers of a small step, so that they pack well.
"""

from typing import NamedTuple, TypedDict, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

BUCKETS = 800
FOCUS = 1.25  # slow start's share ends this far beyond its last moment
MOST_EVENTS = 400  # losses drawn one by one; beyond it every so many
Integers = list[int | None]
Floats = npt.NDArray[np.float64]


class Ranges(TypedDict):
    """Smallest and largest value of each stretch of time, in steps, as differences to the stretch before."""

    step: float
    low: Integers
    high: Integers


class Events(TypedDict):
    """Events in ms, thinned, and how many there were."""

    count: int
    ms: list[float]


class Series(TypedDict):
    """The data of one trial's chart."""

    edges: list[float]
    series: dict[str, Ranges]
    drops: Events
    resent: Events


class Quantity(NamedTuple):
    """One panel of the browser: where its values come from, and the step they are rounded to."""

    name: str
    label: str
    unit: str
    table: str
    column: str
    factor: float  # from the table's unit
    step: float  # of the panel's unit


QUANTITIES = (
    Quantity("cwnd", "Congestion window", "packets", "acks", "cwnd_pkts", 1, 1),
    Quantity("rtt", "Smoothed RTT", "ms", "acks", "srtt_ms", 1, 0.1),
    Quantity("queue", "Bottleneck's queue", "kB", "qdisc", "backlog_bytes", 1e-3, 0.1),
    Quantity("norm", "SEARCH's normalized difference", "%", "bins", "norm_pct", 1, 0.1),
)


def series(trial: Trial, last_moment_s: float | None) -> Series:
    """Return what the browser draws in addition to the moments: edges in ms, ranges by quantity, losses in ms."""
    edges_s = _edges_s(trial.end_s, last_moment_s)
    drawn = {quantity.name: _ranges(_values(trial, quantity), edges_s, quantity.step) for quantity in QUANTITIES}
    return {
        "edges": (edges_s * 1e3).round(2).tolist(),
        "series": drawn,
        "drops": _thin(_drops_ms(trial.qdisc)),
        "resent": _thin(_known_ms(trial.retransmits.filter(pl.col("flow") == FLOW)["t_s"])),
    }


def _edges_s(end_s: float, last_moment_s: float | None) -> Floats:
    focus_s = min(FOCUS * last_moment_s, end_s) if last_moment_s else end_s
    if focus_s >= end_s:
        return np.linspace(0, end_s, BUCKETS + 1)
    half = BUCKETS // 2
    return np.concatenate((np.linspace(0, focus_s, half + 1), np.linspace(focus_s, end_s, half + 1)[1:]))


def _values(trial: Trial, quantity: Quantity) -> pl.DataFrame:
    """Time and value where both exist."""
    table: pl.DataFrame = getattr(trial, quantity.table)
    of_flow = pl.col("flow") == FLOW if "flow" in table.columns else pl.lit(True)
    value = pl.col(quantity.column) * quantity.factor / quantity.step
    known = pl.col("value").is_finite() & (pl.col("t_s") >= 0)
    return table.lazy().filter(of_flow).select("t_s", value=value).filter(known).collect()


def _ranges(values: pl.DataFrame, edges_s: Floats, step: float) -> Ranges:
    """Smallest and largest of each stretch, as differences to the one before; a stretch without values is null."""
    stretch = np.clip(np.searchsorted(edges_s, values["t_s"].to_numpy(), "right") - 1, 0, len(edges_s) - 2)
    low, high = np.full((2, len(edges_s) - 1), np.nan)
    np.fmin.at(low, stretch, values["value"].to_numpy())
    np.fmax.at(high, stretch, values["value"].to_numpy())
    return {"step": step, "low": _differences(low), "high": _differences(high)}


def _differences(values: Floats) -> Integers:
    """Each known value, rounded, as its difference to the known one before."""
    known = np.isfinite(values)
    differences = np.full(len(values), None)
    differences[known] = np.diff(values[known].round().astype(np.int64), prepend=0).tolist()
    return cast("Integers", differences.tolist())


def _drops_ms(qdisc: pl.DataFrame) -> list[float]:
    """When the bottleneck dropped: the samples whose counter rose."""
    return _known_ms(qdisc.filter((pl.col("drops_pkts").diff() > 0) & (pl.col("t_s") >= 0))["t_s"])


def _known_ms(t_s: pl.Series) -> list[float]:
    return [round(time * 1e3, 2) for time in t_s.drop_nulls()]


def _thin(times_ms: list[float]) -> Events:
    """At most so many of them, spread evenly, and how many there were."""
    every = -(-len(times_ms) // MOST_EVENTS) or 1
    return {"count": len(times_ms), "ms": times_ms[::every]}
