# SPDX-License-Identifier: GPL-2.0-or-later
"""qlog of a QUIC sender (JSON, or one record per line): what it sent, and what each ACK frame acknowledged.

Only packets with application data count (1-RTT). Sizes are whole QUIC packets; the RTT contains the receiver's delay.
Until draft 2 an event could be a list by `event_fields`, its time in us, a number a text, and a size in the header.
mvfst and quiche do not name the packets that they take for lost: RFC 9002's threshold then does.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import shifted
from lab_formats.reading.documents import Node, counted, documents

APPLICATION = ("1RTT", "1rtt", "onertt")
LOST = "packet_lost"
TAKEN = ("packet_sent", LOST, "packet_received")
PASSED_OVER = 3  # numbers behind the largest acknowledged, from which a packet is lost (RFC 9002, 6.1.1)
DELTA = ("delta", "relative_to_previous_event")
LATEST, LARGEST, MOST_BYTES = 1e18, 2**62, 65_535
LONGEST_RTT_MS = 10_000  # where no unit is stated: a log of us would have 1 s for 1 ms, and 10 s for 10
UNITS_MS = {"ms": 1.0, "us": 1e-3}  # time_units of configuration or common_fields, until draft 2
TIMES, KINDS = ("time", "relative_time", "delta_time"), ("name", "event", "event_type", "type")  # of event_fields
SCHEMA = {
    "t_s": pl.Float64,
    "delivered_bytes": pl.Int64,
    "rtt_ms": pl.Float64,
    "inflight_bytes": pl.Int64,
    "lost_pkts": pl.Int64,
}
NOTES = (
    "Bytes are those of whole QUIC packets, the MSS their most frequent size; the RTT contains the receiver's delay.",
    "Time counts from the first 1-RTT packet.",
)


def fits(head: Head) -> bool:
    """Recognise the version that begins each qlog, or from draft 0.4 on its schema."""
    text = "\n".join(head.lines[:50]) + head.data[:4096].decode("utf-8", "ignore")
    return '"qlog_version"' in text or '"urn:ietf:params:qlog:file:' in text


def read(path: Path) -> Recording:
    """Read a row for each ACK frame that acknowledges something new."""
    notes = list(NOTES)
    trace, records = _trace(path, notes)
    vantage = trace.get("vantage_point")
    if vantage and isinstance(vantage.value, dict) and vantage.value.get("type") == "network":
        notes.append("It was logged in the network (vantage_point), not by an end: round trips are those from there.")
    events = list(_events(trace, records))
    sender = _Sender(names_lost=any(name == LOST and _is_of_data(data) for _, name, data in events))
    for t_ms, name, data in events:
        sender.take(t_ms, name, data)
    if sender.passed_over:
        notes.append(
            f"The log names no lost packets: {sender.passed_over} count as lost from the ACK on that acknowledges a "
            f"number {PASSED_OVER} or more above theirs (RFC 9002, 6.1.1)."
        )
    if sender.probes:
        words = "probes of the path's MTU, and no loss"
        notes.append(f"{len(sender.probes)} lost packets were longer than any that arrived before: {words}.")
    if not sender.acked_bytes:
        raise UserError(f"{path}: events: must have packet_sent and ACK frames of 1-RTT packets: a sender's qlog")
    if sender.received_bytes > sender.sent_bytes:
        sizes = f"{sender.sent_bytes} bytes sent, {sender.received_bytes} received"
        raise UserError(f"{path}: events: must be those of the data's sender ({sizes}): take the other end's qlog")
    frame = pl.DataFrame(sender.rows, orient="row", schema=SCHEMA)
    least_ms = frame["rtt_ms"].min()
    if not _unit(trace) and isinstance(least_ms, float) and least_ms > LONGEST_RTT_MS:
        rule = f"at most {LONGEST_RTT_MS / 1e3:g} s: times in ms, or time_units=us in common_fields"
        raise field_error(path, "shortest round trip", f"{least_ms / 1e3:g} s", rule)
    if (np.diff(frame["t_s"].to_numpy()) < 0).any():
        raise UserError(f"{path}: time: must not go back")
    frame = frame.unique("t_s", keep="last", maintain_order=True)
    frame = frame.with_columns(pl.lit(sender.sizes.most_common(1)[0][0], pl.UInt32).alias("mss_bytes"))
    frame = frame.with_columns(pl.Series("t_s", shifted(frame["t_s"].to_numpy() - frame["t_s"][0], str(path))))
    return Recording(frame, "series", None, "qlog", path.name, tuple(notes))


class _Sender:
    """What is in flight, as the events come."""

    def __init__(self, *, names_lost: bool) -> None:
        self.names_lost = names_lost
        self.sent: dict[int, tuple[float, int]] = {}  # in flight, in the order of their numbers: when, bytes
        self.lost: dict[int, tuple[float, int]] = {}  # taken for lost, and perhaps only late
        self.lost_numbers: list[int] = []  # of them, sorted
        self.rows: list[tuple[float, int, float | None, int, int]] = []
        self.sizes: Counter[int] = Counter()
        self.longest_acked = 0
        self.probes: set[int] = set()  # of the lost ones: they tried whether the path takes longer packets
        self.acked_bytes = self.flight_bytes = self.sent_bytes = self.received_bytes = self.passed_over = 0
        self.newest = -1

    def take(self, t_ms: float, name: str, data: Node) -> None:
        if not _is_of_data(data):
            return
        if name == "packet_received":
            self.received_bytes += _size(data) or 0
            frames = data.get("frames")
            for frame in frames.items() if frames else ():
                if frame.get("acked_ranges"):  # an ACK, also one with ECN or times of arrival
                    self._acknowledge(t_ms, list(_ranges(frame)))
            return
        header = data.get("header") or data  # aioquic's lost packets have none
        number = counted(header.at("packet_number"))
        if name == LOST:
            self._lose(number.whole(0, LARGEST))
        else:
            self._send(number, t_ms, _size(data) or data.at("raw", "length").whole(1, MOST_BYTES))

    def _send(self, number: Node, t_ms: float, size: int) -> None:
        if number.whole(0, LARGEST) <= self.newest:
            raise number.refuse(f"above {self.newest}, which was sent before: the packets of one connection")
        if not self.rows:
            self.rows.append((t_ms / 1e3, 0, None, 0, 0))
        self.newest = number.value
        self.sent[number.value] = t_ms, size
        self.flight_bytes += size
        self.sent_bytes += size
        self.sizes[size] += 1

    def _lose(self, number: int) -> None:
        if number in self.sent:
            self.lost[number] = self.sent.pop(number)
            size = self.lost[number][1]
            self.flight_bytes -= size
            insort(self.lost_numbers, number)
            if self.longest_acked and size > max(self.longest_acked, self.sizes.most_common(1)[0][0]):
                self.probes.add(number)  # RFC 8899

    def _acknowledge(self, t_ms: float, ranges: list[tuple[int, int]]) -> None:
        largest = max((last for _, last in ranges), default=-1)
        late = [number for first, last in ranges for number in self._late(first, last)]
        new = {number: self.sent.pop(number) for number in list(self._among(ranges, largest))}
        self.flight_bytes -= sum(size for _, size in new.values())
        new |= {number: self.lost.pop(number) for number in late}
        if not self.names_lost:
            self._pass_over(largest)
        if new:  # only the largest gives a round trip (RFC 9002, 5.1)
            sizes = [size for _, size in new.values()]
            self.acked_bytes += sum(sizes)
            self.longest_acked = max(self.longest_acked, *sizes)
            rtt_ms = t_ms - new[largest][0] if largest in new else None
            lost = len(self.lost) - len(self.probes)
            self.rows.append((t_ms / 1e3, self.acked_bytes, rtt_ms, self.flight_bytes, lost))

    def _pass_over(self, largest: int) -> None:
        passed = list(self._until(largest - PASSED_OVER))
        self.passed_over += len(passed)
        for number in passed:
            self._lose(number)

    def _until(self, largest: int) -> Iterator[int]:
        for number in self.sent:
            if number > largest:
                return
            yield number

    def _among(self, ranges: list[tuple[int, int]], largest: int) -> Iterator[int]:
        """Yield what is in flight of ranges of packet numbers."""
        for number in self._until(largest):
            if any(first <= number <= last for first, last in ranges):
                yield number

    def _late(self, first: int, last: int) -> list[int]:
        """Take out of the lost numbers those of a range."""
        place = slice(bisect_left(self.lost_numbers, first), bisect_right(self.lost_numbers, last))
        found, self.lost_numbers[place] = self.lost_numbers[place], []
        self.probes.difference_update(found)
        return found


def _is_of_data(data: Node) -> bool:
    """Return whether a packet is one with application data; early drafts, and aioquic's losses, may lack a header."""
    kind = data.get("packet_type") or (data.get("header") or data).get("packet_type") or data.get("type")
    return (kind or data.at("header", "packet_type")).value in APPLICATION


def _size(data: Node) -> int | None:
    """Return the length of a packet, which early drafts have in its header; None where it is not stated."""
    places = ("raw", "length"), ("header", "packet_size")
    found = (part.get(name) for place, name in places if (part := data.get(place)))
    size = next((each for each in found if each), None)
    return counted(size).whole(1, MOST_BYTES) if size else None


def _ranges(frame: Node) -> Iterator[tuple[int, int]]:
    for each in frame.at("acked_ranges").items():
        ends = [counted(end).whole(0, LARGEST) for end in each.items()]
        if len(ends) not in (1, 2) or ends[0] > ends[-1]:
            raise each.refuse("one packet number, or the first and the last of a range")
        yield ends[0], ends[-1]


def _trace(path: Path, notes: list[str]) -> tuple[Node, list[Node]]:
    """Return a log's trace and its events; `documents` passes over the record separators."""
    found = documents(path, notes=notes)
    if not found:
        raise UserError(f"{path}: content: must be JSON of qlog")
    traces = found[0].get("traces")
    if traces:
        whole = list(traces.items())
        if len(whole) != 1:
            raise traces.refuse("a list of one trace: one connection")
        if len(found) != 1:
            raise found[1].refuse("absent: one JSON document, of one connection, a file")
        return whole[0], list(whole[0].at("events").items())
    return found[0].at("trace"), found[1:]


def _events(trace: Node, events: list[Node]) -> Iterator[tuple[float, str, Node]]:
    """Yield time, name without its schema, and data of each event."""
    fields = trace.get("event_fields")
    columns = [str(each.value).lower() for each in fields.items()] if fields else []
    common = trace.get("common_fields")
    form = common.get("time_format") if common else None
    added, unit = "delta_time" in columns or (form is not None and form.value in DELTA), _unit(trace)
    unit_ms = UNITS_MS[unit.value] if unit else 1.0
    t_ms, groups = 0.0, set()
    for event in events:
        if event.value in ([], {}):  # early converters end their list with an empty event
            continue
        cells = dict(zip(columns, event.items(), strict=False)) if columns else _members(event)
        time, name, data = _of_cells(event, cells) if columns else (event.at("time"), event.at("name"), None)
        read_ms = counted(time).number(0, LATEST) * unit_ms
        t_ms = t_ms + read_ms if added else read_ms
        kind = str(name.value).rpartition(":")[2].lower()
        if kind in TAKEN:
            if group := cells.get("group_id"):
                groups.add(str(group.value))
                if len(groups) > 1:
                    raise group.refuse("that of the packets before: the events of one connection")
            yield t_ms, kind, data or event.at("data")


def _unit(trace: Node) -> Node | None:
    """Return the unit of times that a log states."""
    parts = (trace.get(name) for name in ("configuration", "common_fields"))
    unit = next((unit for part in parts if part and part.value and (unit := part.get("time_units"))), None)
    if unit and unit.value not in UNITS_MS:
        raise unit.refuse(" or ".join(UNITS_MS))
    return unit


def _members(event: Node) -> dict[str, Node]:
    group = event.get("group_id")
    return {"group_id": group} if group else {}


def _of_cells(event: Node, cells: dict[str, Node]) -> tuple[Node, Node, Node]:
    """Return time, name and data of an event that is a list."""
    found = [next((cells[name] for name in names if name in cells), None) for names in (TIMES, KINDS, ("data",))]
    time, name, data = found
    if time is None or name is None or data is None:
        raise event.refuse("a list by event_fields, with a time, the event and its data")
    return time, name, data


IMPORTERS = (Importer("qlog", "qlog of a QUIC sender", "bytes delivered, in flight; RTT; packets lost", fits, read),)
