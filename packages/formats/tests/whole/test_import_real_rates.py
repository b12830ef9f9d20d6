# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates of real recordings come out as their README states them, marked as capacity, goodput or usage."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from lab_formats.shown.panels import binned_mbps

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording
from tests.brief import error_of
from tests.traces_real import DOCUMENTS, every, needs_real, real

pytestmark = needs_real
SHARES = (0.05, 0.5, 0.95)
LTE = "lte-mahimahi/"
UCC = "5g-ucc/Download/"
ZHUGE = "wifi-cell-sparktraces/Zhuge/"


def shares_of(values: pl.Series, *more: float) -> list[float]:
    return [float(np.quantile(values.drop_nulls().to_numpy(), share)) for share in (*SHARES, *more)]


def _seconds(recording: Recording) -> "np.ndarray[Any, Any]":
    """Return each second's rate as the README counts: from the first packet on, the last second as if it were whole."""
    times_ms = np.rint(recording.frame["t_s"].to_numpy() * 1000).astype(int)
    packets = recording.frame["opportunities"].to_numpy()
    clock = np.bincount(times_ms // 1000, packets) * 0.012
    binned = binned_mbps(recording, 1000)["rate_mbps"].to_list()
    assert binned[:-1] == pytest.approx(clock[: len(binned) - 1])  # the lab counts from the file's own 0
    return np.bincount((times_ms - times_ms[0]) // 1000, packets) * 0.012


def note_of(recording: Recording, words: str) -> str:
    found = [note for note in recording.notes if words in note]
    assert len(found) == 1, recording.notes
    return found[0]


@pytest.mark.parametrize(
    ("name", "lines", "seconds", "mean", "bins"),
    [
        ("ATT-LTE-driving-2016.down", 45_604, 120, 4.56, (0.35, 3.7, 11.1, 27.6)),
        ("ATT-LTE-driving-2016.up", 19_101, 120, 1.91, (0.02, 1.6, 4.8, 12.8)),
        ("TMobile-LTE-short.down", 194_846, 140, 16.7, (4.1, 13.9, 36.6, 59.1)),
        ("TMobile-LTE-short.up", 155_381, 140, 13.3, (2.5, 11.5, 27.5, 29.9)),
        ("Verizon-LTE-short.down", 58_655, 140, 5.03, (1.0, 4.3, 10.8, 16.8)),
        ("Verizon-LTE-short.up", 69_367, 140, 5.95, (1.2, 5.7, 11.4, 13.1)),
    ],
)
def test_mahimahi_is_lte_capacity(name: str, lines: int, seconds: int, mean: float, bins: tuple[float, ...]) -> None:
    recording = importers.read(real(LTE + name))
    assert (recording.format, recording.kind, recording.meaning) == ("mahimahi", "opportunities", "capacity")
    assert recording.frame["opportunities"].sum() == lines
    end_s = recording.frame["t_s"][-1]
    assert end_s == pytest.approx(seconds, abs=0.02)
    assert lines * 12_000 / end_s / 1e6 == pytest.approx(mean, rel=0.003)
    assert list(np.quantile(_seconds(recording), [*SHARES, 1.0])) == pytest.approx(
        bins, abs=0.05
    )  # as far as they are written
    note_of(recording, f"Direction {name.rsplit('.', 1)[1]} by the file's suffix")


def test_leocc_lines_are_starlink_capacity() -> None:
    recording = importers.read(real("leo-leocc/bw_example.txt"))
    assert recording.frame["opportunities"].sum() == 487_652
    assert recording.frame["t_s"][0] == 0.022  # the clock is the file's own
    assert 487_652 * 12_000 / recording.frame["t_s"][-1] / 1e6 == pytest.approx(48.75, rel=0.001)
    assert list(np.quantile(_seconds(recording), SHARES)) == pytest.approx([35.8, 48.1, 62.6], rel=0.01)


def test_uos_is_udp_capacity_in_bursts_and_a_0_is_a_stall() -> None:
    recording = importers.read(real("leo-uos-road/iperf.csv"))
    assert (recording.format, recording.meaning) == ("uos-iperf", "capacity")
    assert recording.frame.height == 17_478 + 1_179  # a row without values where each burst but the last ends
    assert shares_of(recording.frame["rate_down_mbps"]) == pytest.approx([76, 286, 408], rel=0.01)
    assert shares_of(recording.frame["rate_up_mbps"]) == pytest.approx([4.9, 16.9, 35], rel=0.01)
    assert note_of(recording, "1179 holes").startswith("1179 holes (time between the recorder's intervals)")
    # seven rows have an interval of up to 16 hours: their 0 is no stall
    assert "80 rows of 0 (stalls), 120 missing" in note_of(recording, "rate_down_mbps")
    assert "41 rows of 0 (stalls), 994 missing" in note_of(recording, "rate_up_mbps")  # empty cells
    assert note_of(recording, "interval other than 1 s").startswith(
        "7 rows have an interval other than 1 s (up to 56902 s)"
    )


def test_uos_pings_are_batches() -> None:
    recording = importers.read(real("leo-uos-road/ping.csv"))
    assert recording.format == "uos-ping"
    assert recording.frame["rtt_ms"].count() == 1190
    assert recording.frame["loss_pct"].max() == 98
    note_of(recording, "no single round trips")


@pytest.mark.parametrize(
    ("name", "rows", "idle", "median", "p95", "ping_median", "pings"),
    [
        ("Static/B_2020.02.14_13.21.26.csv", 1013, 4, 150, 235, 67, 80),
        ("Driving/B_2020.01.16_12.10.03.csv", 384, 6, 104, 298, 66, 28),
        ("Driving/B_2019.12.16_14.23.32.csv", 2887, 30, 19, 243, 76, 209),
    ],
)
def test_ucc_is_goodput_and_an_idle_phone_requested_nothing(
    name: str, rows: int, idle: int, median: float, p95: float, ping_median: float, pings: int
) -> None:
    recording = importers.read(real(UCC + name))
    frame = recording.frame
    assert (recording.format, recording.meaning, frame.height) == ("ucc", "goodput", rows)
    assert frame["rate_down_mbps"].null_count() == idle  # State I: no 0, but missing
    # the README's figures count the idle rows as 0
    rates = frame["rate_down_mbps"].fill_null(0.0)
    assert rates.median() == pytest.approx(median, abs=0.5)
    assert float(np.quantile(rates.to_numpy(), 0.95)) == pytest.approx(p95, abs=0.5)
    assert (frame["rtt_ms"].median(), frame["rtt_ms"].count()) == (ping_median, pings)  # `-` elsewhere
    note_of(recording, "spread evenly")  # two rows in one second
    note_of(recording, "the RTT contains its queue")


def test_what_a_0_of_ucc_means_is_for_the_importer_to_say() -> None:
    path = real(UCC + "Static/B_2020.02.14_13.21.26.csv")
    stalls, pauses = (importers.read(path, zeros=word).frame["rate_down_mbps"] for word in ("stall", "missing"))
    assert (stalls == 0).sum() == 39
    assert (pauses == 0).sum() == 0
    assert pauses.null_count() == 4 + 39
    note_of(
        importers.read(path), "39 rows of rate 0 while connected: a stall or a pause between downloads; taken as stall."
    )


def test_5gophers_walks_with_goodput() -> None:
    recording = importers.read(real("5g-5gophers/walking-trace.csv"))
    assert (recording.format, recording.meaning, recording.frame.height) == ("5gophers", "goodput", 603)
    assert recording.frame["rate_down_mbps"].median() == pytest.approx(178, abs=1)
    assert recording.frame["rate_down_mbps"].max() == pytest.approx(954, abs=1)


def test_5gophers_drives_with_three_carriers_and_one_must_be_named() -> None:
    path = real("5g-5gophers/car-driving-trace-1.csv")
    assert "carrier=None: must be given, one of Sprint, TMobile, Verizon" in error_of(importers.read, path)
    recording = importers.read(path, carrier="Verizon")
    assert recording.frame["rate_down_mbps"].count() == 120
    assert recording.frame["rate_down_mbps"][0] == pytest.approx(53.48, abs=0.01)
    note_of(recording, "1 holes (steps above 5 times the median 1 s), 6.0 s together: missing")  # a step of 7 s


@pytest.mark.parametrize(
    ("folder", "means"),
    [
        ("office-wifi", {1: 29.2, 4: 21.2, 7: 20.9, 8: 11.5}),
        ("rest-wifi", {1: 26.3, 4: 16.3, 5: 15.5, 14: 16.4}),
        ("4g", {1: 24.4, 2: 13.0, 9: 11.4, 14: 2.9, 15: 71.6}),
    ],
)
def test_zhuge_keeps_its_means(folder: str, means: dict[int, float]) -> None:
    for number, mean in means.items():
        recording = importers.read(real(f"{ZHUGE}{folder}/trace{number}.log"))
        assert (recording.format, recording.meaning) == ("zhuge", None)
        assert recording.frame["rate_down_mbps"].mean() == pytest.approx(mean, abs=0.05)
        assert recording.frame["t_s"].diff().median() == pytest.approx(0.2, abs=0.011)
        assert recording.frame["t_s"][-1] == pytest.approx(300, abs=5)
        note_of(recording, "counted from there")  # the first time is not 0


def test_a_hole_in_zhuge_is_missing_and_no_long_rate() -> None:
    recording = importers.read(real(ZHUGE + "4g/trace14.log"))
    steps = recording.frame["t_s"].diff()
    longest = int(steps.arg_max() or 0)
    assert steps[longest] == pytest.approx(78.2, abs=0.01)
    assert recording.frame["rate_down_mbps"][longest - 1] is None
    note_of(recording, "5 holes")


@pytest.mark.parametrize(
    ("name", "rtt", "levels"),
    [
        ("wifi/trace1.log", (13.9, 23.2, 38.1), 24.34),
        ("wifi/trace11.log", (17, 57, 68), 20.59),
        ("cell/trace4.log", (35, 68, 77), None),
    ],
)
def test_hairpin_is_usage_with_a_unit_glued_to_its_rtt(name: str, rtt: tuple[float, ...], levels: float | None) -> None:
    recording = importers.read(real("wifi-cell-sparktraces/Hairpin/" + name))
    assert (recording.format, recording.meaning) == ("hairpin", "usage")
    assert shares_of(recording.frame["rtt_ms"], 0.99)[1:] == pytest.approx(rtt, abs=0.06)
    assert recording.frame["t_s"].diff().median() == pytest.approx(0.015)
    assert levels is None or recording.frame["rate_down_mbps"].max() == levels


def test_hairpins_loss_is_a_share() -> None:
    loss = importers.read(real("wifi-cell-sparktraces/Hairpin/cell/trace4.log")).frame["loss_pct"]
    assert (loss.max(), int((loss > 0).sum())) == (75.0, 1678)


@pytest.mark.parametrize("name", every("wifi-solis/*.txt"))
def test_solis_is_tcp_goodput(name: str) -> None:
    recording = importers.read(real(name), ramp="keep")
    assert (recording.format, recording.meaning, recording.frame.height) == ("solis", "goodput", 200)
    assert recording.frame["t_s"].diff().median() == pytest.approx(1.0)


@pytest.mark.parametrize(("place", "mean"), [("cafe", 7.8), ("campus", 63.7), ("office", 15.5), ("restr", 9.6)])
def test_solis_means_are_near_those_of_all_80_files(place: str, mean: float) -> None:
    files = every(f"wifi-solis/wifi_{place}_*.txt")
    found = [importers.read(real(name), ramp="keep").frame["rate_down_mbps"].mean() for name in files]
    assert len(files) == 10
    assert np.mean(np.array(found, dtype=float)) == pytest.approx(mean, rel=0.1)  # these are every second one of them


@pytest.mark.parametrize(
    ("name", "median"),
    [
        ("20240224-m-baseline-d-mqp-a-iperf", 724),
        ("20240224-m-baseline-d-pixel6a-a-iperf", 933),
        ("20240225-m-baseline-d-mq3-a-iperf-n-6ghz", 860),
        ("20240229-m-baseline-d-mq2-a-iperf-n-2.4GHz_l128k", 189),
        # the README's 912 counts the line that sums the test up as a 61st interval
        ("20240229-m-baseline-d-mq3-a-iperf-n-5GHz_l128k", 924),
    ],
)
def test_iperf3s_text_has_its_medians(name: str, median: float) -> None:
    recording = importers.read(real(f"wifi-librnr/{name}.iperf.txt"), ramp="keep", user="server")
    assert (recording.format, recording.meaning) == ("iperf3-text", "goodput")
    assert recording.frame["rate_down_mbps"].count() == 60
    assert recording.frame["rate_down_mbps"].median() == pytest.approx(median, abs=1.0)
    assert recording.frame["retransmits_pkts"].count() == 60


def test_errants_tests_are_samples_without_a_clock() -> None:
    recording = importers.read(real("mixed-errant-sample/speed_test_sample.csv"))
    assert (recording.format, recording.kind, recording.frame.height) == ("errant", "samples", 1000)
    assert recording.frame.columns[3:] == ["operator", "country", "access_technology"]


def test_a_rate_at_sea_is_usage() -> None:
    recording = importers.read(real("leo-fjordlink/2025-03-20-12-38-29-starlink.parquet.gzip"))
    assert (recording.format, recording.meaning) == ("fjordlink", "usage")
    assert recording.frame["rate_down_mbps"].max() == pytest.approx(111, abs=0.5)
    assert recording.frame["rate_up_mbps"].max() == pytest.approx(108, abs=0.5)


def test_three_routers_in_one_file_must_be_distinguished() -> None:
    path = real("leo-fjordlink/2025-03-27-12-05-09-wan.parquet.gzip")
    assert "router=None: must be given, one of 5G-D2-WAVELAB, 5G-DTAG-WAVELAB, CAU-0C" in error_of(importers.read, path)
    recording = importers.read(path, router="CAU-4329")
    assert recording.frame["rate_down_mbps"].count() == 900


def test_a_moving_dishs_throughput_is_usage() -> None:
    recording = importers.read(real("leo-leoviz/GRPC_STATUS-2025-05-29-23-20-13.csv"))
    assert (recording.format, recording.meaning, recording.frame.height) == ("leoviz", "usage", 1096)
    assert recording.frame["t_s"][-1] == pytest.approx(900, abs=1)


def test_every_recording_is_recognised_or_requires_an_option() -> None:
    syns = {"car-driving-trace-*.csv": {"carrier": "Sprint"}, "*-wan.parquet.gzip": {"router": "CAU-0C"}}
    for name in every("*"):
        path = real(name)
        for form, options in syns.items():
            if path.match(form):
                with pytest.raises(UserError, match=f"{next(iter(options))}=None: must be given"):
                    importers.read(path)
                assert importers.read(path, **options).frame.height > 0
                break
        else:
            given = "leocc" if path.name.startswith("delay_") else None  # one number a line is not guessed
            assert importers.read(path, given).frame.height > 0


@needs_real
@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_no_recording_is_refused(name: str) -> None:
    assert "format: must be one that the lab recognises" in error_of(importers.read, real(name))
