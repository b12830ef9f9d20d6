# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH's core replayed over downloads without HyStart, as the thesis did: what would have left slow start, and when.

Until it leaves, a SEARCH sender does what a sender without HyStart does, so that its exit is that of the replay, unless
a loss comes first: then slow start ended as it did in the download.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.judge.ack_stream import ack_stream
from lab.judge.classify import by_bitrate, by_time
from lab.judge.copies import distinct
from lab.judge.median_throughput import throughput
from lab.judge.outcome import Outcome
from lab.judge.registry import LASTING, TRUTH, rule_of, rules
from lab.judge.rules import lasting
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.judge.stored import Stored
from lab.tables.downloads import FLOW
from lab.tables.link_capacity import LinkCapacity
from lab.tables.stored_trial import Trial
from lab_papers.search_replay import EXIT, SearchParams, Version, replay, replay_bins, version

BASE = "cubic_plain"  # CUBIC without HyStart: nothing but loss ends its slow start
JUDGES = ("heuristic", TRUTH)
ALL_JUDGES = (*JUDGES, LASTING)
Floats = npt.NDArray[np.float64]
Rate = Callable[[pl.DataFrame, float | None], float | None]


@dataclass(frozen=True)
class Download:
    """One download without HyStart, until its slow start ended."""

    trial: int
    t_us: np.ndarray
    rtt_us: np.ndarray
    delivered_bytes: np.ndarray
    sent_bytes: np.ndarray
    cwnd_pkts: np.ndarray
    own: SlowStartExit | None
    loss_s: float | None
    data_s: float | None
    capacity_s: dict[str, float | None]  # by judge
    rates: pl.DataFrame | None  # throughput, where the scenario's rule compares rates
    mss_bytes: int
    rate_mbps: Rate | None = None  # of the scenario's rule
    queue: tuple[pl.DataFrame, LinkCapacity] | None = (
        None  # its samples, and the link: what the stricter truth looks at
    )


def downloads(stored: Stored) -> Iterator[Download]:
    """Read the valid downloads of a scenario that had no HyStart, one after the other."""
    rule = rule_of(stored.run.scenario)
    outcomes = distinct(stored.judged.outcomes).filter(cca=BASE)
    rows = cast("list[Outcome]", outcomes.to_dicts())
    known = {(row["trial"], row["heuristic"]): row for row in rows}
    for trial in stored.run.trials:
        if trial.cca == BASE and (trial.number, rule) in known:
            yield download(copy(trial), rule, known[trial.number, rule], known[trial.number, TRUTH])


def download(trial: Trial, rule: str, by_rule: Outcome, truth: Outcome) -> Download:
    """One download, with a trial's outcomes by a rule and in truth."""
    acks, own, rate_mbps = trial.acks, first_exit(trial.exits, FLOW), rules()[rule].rate_mbps
    until_us = own.t_s * 1e6 if own else float("inf")
    stream = ack_stream(acks, FLOW).filter(pl.col("t_us") <= until_us)
    sent = acks.filter(pl.col("flow") == FLOW).select(
        t_us=(pl.col("t_s") * 1e6).round().cast(pl.Int64), sent=pl.col("snd_nxt_bytes"), cwnd="cwnd_pkts"
    )
    at = sent["t_us"].search_sorted(stream["t_us"], "right") - 1
    return Download(
        trial.number,
        stream["t_us"].to_numpy(),
        stream["rtt_us"].to_numpy(),
        stream["delivered_bytes"].to_numpy(),
        sent["sent"].gather(at).to_numpy(),
        sent["cwnd"].gather(at).to_numpy(),
        own,
        min((t_s for t_s in (by_rule["loss_s"], by_rule["mark_s"]) if t_s is not None), default=None),
        by_rule["data_s"],
        {"heuristic": by_rule["capacity_s"], "truth": truth["capacity_s"]},
        throughput(trial.packets, FLOW) if rate_mbps else None,
        int(trial.meta["mss_bytes"]),
        rate_mbps,
        (trial.qdisc, trial.link),
    )


def exit_of(library: Path, download: Download, version: Version) -> SlowStartExit | None:
    """When a version would have left slow start; the download's own exit where a loss came first."""
    bins = replay_bins(
        library,
        download.t_us,
        download.rtt_us,
        download.delivered_bytes,
        version.params,
        sent_bytes=download.sent_bytes,
        compact=version.compact,
    )
    left = bins[bins["verdict"] == EXIT]
    if not len(left):
        return download.own
    ack = int(left[0]["ack"])
    t_s, rtt_ms = float(download.t_us[ack]) / 1e6, float(left[0]["rtt_us"]) / 1e3
    return SlowStartExit(t_s, int(download.cwnd_pkts[ack]), rtt_ms or None, "search")


def class_of(download: Download, left: SlowStartExit | None, judge: str) -> str | None:
    """Class of an exit; none where the judge never found a capacity."""
    return judged(download, left, judge)[1]


def judged(download: Download, left: SlowStartExit | None, judge: str) -> tuple[float | None, str | None]:
    """Return the capacity by a judge, and the class of an exit; none where it never found a capacity."""
    capacity_s = _capacity_of(download, left, judge)
    if judge == "heuristic" and download.rates is not None and download.rate_mbps is not None:
        median_mbps = download.rate_mbps(download.rates, left.t_s if left else None)
        bitrate = left.bitrate_mbps(download.mss_bytes) if left else None
        found = by_bitrate(left, bitrate, median_mbps, download.loss_s)
    else:
        found = None if capacity_s is None else by_time(left, capacity_s, download.loss_s)
    return capacity_s, None if found is None else str(found)


def _capacity_of(download: Download, left: SlowStartExit | None, judge: str) -> float | None:
    """Return the capacity by a judge; by the stricter truth it depends on what was in flight at the exit."""
    if judge != LASTING:
        return download.capacity_s[judge]
    return None if download.queue is None else lasting.capacity_s(*download.queue, left.t_s if left else None)


def varied(params: SearchParams, **changes: int) -> Version:
    """Return a version with other parameters."""
    return Version(replace(params, **changes))


def compared(bins: pl.DataFrame, delivered: Callable[[Floats], Floats], window_bins: int) -> pl.DataFrame:
    """t_s, binned_pct, exact_pct and error_pct where the bins allow a comparison (thesis, section 4.2).

    Exact: the same windows ending at the same instants, but counted ACK by ACK instead of bin by bin. `delivered`
    returns the bytes acknowledged until each time.
    """
    compared_bins = bins.filter(pl.col("norm_pct").is_not_null())
    t_s, rtt_s = compared_bins["t_s"].to_numpy(), compared_bins["rtt_ms"].to_numpy() / 1e3
    window_s = window_bins * compared_bins["bin_ms"].to_numpy() / 1e3
    now = delivered(t_s) - delivered(t_s - window_s)
    twice = 2 * (delivered(t_s - rtt_s) - delivered(t_s - rtt_s - window_s))
    exact_pct = 100 * np.divide(twice - now, twice, out=np.full_like(twice, np.nan), where=twice > 0)
    table = pl.DataFrame({"t_s": t_s, "binned_pct": compared_bins["norm_pct"], "exact_pct": exact_pct})
    return table.with_columns(error_pct=pl.col("binned_pct") - pl.col("exact_pct")).filter(
        pl.col("exact_pct").is_finite()
    )


def mean_error(table: pl.DataFrame) -> float | None:
    """Return the mean error of a comparison, in points of the normalised difference; null of an empty one."""
    return float(table["error_pct"].abs().to_numpy().mean()) if table.height else None


def bins_error_points(library: Path, one: Download, name: str) -> float | None:
    """Return the mean error of a version's bins over a download, until it would have left slow start."""
    form = version(library, name)
    streams = (one.t_us, one.rtt_us, one.delivered_bytes)
    bins = replay(library, *streams, form.params, sent_bytes=one.sent_bytes, compact=form.compact)
    return mean_error(compared(bins, lambda t_s: _held(one, t_s), form.params.bins))


def _held(one: Download, t_s: Floats) -> Floats:
    """Return the bytes acknowledged until each time: those after its last ACK, and none before the first."""
    index = np.searchsorted(one.t_us, np.round(t_s * 1e6), "right") - 1
    return np.where(index < 0, 0.0, one.delivered_bytes[np.maximum(index, 0)].astype(np.float64))
