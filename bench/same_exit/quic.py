# SPDX-License-Identifier: GPL-2.0-or-later
"""What lab-quic's replay reads and prints: events of a sender, and what a core changes upon each."""

import subprocess
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from lab_papers.search_replay import BIN
from lab_quic.log import NO_THRESHOLD

from bench.same_exit.stream import DECISION, Decisions, Stream, to_exit
from lab.base.errors import UserError

BIN_FIELDS = [name for name in (BIN.names or ()) if name not in ("ack", "reserved")]
BIN_AT = 5  # after the window, the threshold, W_max, the exit and the pacing rate


class Event(NamedTuple):
    """An event of a sender, in the order of a server's log: struct quic_event of lab_quic/quinn/cores/quic_core.h."""

    kind: str  # ack, loss, timeout or restart
    now_us: int
    delivered_bytes: int
    sent_bytes: int
    acked_bytes: int
    acked_before_bytes: int
    lost_bytes: int
    flight_bytes: int
    window_bytes: int
    ssthresh_bytes: int
    packet_bytes: int
    rtt_us: int
    limited: int
    in_recovery: int
    before_bytes: int
    then_delivered_bytes: int = 0  # from here on for a core that is alone
    then_lost_bytes: int = 0
    then_flight_bytes: int = 0
    then_limited: int = 0
    interval_us: int = 0
    srtt_us: int = 0
    window_full: int = 0

    @property
    def line(self) -> str:
        """As the replay reads it."""
        return " ".join(map(str, self))


# What SEARCH reads of it: a flow that is in slow start.
SLOW_START = Event("ack", *[0] * 14)._replace(window_bytes=1, ssthresh_bytes=NO_THRESHOLD, packet_bytes=1)


def replayed(program: Path, name: str, events: Iterable[Event], **params: int) -> dict[int, list[int]]:
    """Return what a core changes, by the place of the event: window, threshold, W_max, exit, pacing, and a bin."""
    command = [str(program), "replay", name, *(f"{key}={value}" for key, value in params.items())]
    lines = "\n".join(event.line for event in events)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(done.stdout.strip())
    return {place: row for place, *row in ([int(word) for word in line.split()] for line in done.stdout.splitlines())}


def decided(program: Path, name: str, stream: Stream) -> Decisions:
    """Return the decisions of lab-quic's SEARCH on the ACKs of a slow start, up to the first exit."""
    events = list(_events(stream))
    ack_of = list(accumulate((event.kind == "ack" for event in events), initial=0))
    found = []
    for place, row in replayed(program, name, events).items():
        values = dict(zip(BIN_FIELDS, row[BIN_AT:], strict=True)) | {"ack": ack_of[place]}
        if values["verdict"]:
            found.append(tuple(values[field] for field in DECISION))
    return to_exit(found)


def _events(stream: Stream) -> Iterator[Event]:
    """Give an ACK's event for each row, behind a timeout where SEARCH was reset before it."""
    delivered_before_bytes = 0
    for now_us, rtt_us, delivered_bytes, sent_bytes, limited, reset in stream.rows():
        ack = SLOW_START._replace(
            now_us=now_us, rtt_us=rtt_us, delivered_bytes=delivered_bytes, sent_bytes=sent_bytes, limited=limited
        )
        if reset:
            yield ack._replace(kind="timeout", delivered_bytes=delivered_before_bytes)
        yield ack
        delivered_before_bytes = delivered_bytes
