# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection that carries only a part of an MPTCP stream says so: its capacity is not the link's where they share."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from lab_formats.reading.packets import SYN
from lab_whatif.mptcp import OTHERS, is_one_of_several
from lab_whatif.notes import of_recording
from lab_whatif.refuse import for_others
from lab_whatif.segments import of_capture
from whatif_captures import MSS, Download, Frame, Known, written

KNOWN = Known(size_bytes=4_000_000)
STREAM = 2**32 - 5_000_000  # its first number: the lower half wraps


def mapped(kind: int, number: int, own: int, size: int) -> bytes:
    """Return a data sequence signal with a mapping; `kind`: 5 of short numbers with an ACK, 13 of a long one."""
    stream = struct.pack(">Q" if kind & 8 else ">I", number % 2 ** (64 if kind & 8 else 32))
    body = bytes([2 << 4, kind]) + bytes(4 if kind & 1 else 0) + stream + struct.pack(">IH", own, size)
    return bytes([30, 2 + len(body)]) + body


def subflow(others_bytes: int, kind: int) -> list[Frame]:
    """Return a download whose stream, from the middle on, has bytes that this connection does not carry.

    What the client sends is mapped, too, and counts from a number of its own.
    """
    ahead = {True: STREAM, False: STREAM + others_bytes}
    request = mapped(kind, 12_345, 1, 100)
    return [
        replace(each, more=mapped(kind, ahead[each.seq < KNOWN.size_bytes // 2] + each.seq, each.seq + 1, MSS))
        if each.length
        else replace(each, more=b"" if each.to_client or each.sack or each.flags & SYN else request)
        for each in Download(KNOWN).client
    ]


@pytest.mark.parametrize("kind", [4, 5, 13])
@pytest.mark.parametrize("others_bytes", [0, 3 * MSS])
def test_what_went_by_other_subflows_is_said_to_be_missing(tmp_path: Path, others_bytes: int, kind: int) -> None:
    """Of two subflows over one link of 20 Mb/s the capture of one said 12.4 Mb/s (11.1 to 13.9), without a word."""
    notes = of_recording(written(tmp_path / "x.pcap", subflow(others_bytes, kind), KNOWN), "pcap")
    assert notes[0].startswith("The link, seen at the receiver: ")
    assert (OTHERS in notes) == bool(others_bytes)
    lines = [line.partition(",")[0] for line in for_others(of_capture(tmp_path / "x.pcap", []))]
    assert lines == ["subflow of MPTCP=one of several: must be the only one"] * bool(others_bytes)


@pytest.mark.parametrize("size_bytes", [2, 3, 4, 10, 17])
def test_an_option_that_is_cut_or_has_no_data_shows_nothing(size_bytes: int) -> None:
    """The end of a stream (a number of the connection of 0), and all that follows (a size of 0), are no part of it."""
    cut = mapped(5, 7, 9, MSS)[2:size_bytes]
    options = [bytes([30, 2 + len(cut)]) + cut, mapped(5, 99, 0, 1), mapped(5, 999, 9, 0), mapped(5, 1, 1, MSS)]
    assert not is_one_of_several((b"server", bytes(20) + each) for each in options)
