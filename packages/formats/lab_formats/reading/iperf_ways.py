# SPDX-License-Identifier: GPL-2.0-or-later
"""Which way the streams of iperf's text flow, and each way's intervals and totals."""

from dataclasses import dataclass, replace
from pathlib import Path

from lab_formats.reading.iperf3_tests import HAIR, OMITTED, is_late
from lab_formats.reading.iperf3_totals import Totals
from lab_formats.reading.iperf_rows import BEGINS, LOCAL, Row, Text
from lab_formats.reading.text import line_error

FROM_SERVER = ("RX-C", "TX-S")
SUMS = ("sender", "receiver")
PORTS = ("5201", "5001")  # of servers, by default
USUAL = 0.05  # of an interval: iperf2's last one, in which it waits, may be shorter or longer than the others
DRAINED = "iperf2 waits at its end until all is acknowledged: its last interval, in which it wrote little, is left out."
HEADLESS = (
    "The text begins behind the lines that state which end wrote it and whether it is a download (-R): by its rows it "
    "is the {}'s, and {}; compare the other end's text."
)


@dataclass(frozen=True)
class Way:
    """The intervals of one direction, and what its summaries state."""

    from_server: bool
    sent: bool  # the intervals are the sender's
    rows: list[Row]
    totals: Totals | None
    notes: tuple[str, ...]


def is_udp(text: Text) -> bool:
    """Return whether a test is of UDP."""
    words = ("protocol: UDP", "UDP buffer size", "Total Datagrams", "Lost/Total", ", UDP port")
    return text.says(*words) or any(row.receives for row in text.rows)


def at_client(text: Text) -> bool:
    """Return whether a client wrote the text; a client of iperf2 may listen, too (`-d`, `-r`)."""
    if text.says("Accepted connection from"):
        return False
    if not _has_begin(text) and text.local and all(_port(line) in PORTS for line in text.local.values()):
        return False
    calls = [line for line in text.local.values() if "(reverse)" not in line and _port(line) != text.listens]
    return not text.listens or bool(calls)


def ways_of(path: Path, text: Text, client: bool) -> list[Way]:
    """Return the test's directions, that of the sender's own intervals first."""
    every, late = _begun_at_0(text.rows)
    single = [row for row in every if not row.stream.startswith(("SUM", "FD"))]
    found = {way: [row for row in single if _from_server(text, row, client) == way] for way in (False, True)}
    if not single:  # of --sum-only
        found = {way: [row for row in every if _from_server(text, row, client) == way] for way in found}
    both = all(found.values())
    ways = []
    for way, rows in found.items():
        sums = [row for row in every if row.stream == "SUM"]
        sums = [row for row in sums if ((row.role in FROM_SERVER) == way if row.role else not both)]
        if rows:
            ways.append(_way(path, text, way, way != client, sums or rows, rows))
    ways.sort(key=lambda way: not way.sent)
    return [replace(ways[0], notes=(*ways[0].notes, *late, *_headless(text, ways, client))), *ways[1:]]


def _headless(text: Text, ways: list[Way], client: bool) -> tuple[str, ...]:
    """Return a note where the lines above the intervals do not show the direction."""
    if _has_begin(text) or len(ways) > 1 or any(row.role for row in text.rows):
        return ()
    end, way = "client" if client else "server", "a download" if ways[0].from_server else "an upload"
    return (HEADLESS.format(end, way),)


def _has_begin(text: Text) -> bool:
    """Return whether a text has the lines that come before its connections; a server's later tests need none."""
    return bool(text.listens) or text.says(*BEGINS, "Reverse mode", "(reverse)")


def _port(local: str) -> str:
    match = LOCAL.search(local)
    return match["port"] if match else ""


def _from_server(text: Text, row: Row, client: bool) -> bool:
    if row.role:
        return row.role in FROM_SERVER
    local = text.local.get(row.stream.lstrip("*"), text.local.get(row.stream, ""))
    if row.stream.startswith("*") or "(reverse)" in local or text.says("Reverse mode"):
        return True
    if client:
        return (bool(text.listens) and _port(local) == text.listens) or (not _has_begin(text) and _received(text))
    return _sends(text)


def _received(text: Text) -> bool:
    """Return whether intervals are a receiver's: they state a loss, or only the summary counts retransmits."""
    sums = _summaries(text.rows)
    rows = [row for row in text.rows if row not in sums]
    of_sender = any(row.word == "sender" and row.retransmits is not None for row in sums)
    return bool(rows) and (
        all(row.receives for row in rows) or (of_sender and all(row.retransmits is None for row in rows))
    )


def _sends(text: Text) -> bool:
    """Return whether a server's text is of what it sent: its first heading shows it on Linux, else its summary."""
    heading = next((line for line in text.other if "Interval" in line), "")
    if any(word in heading for word in ("Retr", "Total Datagrams", "Lost/Total")):
        return "Lost/Total" not in heading
    words = {row.word for row in text.rows if row.rate_mbps}
    return "sender" in words and "receiver" not in words


def _way(path: Path, text: Text, from_server: bool, sent: bool, rows: list[Row], single: list[Row]) -> Way:
    sums = _summaries(rows)
    kept, notes = _without_hair([row for row in rows if row not in sums])
    _check_order(path, kept)
    totals: Totals | None = None
    if sent and kept and is_udp(text):
        stated = [[row for row in found if row.lost and row.word != "sender"] for found in (sums, _summaries(single))]
        totals = _udp_totals(text, kept, stated[0] or stated[1])
    elif sent and kept:
        totals = _tcp_totals(sums)
        if text.says("connected with", "Client connecting to") and _is_odd(kept):
            kept, notes = kept[:-1], (*notes, DRAINED)
    return Way(from_server, sent, kept, totals, notes)


def _summaries(rows: list[Row]) -> list[Row]:
    """Return the rows that are of the whole test: iperf3 says whose they are, iperf2 begins again at 0."""
    first: dict[str, Row] = {}
    for row in rows:
        if row.word not in SUMS:
            first.setdefault(row.stream, row)
    return [
        row
        for row in rows
        if row.word in SUMS or (row is not first[row.stream] and row.start_s == first[row.stream].start_s)
    ]


def _begun_at_0(rows: list[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Leave the omitted intervals out, and mend the first one after them where its begin is of the clock before."""
    omitted = {(row.stream, row.role) for row in rows if row.word == "(omitted)"}
    found, notes = [], []
    for row in rows:
        if row.word == "(omitted)":
            continue
        if (row.stream, row.role) in omitted and is_late(row.start_s, row.end_s, row.rate_mbps, row.size_mbit):
            notes.append(OMITTED.format(row.start_s))
            row = replace(row, start_s=0.0, rate_mbps=row.size_mbit / row.end_s)
        omitted.discard((row.stream, row.role))
        found.append(row)
    return found, tuple(dict.fromkeys(notes))


def _is_odd(rows: list[Row]) -> bool:
    usual_s = rows[0].end_s - rows[0].start_s
    return len(rows) > 1 and abs(rows[-1].end_s - rows[-1].start_s - usual_s) > USUAL * usual_s


def _without_hair(rows: list[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Leave out a last interval of nearly no length."""
    lengths_s = [row.end_s - row.start_s for row in rows]
    if len(rows) < 2 or lengths_s[-1] >= HAIR * lengths_s[0]:
        return rows, ()
    return rows[:-1], (f"The last interval, of {lengths_s[-1]:.2f} s, is left out.",)


def _check_order(path: Path, rows: list[Row]) -> None:
    """Refuse intervals of one direction that do not follow one another."""
    end_s = rows[0].start_s if rows else 0.0
    for row in rows:
        if row.stream != rows[0].stream:
            raise line_error(path, row.line, "ID", row.stream, f"{rows[0].stream}: one stream, or with [SUM]")
        if row.start_s != end_s or row.end_s <= row.start_s:
            raise line_error(path, row.line, "start", row.start_s, f"{end_s}, the end before, and below its own end")
        end_s = row.end_s


def _bytes(row: Row) -> float:
    return row.rate_mbps * row.end_s * 1e6 / 8


def _tcp_totals(sums: list[Row]) -> Totals | None:
    """Return what both ends counted; a receiver that never reported has 0."""
    ends = {row.word: row for row in sums if row.rate_mbps}
    if not ends.keys() >= set(SUMS):
        return None
    return Totals(_bytes(ends["sender"]), _bytes(ends["receiver"]), ends["receiver"].end_s)


def _udp_totals(text: Text, rows: list[Row], stated: list[Row]) -> Totals | None:
    """Return what the receiver reported; before 3.7 iperf3 has one sum, of what was sent and the share of it lost."""
    if not stated:
        return None
    of_sender = not stated[0].word and not text.says("Server Report")
    arrived = [_bytes(row) * ((1 - (row.lost_pct or 0.0) / 100) if of_sender else 1.0) for row in stated]
    lost, of_all = (sum(counts) for counts in zip(*(row.lost for row in stated if row.lost), strict=True))
    sent_bytes = sum(row.size_mbit for row in rows) * 1e6 / 8
    return Totals(sent_bytes, sum(arrived), max(row.end_s for row in stated), lost * 100 / of_all)
