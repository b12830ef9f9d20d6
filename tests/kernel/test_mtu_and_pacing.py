# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's MTU gives segments of exactly that size, and `pacing: fq` a sender's host that paces."""

import polars as pl
import pytest

from lab.base.stats import largest
from lab.runs.settings import PACED
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.unit.test_mtu_and_pacing import MTU_BYTES

HEADERS_BYTES = 20 + 20 + 12  # IP, TCP and timestamps
ROUND_TRIP_S = 0.1


def segments(trial: Trial) -> pl.Series:
    return trial.packets.filter(pl.col("to_client"), pl.col("flow") == 1, pl.col("len_bytes") > 0)["len_bytes"]


@pytest.mark.parametrize("mtu_bytes", [MTU_BYTES, 576])
def test_a_trial_with_an_mtu_has_segments_of_that_size(bench: Bench, mtu_bytes: int) -> None:
    trial = bench.run(experiment_on(SMALL, "search", mtu_bytes=mtu_bytes), "search", f"mtu-{mtu_bytes}")
    assert trial.valid, trial.meta["certificate"]
    assert trial.meta["mss_bytes"] == mtu_bytes - HEADERS_BYTES
    assert largest(segments(trial)) == trial.meta["mss_bytes"]
    assert (segments(trial) == trial.meta["mss_bytes"]).sum() > 0.99 * len(segments(trial))


@pytest.fixture(scope="module")
def both(bench: Bench) -> tuple[Trial, Trial]:
    """The same trial paced and not."""
    paced = bench.run(experiment_on(SMALL, "cubic_plain", pacing="fq"), "cubic_plain", "paced")
    return paced, bench.run(experiment_on(SMALL, "cubic_plain"), "cubic_plain", "small")


def test_a_paced_senders_host_has_the_qdisc_that_paces_and_queues_less_than_a_burst(both: tuple[Trial, Trial]) -> None:
    paced, plain = both
    (shape,) = (shape for shape in paced.meta["applied"] if shape["part"] == "egress")
    assert (shape["node"], shape["spec"]["kind"]) == ("server", "fq")
    assert shape["got"] == {name: value for name, value in PACED.items() if name != "kind"}
    assert [shape["part"] for shape in plain.meta["applied"] if shape["part"] == "egress"] == []
    assert paced.valid, paced.meta["certificate"]
    # The first window is a burst with either; the second, of twice as many segments, is spread by pacing.
    queued = [_most_queued(trial, 1.2, 2.8) for trial in both]
    assert queued[0] < queued[1] / 2


def _most_queued(trial: Trial, from_rtts: float, to_rtts: float) -> float:
    data_s = trial.meta["flows"][0]["data_s"]
    span = pl.col("t_s").is_between(data_s + from_rtts * ROUND_TRIP_S, data_s + to_rtts * ROUND_TRIP_S)
    return largest(trial.qdisc.filter(span)["backlog_pkts"]) or 0
