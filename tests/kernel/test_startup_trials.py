# SPDX-License-Identifier: GPL-2.0-or-later
"""The start-up family in real downloads: each leaves slow start by its rule, fills the link, and bounds its parameters.

The link has 20 Mb/s and 100 ms, which are 165 packets of 1514 bytes; the buffer holds 200 ms.
"""

from itertools import pairwise

import polars as pl
import pytest

from lab.backends.records import TrialError
from lab.links.profile import Profile
from lab.runs.experiment import Experiment
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on, windows_of_rounds

FULL_BPS = 20e6 * 1448 / 1514  # SMALL's payload
BDP_PKTS = 165
SHALLOW = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"buffer_bytes": 100_000})})
DURATION_S = {"bbr3": 8, "c4": 8, "copa": 8, "vivace": 16, "leocc": 6}  # of the others 4
OFFSET_S = 4  # of LeoCC's reconfiguration: after Startup and before the first ProbeRTT


def trial_of(bench: Bench, cca: str, link: Profile = SMALL, **params: int) -> Trial:
    experiment = experiment_on(link, cca, duration_s=DURATION_S.get(cca, 4))
    experiment.ccas[cca] = experiment.ccas[cca].model_copy(update={"params": params})
    name = "-".join([cca, *(["shallow"] if link is SHALLOW else []), *(f"{key}-{params[key]}" for key in params)])
    return bench.run(experiment, cca, name)


def acks_after(trial: Trial, t_s: float) -> pl.DataFrame:
    return trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") > t_s))


@pytest.mark.parametrize(
    ("cca", "cause", "settled_s", "share"),
    [
        ("bbr3", "bbr", 2, 0.85),
        ("c4", "c4", 3, 0.85),
        ("copa", "copa", 4, 0.85),  # the velocity overshoots before
        ("vivace", "vivace", 8, 0.5),  # most of a link without jitter
    ],
)
def test_a_sender_leaves_slow_start_by_its_rule_and_fills_the_link(
    bench: Bench, cca: str, cause: str, settled_s: float, share: float
) -> None:
    trial = trial_of(bench, cca)
    (row,) = trial.exits.to_dicts()
    acks = acks_after(trial, settled_s)
    carried = acks["snd_una_bytes"][-1] - acks["snd_una_bytes"][0]
    assert trial.valid
    assert row["cause"] == cause
    assert 8 * carried / (acks["t_s"][-1] - acks["t_s"][0]) > share * FULL_BPS


@pytest.mark.parametrize(
    ("cca", "cause", "params"),
    [
        ("bbr3", "bbr", {}),
        ("copa", "copa", {}),
        ("best", "best", {}),
        ("suss", "hystart", {}),
        ("leocc", "bbr", {"offset_ms": 1000 * OFFSET_S}),
    ],
)
def test_it_leaves_by_its_rule_before_any_loss(bench: Bench, cca: str, cause: str, params: dict[str, int]) -> None:
    trial = trial_of(bench, cca, SMALL, **params)
    (row,) = trial.exits.to_dicts()
    assert trial.valid
    assert row["cause"] == cause
    assert trial.qdisc.filter(pl.col("t_s") <= row["t_s"])["drops_pkts"].max() == 0


def test_best_leaves_within_a_tenth_of_the_bandwidth_delay_product(bench: Bench) -> None:
    (row,) = trial_of(bench, "best").exits.to_dicts()
    assert row["ssthresh_pkts"] == pytest.approx(BDP_PKTS, rel=0.1)


def test_a_round_of_suss_grows_four_times_while_its_train_is_short_then_twice(bench: Bench) -> None:
    """A packet lasts 0.6 ms: 40 of them less than a quarter of 100 ms, 160 more than half."""
    trial = trial_of(bench, "suss")
    assert windows_of_rounds(trial)[1:4] == [10, 40, 160]
    assert 160 < trial.exits["cwnd_pkts"][0] <= 320
    assert windows_of_rounds(trial_of(bench, "suss", k_max=0))[1:4] == [10, 20, 40]


def test_leocc_probes_for_bandwidth_in_the_second_after_a_reconfiguration(bench: Bench) -> None:
    """A probe has a quarter more in flight than the product."""
    acks = trial_of(bench, "leocc", offset_ms=1000 * OFFSET_S).acks
    second = acks.filter((pl.col("flow") == 1) & pl.col("t_s").is_between(OFFSET_S, OFFSET_S + 1))
    most_bytes = (second["snd_nxt_bytes"] - second["snd_una_bytes"]).max()
    assert most_bytes // 1448 > 1.15 * BDP_PKTS  # type: ignore[operator]


def test_the_first_flight_of_rapid_start_is_twenty_packets_over_a_whole_round_trip(bench: Bench) -> None:
    packets = trial_of(bench, "rapid_start").packets
    sent = packets.filter((pl.col("flow") == 1) & pl.col("to_client") & (pl.col("len_bytes") > 0))
    flight = sent.filter(pl.col("t_s") < sent["t_s"][0] + 0.1)  # a round trip, and the handshake's sample of it
    assert len(flight) in (19, 20, 21)
    assert max(flight["t_s"].diff().drop_nulls()) < 3 * 0.1 / 20  # fq sends two at a time


def test_rapid_start_triples_its_window_each_round_trip_until_a_loss_and_has_cubics_threshold(bench: Bench) -> None:
    trial = trial_of(bench, "rapid_start")
    ends = windows_of_rounds(trial)
    assert ends[1:5] == [20, 60, 180, 540]
    assert all(later <= 3 * earlier for earlier, later in pairwise(ends[1:]))
    (row,) = trial.exits.to_dicts()
    assert row["cause"] == "loss"
    assert row["ssthresh_pkts"] == pytest.approx(0.7 * row["cwnd_pkts"], rel=0.01)


@pytest.mark.parametrize("link", [SMALL, SHALLOW], ids=["deep", "shallow"])
def test_after_its_period_rapid_start_is_between_its_bounds_and_cubic_grows_it(bench: Bench, link: Profile) -> None:
    trial = trial_of(bench, "rapid_start", link)
    (row,) = trial.exits.to_dicts()
    after = acks_after(trial, row["t_s"])
    least, last = int(after["cwnd_pkts"].min()), int(after["cwnd_pkts"][-1])  # type: ignore[arg-type]
    assert 7 * row["cwnd_pkts"] // 30 <= least <= 7 * row["cwnd_pkts"] // 10
    assert last > least


def test_bbr3_halves_its_window_in_probe_rtt_and_copa_keeps_a_short_queue(bench: Bench) -> None:
    """Two packets last 1.2 ms."""
    assert 75 <= min(acks_after(trial_of(bench, "bbr3"), 2)["cwnd_pkts"]) <= 90
    assert max(acks_after(trial_of(bench, "copa"), 4)["srtt_ms"]) < 100 + 10


@pytest.mark.parametrize(
    ("cca", "name", "value", "least", "most"),
    [
        ("best", "skip_rounds", 101, 0, 100),
        ("bbr3", "loss_pct", 0, 1, 50),
        ("bbr3", "full_rounds", 101, 1, 100),
        ("c4", "still_eras", 0, 1, 10),
        ("careful_resume", "saved_cwnd_pkts", 10_000_001, 0, 10_000_000),
        ("careful_resume", "beta_pct", 49, 50, 100),
        ("careful_resume", "path_changed", 2, 0, 1),
        ("copa", "inverse_delta", 0, 1, 64),
        ("copa", "competes", 2, 0, 1),
        ("hystartpp", "css_rounds", 0, 1, 255),
        ("hystartpp", "n_rtt_sample", 256, 1, 255),
        ("leocc", "loss_pct", 0, 1, 50),
        ("leocc", "period_ms", 3600001, 0, 3600000),
        ("rapid_start", "iw_pkts", 1, 2, 1000),
        ("rapid_start", "queue_pct", 101, 0, 100),
        ("suss", "k_max", 4, 0, 3),
        ("suss", "least_rtt_us", 1000001, 0, 1000000),
        ("vivace", "epsilon_pct", 26, 1, 25),
    ],
)
def test_the_kernel_refuses_a_parameter_out_of_range_and_names_it(
    bench: Bench, cca: str, name: str, value: int, least: int, most: int
) -> None:
    experiment = experiment_on(SMALL, cca)
    experiment.ccas[cca] = experiment.ccas[cca].model_copy(update={"params": {name: value}})
    with pytest.raises(TrialError, match=f"tcp_{cca}: {name}={value}: must be a whole number from {least} to {most}"):
        bench.run(experiment, cca, f"wrong-{name}")


# SMALL holds 20 Mb/s x 100 ms = 172 packets of 1448 bytes, and its buffer 345 more.
RIGHT = {"saved_cwnd_pkts": 172, "saved_rtt_us": 100_000}
CASES: dict[str, dict[str, int]] = {
    "nothing-saved": {},
    "right": RIGHT,
    "stale": RIGHT | {"saved_age_s": 3601},
    "endpoint-changed": RIGHT | {"path_changed": 1},
    "rtt-of-another-path": RIGHT | {"saved_rtt_us": 300_000},
    "too-large": {"saved_cwnd_pkts": 2000, "saved_rtt_us": 100_000},
}
UNUSED = ("stale", "endpoint-changed", "rtt-of-another-path")


def with_params(params: dict[str, int]) -> Experiment:
    experiment = experiment_on(SMALL, "careful_resume")
    stanza = experiment.ccas["careful_resume"]
    experiment.ccas["careful_resume"] = stanza.model_copy(update={"params": params})
    return experiment


def resumed(bench: Bench, case: str) -> Trial:
    return bench.run(with_params(CASES[case]), "careful_resume", case)


def acks_of(trial: Trial) -> pl.DataFrame:
    return trial.acks.filter(pl.col("flow") == 1)


def delivered_bytes(trial: Trial, by_s: float) -> int:
    return int(acks_of(trial).filter(pl.col("t_s") <= by_s)["snd_una_bytes"][-1])


@pytest.mark.parametrize("case", CASES)
def test_every_set_gives_a_valid_trial(bench: Bench, case: str) -> None:
    trial = resumed(bench, case)
    assert [check for check in trial.meta["certificate"]["checks"] if not check["ok"]] == []


def test_a_right_set_jumps_to_half_of_it_paced_and_delivers_more(bench: Bench) -> None:
    acks = acks_of(resumed(bench, "right"))
    jump = acks.filter(pl.col("cwnd_pkts") == RIGHT["saved_cwnd_pkts"] // 2)
    before = acks.filter(pl.col("t_s") < jump["t_s"][0])
    assert max(before["cwnd_pkts"]) <= 20
    assert jump["snd_una_bytes"][0] - 1 >= 10 * 1448
    trial = resumed(bench, "right")
    jump_s = acks_of(trial).filter(pl.col("cwnd_pkts") == 86)["t_s"][0]
    sent = trial.packets.filter((pl.col("flow") == 1) & pl.col("to_client") & (pl.col("len_bytes") > 0))
    burst = sent.filter((pl.col("t_s") >= jump_s) & (pl.col("t_s") < jump_s + 0.05))
    assert len(burst) == pytest.approx(86 / 2, abs=6)
    right, none = (delivered_bytes(resumed(bench, case), 0.6) for case in ("right", "nothing-saved"))
    assert right > 1.5 * none


@pytest.mark.parametrize("case", UNUSED)
def test_what_cannot_be_used_changes_no_packet(bench: Bench, case: str) -> None:
    """The Reconnaissance Phase does not modify the window before it returns to normal."""
    packets = [resumed(bench, name).packets for name in (case, "nothing-saved")]
    columns = ["t_s", "seq_bytes", "len_bytes", "to_client"]
    assert packets[0].select(columns).equals(packets[1].select(columns))


def test_a_set_far_too_large_retreats_waits_and_does_not_end_the_download(bench: Bench) -> None:
    trial = resumed(bench, "too-large")
    (row,) = trial.exits.to_dicts()
    assert row["cause"] == "loss"
    after = acks_of(trial).filter((pl.col("t_s") > row["t_s"]) & (pl.col("t_s") < row["t_s"] + 0.29))
    first, *later = after["cwnd_pkts"]
    assert first > later[0]  # one packet is sent again at once
    assert set(later) == {row["ssthresh_pkts"]}  # half of PipeSize so far, as Beta is
    assert later[0] < row["cwnd_pkts"] / 2
    trial = resumed(bench, "too-large")
    assert delivered_bytes(trial, 4.0) > 0.5 * 20e6 / 8 * 4


def test_after_the_retreat_the_threshold_is_half_of_pipe_size(bench: Bench) -> None:
    trial = resumed(bench, "too-large")
    waited = trial.exits["ssthresh_pkts"][0]
    acks = acks_of(trial).filter(pl.col("t_s") > trial.exits["t_s"][0])
    (final,) = acks.filter(pl.col("ssthresh_pkts") > waited, pl.col("cwnd_pkts") <= waited)["ssthresh_pkts"].unique()
    got_through = 2 * waited + 172 + 345  # before the loss, and what path and buffer held then
    assert final == pytest.approx(got_through / 2, rel=0.1)
