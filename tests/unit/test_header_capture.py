# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture as it is kept: nothing but payload is gone."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.header_capture import keep_headers
from lab.tables.packets import read_packets
from lab.tables.pcapng import read_pcapng

CAPTURE = Path(__file__).parents[1] / "data/draft/client.pcapng"  # a real download of 2 s at 1 Mb/s with 3 % loss


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)  # tshark runs as another user
    file = tmp_path / "client.pcapng.zst"
    keep_headers(CAPTURE, file, SNAPLEN_BYTES)
    return file


def test_every_packet_reads_as_before(kept: Path) -> None:
    before, after = (read_packets(file, PORT, SNAPLEN_BYTES) for file in (CAPTURE, kept))
    assert after.packets.equals(before.packets)
    assert (after.start_ns, after.client_ports, after.server_isn) == (
        before.start_ns,
        before.client_ports,
        before.server_isn,
    )


def test_no_payload_is_left_and_a_small_part_of_the_bytes(kept: Path) -> None:
    frames = read_pcapng(kept, SNAPLEN_BYTES)
    segments = read_packets(kept, PORT, SNAPLEN_BYTES).packets
    full = (segments["len_bytes"] == 1448).to_numpy()
    assert set(frames.captured_bytes[full]) == {66}  # Ethernet, IPv4, TCP with time stamps
    assert frames.captured_bytes.max() < 96
    assert kept.stat().st_size < CAPTURE.stat().st_size / 4


def test_one_that_is_cut_short_is_refused_by_name(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes()[:-100])
    with pytest.raises(UserError, match=r"client\.pcapng\.zst: must be a whole zstd-compressed capture"):
        read_pcapng(kept, SNAPLEN_BYTES)
