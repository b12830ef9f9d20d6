# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial as its figures see it: the sender's look, the moments, and the tables of the first data flow."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from lab.figures.style import Moments, Sender
from lab.judge import latency_offset, median_throughput, rtt
from lab.judge.ack_stream import ack_stream
from lab.judge.outcome import FLOW
from lab.judge.representative import representatives
from lab.judge.search_replay import replay
from lab.judge.slow_start import first_exit
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial


@dataclass
class Subject:
    """A trial to be drawn; `replay_library` is the compiled SEARCH core, for senders that did not run it."""

    trial: Trial
    sender: Sender
    moments: Moments
    replay_library: Path | None = None

    @cached_property
    def acks(self) -> pl.DataFrame:
        """ACKs of the flow, as the server's kernel saw them."""
        return self.trial.acks.filter(pl.col("flow") == FLOW)

    @cached_property
    def own_bins(self) -> pl.DataFrame:
        """What the SEARCH module recorded of itself; empty for other senders."""
        return self.trial.bins.filter(pl.col("flow") == FLOW)

    @cached_property
    def bins(self) -> pl.DataFrame | None:
        """The module's own record, else the core replayed over the ACKs; null when no core was given."""
        if self.own_bins.height:
            return self.own_bins
        return None if self.replay_library is None else replayed_bins(self.acks, self.replay_library)

    @cached_property
    def min_rtt_ms(self) -> float | None:
        """From the client's capture."""
        return rtt.min_rtt_ms(self.trial.packets, FLOW)

    @cached_property
    def offsets(self) -> pl.DataFrame:
        """Latency offset of each data segment."""
        return latency_offset.offsets(self.trial.packets, FLOW)

    @cached_property
    def throughput(self) -> pl.DataFrame:
        """Throughput in 15 ms intervals."""
        return median_throughput.throughput(self.trial.packets, FLOW)

    @property
    def exit_bitrate_mbps(self) -> float | None:
        """cwnd * MSS / RTT at the exit."""
        left = first_exit(self.trial.exits, FLOW)
        return left.bitrate_mbps(self.trial.meta["mss_bytes"]) if left else None

    @property
    def title(self) -> str:
        """How captions name it."""
        return f"{self.sender.label}, trial {self.trial.number}: {self.moments.in_words()}."


def replayed_bins(acks: pl.DataFrame, library: Path) -> pl.DataFrame:
    """The bins of SEARCH 2.0, Algorithm 1 as printed, over the ACKs of another sender."""
    told = ack_stream(acks, FLOW)
    return replay(library, told["t_us"], told["rtt_us"], told["delivered_bytes"], stop_at_exit=False)


def subjects(run: Run, outcomes: pl.DataFrame, replay_library: Path | None = None) -> Iterator[Subject]:
    """The representative trial of each sender, in the order of the scenario."""
    chosen = representatives(outcomes)
    for stanza in run.meta["ccas"]:
        number = chosen.get(stanza["name"])
        for trial in run.trials:
            if trial.cca == stanza["name"] and trial.number == number:
                yield Subject(copy(trial), Sender.from_stanza(stanza), moments(outcomes, trial), replay_library)


def moments(outcomes: pl.DataFrame, trial: Trial) -> Moments:
    """The trial's moments, capacity both by latency offset and in truth."""
    rows = outcomes.filter((pl.col("cca") == trial.cca) & (pl.col("trial") == trial.number))
    by_heuristic: dict[str, dict[str, Any]] = {row["heuristic"]: row for row in rows.iter_rows(named=True)}
    offset, true = by_heuristic["latency_offset"], by_heuristic["truth"]
    return Moments(offset["capacity_s"], true["capacity_s"], true["exit_s"], true["loss_s"])
