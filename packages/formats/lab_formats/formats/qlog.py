# SPDX-License-Identifier: GPL-2.0-or-later
"""qlog of a QUIC sender (JSON, or one record per line): what it sent, and what each ACK frame acknowledged.

Only packets with application data count (1-RTT). Sizes are whole QUIC packets; the RTT contains the receiver's delay.
Until draft 2 an event could be a list by `event_fields`, its time in us, a number a text, and a size in the header.
mvfst and quiche do not name the packets that they take for lost: RFC 9002's threshold then does.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import shifted
from lab_formats.reading.documents import Node, counted, documents
from lab_formats.reading.grain import coarse, grain_s
from lab_formats.reading.quic_sender import LOST, METRICS, PASSED_OVER, Sender, is_of_data
from lab_formats.reading.text import short

SENT = "packet_sent"
TAKEN = (SENT, LOST, "packet_received")
DELTA = ("delta", "relative_to_previous_event")
TIME_FORMATS = ("absolute", "relative", "relative_to_epoch", *DELTA)
Event = tuple[float, str, Node]
SIGNS = ('"qlog_version"', '"urn:ietf:params:qlog:file:', '"vantage_point"')
LATEST = 1e18
LONGEST_RTT_MS = 10_000  # where no unit is stated: a log of us would have 1 s for 1 ms, and 10 s for 10
SHORT_RTT_MS = 1.0  # where no unit is stated: a log of s would have 1 ms for 1 s
OTHER_UNIT = 30  # times the shortest round trip of the events, and the shortest that the log states is of another unit
UNITS_MS = {"ms": 1.0, "us": 1e-3, "s": 1e3}  # time_units of configuration or common_fields: ms or us until draft 2
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
    """Recognise the version of a qlog, its schema from draft 0.4 on, or its place, which mvfst may put first."""
    text = "\n".join(head.lines[:50]) + head.data[:4096].decode("utf-8", "ignore")
    return bool(head.lines or b"\0" not in head.data) and any(sign in text for sign in SIGNS)


def read(path: Path) -> Recording:
    """Read a row for each ACK frame that acknowledges something new."""
    notes = list(NOTES)
    trace, records = _trace(path, notes)
    vantage = trace.get("vantage_point")
    if vantage and isinstance(vantage.value, dict) and vantage.value.get("type") == "network":
        notes.append("It was logged in the network (vantage_point), not by an end: round trips are those from there.")
    events = _in_order(list(_events(trace, records)), notes)
    sender = Sender(names_lost=any(name == LOST and is_of_data(data) for _, name, data in events))
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
        raise UserError(
            f"{path}: events: must have packet_sent and ACK frames of 1-RTT packets: a sender's qlog, with frames"
        )
    if sender.received_bytes > sender.sent_bytes:
        sizes = f"{sender.sent_bytes} bytes sent, {sender.received_bytes} received"
        raise UserError(f"{path}: events: must be those of the data's sender ({sizes}): take the other end's qlog")
    frame = pl.DataFrame(sender.rows, orient="row", schema=SCHEMA)
    least_ms = frame["rtt_ms"].min()
    if not _unit(trace) and isinstance(least_ms, float):
        notes += _of_no_unit(path, least_ms, sender.stated_rtts)
    if (np.diff(frame["t_s"].to_numpy()) < 0).any():
        raise UserError(f"{path}: time: must not go back")
    notes += coarse(grain_s(np.unique([t_ms / 1e3 for t_ms, _, _ in events])), "log")
    frame = frame.unique("t_s", keep="last", maintain_order=True)
    frame = frame.with_columns(pl.lit(sender.sizes.most_common(1)[0][0], pl.UInt32).alias("mss_bytes"))
    frame = frame.with_columns(pl.Series("t_s", shifted(frame["t_s"].to_numpy() - frame["t_s"][0], str(path))))
    return Recording(frame, "series", None, "qlog", path.name, tuple(notes))


def _of_no_unit(path: Path, least_ms: float, stated: set[float]) -> Iterator[str]:
    """Note a round trip that times in s would show too, unless the log's own show that times are not in ms.

    One value alone is the initial one of RFC 9002. Smaller ones say nothing: quinn wrote them in s, its times in ms.
    """
    if least_ms > LONGEST_RTT_MS:
        rule = f"at most {LONGEST_RTT_MS / 1e3:g} s: times in ms, or time_units=us in common_fields"
        raise field_error(path, "shortest round trip", f"{least_ms / 1e3:g} s", rule)
    if len(stated) > 1 and OTHER_UNIT * least_ms < min(stated):
        least = f"about the least that the log states itself, {min(stated):g}"
        rule = f"{least}: times in ms, or time_units=s in common_fields"
        raise field_error(path, "shortest round trip", f"{least_ms:g} ms", rule)
    if least_ms < SHORT_RTT_MS:
        yield f"The log states no unit of its times: in ms, the shortest round trip is {least_ms:.3g} ms."


def _trace(path: Path, notes: list[str]) -> tuple[Node, list[Node]]:
    """Return a log's trace and its events; `documents` passes over the record separators."""
    found = documents(path, notes=notes)
    if not found:
        raise UserError(f"{path}: content: must be JSON of qlog")
    traces = found[0].get("traces")
    if traces:
        whole = list(traces.items())
        if len(whole) != 1:
            seen = ", ".join(f"{number}: {_end(trace)}" for number, trace in enumerate(whole, 1))
            keep = f": keep the data sender's of {seen}, as number N by jq '.traces |= .[N-1:N]'" if seen else ""
            raise field_error(path, "traces", len(whole), f"1, of one connection{keep}")
        if len(found) != 1:
            raise found[1].refuse("absent: one JSON document, of one connection, a file")
        return whole[0], list(whole[0].at("events").items())
    again = next(
        (one for one in found[1:] if isinstance(one.value, dict) and {"trace", "qlog_version"} & {*one.value}), None
    )
    if again:
        raise again.refuse("absent: the log of one connection a file, so split it in front of this line")
    return found[0].at("trace"), found[1:]


def _end(trace: Node) -> str:
    """Return at which end a trace was logged, by its vantage point."""
    vantage = trace.value.get("vantage_point") if isinstance(trace.value, dict) else None
    named = [vantage.get(key) for key in ("type", "name")] if isinstance(vantage, dict) else [vantage]
    return short(next((name for name in named if isinstance(name, str) and name), "no vantage point"))


def _events(trace: Node, events: list[Node]) -> Iterator[Event]:
    """Yield time, name without its schema, and data of each event."""
    fields = trace.get("event_fields")
    columns = [str(each.value).lower() for each in fields.items()] if fields else []
    common = trace.get("common_fields")
    form = common.get("time_format") if common else None
    if form and form.value not in (None, *TIME_FORMATS):
        raise form.refuse(" or ".join(TIME_FORMATS))
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
        if kind in TAKEN or kind in METRICS:
            data = data or event.at("data")
            group = cells.get("group_id")
            if group and kind in TAKEN and is_of_data(data):  # quinn has another one until the handshake ends
                groups.add(str(group.value))
                if len(groups) > 1:
                    raise group.refuse("that of the packets before: the events of one connection")
            yield t_ms, kind, data


def _in_order(events: list[Event], notes: list[str]) -> list[Event]:
    """Put what was sent among the other events by time: one thread may write an ACK before another what it is of."""
    latest, keys = {True: 0.0, False: 0.0}, []
    for t_ms, name, _ in events:
        latest[name == SENT] = max(latest[name == SENT], t_ms)
        keys.append(latest[name == SENT])
    if keys != sorted(keys):
        notes.append("Packets sent stand behind later events in the file: they are taken in the order of time.")
    return [events[at] for at in sorted(range(len(events)), key=keys.__getitem__)]


def _unit(trace: Node) -> Node | None:
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
