# SPDX-License-Identifier: GPL-2.0-or-later
"""qlog of a QUIC sender (JSON, or one record per line): what it sent, and what each ACK frame acknowledged.

Only packets with application data count (1-RTT). Sizes are whole QUIC packets; the RTT contains the receiver's delay.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import shifted
from lab_formats.reading.documents import Node, documents

APPLICATION = ("1RTT", "1rtt", "onertt")
TAKEN = ("packet_sent", "packet_lost", "packet_received")
DELTA = ("delta", "relative_to_previous_event")
LATEST_MS, LARGEST, MOST_BYTES = 1e15, 2**62, 65_535
SCHEMA = {"t_s": pl.Float64, "delivered_bytes": pl.Int64, "rtt_ms": pl.Float64, "inflight_bytes": pl.Int64}
NOTES = (
    "Bytes are those of whole QUIC packets; the RTT contains the receiver's delay of its ACKs.",
    "Time counts from the first 1-RTT packet.",
)


def fits(head: Head) -> bool:
    """Recognise the version that begins each qlog, or from draft 0.4 on its schema."""
    text = "\n".join(head.lines[:50]) + head.data[:4096].decode("utf-8", "ignore")
    return '"qlog_version"' in text or '"urn:ietf:params:qlog:file:' in text


def read(path: Path) -> Recording:
    """Read a row for each ACK frame that acknowledges something new."""
    sender = _Sender()
    for t_ms, name, data in _events(path):
        sender.take(t_ms, name, data)
    if not sender.acked_bytes:
        raise UserError(f"{path}: events: must have packet_sent and ACK frames of 1-RTT packets: a sender's qlog")
    frame = pl.DataFrame(sender.rows, orient="row", schema=SCHEMA)
    if (np.diff(frame["t_s"].to_numpy()) < 0).any():
        raise UserError(f"{path}: time: must not go back")
    frame = frame.unique("t_s", keep="last", maintain_order=True)
    frame = frame.with_columns(pl.Series("t_s", shifted(frame["t_s"].to_numpy() - frame["t_s"][0], str(path))))
    return Recording(frame, "series", None, "qlog", path.name, NOTES)


class _Sender:
    """What is in flight, as the events come."""

    def __init__(self) -> None:
        self.sent: dict[int, tuple[float, int]] = {}  # in flight, in the order of their numbers: when, bytes
        self.rows: list[tuple[float, int, float | None, int]] = []
        self.acked_bytes = self.flight_bytes = 0

    def take(self, t_ms: float, name: str, data: Node) -> None:
        if name not in TAKEN or data.at("header", "packet_type").value not in APPLICATION:
            return
        if name == "packet_received":
            frames = data.get("frames")
            for frame in frames.items() if frames else ():
                if frame.at("frame_type").value == "ack":
                    self._acknowledge(t_ms, list(_ranges(frame)))
            return
        number = data.at("header", "packet_number").whole(0, LARGEST)
        if name == "packet_sent":
            self._send(number, t_ms, data.at("raw", "length").whole(1, MOST_BYTES))
        else:
            self.flight_bytes -= self.sent.pop(number, (0.0, 0))[1]

    def _send(self, number: int, t_ms: float, size: int) -> None:
        if not self.rows:
            self.rows.append((t_ms / 1e3, 0, None, 0))
        self.sent[number] = t_ms, size
        self.flight_bytes += size

    def _acknowledge(self, t_ms: float, ranges: list[tuple[int, int]]) -> None:
        new = list(self._among(ranges))
        for number in new:
            sent_ms, size = self.sent.pop(number)
            self.acked_bytes, self.flight_bytes = self.acked_bytes + size, self.flight_bytes - size
        if new:
            self.rows.append((t_ms / 1e3, self.acked_bytes, t_ms - sent_ms, self.flight_bytes))

    def _among(self, ranges: list[tuple[int, int]]) -> Iterator[int]:
        """Yield what is in flight of ranges of packet numbers."""
        largest = max((last for _, last in ranges), default=-1)
        for number in self.sent:
            if number > largest:
                return
            if any(first <= number <= last for first, last in ranges):
                yield number


def _ranges(frame: Node) -> Iterator[tuple[int, int]]:
    for each in frame.at("acked_ranges").items():
        ends = [end.whole(0, LARGEST) for end in each.items()]
        if len(ends) not in (1, 2) or ends[0] > ends[-1]:
            raise each.refuse("one packet number, or the first and the last of a range")
        yield ends[0], ends[-1]


def _events(path: Path) -> Iterator[tuple[float, str, Node]]:
    """Yield time, name without its schema, and data of each event; `documents` passes over the record separators."""
    found = documents(path)
    if not found:
        raise UserError(f"{path}: content: must be JSON of qlog")
    traces = found[0].get("traces")
    if traces:
        whole = list(traces.items())
        if len(whole) != 1:
            raise traces.refuse("a list of one trace: one connection")
        trace, events = whole[0], list(whole[0].at("events").items())
    else:
        trace, events = found[0].at("trace"), found[1:]
    common = trace.get("common_fields")
    form = common.get("time_format") if common else None
    added, t_ms = form is not None and form.value in DELTA, 0.0
    for event in events:
        read_ms = event.at("time").number(0, LATEST_MS)
        t_ms = t_ms + read_ms if added else read_ms
        name = str(event.at("name").value).partition(":")[2]
        if name in TAKEN:
            yield t_ms, name, event.at("data")


IMPORTERS = (Importer("qlog", "qlog of a QUIC sender", "bytes delivered, in flight; RTT", fits, read),)
