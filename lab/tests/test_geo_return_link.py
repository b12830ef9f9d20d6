# SPDX-License-Identifier: GPL-2.0-or-later
"""A return link on demand, set from the physics, does to a GEO download what was recorded of real ones."""

import polars as pl
import pytest

from lab.plan import MSS_BYTES
from lab.schema.profile import Profile
from lab.store.trial import Trial
from lab.tests.conftest import Bench, experiment_on

FRAME_S = 0.04
GEO = Profile.model_validate(
    {
        "title": "the GEO link of the thesis with a return link on demand, whose terminal reports all that it holds",
        "down": {"rate_mbps": 144.0, "delay_ms": 300.0, "buffer_bytes": 36_000_000},
        "up": {
            "delay_ms": 300.0,
            "on_demand": {
                "frame_ms": 40.0,  # recorded: ACKs arrive in frames of 40 ms
                "guaranteed_pkts": 1,  # recorded: exactly one ACK a frame at first
                # Two hops of 2 x 38,500 km (slant range at middle latitudes) take 514 ms; the gateway grants in its
                # next frame.
                "request_delay_ms": 560.0,
                "cap_bytes": 25_000,  # a carrier of 5 MSym/s (thesis 5.1.1: 0.625 to 20) in QPSK 1/2: 40 ms of 5 Mb/s
                "report": "backlog",
            },
            "buffer_bytes": 500_000,  # 0.8 s at that rate
        },
        "recorded": [],
        "assumed": ["everything"],
    }
)
RATE_MBPS, BUSY = 144.0, 0.95


@pytest.fixture(scope="module", params=["cubic_plain", "cubic"])
def download(request: pytest.FixtureRequest, bench: Bench) -> Trial:
    """A download whose acknowledgements queue for the return link."""
    return bench.run(experiment_on(GEO, request.param, duration_s=11), request.param, "geo-return")


def data_s(download: Trial) -> float:
    """When the first data segment reached the client: the recordings' clocks begin there or a little before."""
    data = download.packets.filter(pl.col("to_client") & (pl.col("flow") == 1) & (pl.col("len_bytes") > 0))
    return float(data["t_s"][0])


def acks_by_frame(download: Trial, from_s: float, to_s: float) -> list[int]:
    acks = download.acks.filter(pl.col("t_s").is_between(data_s(download) + from_s, data_s(download) + to_s))
    return acks.group_by((pl.col("t_s") / FRAME_S).round()).len()["len"].to_list()


def inflight_pkts(download: Trial, at_s: float) -> float:
    acks = download.acks.filter(pl.col("t_s") <= data_s(download) + at_s)
    return float((acks["snd_nxt_bytes"][-1] - acks["snd_una_bytes"][-1]) / MSS_BYTES)


def test_the_certificate_holds(download: Trial) -> None:
    assert download.valid, download.meta["certificate"]


def test_at_first_one_acknowledgement_comes_in_each_frame(download: Trial) -> None:
    counts = acks_by_frame(download, 0.1, 1.0)
    assert sorted(counts)[len(counts) // 2] == 1
    assert len(counts) >= 8


def test_the_round_trip_swings_by_hundreds_of_ms_before_the_forward_link_is_full(download: Trial) -> None:
    early = download.acks.filter(pl.col("t_s").is_between(data_s(download) + 1.0, data_s(download) + 7.0))
    smoothed_ms = early["srtt_ms"]
    assert smoothed_ms.min() < 700  # type: ignore[operator]
    assert smoothed_ms.max() > 1100  # type: ignore[operator]
    falls = ((smoothed_ms < 800) & (smoothed_ms.shift(1) >= 800)).sum()
    assert 3 <= falls <= 8  # in 6 s; recorded: a period of some 2 to 3 s


def test_slow_start_takes_about_twice_as_long_as_doublings_of_the_base_rtt(download: Trial) -> None:
    if download.meta["cca"] != "cubic_plain":
        pytest.skip("HyStart leaves before: that is the next test")
    assert 15 < inflight_pkts(download, 1.0) < 60
    assert 250 < inflight_pkts(download, 5.5) < 1000
    data = download.packets.filter(pl.col("to_client") & (pl.col("len_bytes") > 0))
    halves = data.group_by((pl.col("t_s") * 2).floor().alias("half")).agg(pl.col("frame_bytes").sum() * 16 / 1e6)
    full_s = float(halves.filter(pl.col("frame_bytes") >= BUSY * RATE_MBPS).sort("half")["half"][0]) / 2
    assert 9 < full_s < 12.5  # thesis: 11.8


def test_hystart_leaves_early(download: Trial) -> None:
    if download.meta["cca"] != "cubic":
        pytest.skip("there is no HyStart in this sender")
    first = download.exits.row(0, named=True)
    assert first["cause"] == "hystart"
    assert first["cwnd_pkts"] < 300  # of a BDP of some 7,400
    assert download.meta["flows"][0]["throughput_mbps"] < 0.1 * RATE_MBPS
