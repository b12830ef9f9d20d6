# SPDX-License-Identifier: GPL-2.0-or-later
"""Every spoiled capture is refused, and no bulk capture is: links times ends times ways to spoil one."""

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from changed_frames import later, merged, off
from lab_whatif.judged import judged
from test_whatif_refusals import thinned
from whatif_captures import Download, Frame, Known, written

from lab.base.errors import UserError

LINKS = {
    "20 Mb/s, 50 ms": Known(),
    "10 Mb/s, 200 ms": Known(rate_mbps=10, one_way_ms=100, buffer_bytes=300_000, size_bytes=4_000_000),
    "50 Mb/s, 30 ms, a threshold": Known(rate_mbps=50, one_way_ms=15, drop_above=0.5, buffer_bytes=400_000, seed=2),
    "8 Mb/s, 80 ms, random loss": Known(rate_mbps=8, one_way_ms=40, random_loss=0.002, size_bytes=3_000_000, seed=3),
}
Ways = dict[str, Callable[[list[Frame]], list[Frame]]]
SPOILED: Ways = {
    "cut": lambda frames: frames[40:],
    "thinned": thinned,
    "merged": lambda frames: merged(frames, 20),
    "stripped": lambda frames: frames,  # of its time stamps, when it is written
}
CASES = [(how, end) for how in SPOILED for end in ("client", "server")]
CASES.remove(("merged", "server"))  # its network card cuts what it merged: test_whatif_refusals.py
OTHERWISE = {"window": {"receive_window": 60_000}, "calls": {"calls": True}}
ENDS = ("client", "server")


@pytest.fixture(scope="module", params=list(LINKS))
def known(request: pytest.FixtureRequest) -> Known:
    return LINKS[request.param]


@pytest.fixture(scope="module")
def bulk(known: Known) -> Download:
    return Download(known)


@pytest.mark.parametrize("end", ENDS)
def test_no_bulk_capture_is_refused(tmp_path: Path, known: Known, bulk: Download, end: str) -> None:
    judged(written(tmp_path / "x.pcap", getattr(bulk, end), known), None, [])


@pytest.mark.parametrize(("how", "end"), CASES)
def test_every_spoiled_capture_is_refused(tmp_path: Path, known: Known, bulk: Download, end: str, how: str) -> None:
    frames = SPOILED[how](getattr(bulk, end))
    with pytest.raises(UserError):
        judged(written(tmp_path / "x.pcap", frames, known, stamps=how != "stripped"), None, [])


@pytest.mark.parametrize(
    ("spoil", "snap", "line"),
    [
        (lambda frames: later(frames, 1, -1), 128, "segments behind later ones, by their time stamps="),
        (lambda frames: frames[40:], 128, "handshake=absent"),
        (lambda frames: frames, 54, "cut TCP headers=100.0%"),
    ],
    ids=["clock set back by a second", "from the middle", "headers without options"],
)
def test_one_cause_is_refused_in_one_line(
    tmp_path: Path, spoil: Callable[[list[Frame]], list[Frame]], snap: int, line: str
) -> None:
    known = Known(size_bytes=4_000_000)
    file = written(tmp_path / "x.pcap", spoil(Download(known).client), known, snap=snap)
    with pytest.raises(UserError) as refused:
        judged(file, None, [])
    assert [each.split(": ")[1].startswith(line) for each in str(refused.value).splitlines()] == [True]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("how", list(OTHERWISE))
def test_every_download_that_something_else_limits_is_refused(tmp_path: Path, known: Known, end: str, how: str) -> None:
    limited = replace(known, **OTHERWISE[how])  # type: ignore[arg-type]
    with pytest.raises(UserError):
        judged(written(tmp_path / "x.pcap", getattr(Download(limited), end), limited), None, [])


def test_a_clock_that_is_coarse_at_one_of_two_interfaces_is_refused(tmp_path: Path) -> None:
    """As where data came by one and ACKs left by the other."""
    known = Known(size_bytes=4_000_000)
    frames = Download(known).client
    ways = [[replace(frame, t_s=frame.t_s // 0.01 * 0.01) for frame in frames if frame.to_client]]
    ways.append([frame for frame in frames if not frame.to_client])
    file = tmp_path / "x.pcapng"
    file.write_bytes(b"".join(in_a_section(written(tmp_path / "x.pcap", way, known)) for way in ways))
    with pytest.raises(UserError, match=r"must be at least 5 steps of the capture's clock \(10 ms\)"):
        judged(file, None, [])


def in_a_section(pcap: Path) -> bytes:
    """Return a pcap file as a section of pcapng, with an interface of its own."""
    data, at = pcap.read_bytes(), 24
    order = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    blocks = [(0x0A0D0D0A, order), (1, struct.pack("<HHIHHB7x", 1, 0, 0, 9, 1, 9))]
    while at < len(data):
        second, ns, held, wire = struct.unpack_from("<4I", data, at)
        t_ns, packet = second * 10**9 + ns, data[at + 16 : at + 16 + held]
        head = struct.pack("<5I", 0, t_ns >> 32, t_ns % 2**32, held, wire)
        blocks.append((6, head + packet + bytes(-held % 4)))
        at += 16 + held
    return b"".join(
        struct.pack("<2I", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body)) for kind, body in blocks
    )


@pytest.mark.parametrize(("side", "shown"), [("client", "-9"), ("server", "10")])
def test_time_stamps_of_the_other_end_that_lose_time_are_refused(tmp_path: Path, side: str, shown: str) -> None:
    """A Mac's did, by 2 to 11 %. Of 1 % 18 % of the packets seemed lost without a full queue."""
    file = written(tmp_path / "x.pcap", off(getattr(Download(Known()), side), side, -0.01), Known())
    with pytest.raises(UserError, match=rf"even change of the way up={shown}\.\d ms/s: must be at most 5 ms/s"):
        judged(file, None, [])
