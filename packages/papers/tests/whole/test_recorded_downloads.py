# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded download stands beside emulated ones: on the same clock, inside their band or not, and where it lost."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import ack_logs
import numpy as np
import polars as pl
import pytest
from ack_logs import MSS, Gateway, text, written
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_formats.named import recording_of
from lab_papers.evaluation.recorded import comparison
from lab_papers.evaluation.recorded.bands import QUANTITIES, bands, inside, left_out, marks, rms_s, values_of
from lab_papers.evaluation.recorded.comparison import compare_recorded
from lab_papers.evaluation.recorded.download import Download, emulated, recorded
from lab_papers.evaluation.recorded.gateway_drop import first_loss, gateway_drop, in_truth
from lab_papers.evaluation.recorded.rate import acked_after_s
from lab_papers.evaluation.recorded.tables import sheets

from lab.base.errors import UserError
from lab.tables.stored_run import Run
from lab.traces import importers
from lab.traces.datasets import dataset
from tests.brief import present
from tests.examples import examples
from tests.stored_run import store_run

LOGS = ("geo-viasat-logs/viasat-9", "geo-viasat-logs/viasat-10", "geo-viasat-logs-first/input-1")


LINK = Gateway()


@cache
def model(link: Gateway = LINK) -> ack_logs.Download:
    return ack_logs.download(link)


def logged(folder: Path, link: Gateway = LINK, form: str = "with snd_una") -> Download:
    file = written(folder, text(model(link).acks, form))
    return recorded(importers.read(file), "made")


@pytest.fixture
def own(tmp_path: Path) -> Download:
    return logged(tmp_path)


def shifted(download: Download, by_s: float) -> Download:
    return replace(download, t_s=download.t_s + by_s, loss_s=download.loss_s and download.loss_s + by_s)


def test_a_left_out_trial_is_compared_with_the_others_only(own: Download) -> None:
    later = shifted(own, 5.0)
    assert left_out([own, own])[0]["rtt_ms"] == (1.0, 1.0)
    assert left_out([own, own, later])[2]["acked_pkts"][1] == pytest.approx(0, abs=0.01)  # 5 s behind
    assert left_out([own]) == []


def test_time_counts_from_the_first_data_segment(own: Download) -> None:
    assert own.t_s[0] == pytest.approx(model().acks[0].t_s, abs=1e-6)
    assert own.min_rtt_ms == pytest.approx(600, abs=2)
    assert own.loss_s == pytest.approx(next(ack.t_s for ack in model().acks if ack.lost), abs=1e-6)


@pytest.mark.parametrize("form", [form for form in ack_logs.FORMS if "tp_delivered" in ack_logs.FORMS[form]])
def test_the_virtual_queue_at_the_first_loss_is_what_the_gateway_held(tmp_path: Path, form: str) -> None:
    loss = present(first_loss(logged(tmp_path, form=form)))
    assert loss.queue_bytes == pytest.approx(model().first_drop_bytes, rel=0.01)


@pytest.mark.parametrize("one_in", [3, 4, 6])
def test_the_gateways_drop_has_its_queue_and_its_share(tmp_path: Path, one_in: int) -> None:
    link = Gateway(threshold_bytes=2_000_000, duration_s=14, one_in=one_in)
    found = present(gateway_drop(logged(tmp_path, link)))
    assert found.queue_bytes == pytest.approx(model(link).first_drop_bytes, rel=0.01)
    assert found.share_pct == pytest.approx(100 / one_in, abs=0.5)
    assert found.segments > 1000


def test_a_single_lost_segment_is_a_first_loss_and_no_gateways_drop(own: Download) -> None:
    single = replace(own, lost_pkts=np.minimum(own.lost_pkts, 1.0))
    assert first_loss(single) is not None
    assert gateway_drop(single) is None


def test_of_what_was_lost_before_the_first_ack_could_come_nothing_had_left_the_queue() -> None:
    t_s, rtt_ms = np.array([0.70, 0.71, 0.72, 1.30]), np.array([700.0, 710.0, 720.0, 600.0])
    delivered, lost = MSS * np.array([2.0, 4.0, 6.0, 7.0]), np.array([0.0, 0.0, 1.0, 1.0])
    acked = MSS * np.array([2.0, 4.0, 4.0, 4.0])
    loss = present(first_loss(Download("burst", t_s, acked, acked, rtt_ms, delivered, lost, MSS, loss_s=0.72)))
    assert loss.sent_s == pytest.approx(0.0)  # with the first window: 0.6 s later its first segment was on its way
    assert loss.queue_bytes == pytest.approx(4 * ack_logs.IP_BYTES)


def test_a_burst_that_loses_half_is_no_gateways_drop(tmp_path: Path) -> None:
    assert gateway_drop(logged(tmp_path, Gateway(threshold_bytes=2_000_000, duration_s=14, one_in=2))) is None


def test_a_log_that_counts_no_losses_shows_no_drop(tmp_path: Path) -> None:
    link = Gateway(threshold_bytes=1e9)
    assert first_loss(logged(tmp_path, link)) is None
    assert gateway_drop(logged(tmp_path, link)) is None


def test_an_emulated_gateways_drop_is_read_from_its_own_samples() -> None:
    samples = [(0.00, 10, 0, 0), (0.01, 40, 20, 0), (0.02, 60, 40, 10), (0.03, 60, 60, 15), (3.0, 0, 120, 15)]
    held = [(t_s, held * 1514, held, sent, dropped) for t_s, held, sent, dropped in samples]
    names = ["t_s", "backlog_bytes", "backlog_pkts", "sent_pkts", "drops_pkts"]
    found = present(in_truth(pl.DataFrame(held, schema=names, orient="row")))
    assert found.queue_bytes == 50 * 1500
    assert (found.segments, found.lost) == (75, 15)
    assert found.share_pct == 20


def test_what_was_sent_can_be_had_from_round_trips_alone(tmp_path: Path, own: Download) -> None:
    other = logged(tmp_path, form="without snd_nxt")
    known = ~np.isnan(other.inflight_bytes)
    loss = present(first_loss(other))
    assert known[other.t_s < 0.95 * loss.sent_s].all()
    assert other.inflight_bytes[known] == pytest.approx(own.inflight_bytes[known], abs=12 * MSS)
    assert np.isnan(other.inflight_bytes[other.t_s > loss.sent_s]).all()


@settings(max_examples=examples(20), deadline=None)
@given(by_s=st.floats(0, 100))
def test_a_shifted_log_gives_shifted_times(tmp_path_factory: pytest.TempPathFactory, by_s: float) -> None:
    plain = logged(tmp_path_factory.mktemp("logs"))
    late = shifted(plain, by_s)
    assert acked_after_s(late, 200) == pytest.approx((acked_after_s(plain, 200) or 0) + by_s)
    before, after = present(first_loss(plain)), present(first_loss(late))
    assert after.sent_s == pytest.approx(before.sent_s + by_s)
    assert after.queue_bytes == pytest.approx(before.queue_bytes)
    assert late.slow_start_end_s == pytest.approx(plain.slow_start_end_s + by_s)


def fan(own: Download) -> list[Download]:
    """Return downloads of a link that is a little faster or slower."""
    return [
        replace(own, name=f"{pace:g}", t_s=own.t_s * pace, rtt_ms=own.rtt_ms * pace)
        for pace in (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3)
    ]


def test_the_bands_own_median_lies_inside_all_the_time(own: Download) -> None:
    for one in bands(fan(own)).values():
        assert one.inside_share(one.t_s, one.middle) == 1.0


def test_the_same_download_lies_inside_its_own_band(own: Download) -> None:
    for shares in inside(own, bands([own] * 5)).values():
        assert shares == (1.0, 1.0)


def test_a_download_of_another_link_lies_outside(tmp_path: Path, own: Download) -> None:
    slow = logged(tmp_path, Gateway(rate_mbps=0.5, duration_s=20))
    assert (inside(slow, bands(fan(own)))["acked_pkts"][1] or 0) < 0.5


@settings(max_examples=examples(20), deadline=None)
@given(pace=st.floats(0.5, 2))
def test_a_share_is_a_share_and_more_trials_of_the_same_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, pace: float
) -> None:
    plain = logged(tmp_path_factory.mktemp("logs"))
    other, among = replace(plain, t_s=plain.t_s * pace), fan(plain)
    found = inside(other, bands(among))
    assert all(0 <= share <= 1 for pair in found.values() for share in pair if share is not None)
    assert set(found) == set(QUANTITIES)


def test_a_band_ends_where_half_of_the_trials_have_ended(own: Download) -> None:
    half = len(own.t_s) // 2
    curves = (own.acked_bytes, own.inflight_bytes, own.rtt_ms, own.delivered_bytes, own.lost_pkts)
    acked, flight, rtt, delivered, lost = (curve[:half] for curve in curves)
    short = Download("short", own.t_s[:half], acked, flight, rtt, delivered, lost, MSS, None)
    end_s = bands([own, short, short])["acked_pkts"].end_s
    assert end_s == pytest.approx(float(short.t_s[-1]), abs=0.06)


def test_the_marks_of_a_download(own: Download) -> None:
    (row,) = marks([own]).to_dicts()
    acks = model().acks
    for count in (50, 200, 500, 1000):
        assert row[f"acked_{count}_s"] == pytest.approx(next(a.t_s for a in acks if a.acked >= count), abs=1e-5)
    assert rms_s(marks([own]), marks([shifted(own, 0.5)])) == pytest.approx(0.5)
    assert acked_after_s(own, 10**6) is None


def test_a_stored_trial_is_a_download_too(tmp_path: Path) -> None:
    trial = next(trial for trial in Run(store_run(tmp_path, trials=1)).trials if trial.cca == "cubic_plain")
    one = present(emulated(trial))
    assert one.t_s[0] == pytest.approx(one.rtt_ms[0] / 1e3)  # the first ACK is one round trip after its segment
    assert one.min_rtt_ms == pytest.approx(201, abs=3)
    assert one.acked_bytes[-1] <= trial.acks["snd_una_bytes"].max()
    assert np.nanmin(one.inflight_bytes) >= 0


def test_the_tables_have_a_row_for_each_recording(tmp_path: Path) -> None:
    run = store_run(tmp_path, trials=2)
    files = [written(tmp_path, text(model().acks, form), f"{place}.csv") for place, form in enumerate(ack_logs.FORMS)]
    both = compare_recorded(run, [str(file) for file in files])
    assert both.sender == "cubic_plain"
    for sheet in sheets(both):
        assert [row[0] for row in sheet.rows][: len(files)] == [file.stem for file in files]
        assert {len(row) for row in sheet.rows} == {len(sheet.header)}


def test_the_rate_of_each_recording_is_in_ip_bits(tmp_path: Path) -> None:
    long = Gateway(rate_mbps=2.0, threshold_bytes=1e9, duration_s=14.0)
    files = [
        written(tmp_path, text(model(long).acks, "with snd_una"), "long.csv"),
        written(tmp_path, text(model().acks, "with snd_una"), "short.csv"),  # ends before the rate is taken
    ]
    sheet = sheets(compare_recorded(store_run(tmp_path, trials=1), [str(file) for file in files]))[-2]
    (name, mbps, ln_sd, *_, bins, idle), (_, *none) = sheet.rows
    assert (name, mbps, bins, idle) == ("long", "2.00", "5", "0")
    assert float(ln_sd) < 0.02  # a constant rate
    assert set(none) == {""}


def test_a_collection_stands_for_its_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    run = store_run(tmp_path, trials=1)
    with pytest.raises(UserError, match="geo-viasat-logs-first/input-1: not fetched yet: run 'lab traces fetch geo-v"):
        compare_recorded(run, ["geo-viasat-logs-first"])
    with pytest.raises(UserError, match="recordings: must be given, or fetched: lab traces fetch geo-viasat-logs geo-"):
        compare_recorded(run, [])


def test_without_names_all_that_are_fetched_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, text(model().acks))
    monkeypatch.setattr(comparison, "fetched", lambda: [str(file)])
    assert [each.name for each in compare_recorded(store_run(tmp_path, trials=1), []).recorded] == [file.stem]


def test_a_log_without_its_beginning_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, text(model().acks[200:]))
    with pytest.raises(UserError, match=r"acked_bytes=\d+: must be 0 in the first row: it lacks its beginning$"):
        recorded(importers.read(file), "late")


def test_a_recording_that_is_no_log_of_acks_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "12\n11\n")
    with pytest.raises(UserError, match=r"^delays: acked_bytes: must be a column: only a log of ACKs is compared"):
        recorded(importers.read(file, "leocc"), "delays")


def fetched(name: str) -> Download:
    if not dataset(name).fetched:
        pytest.skip(f"{name} has no licence, so it is in no repository: lab traces fetch {name}")
    return recorded(recording_of(name), name)


@pytest.mark.parametrize("name", LOGS[:2])
def test_nothing_but_slow_start_limits_a_recorded_download(name: str) -> None:
    one = fetched(name)
    times_s = np.arange(one.t_s[0], one.slow_start_end_s, 0.05)
    allowed = one.at(one.acked_bytes, times_s) + 10 * MSS
    waiting = allowed - one.at(one.inflight_bytes, times_s)  # allowed, and not paced out yet
    assert waiting.min() >= 0
    assert np.median(waiting) <= 10 * MSS


@pytest.mark.parametrize("name", LOGS[1:])
def test_recorded_gateways_drop_a_quarter_from_29_and_a_half_megabytes_on(name: str) -> None:
    found = present(gateway_drop(fetched(name)))
    assert found.queue_bytes == pytest.approx(29.5e6, rel=0.005)
    assert found.share_pct == pytest.approx(25, abs=0.2)


@pytest.mark.parametrize("name", LOGS)
def test_values_at_a_time_are_those_of_the_last_ack(name: str) -> None:
    one = fetched(name)
    for quantity in QUANTITIES:
        values = values_of(one, quantity)
        assert np.array_equal(one.at(values, one.t_s), values, equal_nan=True)
