# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain text of one test of iperf3 or iperf2: TCP or UDP, one stream or several, one way or both."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.traces.columns import FASTEST_MBPS, LONGEST_S
from lab.traces.importers.reading.importer import Head, Importer
from lab.traces.importers.reading.iperf3_tests import (
    GOODPUT,
    HAIR,
    OTHER_WAY,
    TWO_WAY,
    USER,
    Test,
    check_choices,
    cut_ramps,
    rate_column,
)
from lab.traces.importers.reading.ramp import RULE
from lab.traces.importers.reading.text import line_error, read_lines
from lab.traces.recording import Recording

CLOCK = r"(?:[^\[\]]{0,40}\d:\d\d[^\[\]]{0,40})?"  # of --timestamps, and of tools that put the time before each line
HEADING = re.compile(rf"^{CLOCK}\[ *ID\](?:\[Role\])? +Interval +Transfer +(?:Bitrate|Bandwidth)")
ROW = re.compile(
    rf"^{CLOCK}\[ *(?P<id>\d+|SUM)(?:-\d+)?\](?:\[(?P<role>[TR]X-[CS])\])? +"
    r"(?P<start>[\d.]+) *- *(?P<end>[\d.]+) +sec +"
    r"[\d.]+ +[KMGT]?Bytes +(?P<rate>[\d.]+) (?P<unit>[KMGT]?)(?P<what>bits|Bytes)/sec(?P<more>.*)$"
)
DATAGRAMS = re.compile(r"^ +[\d.]+ ms +(?P<lost>-?\d{1,15}) */ *(?P<all>\d{1,15}) +\([^)]*\)")
RETRANSMITS = re.compile(r"^ +(?P<retr>\d+) +[\d.]+ [KMG]?Bytes *$")
NO_INTERVAL = re.compile(
    rf"^{CLOCK}(?:\[ *ID\]|\[ *(?:\d+|SUM)(?:-\d+)?\](?:\[[TR]X-[CS]\])? (?:local|Sent|Server|WARNING|sent|MSS))"
)
UDP = re.compile(r"protocol: UDP|UDP buffer size|Datagrams$|Lost/Total")
MBPS = {
    (scale + what): factor * size
    for what, size in (("bits", 1.0), ("Bytes", 8.0))
    for scale, factor in (("", 1e-6), ("K", 1e-3), ("M", 1.0), ("G", 1e3), ("T", 1e6))
}
IN_BYTES = {"KBytes": 1.024, "MBytes": 1.048576, "GBytes": 1.073741824, "TBytes": 1.099511627776}  # units of 2^10


def fits(head: Head) -> bool:
    """Recognise the heading above the intervals."""
    return any(HEADING.match(line) for line in head.lines)


@dataclass(frozen=True)
class Row:
    """One line of rates: an interval, or a summary of all."""

    line: int
    stream: str
    role: str | None
    start_s: float
    end_s: float
    rate_mbps: float
    retransmits: int | None
    lost_pct: float | None
    end: str | None  # sender or receiver: a summary


def read(
    path: Path, *, ramp: Literal["cut", "keep"] = "cut", user: Literal["client", "server"] = "client"
) -> Recording:
    """Read the intervals; `user` is the end that is the link's user: at the client, `-R` is down and its absence up."""
    check_choices(path, ramp, user)
    lines = read_lines(path)
    rows = [row for number, line in enumerate(lines, 1) if (row := _row(path, number, line, number == len(lines)))]
    udp = any(UDP.search(line.rstrip()) for line in lines)
    reverse = any("Reverse mode" in line for line in lines)
    test = _test(path, rows, udp, reverse, user)
    notes = [*test.notes, GOODPUT if not udp else "UDP: what arrived is the capacity only where more was sent."]
    if ramp == "cut" and not udp:
        (test,), cut = cut_ramps([test])
        notes.append(f"The sender's ramp is cut, {RULE}: {cut}.")
    frame = test.frame(-float(test.starts_s[0]))
    meaning: Literal["goodput"] | None = None if udp else "goodput"
    return Recording(frame, "series", meaning, "iperf3-text", path.name, (*notes, USER.format(user)))


def _test(path: Path, rows: list[Row], udp: bool, reverse: bool, user: str) -> Test:
    """Make the test of its rows: those of all streams together, of each direction."""
    intervals = [row for row in rows if row.end is None]
    if any(row.stream == "SUM" for row in intervals):
        intervals = [row for row in intervals if row.stream == "SUM"]
    roles = list(dict.fromkeys(row.role for row in intervals))
    ways = {role: _in_order(path, [row for row in intervals if row.role == role]) for role in roles}
    if not ways:
        raise UserError(f"{path}: content: must be iperf's text with intervals")
    first = ways[roles[0]]
    if roles[0] is None:
        return _arrived(_of(first, rate_column(reverse, user), udp, not reverse), rows)
    column = rate_column(roles[0] in ("RX-C", "TX-S"), user)
    test, others = _of(first, column, udp, False), [each for role in roles[1:] for each in ways[role]]
    if len(others) != len(first):
        raise line_error(path, first[-1].line, "intervals", len(first), f"{len(others)}, those of the other direction")
    more = {OTHER_WAY[column]: pl.Series([row.rate_mbps for row in others])}
    return Test(1, None, udp, column, False, test.starts_s, test.ends_s, test.rates_mbps, more, (TWO_WAY,))


def _of(rows: list[Row], column: str, udp: bool, sent: bool) -> Test:
    starts, ends, rates = (np.array([getattr(row, name) for row in rows]) for name in ("start_s", "end_s", "rate_mbps"))
    more = {}
    if all(row.retransmits is not None for row in rows):
        more["retransmits_pkts"] = pl.Series([row.retransmits for row in rows], dtype=pl.UInt32)
    if all(row.lost_pct is not None for row in rows):
        more["loss_pct"] = pl.Series([row.lost_pct for row in rows], dtype=pl.Float64)
    return Test(1, None, udp, column, sent, starts, ends, rates, more, ())


def _arrived(test: Test, rows: list[Row]) -> Test:
    """Let the receiver's summary stand for a UDP test whose intervals are the sender's."""
    if not test.udp or "loss_pct" in test.more:
        return test
    sums = [row for row in rows if row.lost_pct is not None and row.end != "sender"]
    if sums and all(row.lost_pct == 0 for row in sums):
        return test
    if not sums:
        notes = ("What was sent, for the text does not state what arrived.",)
        return Test(1, None, True, test.column, True, test.starts_s, test.ends_s, test.rates_mbps, {}, notes)
    end = next((row for row in sums if row.stream == "SUM"), sums[-1])
    starts, ends, rates = (np.array([value]) for value in (0.0, end.end_s, end.rate_mbps))
    note = "The intervals state what was sent: the receiver's mean stands for all of the test."
    return Test(1, None, True, test.column, True, starts, ends, rates, {"loss_pct": pl.Series([end.lost_pct])}, (note,))


def _row(path: Path, number: int, line: str, last: bool) -> Row | None:
    """Take a line apart; None where it is no interval."""
    match = ROW.match(line)
    if not match:
        if "[" not in line or last or NO_INTERVAL.match(line) or not re.match(rf"^{CLOCK}\[", line):
            return None
        raise line_error(path, number, "text", line, "a line that iperf writes about one test")
    more = match["more"].rstrip()
    if "(omitted)" in more:
        return None
    words, unit = more.split(), match["unit"] + match["what"]
    scale = MBPS[unit] * IN_BYTES.get(unit, 1.0)
    lost, retransmits = DATAGRAMS.match(more), RETRANSMITS.match(more)
    return Row(
        number,
        match["id"],
        match["role"],
        _number(path, number, "start", match["start"], LONGEST_S),
        _number(path, number, "end", match["end"], LONGEST_S),
        _number(path, number, "bitrate", match["rate"], FASTEST_MBPS / scale) * scale,
        int(_number(path, number, "retr", retransmits["retr"], 1e9)) if retransmits else None,
        _lost_pct(int(lost["lost"]), int(lost["all"])) if lost else None,
        words[-1] if words and words[-1] in ("sender", "receiver") else None,
    )


def _lost_pct(lost: int, of_all: int) -> float | None:
    """Return the share of datagrams that were lost; None where it is none (a bug of iperf3)."""
    return lost * 100 / of_all if 0 <= lost <= of_all and of_all else None


def _number(path: Path, line: int, field: str, text: str, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        raise line_error(path, line, field, text, "a number") from None
    if not value <= high:
        raise line_error(path, line, field, text, f"at most {high:g}")
    return value


def _in_order(path: Path, rows: list[Row]) -> list[Row]:
    """Return the intervals of one direction, without iperf2's summary and a last one of nearly no length."""
    if len(rows) > 2 and rows[-1].start_s == rows[0].start_s and rows[-1].end_s >= rows[-2].end_s:
        rows = rows[:-1]
    if len(rows) > 1 and rows[-1].end_s - rows[-1].start_s < HAIR * (rows[0].end_s - rows[0].start_s):
        rows = rows[:-1]
    end_s = rows[0].start_s
    for row in rows:
        if row.stream != rows[0].stream:
            raise line_error(path, row.line, "ID", row.stream, f"{rows[0].stream}: one stream, or with [SUM]")
        if row.start_s != end_s or row.end_s <= row.start_s:
            raise line_error(path, row.line, "start", row.start_s, f"{end_s}, the end before, and below its own end")
        end_s = row.end_s
    return rows


IMPORTERS = (Importer("iperf3-text", "plain text of an iperf3 or iperf2 test", "goodput", fits, read),)
