# SPDX-License-Identifier: GPL-2.0-or-later
"""Careful Resume in real downloads: a right saved set, a stale one, one of another path, and one far too large."""

import polars as pl
import pytest

from lab.runs.experiment import Experiment
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

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


def trial_of(bench: Bench, case: str) -> Trial:
    return bench.run(with_params(CASES[case]), "careful_resume", case)


def acks_of(trial: Trial) -> pl.DataFrame:
    return trial.acks.filter(pl.col("flow") == 1)


def delivered_bytes(trial: Trial, by_s: float) -> int:
    return int(acks_of(trial).filter(pl.col("t_s") <= by_s)["snd_una_bytes"][-1])


@pytest.mark.parametrize("case", CASES)
def test_every_set_gives_a_valid_trial(bench: Bench, case: str) -> None:
    trial = trial_of(bench, case)
    assert [check for check in trial.meta["certificate"]["checks"] if not check["ok"]] == []


def test_a_right_set_jumps_to_half_of_it_paced_and_delivers_more(bench: Bench) -> None:
    acks = acks_of(trial_of(bench, "right"))
    jump = acks.filter(pl.col("cwnd_pkts") == RIGHT["saved_cwnd_pkts"] // 2)
    before = acks.filter(pl.col("t_s") < jump["t_s"][0])
    assert max(before["cwnd_pkts"]) <= 20
    assert jump["snd_una_bytes"][0] - 1 >= 10 * 1448
    trial = trial_of(bench, "right")
    jump_s = acks_of(trial).filter(pl.col("cwnd_pkts") == 86)["t_s"][0]
    sent = trial.packets.filter((pl.col("flow") == 1) & pl.col("to_client") & (pl.col("len_bytes") > 0))
    burst = sent.filter((pl.col("t_s") >= jump_s) & (pl.col("t_s") < jump_s + 0.05))
    assert len(burst) == pytest.approx(86 / 2, abs=6)
    right, none = (delivered_bytes(trial_of(bench, case), 0.6) for case in ("right", "nothing-saved"))
    assert right > 1.5 * none


@pytest.mark.parametrize("case", UNUSED)
def test_what_cannot_be_used_changes_no_packet(bench: Bench, case: str) -> None:
    """The Reconnaissance Phase does not modify the window before it returns to normal."""
    packets = [trial_of(bench, name).packets for name in (case, "nothing-saved")]
    columns = ["t_s", "seq_bytes", "len_bytes", "to_client"]
    assert packets[0].select(columns).equals(packets[1].select(columns))


def test_a_set_far_too_large_retreats_waits_and_does_not_end_the_download(bench: Bench) -> None:
    trial = trial_of(bench, "too-large")
    (row,) = trial.exits.to_dicts()
    assert row["cause"] == "loss"
    after = acks_of(trial).filter((pl.col("t_s") > row["t_s"]) & (pl.col("t_s") < row["t_s"] + 0.29))
    first, *later = after["cwnd_pkts"]
    assert first > later[0]  # one packet is sent again at once
    assert set(later) == {row["ssthresh_pkts"]}  # half of PipeSize so far, as Beta is
    assert later[0] < row["cwnd_pkts"] / 2
    trial = trial_of(bench, "too-large")
    assert delivered_bytes(trial, 4.0) > 0.5 * 20e6 / 8 * 4


def test_after_the_retreat_the_threshold_is_half_of_pipe_size(bench: Bench) -> None:
    trial = trial_of(bench, "too-large")
    waited = trial.exits["ssthresh_pkts"][0]
    acks = acks_of(trial).filter(pl.col("t_s") > trial.exits["t_s"][0])
    (final,) = acks.filter(pl.col("ssthresh_pkts") > waited, pl.col("cwnd_pkts") <= waited)["ssthresh_pkts"].unique()
    got_through = 2 * waited + 172 + 345  # before the loss, and what path and buffer held then
    assert final == pytest.approx(got_through / 2, rel=0.1)
