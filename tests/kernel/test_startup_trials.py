# SPDX-License-Identifier: GPL-2.0-or-later
"""The start-up family in real downloads: each leaves slow start by its rule, fills the link, and bounds its parameters.

Rapid Start and Careful Resume have files of their own for what else they do.
"""

import polars as pl
import pytest

from lab.backends.records import TrialError
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

FULL_BPS = 20e6 * 1448 / 1514  # SMALL's payload


def trial_of(bench: Bench, cca: str) -> Trial:
    return bench.run(experiment_on(SMALL, cca, duration_s=16 if cca == "vivace" else 8), cca, cca)


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


@pytest.mark.parametrize("cca", ["bbr3", "copa"])
def test_it_leaves_before_any_loss(bench: Bench, cca: str) -> None:
    trial = trial_of(bench, cca)
    assert trial.qdisc.filter(pl.col("t_s") <= trial.exits["t_s"][0])["drops_pkts"].max() == 0


def test_bbr3_halves_its_window_in_probe_rtt_and_copa_keeps_a_short_queue(bench: Bench) -> None:
    """20 Mb/s and 100 ms are 165 packets of 1514 bytes; the buffer holds 200 ms, two packets last 1.2 ms."""
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
