# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a capture's file is whole: dpkt takes a packet that is cut short for a shorter one."""

import struct
from pathlib import Path

from lab.base.errors import UserError

PCAP_HEAD, RECORD_HEAD, BLOCK_LEAST = 24, 16, 12
PCAPNG = bytes.fromhex("0a0d0d0a")
LITTLE = (bytes.fromhex("d4c3b2a1"), bytes.fromhex("4d3cb2a1"))
BYTE_ORDER = bytes.fromhex("4d3c2b1a")  # of a pcapng section, as a little-endian machine writes it


def check_whole(path: Path, data: bytes) -> None:
    """Follow the lengths of all packets to the file's end; UserError names the one that reaches beyond it."""
    if data.startswith(PCAPNG):
        order, at, head = "<" if data[8:12] == BYTE_ORDER else ">", 0, BLOCK_LEAST
    else:
        order, at, head = "<" if data.startswith(LITTLE) else ">", PCAP_HEAD, RECORD_HEAD
    number = 0
    while at < len(data):
        number += 1
        length = 0
        if at + head <= len(data):
            # a block's length counts its head, a record's does not
            (length,) = struct.unpack_from(f"{order}I", data, at + (4 if head == BLOCK_LEAST else 8))
            length += RECORD_HEAD if head == RECORD_HEAD else 0
        if length < head or at + length > len(data):
            what = "packet" if head == RECORD_HEAD else "block"
            raise UserError(f"{path}: {what} {number}: cut short at byte {at}: must be a whole pcap or pcapng capture")
        at += length
