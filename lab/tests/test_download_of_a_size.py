# SPDX-License-Identifier: GPL-2.0-or-later
"""A download of a size is over soon after its last byte came, however long the round trip."""

import polars as pl
import pytest

from lab.node.flow import BLOCK_BYTES
from lab.store.trial import Trial
from lab.tests.conftest import SMALL, Bench, experiment_on

SIZE_BYTES = 1_000_000
ROUND_TRIP_S = 0.6
FAR = SMALL.model_copy(
    update={way: getattr(SMALL, way).model_copy(update={"delay_ms": ROUND_TRIP_S * 500}) for way in ("down", "up")}
)
AT_MOST_S = 30


@pytest.fixture(scope="module")
def download(bench: Bench) -> Trial:
    """A download of 1 MB."""
    return bench.run(experiment_on(FAR, "cubic", duration_s=AT_MOST_S, size_bytes=SIZE_BYTES), "cubic", "of-a-size")


def test_it_is_valid_and_whole(download: Trial) -> None:
    assert download.valid, download.meta["certificate"]
    assert download.meta["flows"][0]["bytes"] >= SIZE_BYTES


def test_it_ends_within_a_block_and_some_round_trips_of_its_last_byte(download: Trial) -> None:
    arrived = download.packets.filter(pl.col("to_client"), pl.col("flow") == 1)
    whole_s = arrived.filter(pl.col("len_bytes").cum_sum() >= SIZE_BYTES + BLOCK_BYTES)["t_s"].first()
    assert isinstance(whole_s, float)
    assert download.meta["flows"][0]["seconds"] < whole_s + 0.2 + ROUND_TRIP_S
    assert download.meta["flows"][0]["seconds"] < AT_MOST_S / 2
