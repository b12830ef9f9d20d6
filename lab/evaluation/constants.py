# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the constants of the at-capacity rules would better be: each rule over a grid of them, against the truth.

Latency offset: "twice" and "half" the least RTT. Median throughput: the "first second". Best is what misjudges the
fewest exits; among those, what lies nearest to the truth in time (root mean square).
"""

from collections.abc import Iterable, Iterator
from copy import copy
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from lab.base.stats import mean_sd, share_pct
from lab.judge import latency_offset, loss, median_throughput, window_rate
from lab.judge.classify import by_bitrate, by_time
from lab.judge.outcome import FLOW
from lab.judge.rtt import min_rtt_ms
from lab.judge.slow_start import first_exit
from lab.judge.stored import Stored
from lab.tables.stored_trial import Trial

EXCEED_RTTS = (0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
BACK_RTTS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5)
SPANS_S = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
PUBLISHED = {
    "latency_offset": (latency_offset.EXCEEDED_RTTS, latency_offset.BACK_TO_RTTS),
    "median_throughput_1s": (1.0, None),
}
TRIALS_A_SENDER = 30  # every packet of them is read: more would not move the grid's best point
Point = tuple[str, float, float | None]
SCHEMA: dict[str, Any] = {
    "scenario": pl.String,
    "rule": pl.String,
    "exceed_rtts": pl.Float64,
    "back_rtts": pl.Float64,
    "span_s": pl.Float64,
    "trials": pl.Int64,
    "found": pl.Int64,
    "bias_s": pl.Float64,
    "rms_s": pl.Float64,
    "judged": pl.Int64,
    "misjudged_pct": pl.Float64,
    "published": pl.Boolean,
    "best": pl.Boolean,
}


def grid(stored: Stored, truths: pl.DataFrame) -> pl.DataFrame:
    """Score every point of the grid on a scenario; `truths` are the rows of lab.evaluation.judge.trials."""
    known = {(row["cca"], row["trial"]): row for row in truths.filter(pl.col("rule") == "latency_offset").to_dicts()}
    wanted = [
        trial for trial in stored.run.trials if trial.number <= TRIALS_A_SENDER and (trial.cca, trial.number) in known
    ]
    rows = [row for trial in wanted for row in _trial(copy(trial), known[trial.cca, trial.number])]
    seen = pl.DataFrame(rows, schema=SEEN, orient="row")
    points = [_point(stored.name, key, part) for key, part in seen.group_by("rule", "a", "b", maintain_order=True)]
    return _marked(pl.DataFrame(points, schema=SCHEMA))


SEEN: dict[str, Any] = {
    "rule": pl.String,
    "a": pl.Float64,
    "b": pl.Float64,
    "difference_s": pl.Float64,
    "found": pl.Boolean,
    "right": pl.Boolean,
}


def _trial(trial: Trial, known: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what each point of the grid says of a trial."""
    left = first_exit(trial.exits, FLOW)
    loss_s = loss.first_loss_s(trial.packets, FLOW)
    truth_s, truth_class = known["truth_s"], known["truth_class"]

    def row(point: Point, found_s: float | None, found_class: object) -> tuple[Any, ...]:
        right = None if found_class is None or truth_class is None else str(found_class) == truth_class
        off_s = None if found_s is None or truth_s is None else found_s - truth_s
        return (*point, off_s, found_s is not None, right)

    for exceed, back, found_s in _offsets(trial):
        yield row(("latency_offset", exceed, back), found_s, by_time(left, found_s, loss_s))
    throughput = median_throughput.throughput(trial.packets, FLOW)
    bitrate = left.bitrate_mbps(trial.meta["mss_bytes"]) if left else None
    for span_s in SPANS_S:
        median_mbps = median_throughput.median_first_mbps(throughput, span_s)
        found_s = window_rate.first_reached_s(trial.acks, trial.meta["mss_bytes"], median_mbps, FLOW)
        yield row(("median_throughput_1s", span_s, None), found_s, by_bitrate(left, bitrate, median_mbps, loss_s))


def _offsets(trial: Trial) -> Iterable[tuple[float, float, float | None]]:
    """Apply the latency offset's rule with every pair of constants, over offsets read once."""
    least_ms = min_rtt_ms(trial.packets, FLOW)
    table = latency_offset.offsets(trial.packets, FLOW)
    t_s, offset_ms = table["t_s"].to_numpy(), table["offset_ms"].to_numpy()
    for exceed, back in product(EXCEED_RTTS, BACK_RTTS):
        if back < exceed:
            yield (
                exceed,
                back,
                None if least_ms is None else _capacity_s(t_s, offset_ms, exceed * least_ms, back * least_ms),
            )


def _capacity_s(t_s: Any, offset_ms: Any, exceed_ms: float, back_ms: float) -> float | None:
    """Do what latency_offset.capacity_s does, with constants of one's own."""
    exceeded = np.flatnonzero(offset_ms > exceed_ms)
    if not len(exceeded):
        return None
    before = t_s < t_s[exceeded[0]]
    below = np.flatnonzero(before & (offset_ms < back_ms))
    return float(t_s[below[-1]]) if len(below) else None


def _point(scenario: str, key: tuple[Any, ...], part: pl.DataFrame) -> dict[str, Any]:
    rule, a, b = key
    off_s = part["difference_s"].drop_nulls()
    judged = part["right"].drop_nulls()
    offset = rule == "latency_offset"
    return {
        "scenario": scenario,
        "rule": rule,
        "exceed_rtts": a if offset else None,
        "back_rtts": b if offset else None,
        "span_s": None if offset else a,
        "trials": part.height,
        "found": int(part["found"].sum()),
        "bias_s": mean_sd(off_s)[0],
        "rms_s": float(np.sqrt((off_s.to_numpy() ** 2).mean())) if off_s.len() else None,
        "judged": judged.len(),
        "misjudged_pct": share_pct(int((~judged).sum()), judged.len()),
        "published": PUBLISHED[rule] == (a, b),
        "best": False,
    }


def _marked(points: pl.DataFrame) -> pl.DataFrame:
    """Mark the best point of each rule."""
    order = pl.struct(pl.col("misjudged_pct").fill_null(1e9), pl.col("rms_s").fill_null(1e9))
    return points.with_columns(best=(order.rank("ordinal").over("scenario", "rule") == 1))
