# SPDX-License-Identifier: GPL-2.0-or-later
"""The qlog of a stack's server: windows, thresholds, round trips and states of its congestion control, and losses.

Three forms are read: JSON with one trace, JSON-SEQ (RFC 7464) and lines of JSON. Names of events and fields are those
of the drafts from 2020 on: with the category `recovery:` or without it, and `quic:recovery` before the colon is gone.
Times and round trips are ms or, in the first form, µs if the trace states it; times are from any zero on, or from the
event before.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.base.plain_file import read_plain
from lab.base.plain_text import escaped

MOST_BYTES = 500_000_000
MOST_VALUES = 40_000_000  # each takes up to 130 bytes of memory; real logs have one in 15 bytes or more
RECORD = "\x1e"
NO_TEXT, FIRST_CHARACTERS = {"\0", "\ufffd"}, 20  # gzip, zstd, bzip2, UTF-16
VERSIONS = ("0.3", "0.4", "draft-02")  # earlier ones have lists for events; later ones state file_schema instead
METRICS = ("metrics_updated", "recovery_metrics_updated")
STATES = ("congestion_state_updated",)
RECEIVED = ("packet_received", "datagrams_received", "datagram_received")
SLOW_START = ("slowstart", "startup")  # in a state's name: quiche has conservative_slow_start and bbr_startup
OF_LOSS = ("recover", "persistentcongestion")
LATER = (*OF_LOSS, "avoid", "drain", "probe")
MARK, BY_MARK = "ecn", " (ecn)"  # of a state's trigger
NO_STATES = ("", "application_limited")  # that say nothing about slow start
TIME_FORMATS = {"absolute": False, "relative": False, "relative_to_epoch": False}
TIME_FORMATS |= {"delta": True, "relative_to_previous_event": True}
SCHEMA = {
    "t_ms": pl.Float64,
    "cwnd_bytes": pl.Float64,
    "ssthresh_bytes": pl.Float64,
    "in_flight_bytes": pl.Float64,
    "srtt_ms": pl.Float64,
    "rtt_ms": pl.Float64,
    "state": pl.String,
    "lost_pkts": pl.Int64,
    "sent_bytes": pl.Int64,
    "received_pkts": pl.Int64,
}
THRESHOLD = "ssthresh_bytes"  # 0 is none, as a sender has that knows no threshold
MADE = {
    "congestion_window": "cwnd_bytes",
    "cwnd": "cwnd_bytes",
    "ssthresh": THRESHOLD,
    "bytes_in_flight": "in_flight_bytes",
    "smoothed_rtt": "srtt_ms",
    "latest_rtt": "rtt_ms",
}
IN_ITS_UNIT = ("t_ms", "srtt_ms", "rtt_ms")
LARGEST = 2.0**65  # of any number: stacks write 2^64 - 1 for no threshold
MOST_WINDOW = 2.0**40  # bytes of a window, and in flight: more than any trial sends
OTHER_UNIT = 100  # times a trial's length, and the log's is of another unit: it is 1,000 times as long, or as short
LONGEST = 500  # times the path's round trip, that of a queue included: in us it would be 1,000 times as long or longer
LEAVE_OUT = "or leave qlog out of the stack's file"
IN_MS, IN_BYTES = f"in ms, {LEAVE_OUT}", f"in bytes, {LEAVE_OUT}"
LEAST_DATAGRAM = 1200  # bytes, of QUIC (RFC 9000, 14)
LEAST_SHARE = 10  # times the largest window holds what a round trip does; in packets it is over 1,000 times too small
NO_THRESHOLD = 2.0**31 - 1  # and above: none yet


def read(file: Path, shown: str) -> pl.DataFrame:
    """Read a qlog's events in their order; UserError where it is none, cut inside a document, or of another version."""
    text = read_plain(file, MOST_BYTES).decode("utf-8-sig", errors="replace")
    if NO_TEXT & set(text[:FIRST_CHARACTERS]):
        raise UserError(f"{shown}: first bytes: must be UTF-8 text that is not packed, {LEAVE_OUT}")
    if not text.strip(f"{RECORD}\n "):
        raise UserError(f"{shown}: bytes=0: must be a qlog")
    if (values := sum(text.count(begin) for begin in ",[{")) > MOST_VALUES:
        raise field_error(shown, "values", values, f"at most {MOST_VALUES}, {LEAVE_OUT}")
    head, events = (_records if _is_lines(text) else _document)(text, shown)
    _require_version(head, shown)
    factor, delta = _clock(head, shown)
    rows, before_ms = [], 0.0
    for number, event in enumerate(events, 1):
        if not isinstance(event, dict):
            raise UserError(f"{shown}: event {number}: must be a JSON object")
        if row := _row(event):
            row |= {name: row[name] * factor for name in IN_ITS_UNIT if name in row}
            before_ms = row["t_ms"] = (before_ms if delta else 0.0) + row["t_ms"]
            rows.append(row)
        elif delta:
            before_ms += (_number(event.get("time")) or 0.0) * factor  # of an event without data
    table = pl.DataFrame(rows, schema=SCHEMA)
    for field, name in MADE.items():
        most = MOST_WINDOW if name in ("cwnd_bytes", "in_flight_bytes") else LARGEST
        odd = table[name].filter(~table[name].is_between(0, most))
        if len(odd):
            raise field_error(shown, field, odd[0], f"from 0 to {most:.3g}")
    for state in states(table.sort("t_ms", maintain_order=True))["state"]:
        if not in_slow_start(state):
            _require_later(state, shown)
            break
    return table


def states(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of states that are slow start or another one."""
    return table.filter(~pl.col("state").is_in(NO_STATES))


def _require_later(state: str, shown: str) -> None:
    if not _holds(state, LATER):
        rule = "a name with slow_start, startup, avoidance, recovery, drain or probe"
        raise field_error(shown, "congestion_state_updated", state, f"{rule}, {LEAVE_OUT}")


def require_bytes(table: pl.DataFrame, held_bytes: float, shown: str) -> None:
    """Refuse windows in packets: they begin below a datagram, and stay far below what a round trip held in the mean."""
    windows = table["cwnd_bytes"].filter(table["cwnd_bytes"] > 0).to_numpy()
    if len(windows) and windows.min() < LEAST_DATAGRAM and windows.max() * LEAST_SHARE < held_bytes:
        rule = f"about the {held_bytes:.0f} bytes that a round trip held: {IN_BYTES}"
        raise field_error(shown, "congestion_window", f"{windows.max():g} at most", rule)


def require_ms(table: pl.DataFrame, base_rtt_ms: float, trial_ms: float, shown: str) -> None:
    """Refuse times that the trial cannot have, and round trips that the path cannot: in s or us, which no log states.

    quinn wrote round trips in s beside times in ms.
    """
    times_ms = table["t_ms"].to_numpy()
    span_ms = float(np.ptp(times_ms)) if len(times_ms) else 0.0
    if span_ms and not trial_ms / OTHER_UNIT < span_ms < trial_ms * OTHER_UNIT:
        rule = f"about the trial's {trial_ms:.0f} ms: {IN_MS}"
        raise field_error(shown, "time", f"{span_ms:g} from the first to the last", rule)
    for field, name in (("smoothed_rtt", "srtt_ms"), ("latest_rtt", "rtt_ms")):
        typical_ms = table[name].replace(0.0, None).median()
        if isinstance(typical_ms, float) and not base_rtt_ms / 2 <= typical_ms < base_rtt_ms * LONGEST:
            limit = "at least" if typical_ms < base_rtt_ms else f"less than {LONGEST} times"
            rule = f"{limit} the path's {base_rtt_ms:g} ms: {IN_MS}"
            raise field_error(shown, field, f"{typical_ms:g} in the median", rule)


def _is_lines(text: str) -> bool:
    if text.lstrip("\n ").startswith(RECORD):
        return True
    first = text.lstrip().partition("\n")[0]
    return first.startswith("{") and "\n" in text.strip() and '"traces"' not in first and _is_whole(first)


def _records(text: str, shown: str) -> tuple[dict[str, Any], Iterator[Any]]:
    """Read JSON-SEQ, or lines of JSON; a stopped program may leave half a record at the end."""
    lines = [line for line in (each.strip(f"{RECORD} \r") for each in text.split("\n")) if line]
    if not text.endswith("\n") and not _is_whole(lines[-1]):
        lines.pop()
    records = (_parsed(line, shown, f"record {number}") for number, line in enumerate(lines, 1))
    head = next(records, None)
    if head is None:
        raise UserError(f"{shown}: record 1: must be whole JSON")
    return head, records


def _is_whole(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(line: str, shown: str, what: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise UserError(f"{shown}: {what}: must be whole JSON") from None
    if not isinstance(found, dict):
        raise UserError(f"{shown}: {what}: must be a JSON object")
    return found


def _document(text: str, shown: str) -> tuple[dict[str, Any], Iterator[Any]]:
    head = _parsed(text, shown, "qlog")
    traces = head.get("traces")
    if not isinstance(traces, list) or len(traces) != 1 or not isinstance(traces[0], dict):
        raise UserError(f"{shown}: traces: must be one trace, of the download's connection")
    events = traces[0].get("events")
    if not isinstance(events, list):
        raise UserError(f"{shown}: events: must be a list")
    return {**head, "trace": traces[0]}, iter(events)


def _require_version(head: dict[str, Any], shown: str) -> None:
    version = head.get("qlog_version")
    if version not in VERSIONS and not (version is None and "file_schema" in head):
        raise field_error(
            shown, "qlog_version", version, f"{', '.join(VERSIONS)}, or later with file_schema, {LEAVE_OUT}"
        )


def _clock(head: dict[str, Any], shown: str) -> tuple[float, bool]:
    """Return the factor to ms, and whether each time counts from the event before."""
    trace = _part(head, "trace", shown)
    common = _part(trace, "common_fields", shown)
    settings = _part(trace, "configuration", shown)
    factor = 1e-3 if "us" in (settings.get("time_units"), common.get("time_units")) else 1.0
    form = str(common.get("time_format") or "relative")
    if form not in TIME_FORMATS:
        raise field_error(shown, "time_format", form, ", ".join(TIME_FORMATS))
    return factor, TIME_FORMATS[form]


def _part(whole: dict[str, Any], name: str, shown: str) -> dict[str, Any]:
    part = whole.get(name) or {}
    if not isinstance(part, dict):
        raise UserError(f"{shown}: {name}: must be a JSON object")
    return part


def _number(value: object) -> float | None:
    """Return a number, which some stacks write as a text; None of what is none, or too large."""
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < LARGEST else None  # NaN is not


def _row(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return an event of packets or congestion control as a row; None of any other, and of one without a time."""
    name = str(event.get("name", "")).rpartition(":")[2]
    data, time = event.get("data"), _number(event.get("time"))
    if not isinstance(data, dict) or time is None:
        return None
    row: dict[str, Any] = {"t_ms": time}
    if name in METRICS:
        pairs = ((MADE[key], _number(data.get(key))) for key in MADE)
        row |= {field: value for field, value in pairs if value is not None and (value or field != THRESHOLD)}
    elif name in STATES:
        by_mark = MARK in str(data.get("trigger", "")).lower()
        row["state"] = escaped(f"{data.get('new', '')}{BY_MARK * by_mark}")  # half a character fits into no table
    elif name == "packet_lost":
        row["lost_pkts"] = 1
    elif name in RECEIVED:
        row["received_pkts"] = 1
    elif name == "packet_sent":
        raw = data.get("raw") or {}
        length = raw.get("length") if isinstance(raw, dict) else None
        row["sent_bytes"] = length if isinstance(length, int) and 0 <= length <= MOST_BYTES else None
    else:
        return None
    return row


def in_slow_start(state: str) -> bool:
    """Return whether a state's name is that of slow start."""
    return _holds(state, SLOW_START)


def of_loss(state: str) -> bool:
    """Return whether a state's name is that of a sender that found a loss, and no mark."""
    return _holds(state, OF_LOSS) and not state.endswith(BY_MARK)


def _holds(state: str, words: tuple[str, ...]) -> bool:
    name = "".join(each for each in state.lower() if each.isalpha())
    return any(word in name for word in words)
