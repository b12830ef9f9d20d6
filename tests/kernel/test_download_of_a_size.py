# SPDX-License-Identifier: GPL-2.0-or-later
"""A download of a size ends with its last byte, however long the round trip, at the latest at its time."""

import polars as pl
import pytest

from lab.judge.digest import OBJECT_BYTES, digest
from lab.node.traffic.flow import BLOCK_BYTES
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.unit.test_download_of_a_size import SIZE_BYTES

ROUND_TRIP_S = 0.6
FAR = SMALL.model_copy(
    update={way: getattr(SMALL, way).model_copy(update={"delay_ms": ROUND_TRIP_S * 500}) for way in ("down", "up")}
)
AT_MOST_S = 30


@pytest.fixture(scope="module")
def download(bench: Bench) -> Trial:
    """A download of 1 MB."""
    return bench.run(experiment_on(FAR, "cubic", duration_s=AT_MOST_S, size_bytes=SIZE_BYTES), "cubic", "of-a-size")


def test_it_is_valid_and_ends_with_the_acknowledgement_of_the_segment_that_completes_the_size(download: Trial) -> None:
    assert download.valid, download.meta["certificate"]
    assert download.meta["flows"][0]["bytes"] >= SIZE_BYTES
    flow = download.meta["flows"][0]
    arrived = download.packets.filter(pl.col("to_client"), pl.col("flow") == 1, pl.col("len_bytes") > 0)
    assert SIZE_BYTES <= flow["bytes"] < SIZE_BYTES + 2 * download.meta["mss_bytes"]
    assert arrived["t_s"][-1] == pytest.approx(flow["end_s"], abs=0.001)  # until it is acknowledged
    assert flow["seconds"] < AT_MOST_S / 2


def test_every_size_up_to_its_own_has_a_time(download: Trial) -> None:
    """Tables end with the download, and the times of the objects in it are read from them."""
    times_s = digest(download)["download_s"][: SIZE_BYTES // OBJECT_BYTES]
    assert None not in times_s
    assert times_s == sorted(time_s for time_s in times_s if time_s is not None)
    assert times_s[-1] == pytest.approx(download.meta["flows"][0]["end_s"], abs=1e-6)


def test_iperf3_is_through_some_round_trips_later(download: Trial) -> None:
    (check,) = (check for check in download.meta["certificate"]["checks"] if check["name"].startswith("download"))
    assert download.meta["flows"][0]["iperf3"]["bytes"] >= SIZE_BYTES
    assert check["got"] is not None
    assert check["got"] < download.meta["flows"][0]["seconds"] + BLOCK_BYTES * 8 / 20e6 + 5 * ROUND_TRIP_S


def test_a_size_that_does_not_come_in_time_ends_at_its_time(bench: Bench) -> None:
    late = bench.run(experiment_on(FAR, "cubic", duration_s=2, size_bytes=50_000_000), "cubic", "too-large")
    flow = late.meta["flows"][0]
    assert late.valid, late.meta["certificate"]
    assert flow["seconds"] == pytest.approx(2)
    assert flow["bytes"] < 50_000_000
