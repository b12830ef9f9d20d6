# SPDX-License-Identifier: GPL-2.0-or-later
"""Which formats a file resembles that fits none: two or three names for the line that refuses it."""

import re

from lab.base.errors import UserError
from lab.traces.importer import Head

SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"bits/sec|Bytes/sec|\[ ID\]|\[SUM\]", ("iperf3-text", "iperf3-json")),
    (r'^\s*[\[{][\s\S]*"round_trips"|"rtt"', ("irtt", "iperf3-json")),
    (r"\A\s*\[\s*\{", ("columns",)),
    (r'\A\s*\{[\s\S]*"(start|intervals|event)"', ("iperf3-json",)),
    (r'\A\s*\{\s*"', ("columns",)),
    (r"\A\s*[\[{]\s*[\"\[\]{}]", ("iperf3-json", "irtt")),
    (r"^\s*\d+[ \t]+-?[\d.]+([ \t]|$)", ("columns",)),
    (r"icmp|\bTTL\b|\bttl=|\d ?ms\b|[Pp]ing", ("ping", "ping-windows", "irtt")),
    (r"^\s*-?\d+\s*$", ("mahimahi", "leocc", "columns")),
    (r"[,;\t]", ("columns",)),
)
BINARY = ("pcap", "recording")
OTHER_FILES = {
    b"\xfd7zXZ\0": "packed by xz: unpack it first",
    b"\x28\xb5\x2f\xfd": "packed by zstd: unpack it first",
    b"\x04\x22\x4d\x18": "packed by lz4: unpack it first",
    b"BZh": "packed by bzip2: unpack it first",
    b"PK\3\4": "packed by zip, as a spreadsheet is: unpack it, or save it as CSV",
    **dict.fromkeys(
        (b"snoop\0\0\0", b"GMBU", b"RTSS", b"XCP\0", b"TRSNIFF", b"\x54\x52\x00\x64"),
        "a capture that is neither pcap nor pcapng: 'editcap -F pcap FILE NEW' turns it into one",
    ),
}


def resembled(head: Head) -> tuple[str, ...]:
    """Return the names of at most three formats; UserError where the file is known to be of another kind."""
    for sign, words in OTHER_FILES.items():
        if head.data.startswith(sign):
            raise UserError(f"{head.path}: format: must be one that the lab reads, and the file is {words}")
    if not head.lines:
        return BINARY
    text = "\n".join(head.lines[:50])
    return next((names for sign, names in SIGNS if re.search(sign, text, re.MULTILINE)), ("columns",))
