# SPDX-License-Identifier: GPL-2.0-or-later
"""Forms replayed over recorded logs of ACKs: when each would have left, and whether the link carried more after that.

A log shows no queue. With the window of the exit kept in flight, the link stays full as long as it carries no more than
that window in a base RTT, and a log whose sender went on doubling shows what the link carried: `one_rtt` and `lasting`
are the most bytes that arrived in a base RTT, of those that begin within a span of the exit, over that window. Above 1
the link was spare: the exit is early. The spans are those of the two truths (lab/judge/rules/truth.py and lasting.py).

The base RTT is the log's least round trip, which excludes all waits for the return link: with these the path would
need a larger window. So `early` is certain, and its absence is not.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from lab_papers.evaluation.recorded.download import Download, Floats, recorded
from lab_papers.search_replay import EXIT, replay_bins

from bench.versions.forms import FORMS
from lab.base.errors import field_error
from lab.traces import importers

STEP_S = 0.02  # of the times that are asked: half a frame of the return link
Row = dict[str, str | float | None]


def rows(folder: Path, forms: list[str], library: Path) -> pl.DataFrame:
    """Return one row per log (a *.csv of the folder) and form; exits after the sender's own are left out, as null."""
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise field_error("command line", "logs", folder, "a folder with logs of ACKs (*.csv)")
    found = [row for file in files for row in _of_log(recorded(importers.read(file), file.stem), forms, library)]
    return pl.DataFrame(found, infer_schema_length=None)


def _of_log(log: Download, forms: list[str], library: Path) -> Iterator[Row]:
    for name in forms:
        at = exit_of(log, name, library)
        row: Row = {"log": log.name, "form": name}
        yield row | (dict.fromkeys(NUMBERS) if at is None else judged(log, at))


NUMBERS = ("exit_s", "in_flight_mb", "window_mbps", "carried_mbps", "one_rtt", "lasting")


def exit_of(log: Download, name: str, library: Path) -> int | None:
    """Return the ACK at which a form leaves slow start; none where the sender itself left before."""
    form = FORMS[name].replayed(library)
    streams = (np.round(log.t_s * 1e6), np.round(np.nan_to_num(log.rtt_ms) * 1e3), log.acked_bytes)
    sent = log.acked_bytes + np.nan_to_num(log.inflight_bytes)
    bins = replay_bins(library, *streams, form.params, sent_bytes=sent, compact=form.compact)
    exits = bins[bins["verdict"] == EXIT]
    at = int(exits[0]["ack"]) if len(exits) else None
    return None if at is None or log.t_s[at] > log.slow_start_end_s else at


def judged(log: Download, at: int) -> Row:
    """Return the window at an exit, the most that the link carried soon after it, and that over the window."""
    base_s, exit_s, window = log.min_rtt_ms / 1e3, float(log.t_s[at]), float(log.inflight_bytes[at])
    most, now = float(_carried(log, 0.0, log.t_s[-1]).max()), float(_carried(log, exit_s, 0.0)[0])
    span_s = base_s * (1 + np.log2(max(most / max(now, 1.0), 1.0)))
    short, long = (float(_carried(log, exit_s, span).max()) for span in (base_s, span_s))
    return {
        "exit_s": exit_s,
        "in_flight_mb": window / 1e6,
        "window_mbps": window * 8e-6 / base_s,
        "carried_mbps": long * 8e-6 / base_s,
        "one_rtt": short / window,
        "lasting": long / window,
    }


def _carried(log: Download, from_s: float, span_s: float) -> Floats:
    """Return the bytes that arrived in a base RTT, of those that begin in a span."""
    base_s = log.min_rtt_ms / 1e3
    begins = np.arange(from_s, max(min(from_s + span_s, log.t_s[-1] - base_s), from_s) + STEP_S, STEP_S)
    until, since = (np.interp(begins + shift, log.t_s, log.delivered_bytes) for shift in (base_s, 0.0))
    return np.asarray(until - since)
