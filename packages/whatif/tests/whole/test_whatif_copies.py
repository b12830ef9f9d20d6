# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that stand in a capture twice, at one place or at two, count once."""

from dataclasses import replace
from pathlib import Path

import pytest
from changed_frames import both, later, merged, twice
from lab_formats.reading.copies import counted_once
from lab_formats.reading.packets import packets_of
from lab_whatif.judged import judged
from whatif_captures import Download, Known, written

from lab.traces import importers

BULK = Known()


@pytest.fixture(scope="module")
def bulk() -> Download:
    return Download(BULK)


@pytest.mark.parametrize(("after_s", "every"), [(1e-5, 1), (1e-5, 3), (0.003, 1), (0.05, 3)])
def test_copies_of_data_count_once_in_the_rate(tmp_path: Path, bulk: Download, after_s: float, every: int) -> None:
    once = importers.read(written(tmp_path / "once.pcap", bulk.client, BULK)).frame["rate_down_mbps"]
    found = importers.read(written(tmp_path / "twice.pcap", twice(bulk.client, after_s, every), BULK))
    assert found.frame["rate_down_mbps"][: len(once)].to_list() == once.to_list()
    assert any("are copies of others: each is counted once" in note for note in found.notes)


@pytest.mark.parametrize(("stamps", "late_s"), [(True, 0.0), (True, 5.0), (False, 0.0)])
def test_of_both_ends_in_one_file_no_round_trip_is_seen(
    tmp_path: Path, bulk: Download, stamps: bool, late_s: float
) -> None:
    """The ACKs of the second end stand twice, too; its clock may be another."""
    once = importers.read(written(tmp_path / "once.pcap", bulk.server, BULK, stamps=stamps)).frame
    frames = both(bulk.client, later(bulk.server, -1, late_s))
    found = importers.read(written(tmp_path / "both.pcap", frames, BULK, stamps=stamps))
    assert sum(found.frame["rate_up_mbps"]) == pytest.approx(sum(once["rate_up_mbps"]), rel=0.02)
    assert found.frame["rtt_ms"].null_count() == found.frame.height
    assert any("for the capture shows two places" in note for note in found.notes)


def test_of_two_captures_of_one_way_one_counts(tmp_path: Path, bulk: Download) -> None:
    """Both ends' pcapng files, merged: what one alone shows was lost, or merged by a network card."""
    client, server = (
        [each._replace(interface=(number, 0)) for each in packets_of(written(tmp_path / "x.pcap", end, BULK), [])]
        for number, end in enumerate((bulk.client, merged(bulk.server, 20)))
    )
    assert counted_once(both(client, server))[0] == server


def test_acks_whose_sack_blocks_are_cut_are_no_copies(tmp_path: Path, bulk: Download) -> None:
    whole = importers.read(written(tmp_path / "whole.pcap", bulk.client, BULK)).frame
    cut = importers.read(written(tmp_path / "cut.pcap", bulk.client, BULK, snap=68)).frame
    assert cut["rate_up_mbps"].to_list() == whole["rate_up_mbps"].to_list()


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("every", [1, 3])
def test_copies_at_one_place_change_nothing(tmp_path: Path, bulk: Download, side: str, every: int) -> None:
    frames = getattr(bulk, side)
    once = judged(written(tmp_path / "once.pcap", frames, BULK), None, [])[1]
    found = judged(written(tmp_path / "twice.pcap", twice(frames, 1e-5, every), BULK), None, [])[1]
    assert found.capacity.equals(once.capacity)
    assert found.buffer.bytes == once.buffer.bytes


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_connection_that_stands_again_under_translated_addresses_counts_once(
    tmp_path: Path, bulk: Download, side: str
) -> None:
    """As of a container, whose host captures at all its interfaces."""
    frames = getattr(bulk, side)
    once, again = (
        written(tmp_path / f"{late_s}.pcap", [replace(each, t_s=each.t_s + late_s) for each in frames], BULK)
        for late_s in (0.0, 1e-5)
    )
    plain, notes = judged(once, None, [])[1], list[str]()
    once.write_bytes(once.read_bytes() + again.read_bytes()[24:].replace(bytes([10, 0, 0, 2]), bytes([172, 17, 0, 2])))
    found = judged(once, None, notes)[1]
    assert found.capacity.equals(plain.capacity)
    assert found.buffer.bytes == plain.buffer.bytes
    assert any(note.startswith("1 connections stand again under translated addresses (NAT)") for note in notes)
