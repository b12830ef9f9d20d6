# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture's clock, and the time stamps of both ends: what is set, coarse or loses time is refused or stated."""

from dataclasses import replace
from pathlib import Path

import pytest
from changed_frames import in_sections, off, other_end_set
from lab_whatif.evidence import items
from lab_whatif.judged import judged
from lab_whatif.shown import link_lines
from whatif_captures import SYN, Download, Frame, Known, written

from lab.base.errors import UserError
from tests.brief import error_of

BOTH_ENDS = pytest.mark.parametrize("side", ["client", "server"])


@BOTH_ENDS
@pytest.mark.parametrize("since_s", [0.9, 2.5])
def test_time_stamps_of_the_other_end_that_are_set_back_are_refused(tmp_path: Path, side: str, since_s: float) -> None:
    """As where a virtual machine moves. The base RTT was 20 ms too short, or a buffer a threshold, without a word."""
    frames = other_end_set(getattr(Download(Known()), side), side, since_s, -20)
    with pytest.raises(UserError, match=r"the other end's time stamps, set back=by \d\d ms: must be steady"):
        judged(written(tmp_path / "x.pcap", frames, Known()), None, [])


@BOTH_ENDS
@pytest.mark.parametrize(("since_s", "by_ms"), [(0.4, 20), (2.5, 5), (2.6, 20)])
def test_a_step_of_the_way_up_is_stated_as_it_may_be_of_the_other_ends_clock(
    tmp_path: Path, side: str, since_s: float, by_ms: int
) -> None:
    """A way that became longer by as much as the queue shrank looks the same."""
    frames = other_end_set(getattr(Download(Known()), side), side, since_s, by_ms)
    found = judged(written(tmp_path / "x.pcap", frames, Known()), None, [])[1]
    assert "the way up changes at once, as where the other end's clock is set" in link_lines(found, side)[-1]
    assert found.apart_ms == pytest.approx(by_ms, abs=1)


def test_a_syn_that_was_sent_again_is_no_step_of_a_clock(tmp_path: Path) -> None:
    """It said that the base RTT may be longer by a second: the first SYN, or its answer, was lost."""
    frames = Download(Known()).client
    again = [replace(frames[0], t_s=-1.0, tsval=0), *frames]
    ways = [judged(written(tmp_path / "x.pcap", each, Known()), None, [])[1] for each in (again, frames)]
    assert link_lines(ways[0], "receiver")[1:] == link_lines(ways[1], "receiver")[1:]


def test_a_clock_that_is_coarse_at_one_of_two_interfaces_is_refused(tmp_path: Path) -> None:
    """As where data came by one and ACKs left by the other."""
    known = Known(size_bytes=4_000_000)
    frames = Download(known).client
    ways = [[replace(frame, t_s=frame.t_s // 0.01 * 0.01) for frame in frames if frame.to_client]]
    ways.append([frame for frame in frames if not frame.to_client])
    file = tmp_path / "x.pcapng"
    file.write_bytes(b"".join(in_sections(way, known, 1) for way in ways))
    assert "must be at least 5 steps of the capture's clock (10 ms)" in error_of(judged, file, None, [])


@pytest.mark.parametrize(("side", "shown"), [("client", "-9"), ("server", "10")])
def test_time_stamps_of_the_other_end_that_lose_time_are_refused(tmp_path: Path, side: str, shown: str) -> None:
    """A Mac's did, by 2 to 11 %. Of 1 % 18 % of the packets seemed lost without a full queue."""
    file = written(tmp_path / "x.pcap", off(getattr(Download(Known()), side), side, -0.01), Known())
    with pytest.raises(UserError, match=rf"even change of the way up={shown}\.\d ms/s: must be at most 5 ms/s"):
        judged(file, None, [])


def test_a_stamp_that_is_no_whole_step_hides_no_step(tmp_path: Path) -> None:
    """SYN cookies, and hosts whose handshake has another clock."""
    known = Known(stamp_ms=30)
    odd = [replace(each, tsval=each.tsval + 3 * (each.flags & SYN)) for each in Download(known).client]
    with pytest.raises(UserError, match=r"must be at least 5 steps of the time stamps \(30 ms\)"):
        judged(written(tmp_path / "x.pcap", odd, known), None, [])


@pytest.mark.parametrize(("side", "per_s"), [("client", -5e-4), ("server", 5e-4), ("client", -2.5e-4)])
def test_clocks_that_run_apart_are_said(tmp_path: Path, side: str, per_s: float) -> None:
    """The other end's time stamps are 5 ms off after 10 s; of 2.5 ms the bound alone has what is left of them."""
    known = Known(rate_mbps=4, most_window=60, buffer_bytes=1_000_000, size_bytes=5_000_000)
    plain: list[Frame] = getattr(Download(known), side)
    frames = off(plain, side, per_s)
    for those, count in ((plain, 0), (frames, abs(per_s) > 4e-4)):
        found = judged(written(tmp_path / "x.pcap", those, known), None, [])[1]
        lines = [line for line in link_lines(found, "receiver") if "two clocks that run apart" in line]
        assert len(lines) == count
    base = next(each for each in items(found) if each.name == "base_rtt")
    assert base.high is not None
    assert base.high >= 50


@BOTH_ENDS
@pytest.mark.parametrize("by_s", [0.0018, -0.0018])
def test_a_clock_that_is_set_by_too_little_to_refuse_it_is_said(tmp_path: Path, side: str, by_s: float) -> None:
    known = Known(size_bytes=4_000_000)
    plain: list[Frame] = getattr(Download(known), side)
    moved = [replace(each, t_s=each.t_s + (by_s if each.t_s > 0.5 else 0)) for each in plain]
    for frames, count in ((plain, 0), (moved, 1)):
        found = judged(written(tmp_path / "x.pcap", frames, known), None, [])[1]
        assert sum("one that is set meanwhile" in line for line in link_lines(found, side)) == count
        base = next(each for each in items(found) if each.name == "base_rtt")
        assert base.high is not None
        assert base.high >= 50


@pytest.mark.parametrize(("known", "said"), [(Known(), False), (Known(2, one_way_ms=5, buffer_bytes=30_000), True)])
def test_a_handshake_that_was_answered_sooner_than_any_data_is_said(tmp_path: Path, known: Known, said: bool) -> None:
    """On a slow link ACKs of two packets wait for both: of 2 Mb/s 12 ms."""
    known = replace(known, size_bytes=3_000_000)
    found = judged(written(tmp_path / "x.pcap", Download(known).server, known), None, [])[1]
    assert sum("the handshake's round trip took 10.0 ms" in line for line in link_lines(found, "sender")) == said
    base = next(each for each in items(found) if each.name == "base_rtt")
    assert base.low == (2 * known.one_way_ms if said else None)
