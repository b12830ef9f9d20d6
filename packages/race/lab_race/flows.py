# SPDX-License-Identifier: GPL-2.0-or-later
"""Downloads of races in numbers, by what was acknowledged to their senders, and the table of all of them.

Times count from the flow's own first data segment at its client, so that a late beginning costs nothing by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.judge.slow_start import first_exit
from lab.tables.columns import Column, schema
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import FlowJson
from lab_race.experiments import Pairing

SIZES_MB = (1, 5, 20)


@dataclass(frozen=True)
class Flow:
    """What became of a download; null: it did not come to that within the trial."""

    sender: str
    exit_s: float | None  # from slow start
    exit_cause: str | None
    retransmits_pkts: int | None
    seconds: float  # how long it lasted
    whole_s: dict[int, float | None]  # by size in MB: when so much was acknowledged
    at_s: np.ndarray  # of each ACK
    acked_bytes: np.ndarray

    def rate_mbps(self, seconds: float) -> float | None:
        """Return its goodput over its first seconds; null of no time, as where its data came behind the end."""
        if not seconds:
            return None
        place = int(np.searchsorted(self.at_s, seconds, side="right"))
        return float(self.acked_bytes[place - 1]) * 8e-6 / seconds if place else 0.0


def flows(trial: Trial) -> list[Flow]:
    """Return the downloads of a trial: the sender's, then the rival's if there is one."""
    return [_flow(trial, meta) for meta in trial.meta["flows"]]


def _flow(trial: Trial, meta: FlowJson) -> Flow:
    number, begin_s = meta["flow"], meta["data_s"]
    own = trial.acks.filter(pl.col("flow") == number)
    at_s = own["t_s"].to_numpy() - begin_s
    acked_bytes = np.maximum.accumulate(own["snd_una_bytes"].to_numpy()) - 1  # the first number is the SYN's
    left = first_exit(trial.exits, number)
    return Flow(
        meta["cca"],
        None if left is None else left.t_s - begin_s,
        None if left is None else left.cause,
        meta["retransmits_pkts"],
        meta["seconds"],
        {size: _first_s(at_s, acked_bytes, size * 1_000_000) for size in SIZES_MB},
        at_s,
        acked_bytes,
    )


def _first_s(at_s: np.ndarray, acked_bytes: np.ndarray, size_bytes: int) -> float | None:
    place = int(np.searchsorted(acked_bytes, size_bytes))
    return float(at_s[place]) if place < len(at_s) else None


Key = tuple[str, int]  # sender and number of a trial
Trials = Mapping[Key, Sequence[Flow]]
COLUMNS = {
    "link": Column(pl.String, "the link"),
    "sender": Column(pl.String, "whose download this is"),
    "rival": Column(pl.String, "the other sender on the link; null: alone"),
    "lead_s": Column(pl.Float64, "how much earlier than the rival's it began; negative: later"),
    "trial": Column(pl.Int64, "number of the draw"),
    "throughput_mbps": Column(
        pl.Float64, "goodput, over as long as the shorter of this download and the one alone; null: no time"
    ),
    **{
        f"time_{size}mb_s": Column(pl.Float64, f"until {size} MB were acknowledged; null: not within the trial")
        for size in SIZES_MB
    },
    "retransmits_pkts": Column(pl.Int64, "segments sent again"),
    "exit_s": Column(pl.Float64, "exit from slow start, from the first data segment on; null: none"),
    "exit_cause": Column(pl.String, "cause of the exit"),
    "harm_throughput": Column(pl.Float64, "harm to the throughput; negative: it has more than alone"),
    **{
        f"harm_{size}mb": Column(pl.Float64, f"harm to the time for {size} MB; null where one of the times is")
        for size in SIZES_MB
    },
}


def table(found: Mapping[Pairing, Trials]) -> pl.DataFrame:
    """Return a row per download of every race, those alone included."""
    alone = {pairing.link.name: trials for pairing, trials in found.items() if pairing.rival is None}
    rows = [row for pairing, trials in found.items() for row in _rows(pairing, trials, alone[pairing.link.name])]
    return pl.DataFrame(rows, schema=schema(COLUMNS), orient="row")


def _rows(pairing: Pairing, trials: Trials, alone: Trials) -> Iterator[dict[str, object]]:
    for (_, number), flows in sorted(trials.items()):
        for place, flow in enumerate(flows):
            rival = flows[1 - place].sender if len(flows) > 1 else None
            lead_s = (pairing.start_s, -pairing.start_s)[place] if rival else None
            common = {"link": pairing.link.name, "rival": rival, "lead_s": lead_s, "trial": number}
            yield common | _measured(flow, alone.get((flow.sender, number), [None])[0])


def _measured(flow: Flow, alone: Flow | None) -> dict[str, object]:
    seconds = min(flow.seconds, alone.seconds) if alone else flow.seconds
    rate_mbps = flow.rate_mbps(seconds)
    harms = {f"harm_{size}mb": _lost(alone.whole_s[size], flow.whole_s[size]) for size in SIZES_MB if alone}
    return {
        "sender": flow.sender,
        "throughput_mbps": rate_mbps,
        **{f"time_{size}mb_s": at_s for size, at_s in flow.whole_s.items()},
        "retransmits_pkts": flow.retransmits_pkts,
        "exit_s": flow.exit_s,
        "exit_cause": flow.exit_cause,
        "harm_throughput": _lost(rate_mbps, alone.rate_mbps(seconds)) if alone else None,
        **harms,
    }


def _lost(less: float | None, more: float | None) -> float | None:
    """Return by which share the first falls short of the second; negative where it is larger, null where one is."""
    return (more - less) / more if more and less is not None else None
