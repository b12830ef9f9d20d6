# SPDX-License-Identifier: GPL-2.0-or-later
"""iperf3's JSON: several tests in one file, failed ones among them; its ramp is cut, a proxy's word not believed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_formats.reading.iperf3_tests import ramp_intervals

from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.traces import importers
from tests.brief import put
from tests.traces_real import needs_real, real

CAPTURED = REPO / "tests/data"
KLM = "geo-klm-inflight/iperf_"
MMSYS = "leo-mmsys24/downlink-no-isl-iperf3-2m-2023-09-21-06-10-00.json"


def means_of(path: Path, **options: Any) -> tuple[list[float], list[str]]:
    """Return the mean rate of each test in a file, and the notes."""
    recording = importers.read(path, **options)
    rates = recording.frame[recording.frame.columns[1]].to_list()
    means: list[float] = []
    now: list[float] = []
    for rate in rates:
        if rate is None:
            means.append(float(np.mean(now)))
            now = []
        else:
            now.append(rate)
    assert not now  # every test is ended by a row without values
    return means, list(recording.notes)


@needs_real
def test_a_download_over_geo_is_goodput_down_and_failed_tests_are_named() -> None:
    means, notes = means_of(real(KLM + "download_ams.json"), ramp="keep")
    assert len(means) == 11  # of 15
    assert (min(means), max(means)) == pytest.approx((0.7, 1.25), abs=0.05)
    assert [note for note in notes if "left out" in note] == [
        f"Test {number} left out: it has no intervals." for number in (6, 7, 10, 11)
    ]
    recording = importers.read(real(KLM + "download_ams.json"))
    assert (recording.format, recording.meaning, recording.frame.columns[1]) == (
        "iperf3-json",
        "goodput",
        "rate_down_mbps",
    )


@needs_real
def test_an_interrupted_test_is_left_out_by_name() -> None:
    means, notes = means_of(real(KLM + "download_sfo.json"), ramp="keep")
    assert (min(means), max(means)) == pytest.approx((1.4, 2.1), abs=0.05)
    assert "Test 15 left out: iperf3 ended with 'interrupt - the client has terminated'." in notes


@needs_real
@pytest.mark.parametrize(("of", "count", "low", "high"), [("ams", 10, 0.95, 1.3), ("sfo", 12, 1.3, 2.2)])
def test_an_upload_through_a_proxy_is_what_the_receiver_got(of: str, count: int, low: float, high: float) -> None:
    means, notes = means_of(real(f"{KLM}upload_{of}.json"))
    assert len(means) == count
    assert low <= min(means)
    assert max(means) <= high
    assert sum("are a proxy's" in note for note in notes) >= count
    assert importers.read(real(f"{KLM}upload_{of}.json")).frame.columns[1] == "rate_up_mbps"


@needs_real
def test_a_stall_within_a_test_stays_a_0() -> None:
    rates = importers.read(real(KLM + "download_ams.json"), ramp="keep").frame["rate_down_mbps"]
    assert (rates == 0).sum() == 3  # test 12 stood still for 3 s


@needs_real
def test_the_ramp_is_cut_and_the_notes_say_how_much() -> None:
    recording = importers.read(real(MMSYS))
    assert recording.frame["rate_down_mbps"][0] >= 0.8 * 29
    (note,) = [note for note in recording.notes if "ramp" in note]
    assert "until the first interval that reaches 80% of the median" in note
    gone = 1200 - recording.frame["rate_down_mbps"].count()
    assert f"{gone} intervals, {gone / 10:.1f} s in 1 tests" in note
    assert 0 < gone < 150


@needs_real
def test_with_its_ramp_a_starlink_download_has_the_published_shares() -> None:
    rates = importers.read(real(MMSYS), ramp="keep").frame["rate_down_mbps"].drop_nulls().to_numpy()
    assert rates.mean() == pytest.approx(33.3, abs=0.1)
    assert np.quantile(rates, [0.05, 0.5, 0.95, 1.0]) == pytest.approx([5.5, 29.3, 80, 184], rel=0.02)


@needs_real
def test_a_kept_ramp_of_geo_is_longer_than_a_cut_one() -> None:
    kept, cut = (importers.read(real(KLM + "download_sfo.json"), ramp=word).frame for word in ("keep", "cut"))
    assert kept["rate_down_mbps"].count() == 130
    assert kept["rate_down_mbps"].mean() < cut["rate_down_mbps"].mean()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("rates", "cut"),
    [
        ([1, 2, 4, 8, 10, 10, 10, 10, 10, 10], 3),  # 8 is 80 % of the usual rate
        ([10, 10, 10, 10], 0),
        ([30, 10, 10, 10], 0),  # a burst is no ramp
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5),  # never more than half
        ([0, 0, 0, 0], 0),
        ([5], 0),
    ],
)
def test_a_ramp_ends_where_the_usual_rate_is_reached(rates: list[float], cut: int) -> None:
    values = np.array(rates, dtype=float)
    assert ramp_intervals(values, np.arange(1.0, len(rates) + 1)) == cut


def test_a_ramp_is_never_longer_than_15_s() -> None:
    assert ramp_intervals(np.array([1.0] * 40 + [10.0] * 60), np.arange(1.0, 101.0)) == 15


def test_what_the_lab_itself_records_is_read() -> None:
    recording = importers.read(CAPTURED / "iperf3.json")
    assert (recording.format, recording.meaning) == ("iperf3-json", "goodput")
    with pytest.raises(
        UserError, match=r"iperf3-failed\.json: content: must hold a test with intervals: Test 1 left out"
    ):
        importers.read(CAPTURED / "iperf3-failed.json")


def interval(start: float, end: float, mbps: float, **more: Any) -> dict[str, Any]:
    return {"sum": {"start": start, "end": end, "bits_per_second": mbps * 1e6, "omitted": False, **more}}


def iperf3_test(
    *intervals: dict[str, Any], protocol: str = "TCP", clock: int = 1_700_000_000, **options: Any
) -> dict[str, Any]:
    start = {"timestamp": {"timesecs": clock}, "test_start": {"protocol": protocol, "reverse": 1, **options}}
    return {"start": start, "intervals": list(intervals), "end": {"sum_sent": {}, "cpu": 1}}


def written(folder: Path, *documents: dict[str, Any]) -> Path:
    return put(folder / "made.json", "\n".join(json.dumps(document, indent=1) for document in documents))


def test_which_end_is_the_user_makes_the_direction(tmp_path: Path) -> None:
    file = written(tmp_path, iperf3_test(interval(0, 1, 5), interval(1, 2, 5)))
    assert importers.read(file).frame.columns[1] == "rate_down_mbps"
    assert importers.read(file, user="server").frame.columns[1] == "rate_up_mbps"


def test_omitted_intervals_are_left_out(tmp_path: Path) -> None:
    first = interval(0, 1, 1) | {}
    first["sum"]["omitted"] = True
    recording = importers.read(written(tmp_path, iperf3_test(first, interval(1, 2, 5), interval(2, 3, 5))))
    assert recording.frame["rate_down_mbps"].to_list() == [5.0, 5.0, None]


def test_udp_has_losses_and_no_meaning_of_its_own(tmp_path: Path) -> None:
    file = written(
        tmp_path, iperf3_test(interval(0, 1, 5, lost_percent=10), interval(1, 2, 4, lost_percent=20), protocol="UDP")
    )
    recording = importers.read(file)
    assert recording.meaning is None
    assert recording.frame["loss_pct"].to_list() == [10.0, 20.0, None]
    assert any("capacity only where more was sent than arrived" in note for note in recording.notes)


def test_tests_lie_where_their_clocks_say(tmp_path: Path) -> None:
    tests = [iperf3_test(interval(0, 1, 5), interval(1, 2, 5), clock=clock) for clock in (100, 160)]
    assert importers.read(written(tmp_path, *tests)).frame["t_s"].to_list() == [0, 1, 2, 60, 61, 62]


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        ([{"start": {}, "intervals": []}], "must hold a test with intervals: Test 1 left out: it has no intervals"),
        (
            [iperf3_test(interval(0, 1, -5))],
            r"line 1: intervals\[0\].sum.bits_per_second=-5000000.0: must be a number from 0",
        ),
        ([iperf3_test(interval(0, 1, 5), interval(0.5, 0.2, 5))], r"intervals\[1\].sum.start=0.5: must be later than"),
        ([iperf3_test(interval(0, 1, 5), protocol=each) for each in ("TCP", "UDP")], "must be tests of one protocol"),
        ([iperf3_test(interval(0, 1, 5), bidirectional=1)], r"intervals\[0\]\.sum_bidir_reverse=: must be given"),
        (
            [iperf3_test(interval(0, 9, 5)), iperf3_test(interval(0, 9, 5), clock=1_700_000_001)],
            "must be after the end of the test before",
        ),
        ([{"start": {}}], "line 1: intervals=: must be given"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, documents: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(UserError, match=words.replace("[", r"\[") if r"\[" not in words else words):
        importers.read(written(tmp_path, *documents), "iperf3-json")


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    file = put(tmp_path / "cut.json", json.dumps(iperf3_test(interval(0, 1, 5)), indent=1)[:-20])
    with pytest.raises(UserError, match=r"cut\.json: line \d+: .*must be JSON"):
        importers.read(file, "iperf3-json")
