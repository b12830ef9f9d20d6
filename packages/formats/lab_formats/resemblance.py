# SPDX-License-Identifier: GPL-2.0-or-later
"""Which formats a file resembles that fits none: two or three names for the line that refuses it."""

import re

from lab.traces.importer import Head

SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"bits/sec|Bytes/sec|\[ ID\]|\[SUM\]", ("iperf3-text", "iperf3-json")),
    (r'^\s*[\[{][\s\S]*"round_trips"|"rtt"', ("irtt", "iperf3-json")),
    (r"\A\s*\[\s*\{", ("columns",)),
    (r"\A\s*[\[{]\s*[\"\[\]{}]", ("iperf3-json", "irtt")),
    (r"^\s*\d+[ \t]+-?[\d.]+([ \t]|$)", ("columns",)),
    (r"icmp|\bTTL\b|\bttl=|\d ?ms\b|[Pp]ing", ("ping", "ping-windows", "irtt")),
    (r"^\s*-?\d+\s*$", ("mahimahi", "leocc", "columns")),
    (r"[,;\t]", ("columns",)),
)
BINARY = ("pcap", "recording")


def resembled(head: Head) -> tuple[str, ...]:
    """Return the names of at most three formats."""
    if not head.lines:
        return BINARY
    text = "\n".join(head.lines[:50])
    return next((names for sign, names in SIGNS if re.search(sign, text, re.MULTILINE)), ("columns",))
