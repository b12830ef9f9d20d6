# SPDX-License-Identifier: GPL-2.0-or-later
"""packets.parquet holds what tshark sees, frame by frame and field by field; a damaged capture is refused in a line."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_series_equal

from lab.base.errors import UserError
from lab.images.image import Image
from lab.runs.plan import PORT, SNAPLEN_BYTES
from lab.tables import tcp_headers
from lab.tables.packets import read_packets, unwrap
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.tshark import dissect

DATA = Path(__file__).parents[1] / "data"
CAPTURE = DATA / "draft/client.pcapng"  # a real download of 2 s at 1 Mb/s with 3 % loss
CONTENT = CAPTURE.read_bytes()
LOSSY = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"loss_pct": 1.0})})
FIN, SYN, RST = 0x001, 0x002, 0x004
FIELDS = [
    "frame_bytes",
    "flow",
    "to_client",
    "seq_bytes",
    "ack_bytes",
    "len_bytes",
    "flags",
    "window_bytes",
    "tsval",
    "tsecr",
    "sack_edges",
]


@pytest.fixture(scope="module")
def lossy_trial(bench: Bench) -> Trial:
    """A download that loses a segment in a hundred."""
    return bench.run(experiment_on(LOSSY, "cubic"), "cubic", "lossy")


@pytest.fixture(scope="module", params=["small_trial", "lossy_trial", "stored"])
def both(request: pytest.FixtureRequest, world: Image) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A capture as the lab reads it, and as tshark does."""
    capture = (
        CAPTURE if request.param == "stored" else request.getfixturevalue(request.param).path / "client.pcapng.zst"
    )
    ours = read_packets(capture, PORT, SNAPLEN_BYTES)
    time_ns = (ours.packets["t_s"] * 1e9).round().cast(pl.Int64) + ours.start_ns
    return ours.packets.with_columns(time_ns.alias("time_ns")), dissect(world.root, capture, PORT)


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_of_every_frame_is_what_tshark_says(both: tuple[pl.DataFrame, pl.DataFrame], field: str) -> None:
    ours, theirs = both
    assert_series_equal(ours[field], theirs[field])


def test_every_frame_has_the_time_that_tshark_says(both: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    ours, theirs = both
    assert_series_equal(ours["time_ns"], theirs["time_ns"])


def captured(trial: Trial) -> pl.DataFrame:
    """The whole capture: the stored table ends with the download."""
    return read_packets(trial.path / "client.pcapng.zst", PORT, SNAPLEN_BYTES).packets


def test_the_compared_captures_hold_frames_of_every_kind(lossy_trial: Trial, small_trial: Trial) -> None:
    frames = captured(lossy_trial)
    assert frames.filter(pl.col("flags") & SYN > 0).height == 4  # two connections, both ways
    assert frames.filter(pl.col("flags") & FIN > 0).height >= 2
    assert frames.filter(pl.col("flags") & RST > 0).height > 0  # the client closes in the middle of the download
    assert small_trial.packets["sack_edges"].max() == 3  # all that fit beside a timestamp
    assert set(frames["flow"].unique()) == {0, 1}
    assert small_trial.packets.height > 5000


def test_the_capture_holds_every_frame_that_crossed_the_clients_interface(small_trial: Trial) -> None:
    counters, probes = small_trial.meta["counters"]["interfaces"], small_trial.meta["probes"]
    sent = {True: counters["satellite:eth2"]["tx_pkts"], False: counters["client:eth1"]["tx_pkts"]}
    seen = dict(captured(small_trial)["to_client"].value_counts().iter_rows())
    assert {way: count - probes[0]["count"] for way, count in sent.items()} == seen  # probes come before it


def test_the_stored_table_is_the_decoded_capture_until_the_downloads_end(small_trial: Trial) -> None:
    whole, end_s = captured(small_trial), small_trial.meta["flows"][0]["end_s"]
    decoded = whole.filter(pl.col("t_s") <= end_s)
    assert 0 < decoded.height < whole.height
    in_ns = (pl.col("t_s") * 1e9).round().cast(pl.Int64)
    assert decoded.with_columns(in_ns).equals(small_trial.packets.with_columns(in_ns))


def test_time_starts_when_the_data_connection_asks(small_trial: Trial) -> None:
    asks = small_trial.packets.filter((pl.col("flags") == SYN) & (pl.col("flow") == 1))
    assert asks["t_s"].to_list() == [0.0]


def refusal(file: Path) -> str:
    with pytest.raises(UserError) as refused:
        read_packets(file, PORT, SNAPLEN_BYTES)
    assert "\n" not in str(refused.value)
    return str(refused.value)


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


def test_a_capture_of_another_port_is_refused() -> None:
    with pytest.raises(UserError, match="must hold a control connection and a data connection on port 80"):
        read_packets(CAPTURE, 80, SNAPLEN_BYTES)


def test_a_capture_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "none.pcapng")


def outcome(file: Path) -> str:
    """Say how reading ended; anything but a refusal goes through."""
    try:
        return f"{read_packets(file, PORT, SNAPLEN_BYTES).packets.height} frames"
    except UserError as refused:
        return str(refused)


@given(st.integers(0, len(CONTENT) - 1))
@settings(deadline=None, max_examples=100)
def test_a_capture_cut_anywhere_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    file = tmp_path_factory.getbasetemp() / "cut.pcapng"
    file.write_bytes(CONTENT[:cut])
    assert outcome(file).count("\n") == 0


@given(st.lists(st.tuples(st.integers(0, 2000), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))
@settings(deadline=None, max_examples=150)
def test_a_damaged_capture_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, damages: list[tuple[int, bytes]]
) -> None:
    content = bytearray(CONTENT[:20000])
    for at, damage in damages:
        content[at : at + len(damage)] = damage
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
