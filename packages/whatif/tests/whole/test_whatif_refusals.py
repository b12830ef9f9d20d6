# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture that cannot answer is refused in a line that states why, and what to capture instead."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lab_whatif.judged import judged
from typer.testing import CliRunner
from whatif_captures import Download, Frame, Known, merged, spoiled, written

from lab.base.errors import UserError
from lab.commands.cli import app

BULK = Known()
Spoil = Callable[[list[Frame]], list[Frame]]


def thinned(frames: list[Frame]) -> list[Frame]:
    """Drop one of 200 data segments: a capture that lost some."""
    data = [frame for frame in frames if frame.length]
    dropped = {id(frame) for frame in data[100::200]}
    return [frame for frame in frames if id(frame) not in dropped]


@pytest.fixture(scope="module")
def bulk() -> Download:
    return Download(BULK)


SPOILED: dict[str, tuple[Spoil, str]] = {
    "cut": (lambda frames: frames[40:], "handshake=absent"),
    "thinned": (thinned, "acknowledged but not captured=0."),
    "short": (lambda frames: [each for each in frames if each.t_s < 0.4], "round trips="),
}


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("how", list(SPOILED))
def test_a_spoiled_capture_is_refused(tmp_path: Path, bulk: Download, side: str, how: str) -> None:
    spoil, line = SPOILED[how]
    file = written(tmp_path / "x.pcap", spoil(getattr(bulk, side)), BULK)
    with pytest.raises(UserError, match=line):
        judged(file, None, [])


def test_segments_merged_at_the_receiver_are_refused(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", merged(bulk.client, 20), BULK)
    with pytest.raises(UserError, match="merged segments="):
        judged(file, None, [])


def test_segments_merged_at_the_sender_show_the_same_link(tmp_path: Path, bulk: Download) -> None:
    """A sender's network card cuts what TSO merged: so do we."""
    whole = judged(written(tmp_path / "whole.pcap", bulk.server, BULK), None, [])[1]
    cut = judged(written(tmp_path / "merged.pcap", merged(bulk.server, 20), BULK), None, [])[1]
    assert cut.path.base_rtt_ms == pytest.approx(whole.path.base_rtt_ms, abs=1)
    assert cut.capacity["rate_mbps"].median() == pytest.approx(whole.capacity["rate_mbps"].median(), rel=0.01)


@pytest.mark.parametrize("snap", [64, 72])  # which cuts the time stamps, and SACK blocks
def test_headers_that_are_cut_are_not_read_as_if_they_were_whole(tmp_path: Path, bulk: Download, snap: int) -> None:
    with pytest.raises(UserError, match=r"cut TCP headers=\d+\.\d%: must be none: capture with a snap length of 128"):
        judged(written(tmp_path / "x.pcap", bulk.client, BULK, snap=snap), None, [])


@pytest.mark.parametrize("side", ["client", "server"])
def test_without_time_stamps_nothing_is_said(tmp_path: Path, bulk: Download, side: str) -> None:
    file = written(tmp_path / "x.pcap", getattr(bulk, side), BULK, stamps=False)
    with pytest.raises(UserError, match=r"TCP time stamps=0\.0%: must be on all data segments"):
        judged(file, None, [])


@pytest.mark.parametrize(
    ("known", "line"),
    [
        (Known(calls=True), "segments sent with nothing in flight="),
        (Known(receive_window=100_000), "segments at the receive window's edge="),
        (Known(size_bytes=300_000), "steps of 100 ms with a backlog="),
        (Known(stamp_ms=30), r"must be at least \d steps of the time stamps"),
    ],
    ids=["calls", "receive window", "short", "coarse stamps"],
)
@pytest.mark.parametrize("side", ["client", "server"])
def test_a_download_that_the_link_did_not_limit_is_refused(tmp_path: Path, side: str, known: Known, line: str) -> None:
    file = written(tmp_path / "x.pcap", getattr(Download(known), side), known)
    with pytest.raises(UserError, match=line):
        judged(file, None, [])


def test_a_capture_between_the_ends_needs_its_side(tmp_path: Path, bulk: Download) -> None:
    shifted = [replace(each, t_s=each.t_s + (-0.0125 if each.to_client else 0.0125)) for each in bulk.client]
    ordered = sorted(shifted, key=lambda each: each.t_s)
    with pytest.raises(UserError, match="place of the capture="):
        judged(written(tmp_path / "x.pcap", ordered, BULK), None, [])


def test_the_command_refuses_with_status_2_and_one_line_per_rule(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", spoiled(bulk.client[40:], tsecr=0), BULK)
    result = CliRunner().invoke(app, ["whatif", str(file)], catch_exceptions=True)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{file}: handshake=absent")


def test_the_command_writes_the_link_and_its_evidence(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", bulk.client, BULK)
    result = CliRunner().invoke(app, ["whatif", str(file), "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.exception
    assert {each.name for each in (tmp_path / "out").iterdir()} >= {"evidence.json", "capacity.parquet", "link.yml"}
    assert "base RTT 49.0 ms" in result.stdout


def test_an_import_of_a_capture_states_the_link_beside_the_goodput(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", bulk.client, BULK)
    lines = CliRunner().invoke(app, ["traces", "import", str(file)]).stdout
    assert "The rate is what one TCP flow got." in lines
    assert "The link, seen at the receiver: base RTT 49.0 ms; capacity known in" in lines
    assert "Buffer drops what exceeds 0.1" in lines


def test_an_import_of_another_capture_states_why_it_shows_no_link(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", thinned(bulk.client), BULK)
    lines = CliRunner().invoke(app, ["traces", "import", str(file)]).stdout
    assert "The link behind it is not known: acknowledged but not captured=0." in lines
