# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture: its blocks, its packets as tshark sees them, and nothing but payload is gone from the one that is kept."""

import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.base.errors import UserError
from lab.judge.loss import first_hole_s, first_loss_s
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables import header_capture, tcp_headers
from lab.tables.header_capture import keep_headers
from lab.tables.packets import SYN, read_packets, unwrap
from lab.tables.pcapng import PACKET_HEAD, read_pcapng
from tests.brief import error_of
from tests.examples import examples
from tests.slow_start_model import PACKETS, packet

CAPTURE = Path(__file__).parents[1] / "data/draft/client.pcapng"  # a real download of 2 s at 1 Mb/s with 3 % loss
CONTENT = CAPTURE.read_bytes()


def refusal(file: Path) -> str:
    return error_of(read_packets, file, PORT, SNAPLEN_BYTES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "must be a pcapng capture as dumpcap writes it"),
        (b"# not a capture at all\n", "must be a pcapng capture as dumpcap writes it"),
        (bytes.fromhex("d4c3b2a1") + bytes(40), "must be a pcapng capture as dumpcap writes it"),  # the older pcap
        (CONTENT[:-7], "must be a whole capture: it ends inside a block at byte"),
        (CONTENT[:400], "must be a whole capture: it ends inside a block at byte"),
        (CONTENT.replace(bytes.fromhex("01000000140000"), b"", 1)[:60], "must be a whole capture"),
    ],
)
def test_what_is_no_whole_capture_is_refused_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "client.pcapng"
    file.write_bytes(content)
    assert f"{file}: {words}" in refusal(file)


def test_a_capture_of_another_port_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must hold a control connection and a data connection on port 80"):
        read_packets(CAPTURE, 80, SNAPLEN_BYTES)
    assert "No such file" in refusal(tmp_path / "none.pcapng")


def test_the_first_connection_is_flow_0_and_only_the_client_reports_gaps() -> None:
    packets = read_packets(CAPTURE, PORT, SNAPLEN_BYTES).packets
    of_tcp = packets.drop_nulls("to_client")
    assert of_tcp["flow"].to_list()[0] == 0
    assert of_tcp["flow"].unique().sort().to_list() == [0, 1]
    assert of_tcp.filter("to_client")["sack_edges"].unique().to_list() == [0]
    assert {0, 1} <= {*of_tcp.filter(~pl.col("to_client"))["sack_edges"]}


def test_a_connection_begins_with_a_syn_that_echoes_no_time_stamp() -> None:
    packets = read_packets(CAPTURE, PORT, SNAPLEN_BYTES).packets
    for flow in (0, 1):
        first = packets.filter(pl.col("flow") == flow).row(0, named=True)
        assert (first["flags"], first["seq_bytes"], first["ack_bytes"], first["tsecr"]) == (SYN, 0, None, 0)


def outcome(file: Path) -> str:
    """Return how reading ended; anything but a refusal goes through."""
    try:
        return f"{read_packets(file, PORT, SNAPLEN_BYTES).packets.height} frames"
    except UserError as refused:
        return str(refused)


CUTS = st.integers(0, len(CONTENT) - 1)
DAMAGES = st.lists(st.tuples(st.integers(0, 2000), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4)


@given(CUTS, DAMAGES)
@settings(deadline=None, max_examples=examples(150))
def test_a_capture_that_is_cut_or_damaged_anywhere_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int, damages: list[tuple[int, bytes]]
) -> None:
    damaged = bytearray(CONTENT[:20000])
    for at, damage in damages:
        damaged[at : at + len(damage)] = damage
    for content in (CONTENT[:cut], damaged):
        file = tmp_path_factory.getbasetemp() / "damaged.pcapng"
        file.write_bytes(content)
        assert outcome(file).count("\n") == 0


def row_with_options(options: bytes) -> np.ndarray:
    """One captured frame whose TCP header carries these options."""
    padded = options[:40] + bytes(-len(options[:40]) % 4)
    ethernet = bytes(12) + b"\x08\x00"
    ipv4 = bytes([0x45, 0]) + (40 + len(padded)).to_bytes(2) + bytes([0, 0, 0, 0, 64, 6]) + bytes(10)
    tcp = bytes(12) + bytes([(20 + len(padded)) // 4 << 4, 0x10]) + bytes(6)
    return np.frombuffer((ethernet + ipv4 + tcp + padded).ljust(SNAPLEN_BYTES, b"\0"), dtype=np.uint8)


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5))
def test_options_of_any_content_are_read(contents: list[bytes]) -> None:
    fields = tcp_headers.segments(np.stack([row_with_options(options) for options in contents]))
    assert all(len(column) == len(contents) for column in fields.values())
    assert (fields["sack_edges"] <= 4).all()
    assert ((fields["tsval"] >= -1) & (fields["tsval"] < 2**32)).all()


@given(st.integers(0, 40), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_a_timestamp_is_found_wherever_it_stands(pads: int, tsval: int, tsecr: int) -> None:
    option = bytes([8, 10]) + tsval.to_bytes(4) + tsecr.to_bytes(4)
    fields = tcp_headers.segments(row_with_options(bytes([1]) * min(pads, 30) + option)[None, :])
    assert (fields["tsval"][0], fields["tsecr"][0]) == (tsval, tsecr)


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=50))
def test_unwrap_takes_a_wrap_back(initial: int, steps: list[int]) -> None:
    relative = np.cumsum(np.array(steps, dtype=np.int64))
    assert (unwrap((initial + relative) % 2**32, initial) == relative).all()


def block(kind: int, body: bytes) -> bytes:
    padded = body + bytes(-len(body) % 4)
    length = struct.pack("<I", 12 + len(padded))
    return struct.pack("<I", kind) + length + padded + length


def option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


SECTION = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(link_type: int = 1, options: bytes = b"") -> bytes:
    return block(1, struct.pack("<HHI", link_type, 0, SNAPLEN_BYTES) + options)


def packet_block(ticks: int, data: bytes, wire_bytes: int) -> bytes:
    return block(6, struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), wire_bytes) + data)


def written(folder: Path, *blocks: bytes) -> Path:
    file = folder / "capture.pcapng"
    file.write_bytes(b"".join(blocks))
    return file


def test_a_real_capture_holds_as_many_frames_as_dumpcap_counted() -> None:
    frames = read_pcapng(CAPTURE, SNAPLEN_BYTES)
    assert len(frames.time_ns) == 444
    assert frames.captured_bytes.max() == SNAPLEN_BYTES
    assert frames.wire_bytes.max() == 1514
    assert (frames.time_ns[1:] >= frames.time_ns[:-1]).all()
    assert 1_700_000_000 <= frames.time_ns[0] / 1e9 < 1_700_000_010  # the virtual kernel's own date


@pytest.mark.parametrize(
    ("options", "tick_ns"),
    [
        (b"", 1000),
        (option(9, bytes([6])), 1000),
        (option(9, bytes([9])), 1),
        (option(2, b"eth1") + option(9, bytes([9])) + option(0, b""), 1),
    ],
)
def test_the_clock_ticks_as_the_interface_states(tmp_path: Path, options: bytes, tick_ns: int) -> None:
    file = written(tmp_path, SECTION, interface(options=options), packet_block(2**33 + 5, b"x", 60))
    assert list(read_pcapng(file, SNAPLEN_BYTES).time_ns) == [(2**33 + 5) * tick_ns]


def test_a_short_frame_is_followed_by_zeros_and_other_blocks_are_passed_over(tmp_path: Path) -> None:
    file = written(
        tmp_path, SECTION, interface(), packet_block(1, b"abc", 60), packet_block(2, bytes(range(1, 97)), 1514)
    )
    frames = read_pcapng(file, SNAPLEN_BYTES)
    assert bytes(frames.head[0]) == b"abc".ljust(SNAPLEN_BYTES, b"\0")
    assert list(frames.captured_bytes) == [3, 96]
    assert list(frames.wire_bytes) == [60, 1514]
    statistics = block(5, bytes(12))
    file = written(tmp_path, SECTION, interface(), statistics, packet_block(1, b"abc", 60), statistics)
    assert len(read_pcapng(file, SNAPLEN_BYTES).time_ns) == 1
    assert len(read_pcapng(written(tmp_path, SECTION, interface()), SNAPLEN_BYTES).time_ns) == 0


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ((SECTION, interface(link_type=101)), r"link_type=101: must be 1 \(Ethernet\)"),
        ((SECTION, interface(options=option(9, bytes([3])))), "if_tsresol=3: must be 6 or 9"),
        ((SECTION[:8] + SECTION[11:7:-1] + SECTION[12:],), "must be a pcapng capture"),  # of the other byte order
        ((SECTION, interface(), packet_block(1, b"abc", 60)[:-6]), "must be a whole capture"),
        ((SECTION, struct.pack("<II", 6, 4)), "must be a whole capture"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, blocks: tuple[bytes, ...], words: str) -> None:
    with pytest.raises(UserError, match=rf"capture\.pcapng: .*{words}"):
        read_pcapng(written(tmp_path, *blocks), SNAPLEN_BYTES)


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
    assert "client.pcapng.zst: must be a whole zstd-compressed capture" in error_of(read_pcapng, kept, SNAPLEN_BYTES)


def test_a_frame_that_claims_more_than_its_block_holds_is_kept_as_far_as_it_goes() -> None:
    block = np.zeros((1, PACKET_HEAD + 96), np.uint8)
    frame = block[0, PACKET_HEAD:]
    block[0, 20:24] = 0xFF  # captured, as the block has it
    frame[12:15], frame[23], frame[14 + 60 + 12] = (8, 0, 0x4F), 6, 0xF0  # TCP behind the longest headers
    assert len(header_capture._cut(block)) == PACKET_HEAD + 96 + 4


@pytest.mark.parametrize(
    ("sent_ms", "rtt_ms", "lost"),
    [
        (1, 10, False),  # in front of those behind it, and held back on its way
        (2, 10, False),  # in the same tick as the first of them
        (12, 10, True),  # again, a round trip later
        (2, 1, True),  # in a round trip as short ticks of a millisecond tell nothing
        (None, 10, True),
    ],
)
def test_what_only_came_late_was_not_lost(sent_ms: int | None, rtt_ms: int, lost: bool) -> None:
    """Segment 2 comes behind segments 3 to 6, each of which the client answers 0.4 ms later."""
    rows = [packet(-1.0, False, tsval=900), packet(-1.0 + rtt_ms / 1e3, True, tsecr=900, tsval=None)]
    for place, seq in enumerate((1, 3, 4, 5, 6, 2)):
        stamp = sent_ms if seq == 2 else seq - (seq > 1)
        rows.append(packet(0.001 * place, True, seq_bytes=1000 * seq - 999, len_bytes=1000, tsval=stamp))
        answer = {"ack_bytes": 6001 if seq == 2 else 1001, "sack_edges": int(seq > 2)}
        rows.append(packet(0.001 * place + 0.0004, False, **answer))
    packets = pl.DataFrame(rows, schema=PACKETS, orient="row")
    assert first_loss_s(packets) == (pytest.approx(0.0034) if lost else None)
    assert first_hole_s(packets) == (pytest.approx((0.0, 0.003)) if lost else None)
