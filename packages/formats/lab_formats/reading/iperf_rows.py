# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of iperf's text that state rates, in the forms of iperf3 and iperf2, whatever stands before each."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from lab.traces.columns import FASTEST_MBPS, LONGEST_S
from lab_formats.reading.text import line_error

ID = r"(?:^|[\s:\]]|\^C)\[ *(?P<id>\*?\d{1,4}|SUM|FD\d+)(?:-\d+)?\](?:\[(?P<role>[TR]X-[CS])\])?"
HEADING = re.compile(r"(?:^|[\s:\]])\[ *(?:ID|SUM-cnt)\](?:\[Role\])? +Interval +Transfer +(?:Bitrate|Bandwidth)")
ANY = re.compile(ID)
ROW = re.compile(
    rf"{ID} +(?P<start>[\d.]+) *- *(?P<end>[\d.]+) +sec +"
    r"(?P<size>[\d.]+) +(?P<of>[KMGT]?Bytes) +(?P<rate>[\d.]+) (?P<unit>[KMGT]?(?:bits|Bytes))/sec(?P<more>.*)$"
)
DATAGRAMS = re.compile(r"^ +(?:[\d.]+ ms +)?(?P<lost>-?\d{1,15}) */ *(?P<all>\d{1,15}) +\([^)]*\)")
RETRANSMITS = re.compile(r"^ +(?P<retr>\d+)(?: +[\d.]+ [KMG]?Bytes)? *$")
LOCAL = re.compile(rf"{ID} local \S+ port (?P<port>\d+) connected (?:to|with) ")
NO_RATE = re.compile(
    rf"{ID} (?:local|Sent|Server|WARNING|sent|MSS|\((?:sender|receiver) stat|.* received out-of-order|.* -?nan )"
)
WORDS = r"sender|receiver|\(omitted\)"
BEGINS = ("Connecting to host", "Accepted connection from", "Client connecting to", "Server listening on")
LISTENS = re.compile(r"Server listening on (?:TCP port |UDP port )?(?P<port>\d+)")
SERVER_OUTPUT = "Server output:"  # of --get-server-output: the same test once more
MBPS = {
    (scale + what): factor * size
    for what, size in (("bits", 1.0), ("Bytes", 8.0))
    for scale, factor in (("", 1e-6), ("K", 1e-3), ("M", 1.0), ("G", 1e3), ("T", 1e6))
}
COARSE = 0.02  # of a rate: iperf prints three digits of a transfer, but two decimals of a rate in a unit that -f sets
IN_BYTES = {"KBytes": 1.024, "MBytes": 1.048576, "GBytes": 1.073741824, "TBytes": 1.099511627776}  # units of 2^10


@dataclass(frozen=True)
class Row:
    """One line of rates: an interval, or a summary of all."""

    line: int
    stream: str
    role: str | None
    start_s: float
    end_s: float
    rate_mbps: float
    size_mbit: float
    retransmits: int | None
    lost: tuple[int, int] | None  # of how many datagrams, where it is a share
    receives: bool  # the line states a loss, be it a share or none
    word: str  # at the line's end: sender, receiver, (omitted)

    @property
    def lost_pct(self) -> float | None:
        """Return the share of datagrams that were lost."""
        return self.lost[0] * 100 / self.lost[1] if self.lost else None


@dataclass
class Text:
    """The text of one test: its rows, and what its other lines show of it."""

    listens: str = ""  # the port of a server in the same text
    rows: list[Row] = field(default_factory=list)
    local: dict[str, str] = field(default_factory=dict)  # the line of each stream's connection
    other: list[str] = field(default_factory=list)  # other lines, headings among them
    is_cut: bool = False  # the last of them states no whole rate

    def says(self, *words: str) -> bool:
        """Return whether one of its other lines has one of some words."""
        return any(word in line for line in (*self.other, *self.local.values()) for word in words)


def texts_of(path: Path, lines: list[str]) -> list[Text]:
    """Split the lines to tests: each begins with its connections. UserError names a line that iperf does not write."""
    text, listens = Text(), ""
    found = [text]
    for number, line in enumerate(lines, 1):
        if line.rstrip().endswith(SERVER_OUTPUT):
            break
        if text.rows and (LOCAL.search(line) or any(word in line for word in BEGINS)):
            text = Text(listens)
            found.append(text)
        row = _row(path, number, line, number == len(lines))
        if row:
            text.rows.append(row)
        elif local := LOCAL.search(line):
            text.local[local["id"]] = line
        else:
            text.other.append(line)
            text.is_cut = _is_of_rate(line)
        if listening := LISTENS.search(line):
            text.listens = listens = listening["port"]
    return [text for text in found if text.rows]


def _row(path: Path, number: int, line: str, last: bool) -> Row | None:
    """Take a line apart; None where it states no rate."""
    match = ROW.search(line)
    if not match:
        if last or not _is_of_rate(line):
            return None
        raise line_error(path, number, "text", line, "a line that iperf writes about one test")
    more, unit = match["more"].rstrip(), match["unit"]
    scale = MBPS[unit] * IN_BYTES.get(unit, 1.0)
    start_s, end_s = (_number(path, number, name, match[name], LONGEST_S) for name in ("start", "end"))
    rate = _number(path, number, "bitrate", match["rate"], FASTEST_MBPS / scale) * scale
    size = _number(path, number, "transfer", match["size"], 1e18) * MBPS[match["of"]] * IN_BYTES.get(match["of"], 1.0)
    lost, retransmits = DATAGRAMS.match(more), RETRANSMITS.match(re.sub(WORDS, "", more))
    return Row(
        number,
        match["id"],
        match["role"],
        start_s,
        end_s,
        _finer(rate, 10.0 ** -len(match["rate"].partition(".")[2]) * scale, size, end_s - start_s),
        size,
        int(_number(path, number, "retr", retransmits["retr"], 1e9)) if retransmits else None,
        _counts(int(lost["lost"]), int(lost["all"])) if lost else None,
        bool(lost),
        (re.findall(WORDS, more) or [""])[-1],
    )


def _is_of_rate(line: str) -> bool:
    return bool(ANY.search(line)) and not NO_RATE.search(line)


def _finer(rate_mbps: float, step_mbps: float, size_mbit: float, length_s: float) -> float:
    """Return what the transfer states of a rate that is printed in coarse steps, as of `-f g`, where both agree."""
    if length_s <= 0 or step_mbps <= COARSE * rate_mbps:
        return rate_mbps
    stated_mbps = size_mbit / length_s
    return stated_mbps if abs(stated_mbps - rate_mbps) <= step_mbps / 2 + COARSE * stated_mbps else rate_mbps


def _counts(lost: int, of_all: int) -> tuple[int, int] | None:
    """Return how many datagrams of how many were lost; None where that is no share (a bug of iperf3)."""
    return (lost, of_all) if 0 <= lost <= of_all and of_all else None


def _number(path: Path, line: int, name: str, text: str, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        raise line_error(path, line, name, text, "a number") from None
    if not value <= high:
        raise line_error(path, line, name, text, f"at most {high:g}")
    return value
