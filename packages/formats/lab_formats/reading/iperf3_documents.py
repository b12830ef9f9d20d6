# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests of a JSON file of iperf3, each as one document, whichever way iperf3 wrote it."""

import re
from pathlib import Path

from lab_formats.reading.documents import Node, documents

# Before 3.11 iperf3 wrote both directions of a two-way test under one name, that of the server's data second
# (src/iperf_api.c, iperf_print_intermediate and iperf_print_results).
BOTH_WAYS = ("sum", "sum_sent", "sum_received")
NO_PACKETS = re.compile(r'(?<="lost_percent":)\s*-?nan\b')  # until 3.1, of an interval without packets: no JSON
CUT = {"cut": True}  # the end of a test whose stream has none
# Members of `start` that iperf3 writes once per stream (src/iperf_tcp.c, iperf_udp.c, iperf_server_api.c).
PER_STREAM = ("sock_bufsize", "sndbuf_actual", "rcvbuf_actual", "target_bitrate", "fq_rate", "tcp_mss")


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
