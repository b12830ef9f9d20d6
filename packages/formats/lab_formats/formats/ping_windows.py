# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of Windows's ping, in any language: a line per probe, between a heading and the counts of what was sent."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.columns import SLOWEST_MS
from lab.traces.importer import UTF_16, Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import Seconds
from lab_formats.reading.ping_lines import STAMP
from lab_formats.reading.ping_runs import CLOCKED, by_stamp
from lab_formats.reading.text import line_error, read_bytes, short

REPLY = re.compile(  # Spanish has the unit m, too
    r"(?P<sign>[=<]) ?(?P<rtt>\d{1,9}) ?(?:[^\d\s.=<]{1,8} TTL ?= ?\d{1,3}|[^\d\s.=<]{2,6})\.?$"
)
COUNTS = re.compile(
    r"= *(?P<sent>\d{1,9})\D{1,60}= *(?P<got>\d{1,9})\D{1,60}= *(?P<lost>\d{1,9})\D{1,60}\([^()\d]{0,20}\d"
)
PROMPT = re.compile(r">\s*ping(?:\.exe)? ", re.IGNORECASE)
CLOCK = re.compile(r"\W?(?:\d{1,2}[:.]\d\d[:.]\d\d\b(?![.:])|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b(?!\.))")  # no address
INTERVAL_S = 1.0
TTL = re.compile(  # the unit: ms, also in Russian; without a TTL over IPv6, behind the address
    rb"[=<] ?\d+ ?[^\s\d]{1,8} TTL ?= ?\d|: ?[^=:\r\n]{1,30}[=<] ?\d+ ?(?:ms|\xd0\xbc\xd1\x81|\xac\xe1) *\r?\n"
)


def fits(head: Head) -> bool:
    """Recognise a reply of Windows, whose number and unit have no decimal place."""
    data = head.data.decode("utf-16", "ignore").encode() if head.data.startswith(UTF_16) else head.data
    return bool(TTL.search(data)) and b"icmp_seq" not in data


@dataclass(frozen=True)
class Probe:
    """One probe: lost, or answered; without an RTT where that was below a millisecond."""

    line: int
    lost: bool
    rtt_ms: float | None
    stamp: str | None


def read(path: Path, *, interval_s: float = INTERVAL_S) -> Recording:
    """Read every probe; where the lines have no clock before them, t_s is the probe's number times `interval_s`."""
    if isinstance(interval_s, bool) or not isinstance(interval_s, (int, float)) or not 0 < interval_s <= 3600:
        raise field_error(path, "interval_s", interval_s, "a number above 0 and at most 3600")
    notes: list[str] = []
    probes, sent = _probes(path, _lines(path), notes)
    if sent is not None and sent != len(probes):
        raise field_error(path, "packets sent", sent, f"the {len(probes)} lines of probes: a run in one piece")
    lost, fast = sum(each.lost for each in probes), sum(each.rtt_ms is None and not each.lost for each in probes)
    t_s, note = _times(path, probes, interval_s)
    notes.append(note)
    notes += [f"{fast} answers took less than 1 ms: their RTT is missing."] if fast else []
    notes.append(f"{lost} of {len(probes)} probes lost ({100 * lost / len(probes):.2f} %), missing in rtt_ms.")
    frame = pl.DataFrame(
        {
            "t_s": t_s,
            "rtt_ms": pl.Series([each.rtt_ms for each in probes], dtype=pl.Float64),
            "lost": [each.lost for each in probes],
        }
    )
    return Recording(frame, "series", None, "ping-windows", path.name, tuple(notes))


def _times(path: Path, probes: list[Probe], interval_s: float) -> tuple[Seconds, str]:
    """Return when probes were sent, and by what: by the clock before their lines, where they have one."""
    if not any(each.stamp for each in probes):
        note = f"No clock: t_s is the probe's number times {interval_s:g} s (Windows waits a second by default)."
        if any(each.lost for each in probes):
            note += " A lost probe took its time-out, which the text does not state: 4 s by default."
        return np.arange(len(probes), dtype=np.float64) * interval_s, note
    if interval_s != INTERVAL_S:
        raise field_error(path, "interval_s", interval_s, "left out: the lines have a clock")
    rtts_ms = [None if each.lost else each.rtt_ms or 0.0 for each in probes]  # below a millisecond as none
    rows = {"seq": range(len(probes)), "line": [each.line for each in probes], "stamp": [each.stamp for each in probes]}
    timed = by_stamp(path, pl.DataFrame(rows | {"rtt_ms": pl.Series(rtts_ms, dtype=pl.Float64)}))
    return (timed["t_s"] - timed["t_s"][0]).to_numpy(), CLOCKED


def _lines(path: Path) -> list[str]:
    """Read lines in UTF-8, UTF-16 or a console's code page, which differ in letters alone."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp850")
    return text.splitlines()


def _probes(path: Path, lines: list[str], notes: list[str]) -> tuple[list[Probe], int | None]:
    """Return the probes of the one run, and how many were sent where the text states it."""
    stamps, lines = _without_clocks(lines)
    prompt = next((number for number, line in enumerate(lines) if PROMPT.search(line)), -1)
    begin = next((number for number, line in enumerate(lines) if line and number > prompt), 0)
    begin += bool(lines) and not REPLY.search(lines[begin])  # a heading
    while begin < len(lines) and not lines[begin]:
        begin += 1
    end = next((number for number in range(begin, len(lines)) if not lines[number]), len(lines))
    probes = [_probe(path, number + 1, lines[number], stamps[number]) for number in range(begin, end)]
    counts = list(COUNTS.finditer(" ".join(lines[end:])))  # some languages take two lines
    if len(counts) > 1:
        raise UserError(f"{path}: content: must be one run of ping, not {len(counts)}")
    if not counts and probes and probes[-1].lost and not REPLY.search(lines[end - 1]):
        probes = probes[:-1]
        notes.append(f"The text has no counts, so its last line may be cut, and is left out: {short(lines[end - 1])}.")
    if not any(not each.lost for each in probes):
        raise UserError(f"{path}: content: must be ping's text with at least one answer")
    return probes, int(counts[0]["sent"]) if counts else None


def _without_clocks(lines: list[str]) -> tuple[list[str | None], list[str]]:
    """Return the clock before each line, and the lines without."""
    text = pl.Series(lines, dtype=pl.String)
    stamps = pl.select(pl.coalesce(text.str.extract(STAMP, 1), text.str.extract(STAMP, 2))).to_series()
    return stamps.to_list(), text.str.replace(STAMP, "").str.strip_chars().to_list()


def _probe(path: Path, number: int, line: str, stamp: str | None) -> Probe:
    match = REPLY.search(line)
    if CLOCK.match(line):
        rule = "behind a clock that ping's text may have, such as 2026-11-25 10:15:00.5"
        raise line_error(path, number, "text", line, rule)
    if not match:
        return Probe(number, True, None, stamp)
    rtt_ms = float(match["rtt"])
    if rtt_ms > SLOWEST_MS:
        raise line_error(path, number, "rtt_ms", match["rtt"], f"at most {SLOWEST_MS:g}")
    return Probe(number, False, rtt_ms if match["sign"] == "=" else None, stamp)


IMPORTERS = (Importer("ping-windows", "text of Windows's ping, in any language", "RTT, lost", fits, read),)
