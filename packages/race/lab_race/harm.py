# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sender loses beside another (RFC 9743, section 5; harm as Ware et al. define it, HotNets 2019).

Of what is better when larger: (alone - beside) / alone. Of what is better when smaller: (beside - alone) / beside.
0: it loses nothing; 1: all. Both are of the same draw of the link.
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from lab.tables.columns import Column, schema
from lab_race.experiments import Pairing
from lab_race.flows import SIZES_MB, Flow

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
