# SPDX-License-Identifier: GPL-2.0-or-later
"""On home links the first mark or drop comes when the exact model of their queue has it, and ends the chokepoint."""

import numpy as np
import pytest

from lab.judge.loss import drops_s
from lab.judge.outcome import outcome
from lab.judge.registry import LASTING
from lab.links.profile import load_profile
from lab.tables.stored_trial import Trial
from tests.conftest import Bench, experiment_on
from tests.slow_start_model import FRAME_BYTES, INTERVAL_S, TARGET_S

SAMPLE_S = 0.001
DURATION_S = 2


def download(bench: Bench, link: str, cca: str = "cubic_plain", *, ecn: bool) -> Trial:
    profile = load_profile(link, "test")
    experiment = experiment_on(profile, cca, duration_s=DURATION_S, ecn_at_ends=ecn)
    trial = bench.run(experiment, cca, f"{link}-{'ecn' if ecn else 'plain'}")
    assert trial.valid, trial.meta["certificate"]
    return trial


def signal_s(trial: Trial, interval_s: float) -> float:
    """CoDel's first signal (RFC 8289, section 5.4), frame by frame, by when the queue's samples show it."""
    t_s, backlog, sent = (trial.qdisc[name].to_numpy().astype(float) for name in ("t_s", "backlog_bytes", "sent_bytes"))
    frames = np.arange(sent[0], sent[-1], FRAME_BYTES)
    came_s, left_s = np.interp(frames, np.maximum.accumulate(sent + backlog), t_s), np.interp(frames, sent, t_s)
    above_s = None
    for leaves_s, waited_s in zip(left_s, left_s - came_s, strict=True):
        if waited_s < TARGET_S:
            above_s = None
        elif above_s is None:
            above_s = leaves_s
        elif leaves_s >= above_s + interval_s:
            return float(leaves_s)
    raise AssertionError


# Linux's CAKE signals with the second frame above the target: until its first signal its interval is divided by
# nothing (net/sched/sch_cake.c, cobalt_control with rec_inv_sqrt 0), and later ones are an interval apart.
CODELS = [("home-fq_codel", INTERVAL_S), ("home-cake", 0.0)]


@pytest.mark.parametrize(("link", "interval_s"), CODELS)
def test_the_first_mark_is_that_of_the_exact_model(bench: Bench, link: str, interval_s: float) -> None:
    trial = download(bench, link, ecn=True)
    row = next(row for row in outcome(trial) if row["heuristic"] == LASTING)
    assert row["mark_s"] == pytest.approx(signal_s(trial, interval_s) + trial.meta["base_rtt_ms"] / 2e3, abs=SAMPLE_S)
    assert row["loss_s"] is None
    assert (row["exit_cause"], row["exit_class"]) == ("other", "late")
    assert row["capacity_s"] is not None
    assert row["mark_s"] is not None
    assert (row["mark_s"] - row["capacity_s"] > INTERVAL_S) == (interval_s > 0)


@pytest.mark.parametrize(("link", "interval_s"), CODELS)
def test_without_ecn_it_drops_at_the_same_time(bench: Bench, link: str, interval_s: float) -> None:
    trial = download(bench, link, ecn=False)
    row = next(row for row in outcome(trial) if row["heuristic"] == LASTING)
    assert drops_s(trial.packets, trial.qdisc)[0] == pytest.approx(signal_s(trial, interval_s), abs=SAMPLE_S)
    assert (row["mark_s"], row["loss_agrees"], row["exit_class"]) == (None, True, "late")


def test_the_modems_buffer_is_full_before_its_pie_drops(bench: Bench) -> None:
    """A doubling window fills 100 ms of buffer within PIE's allowance of 150 ms for a burst."""
    trial = download(bench, "docsis-pie", ecn=True)  # it never marks
    drop_s = drops_s(trial.packets, trial.qdisc)[0]
    most_bytes = trial.qdisc.filter(trial.qdisc["t_s"] <= drop_s)["backlog_bytes"].max()
    assert most_bytes == pytest.approx(trial.meta["buffer_bytes"], abs=2 * FRAME_BYTES)
    assert outcome(trial)[0]["mark_s"] is None
