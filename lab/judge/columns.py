# SPDX-License-Identifier: GPL-2.0-or-later
"""What the columns of outcomes.parquet, trials.parquet and summary.csv mean. Types: the schemas of their modules."""

from collections.abc import Mapping

from lab.judge.frames import Schema
from lab.tables.columns import Column, Columns

OUTCOME = {
    "cca": "name of the sender",
    "trial": "number of the trial",
    "valid": "whether the trial's certificate is valid",
    "data_s": "arrival of the first data segment at the client; null where none arrived",
    "heuristic": "the at-capacity rule that this row follows",
    "exit_class": "early, chokepoint or late; null where there is no exit, no capacity, or a contradiction",
    "capacity_s": "the time at which the rule finds the link at capacity; null where it does not",
    "loss_s": "first loss of the download, in the capture; null where nothing was lost, and of a user's stack",
    "mark_s": "first mark of congestion (ECN) that the client echoed; null where none was",
    "exit_s": "end of the first slow start; null where there was none",
    "contradiction": "how the packets contradict the exit that a user's code wrote; null where they do not",
    "exit_cause": "what ended it, as in exits.parquet; null where nothing did",
    "exit_bitrate_mbps": "window over round trip at the exit; null where there was none",
    "median_mbps": "median throughput that the rule compares with; null where the rule uses none",
    "min_rtt_ms": "smallest round trip in the capture; null where none was measured",
    "loss_agrees": "whether the bottleneck's drops explain the first loss, or its absence; null of a user's stack",
    "throughput_mbps": "goodput of the whole download",
    "retransmits_pkts": "segments that the sender's kernel retransmitted; null where a stack names none of the lost",
    "packets": "digest of the packets' times, sizes and sequences: equal where two trials are the same",
    "digest": "digest of what the row was made from",
}
TRIAL = {
    "cca": OUTCOME["cca"],
    "trial": OUTCOME["trial"],
    "valid": OUTCOME["valid"],
    "initial_rtt_ms": "first round trip of slow start; null where none was measured",
    "max_rtt_ms": "largest round trip of slow start; null where none was measured",
    "end_s": "when its download ended",
    "wait_ms": "mean wait at the bottleneck over the download, from its sampled queue; null where it was not sampled",
    "packets": OUTCOME["packets"],
    "download_s": "when the client had the first 100,000, 200,000, ... bytes; an item is null where it never did",
    "digest": OUTCOME["digest"],
}
CLOCK = " since the data connection's SYN"
DATA_CLOCK = " since the first data segment reached the client"
EVENTS = {"capacity": "reaching of capacity", "loss": "first loss", "exit": "end of slow start"}
AVERAGED = {
    **{f"{event}_s": f"{words}{CLOCK}" for event, words in EVENTS.items()},
    "throughput_mbps": "throughput",
    "retransmits_pkts": "retransmitted segments",
    "data_s": f"arrival of the first data segment{CLOCK}",
    **{f"{event}_from_data_s": f"{words}{DATA_CLOCK}" for event, words in EVENTS.items()},
}
CLASSES = {
    "early": "left slow start before the link was at capacity",
    "chokepoint": "left slow start at capacity and before a loss",
    "late": "left slow start after the first loss or mark",
}
SUMMARY = {
    "cca": OUTCOME["cca"],
    "heuristic": OUTCOME["heuristic"],
    "trials": "trials of the sender",
    "valid": "valid trials of the sender; only these count in the columns that follow",
    "judged": "valid trials with a class; those that are all the same count once",
    "distinct": "valid trials, or 1 where all of them are the same, packet for packet: what every value is over",
    **{f"{name}_pct": f"share of the judged trials that {words}; null without one" for name, words in CLASSES.items()},
    **{f"{name}_lo_pct": f"lower bound of {name}_pct, Wilson 95 %; null without a trial" for name in CLASSES},
    **{f"{name}_hi_pct": f"upper bound of {name}_pct, Wilson 95 %; null without a trial" for name in CLASSES},
    **{name: f"mean {words}; null where no trial has one" for name, words in AVERAGED.items()},
    **{f"{name}_sd": f"standard deviation of {name}; null below two trials" for name in AVERAGED},
    **{f"{event}_trials": f"valid trials with a {words}" for event, words in EVENTS.items()},
}


def with_meanings(schema: Schema, meanings: Mapping[str, str]) -> Columns:
    """Return the columns of a schema, described."""
    return {name: Column(kind, meanings[name]) for name, kind in schema.items()}
