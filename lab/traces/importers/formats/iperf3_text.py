# SPDX-License-Identifier: GPL-2.0-or-later
"""iperf3's plain text of one TCP test with one stream."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.traces.columns import FASTEST_MBPS, LONGEST_S
from lab.traces.importers.reading.importer import Head, Importer
from lab.traces.importers.reading.iperf3_tests import GOODPUT, USER, Test, check_choices, cut_ramps, rate_column
from lab.traces.importers.reading.ramp import RULE
from lab.traces.importers.reading.text import line_error, read_lines
from lab.traces.recording import Recording

HEADING = re.compile(r"^\[ ID\] Interval +Transfer +(?:Bitrate|Bandwidth)")
ROW = re.compile(
    r"^\[ *(?P<id>\d+|SUM)\] +(?P<start>[\d.]+)-(?P<end>[\d.]+) +sec +[\d.]+ [KMGT]?Bytes +"
    r"(?P<rate>[\d.]+) (?P<unit>[KMGT]?)bits/sec(?P<more>.*)$"
)
TAIL = re.compile(r"^ +(?P<retr>\d+) +[\d.]+ [KMG]?Bytes *$")
OTHER = re.compile(
    r"^$|^Connecting to host |^Reverse mode|^\[ *\d+\] local |^- - - |^iperf Done|^[^ ]*[$#] iperf3 |^iperf3? "
    r"|^-+$|^\[ ID\] "
)
MBPS = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}


def fits(head: Head) -> bool:
    """Recognise the heading above the intervals."""
    return any(HEADING.match(line) for line in head.lines)


@dataclass(frozen=True)
class Row:
    """One interval's line."""

    line: int
    stream: str
    start_s: float
    end_s: float
    rate_mbps: float
    retransmits: int | None


def read(
    path: Path, *, ramp: Literal["cut", "keep"] = "cut", user: Literal["client", "server"] = "client"
) -> Recording:
    """Read the intervals; `user` is the end that is the link's user: at the client, `-R` is down and its absence up."""
    check_choices(path, ramp, user)
    lines = read_lines(path)
    rows = [row for number, line in enumerate(lines, 1) if (row := _row(path, number, line))]
    _check(path, rows)
    reverse = any(line.startswith("Reverse mode") for line in lines)
    test, notes = _test(rows, rate_column(reverse, user)), [GOODPUT, USER.format(user)]
    if ramp == "cut":
        (test,), cut = cut_ramps([test])
        notes.append(f"The sender's ramp is cut, {RULE}: {cut}.")
    frame = test.frame(-float(test.starts_s[0]))
    return Recording(frame, "series", "goodput", "iperf3-text", path.name, tuple(notes))


def _test(rows: list[Row], column: str) -> Test:
    starts, ends, rates = (np.array([getattr(row, name) for row in rows]) for name in ("start_s", "end_s", "rate_mbps"))
    retransmits = [row.retransmits for row in rows]
    more = {} if None in retransmits else {"retransmits_pkts": pl.Series(retransmits, dtype=pl.UInt32)}
    return Test(1, None, False, column, True, starts, ends, rates, more, ())


def _row(path: Path, number: int, line: str) -> Row | None:
    """Take a line apart; None where it is no interval, the end's summary included."""
    match = ROW.match(line)
    if not match:
        if not OTHER.match(line.strip()):
            raise line_error(path, number, "text", line, "a line that iperf3 writes about one TCP test")
        return None
    more, tail = match["more"], TAIL.match(match["more"])
    if more.split()[-1:] in (["sender"], ["receiver"]):
        return None
    if more.strip() and not tail:
        raise line_error(path, number, "text", line, "an interval of one TCP test")
    scale = MBPS[match["unit"]]
    return Row(
        number,
        match["id"],
        _number(path, number, "start", match["start"], LONGEST_S),
        _number(path, number, "end", match["end"], LONGEST_S),
        _number(path, number, "bitrate", match["rate"], FASTEST_MBPS / scale) * scale,
        int(_number(path, number, "retr", tail["retr"], 1e9)) if tail else None,
    )


def _number(path: Path, line: int, field: str, text: str, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        raise line_error(path, line, field, text, "a number") from None
    if not value <= high:
        raise line_error(path, line, field, text, f"at most {high:g}")
    return value


def _check(path: Path, rows: list[Row]) -> None:
    if not rows:
        raise UserError(f"{path}: content: must be iperf3's text with intervals")
    end_s = rows[0].start_s
    for row in rows:
        if row.stream != rows[0].stream:
            raise line_error(path, row.line, "ID", row.stream, f"{rows[0].stream}: one stream")
        if row.start_s != end_s or row.end_s <= row.start_s:
            raise line_error(path, row.line, "start", row.start_s, f"{end_s}, the end before, and below its own end")
        end_s = row.end_s


IMPORTERS = (Importer("iperf3-text", "plain text of an iperf3 TCP test", "goodput", fits, read),)
