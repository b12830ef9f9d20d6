# SPDX-License-Identifier: GPL-2.0-or-later
"""A return link on demand, set from the physics, does to a GEO download what was recorded of real ones.

The recorded figures are medians of four public per-ACK logs (viasat 9 and 10, search_input 1 and 2 of the collection
geo-viasat-logs), counted from the first data segment. The forward link here is constant, so that only the return link
speaks before it is full.
"""

import numpy as np
import polars as pl
import pytest

from lab.links.profile import Profile, load_profile
from lab.tables.stored_trial import Trial
from tests.conftest import Bench, experiment_on

FRAME_S, RATE_MBPS = 0.04, 144.0
RECORDED_S = {50: 2.8, 200: 5.1, 500: 6.6, 1000: 8.2, 2000: 9.8}  # so many segments were acknowledged after
RECORDED_RTT_MS = 1163.0  # median over the first 9 s
CLOSE_S = 0.6  # a download starts anywhere in a period of 1.2 s
DURATION_S = 15


def geo(report: str) -> Profile:
    """The thesis's forward link with a return link that makes this report."""
    profile = load_profile("geo-viasat-thesis", "test").model_dump(exclude_none=True)
    drawn = {"guaranteed_pkts": 1, "request_delay_ms": 560.0, "cap_bytes": 25_000}  # these logs begin with one packet
    demand = profile["up"]["on_demand"] | {"report": report} | drawn
    if report != "rate":
        del demand["period_ms"]
    return Profile.model_validate(profile | {"up": profile["up"] | {"on_demand": demand}})


def downloaded(bench: Bench, report: str, cca: str = "cubic_plain") -> Trial:
    return bench.run(experiment_on(geo(report), cca, duration_s=DURATION_S), cca, f"geo-return-{report}")


@pytest.fixture(scope="module")
def download(bench: Bench) -> Trial:
    """A download without HyStart over the link that the profiles use."""
    return downloaded(bench, "rate")


def data_s(download: Trial) -> float:
    """When the first data segment reached the client: half a round trip after it was sent."""
    data = download.packets.filter(pl.col("to_client") & (pl.col("flow") == 1) & (pl.col("len_bytes") > 0))
    return float(data["t_s"][0]) - 0.3


def acks_by_frame(download: Trial, from_s: float, to_s: float) -> list[int]:
    acks = download.acks.filter(pl.col("t_s").is_between(data_s(download) + from_s, data_s(download) + to_s))
    return acks.group_by((pl.col("t_s") / FRAME_S).round()).len()["len"].to_list()


def off_s(download: Trial) -> float:
    """How far the growth of acknowledged segments is from the recorded one, root mean square."""
    acks = download.acks
    segments = (acks["snd_una_bytes"] - acks["snd_una_bytes"][0]).to_numpy() / download.meta["mss_bytes"]
    reached_s = [acks["t_s"][int(np.searchsorted(segments, count))] - data_s(download) for count in RECORDED_S]
    return float(np.sqrt(np.mean((np.array(reached_s) - list(RECORDED_S.values())) ** 2)))


def test_acknowledgements_come_one_a_frame_at_first_and_grow_as_recorded(download: Trial) -> None:
    assert download.valid, download.meta["certificate"]
    counts = acks_by_frame(download, 0.7, 1.7)
    assert sorted(counts)[len(counts) // 2] == 1
    assert len(counts) >= 8
    assert off_s(download) < CLOSE_S


@pytest.mark.parametrize("report", ["backlog", "new"])
def test_neither_report_of_a_volume_gives_the_recorded_growth(bench: Bench, report: str) -> None:
    assert off_s(downloaded(bench, report)) > CLOSE_S


def test_the_round_trip_is_as_long_as_recorded_before_the_forward_link_is_full(download: Trial) -> None:
    begun_s = data_s(download)
    early = download.acks.filter(pl.col("t_s").is_between(begun_s, begun_s + 9.0))
    assert early["srtt_ms"].median() == pytest.approx(RECORDED_RTT_MS, rel=0.25)
    assert early["srtt_ms"].min() < 750  # type: ignore[operator]
    assert early["srtt_ms"].max() > 1400  # type: ignore[operator]


def test_slow_start_takes_about_twice_as_long_as_doublings_of_the_base_rtt(download: Trial) -> None:
    data = download.packets.filter(pl.col("to_client") & (pl.col("len_bytes") > 0))
    halves = data.group_by((pl.col("t_s") * 2).floor().alias("half")).agg(pl.col("frame_bytes").sum() * 16 / 1e6)
    full_s = float(halves.filter(pl.col("frame_bytes") >= 0.95 * RATE_MBPS).sort("half")["half"][0]) / 2
    assert 10 < full_s - data_s(download) < 14  # ten doublings of 600 ms take 6 s


def test_hystart_leaves_early(bench: Bench) -> None:
    download = downloaded(bench, "rate", "cubic")
    first = download.exits.row(0, named=True)
    assert first["cause"] == "hystart"
    assert first["cwnd_pkts"] < 300  # of a BDP of some 7,400
    assert download.meta["flows"][0]["throughput_mbps"] < 0.1 * RATE_MBPS
