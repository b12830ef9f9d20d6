# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain text of a test of iperf3 or iperf2: TCP or UDP, one stream or several, one way or both, at either end."""

from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.iperf3_tests import (
    GOODPUT,
    OTHER_WAY,
    RULE,
    TWO_WAY,
    UDP_MEANS,
    USER,
    Test,
    cut_ramps,
    loss_column,
    rate_column,
)
from lab_formats.reading.iperf3_totals import believed, written
from lab_formats.reading.iperf_rows import BEGINS, HEADING, Row, Text, texts_of
from lab_formats.reading.iperf_ways import Way, at_client, is_udp, ways_of
from lab_formats.reading.text import line_error, read_lines, short

FAILED = ("iperf3: error - ", "iperf3: interrupt - ")


def fits(head: Head) -> bool:
    """Recognise the heading above the intervals, or how the text of a test begins that failed before it."""
    return head.first.startswith(BEGINS[:1] + FAILED) or any(HEADING.search(line) for line in head.lines)


def read(
    path: Path,
    *,
    ramp: Literal["cut", "keep"] = "cut",
    user: Literal["client", "server"] = "client",
    test: int | None = None,
) -> Recording:
    """Read the intervals; `user` is the end that is the link's user: at the client, `-R` is down and its absence up.

    `test` picks one test of several, from 1: the text does not state the pauses between them.
    """
    lines = read_lines(path)
    texts = texts_of(path, lines)
    if not texts:
        said = next((f": it says '{short(line)}'" for line in lines if line.startswith(FAILED)), "")
        raise UserError(f"{path}: content: must be iperf's text with intervals{said}")
    picked = _picked(path, texts, test)
    ways = ways_of(path, picked, at_client(texts[0]))
    (one,) = believed([(_test(path, ways, is_udp(picked), user), ways[0].totals)])
    notes = [*one.notes, UDP_MEANS if one.udp else GOODPUT, *written([one])]
    if picked.is_cut:
        notes.append(f"The last line is cut, and left out: {short(picked.other[-1])}.")
    if ramp == "cut" and not one.udp:
        (one,), cut = cut_ramps([one])
        notes.append(f"The sender's ramp is cut, {RULE}: {cut}.")
    frame = one.frame(-float(one.starts_s[0]))
    meaning: Literal["goodput"] | None = None if one.udp else "goodput"
    length_s = float(frame["t_s"][-1])  # its last row has no values: it is the end
    return Recording(frame, "series", meaning, "iperf3-text", path.name, (*notes, USER.format(user)), length_s)


def _picked(path: Path, texts: list[Text], test: int | None) -> Text:
    if test is None and len(texts) > 1:
        raise UserError(f"{path}: test: must be given, from 1 to {len(texts)}: the text holds several tests")
    if test is not None and (isinstance(test, bool) or not isinstance(test, int) or not 1 <= test <= len(texts)):
        raise field_error(path, "test", test, f"from 1 to {len(texts)}")
    return texts[(test or 1) - 1]


def _test(path: Path, ways: list[Way], udp: bool, user: str) -> Test:
    """Make the test of its directions."""
    ways = [way for way in ways if way.rows]
    if not ways:
        rule = "intervals that were not omitted: -i 0 prints none, totals alone"
        raise UserError(f"{path}: content: must be iperf's text with {rule}")
    first, notes = ways[0], tuple(note for way in ways for note in way.notes)
    column, rows = rate_column(first.from_server, user), first.rows
    more, found = _more(rows, udp)
    if len(ways) > 1:
        rows, other, left_out = _alongside(path, rows, ways[1].rows)
        more = {OTHER_WAY[column]: pl.Series([row.rate_mbps for row in other])}
        notes, found = (TWO_WAY, *notes, *left_out), []
    starts, ends, rates = (np.array([getattr(row, name) for row in rows]) for name in ("start_s", "end_s", "rate_mbps"))
    return Test(1, None, udp, column, first.sent, starts, ends, rates, more, (*notes, *found))


def _more(rows: list[Row], udp: bool) -> tuple[dict[str, pl.Series], list[str]]:
    more: dict[str, pl.Series] = {}
    notes: list[str] = []
    if not udp and all(row.retransmits is not None for row in rows):
        more["retransmits_pkts"] = pl.Series([row.retransmits for row in rows], dtype=pl.UInt32)
    if all(row.receives for row in rows):
        more["loss_pct"], notes = loss_column([row.lost_pct for row in rows])
    return more, notes


def _alongside(path: Path, rows: list[Row], others: list[Row]) -> tuple[list[Row], list[Row], tuple[str, ...]]:
    """Return the intervals that both directions have."""
    same = 0
    for row, other in zip(rows, others, strict=False):
        if (row.start_s, row.end_s) != (other.start_s, other.end_s):
            break
        same += 1
    if same == 0:
        raise line_error(path, others[0].line, "start", others[0].start_s, "that of the other direction's interval")
    left_out = len(rows) + len(others) - 2 * same
    words = (f"{left_out} intervals that only one direction has are left out.",) if left_out else ()
    return rows[:same], others[:same], words


IMPORTERS = (Importer("iperf3-text", "plain text of an iperf3 or iperf2 test", "goodput", fits, read),)
