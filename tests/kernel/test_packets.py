# SPDX-License-Identifier: GPL-2.0-or-later
"""packets.parquet holds what tshark sees, frame by frame and field by field; a damaged capture is refused in a line."""

import polars as pl
import pytest
from polars.testing import assert_series_equal

from lab.images.image import Image
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.packets import read_packets
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.tshark import dissect
from tests.unit.test_packets import CAPTURE

LOSSY = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"loss_pct": 1.0})})
FIN, SYN, RST = 0x001, 0x002, 0x004
FIELDS = (
    "frame_bytes flow to_client seq_bytes ack_bytes len_bytes flags window_bytes tsval tsecr sack_edges time_ns".split()
)


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
def test_every_field_of_every_frame_is_what_tshark_shows(both: tuple[pl.DataFrame, pl.DataFrame], field: str) -> None:
    ours, theirs = both
    assert_series_equal(ours[field], theirs[field])


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
    on_the_wire = dict(captured(small_trial)["to_client"].value_counts().iter_rows())
    assert {way: count - probes[0]["count"] for way, count in sent.items()} == on_the_wire  # probes come before it


def test_the_stored_table_is_the_decoded_capture_from_the_syn_until_the_downloads_end(small_trial: Trial) -> None:
    whole, end_s = captured(small_trial), small_trial.meta["flows"][0]["end_s"]
    decoded = whole.filter(pl.col("t_s") <= end_s)
    assert 0 < decoded.height < whole.height
    in_ns = (pl.col("t_s") * 1e9).round().cast(pl.Int64)
    assert decoded.with_columns(in_ns).equals(small_trial.packets.with_columns(in_ns))
    syns = small_trial.packets.filter((pl.col("flags") == SYN) & (pl.col("flow") == 1))
    assert syns["t_s"].to_list() == [0.0]
