# SPDX-License-Identifier: GPL-2.0-or-later
"""One recorded stream of ACKs: what a module's SEARCH was given in a trial, and what it decided upon each bin."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.tables.trace import Events

ACK, BIN = "search:search_ack", "search:search_bin"
EXIT = 8  # enum search_verdict
# The module's names of a decision's fields, and the core's.
FIELDS = {
    "bin": "bin",
    "curr_delv": "curr_delv_bytes",
    "prev_delv": "prev_delv_bytes",
    "expected": "expected_bytes",
    "norm_permille": "norm_permille",
    "rtt_us": "rtt_us",
    "bin_us": "bin_us",
    "verdict": "verdict",
}
DECISION = ("ack", *FIELDS.values())
Numbers = NDArray[np.int64]
Decisions = list[tuple[int, ...]]  # rows of DECISION


class Stream(NamedTuple):
    """The ACKs of a flow's slow starts, with the cumulative counts that its socket had."""

    now_us: Numbers
    rtt_us: Numbers
    delivered_bytes: Numbers
    sent_bytes: Numbers
    limited: Numbers
    reset: Numbers  # nonzero: SEARCH was reset between the ACK before and this one

    def rows(self) -> list[tuple[int, ...]]:
        """Return a row per ACK."""
        return list(zip(*(column.tolist() for column in self), strict=True))


def recorded(events: Events) -> tuple[Stream, Decisions]:
    """Return the stream of the flow with most ACKs, and its module's decisions up to the first exit."""
    acks = events[ACK]
    ports, counts = np.unique(acks["dport"], return_counts=True)
    port = ports[counts.argmax()]
    acks, bins = (events[name][events[name]["dport"] == port] for name in (ACK, BIN))
    names = ("now_us", "rtt_us", "delivered", "sent", "limited", "starts")
    stream = Stream(*(acks[name].astype(np.int64) for name in names))
    # Of the ACKs at one moment of virtual time, the first one ends a bin.
    at = np.searchsorted(acks["t_ns"], acks["t_ns"][np.searchsorted(acks["t_ns"], bins["t_ns"], side="right") - 1])
    decisions = zip(at.tolist(), *(bins[name].astype(np.int64).tolist() for name in FIELDS), strict=True)
    return stream, to_exit(list(decisions))


def to_exit(decisions: Decisions) -> Decisions:
    """Return the decisions up to the first exit."""
    exits = [number for number, row in enumerate(decisions) if row[-1] == EXIT]
    return decisions[: exits[0] + 1] if exits else decisions


def save(file: Path, stream: Stream, decisions: Decisions) -> None:
    """Write a stream and its module's decisions."""
    draft = file.with_suffix(".draft.npz")
    np.savez_compressed(draft, decisions=np.array(decisions, dtype=np.int64), **stream._asdict())
    draft.replace(file)


def load(file: Path) -> tuple[Stream, Decisions]:
    """Read what `save` wrote."""
    with np.load(file, allow_pickle=False) as stored:
        columns: dict[str, Any] = {name: stored[name] for name in Stream._fields}
        return Stream(**columns), [tuple(row) for row in stored["decisions"].tolist()]
