# SPDX-License-Identifier: GPL-2.0-or-later
"""What `ss -tin` printed again and again at the sender, with a line of `date +%s.%N` before each print.

while sleep 0.1; do date +%s.%N; ss -tin dst 192.0.2.1; done > my.ss
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.columns import LONGEST_S, MOST_BYTES, SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import shifted
from lab_formats.reading.counters import COARSE, limits, series
from lab_formats.reading.text import lacks_end, line_error, read_lines

EPOCH_DIGITS = 10  # of whole seconds, from 2001 to 2286
CLOCK = re.compile(r"\d{9,10}\.\d+|\d{10}(?:\d{3}){1,3}")  # of date +%s.%N, or without a point (ms, us or ns)
STAMPED = re.compile(rf"({CLOCK.pattern})[,;]?(\s.*\S.*)")  # by ts '%.s', which puts the time before each line
DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d+(?:Z|[+-]\d\d:?\d\d)")  # of date -Ins, --rfc-3339=ns
BEGIN = r"(?:[\sA-Z\d]|tcp\s).*"  # ss -O has the socket in front, perhaps without its state or with its protocol
INFO = re.compile(rf"{BEGIN}\bcwnd:\d+.*\bbytes_acked:\d+|{BEGIN}\bbytes_acked:\d+.*\bcwnd:\d+")
STATES = "ESTAB|CLOSE-WAIT|FIN-WAIT-\\d|CLOSING|LAST-ACK|TIME-WAIT"
SOCKET = re.compile(rf"(?:tcp\s+)?(?:(?:{STATES})\s+)?\d+\s+\d+\s+(\S+:\S+)\s+(\S+:\S+)")  # of one state: without it
FIELDS = {
    "acked_bytes": r"\bbytes_acked:(\d+)",
    "received_bytes": r"\bbytes_received:(\d+)",
    "rtt_ms": r"\srtt:(\d+(?:\.\d+)?)/",
    "least_rtt_ms": r"\bminrtt:(\d+(?:\.\d+)?)(?![\d.])",
    "unacked": r"\bunacked:(\d+)",
    "sacked": r"\ssacked:(\d+)",
    "retransmits": r"\bretrans:\d+/(\d+)",
    "cwnd_pkts": r"\bcwnd:(\d+)",
    "mss_bytes": r"\smss:(\d+)",
    "busy_ms": r"\bbusy:(\d+)ms",
    "window_ms": r"\brwnd_limited:(\d+)ms",
}
LEAST = {"mss_bytes": 1}
MOST = {
    **dict.fromkeys(("acked_bytes", "received_bytes"), MOST_BYTES),
    **dict.fromkeys(("rtt_ms", "least_rtt_ms"), SLOWEST_MS),
    "mss_bytes": 65_535,
}
NEEDED = ("acked_bytes", "rtt_ms", "cwnd_pkts", "mss_bytes")
Rows = list[dict[str, Any]]


def fits(head: Head) -> bool:
    """Recognise ss's line of a connection's TCP."""
    return any(INFO.match(line) for line in head.lines[:200])


def read(path: Path) -> Recording:
    """Read the connection of which most was acknowledged."""
    found, first_s = _connections(path)
    if not found:
        raise UserError(f"{path}: content: must hold lines of ss -tin with bytes_acked, of a sender")
    name, rows = max(found.items(), key=lambda each: each[1][-1]["acked_bytes"])
    if (rows[-1]["received_bytes"] or 0) > rows[-1]["acked_bytes"]:
        rule = f"below bytes_acked ({rows[-1]['acked_bytes']:.0f}): readings at the data's sender"
        raise field_error(path, "bytes_received", f"{rows[-1]['received_bytes']:.0f}", rule)
    frame = pl.DataFrame(rows, infer_schema_length=None).unique("t_s", keep="last", maintain_order=True)
    frame = frame.with_columns(
        pl.Series("t_s", shifted(frame["t_s"].to_numpy() - frame["t_s"][0], str(path))),
        (pl.col("unacked").fill_null(0) * pl.col("mss_bytes")).alias("inflight_bytes"),
        pl.col("retransmits").fill_null(0),
    )
    other = len(found) - 1
    shown = name or "without addresses"
    notes = [COARSE, *limits(frame), f"Connection {shown}, from {rows[0]['t_s'] - first_s:.1f} s on."]
    notes += [f"{other} other connections: left out."] * bool(other)
    notes += ["The last line has no end, so that its last value may be cut: left out."] * lacks_end(path)
    return Recording(series(frame), "series", None, "ss", path.name, tuple(notes))


def _connections(path: Path) -> tuple[dict[str, Rows], float]:
    found: defaultdict[str, Rows] = defaultdict(list)
    now_s: float | None = None
    first_s, socket, prints, clock_at = 0.0, "", 0, 0
    again: Counter[str] = Counter()  # how often a socket's ports were used again
    for number, line in _lines(path):
        if (read_s := _clock_s(line.strip())) is not None:
            before_s, now_s, prints, clock_at = now_s, read_s, prints + 1, number
            if before_s is not None and now_s < before_s:
                raise line_error(path, number, "time", line.strip(), "no earlier than the one before")
            first_s = first_s or now_s
            if now_s - first_s > LONGEST_S:
                rule = f"within {LONGEST_S / 86_400:g} days of the first"
                raise line_error(path, number, "time", line.strip(), rule)
            continue
        if found_socket := SOCKET.match(line.strip()):
            socket = " to ".join(found_socket.groups())
        if INFO.match(line):  # behind the socket, or in its line (ss -O)
            if now_s is None:
                raise line_error(path, number, "time", "none", "given before each print: date +%s.%N, or -Ins")
            row = {**_row(path, number, line, now_s), "print": prints}
            before = found[_named(socket, again)]
            if (before and before[-1]["print"] == prints) or (clock_at == number and not socket):
                raise _twice(path, number, socket)
            again[socket] += bool(before) and row["acked_bytes"] < before[-1]["acked_bytes"]
            found[_named(socket, again)].append(row)
            socket = ""
    return dict(found), first_s


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines, a time before one apart; a last one without an end may be cut within a number."""
    for number, line in enumerate(read_lines(path)[: -1 if lacks_end(path) else None], 1):
        stamped = STAMPED.fullmatch(line)
        yield from ((number, part) for part in (stamped.groups() if stamped else (line,)))


def _twice(path: Path, number: int, socket: str) -> UserError:
    """Return the error of a connection that stands twice behind one time, or may, as each line has one."""
    if socket:
        return line_error(path, number, "time", "none", f"given before each print, also this one of {socket}")
    rule = "printed before each line of a connection where a print has several, or each line a time: ss -tin"
    return line_error(path, number, "addresses", "none", rule)


def _named(socket: str, again: Counter[str]) -> str:
    return f"{socket} (again, {again[socket]})" if again[socket] else socket


def _clock_s(line: str) -> float | None:
    """Return the time that a line of `date` states; None of any other line. Whole seconds are too coarse."""
    try:
        if CLOCK.fullmatch(line):
            return float(line) if "." in line else int(line) / 10 ** (len(line) - EPOCH_DIGITS)
        return datetime.fromisoformat(line).timestamp() if DATE.fullmatch(line) else None
    except ValueError:  # a month 13
        return None


def _row(path: Path, number: int, line: str, now_s: float) -> dict[str, Any]:
    matches = {name: re.search(pattern, line) for name, pattern in FIELDS.items()}
    for name in NEEDED:
        if not matches[name]:
            raise line_error(path, number, name, "none", "printed by ss -tin")
    values = {name: float(each[1]) if each else None for name, each in matches.items()}
    for name, value in values.items():
        if value is not None and not LEAST.get(name, 0) <= value <= MOST.get(name, 1e9):
            raise line_error(path, number, name, value, f"{LEAST.get(name, 0)} to {MOST.get(name, 1e9):g}")
    return {"t_s": now_s, **values}


IMPORTERS = (
    Importer(
        "ss",
        "text of ss -tin at a sender, with times",
        "bytes acknowledged, delivered, in flight; RTT; retransmissions",
        fits,
        read,
    ),
)
