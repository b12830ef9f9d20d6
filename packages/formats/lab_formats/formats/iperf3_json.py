# SPDX-License-Identifier: GPL-2.0-or-later
"""iperf3's JSON: one test or several in a file, failed ones among them; also as `--json-stream` writes it."""

import re
from pathlib import Path
from typing import Literal

import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.importer import Head, Importer
from lab.traces.recording import Meaning, Recording
from lab_formats.reading.documents import Node, documents
from lab_formats.reading.iperf3_tests import GOODPUT, RULE, UDP_MEANS, USER, Test, cut_ramps, read_test
from lab_formats.reading.iperf3_totals import believed, totals_of, written

# Before 3.11 iperf3 wrote both directions of a two-way test under one name, that of the server's data second
# (src/iperf_api.c, iperf_print_intermediate and iperf_print_results).
BOTH_WAYS = ("sum", "sum_sent", "sum_received")
NO_PACKETS = re.compile(r'(?<="lost_percent":)\s*-?nan\b')  # until 3.1, of an interval without packets: no JSON
CUT = {"cut": True}  # the end of a test whose stream has none
# Members of `start` that iperf3 writes once per stream (src/iperf_tcp.c, iperf_udp.c, iperf_server_api.c).
PER_STREAM = ("sock_bufsize", "sndbuf_actual", "rcvbuf_actual", "target_bitrate", "fq_rate", "tcp_mss")
BEGIN = re.compile(r"^[\s\[]*\{", re.MULTILINE)  # a warning may stand above it, or a list around it


def tests_of(path: Path, notes: list[str]) -> list[Node]:
    """Read every test of a file; `notes` gets where a stream of events is cut."""
    found = documents(path, _of_the_other_direction, notes, lambda text: NO_PACKETS.sub("null", text))
    tests = _joined([one for each in found for one in (each.items() if isinstance(each.value, list) else [each])])
    if tests and tests[-1].value.get("end") is CUT:
        notes.append(f"Test {len(tests)}: its stream is cut before its end.")
    return tests


def _of_the_other_direction(name: str) -> str | None:
    """Return what iperf3 3.11 and later call a member that an earlier one writes a second time; None: of no use."""
    if name in PER_STREAM:
        return None
    return f"{name}_bidir_reverse" if name in BOTH_WAYS else name


def _joined(found: list[Node]) -> list[Node]:
    """Join the events of `--json-stream` to tests: each begins with its event `start`."""
    tests: list[Node] = []
    for node in found:
        event = node.get("event")
        if event is None:
            if tests and _cookie(node) and _cookie(node) == _cookie(tests[-1]):
                tests.pop()  # --json-stream-full-output: the whole of what its events were
            tests.append(node)
            continue
        if event.value == "start":
            test = {"start": node.at("data").value, "intervals": [], "end": CUT}
            tests.append(Node(node.file, node.line, "", test))
        elif not tests:
            raise event.refuse("start, in the first event of a test")
        elif event.value == "interval":
            tests[-1].value["intervals"].append(node.at("data").value)
        elif event.value in ("end", "error"):  # others hold what the server printed
            tests[-1].value[event.value] = node.at("data").value
    return tests


def _cookie(test: Node) -> object:
    """Return what iperf3 tells tests apart by; None where the document has none."""
    start = test.get("start")
    cookie = start.get("cookie") if start else None
    return cookie.value if cookie else None


def fits(head: Head) -> bool:
    """Recognise the members that iperf3 begins with."""
    text = "\n".join(head.lines)
    if not BEGIN.search(text) or '"start"' not in text or '"round_trips"' in text:
        return False
    return '"intervals"' in text or '"event"' in text


def read(
    path: Path, *, ramp: Literal["cut", "keep"] = "cut", user: Literal["client", "server"] = "client"
) -> Recording:
    """Lay the tests on one clock by their own start times; between tests values are missing.

    `user` is the end that is the link's user: at the client, a reverse test is down and another up. `ramp`: whether
    each TCP test loses its own slow start.
    """
    notes: list[str] = []
    documents = tests_of(path, notes)
    read_tests = [(document, read_test(document, number, user)) for number, document in enumerate(documents, 1)]
    found = believed([(test, totals_of(document, test)) for document, test in read_tests])
    notes += [note for test in found for note in test.notes]
    tests = [test for test in found if len(test.rates_mbps)]
    if not tests:
        raise UserError(f"{path}: content: must hold a test with intervals: {' '.join(notes) or 'there is none'}")
    if len({test.udp for test in tests}) > 1:
        raise UserError(f"{path}: content: must be tests of one protocol: TCP and UDP mean different things")
    meaning: Meaning | None = None if tests[0].udp else "goodput"
    if ramp == "cut" and not tests[0].udp:
        tests, cut = cut_ramps(tests)
        notes.append(f"The sender's ramp is cut, {RULE}: {cut}.")
    frame = _on_one_clock(path, tests)
    notes += [UDP_MEANS if tests[0].udp else GOODPUT, *written(tests), USER.format(user)]
    return Recording(frame, "series", meaning, "iperf3-json", path.name, tuple(notes), float(frame["t_s"][-1]))


def _on_one_clock(path: Path, tests: list[Test]) -> pl.DataFrame:
    """Put each test at its time and a row without values at its end."""
    origin_s = tests[0].clock_s
    if len(tests) > 1 and any(test.clock_s is None for test in tests):
        raise UserError(f"{path}: start.timestamp.timesecs: must be given in each test, to lay them on one clock")
    parts: list[pl.DataFrame] = []
    end_s = 0.0
    for test in tests:
        offset_s = 0.0 if test.clock_s is None or origin_s is None else test.clock_s - origin_s
        begin_s = offset_s + float(test.starts_s[0])
        if parts and begin_s < end_s - 1e-9:
            # timesecs counts whole seconds, so that a test may seem to begin before the last one's end
            if begin_s < end_s - 1.0:
                raise field_error(
                    path, f"test {test.number}: timesecs", test.clock_s, "after the end of the test before"
                )
            offset_s += end_s - begin_s
        end_s = offset_s + float(test.ends_s[-1])
        parts.append(test.frame(offset_s))
    whole = pl.concat(parts, how="diagonal").unique("t_s", keep="last", maintain_order=True)
    return whole.with_columns(pl.col("t_s") - whole["t_s"][0])


IMPORTERS = (Importer("iperf3-json", "JSON of iperf3, one or several tests", "goodput", fits, read),)
