# SPDX-License-Identifier: GPL-2.0-or-later
"""`--shaper netem`: tc alone lets packets have the series, and the certificate judges its trials as all others."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bench import crossing, shaped_packets
from bench.shaped_packets import Accuracy
from lab.links.profile import Profile
from lab.node.qdiscs import tc_alone
from lab.runs.experiment import Experiment, shaped_by
from lab.runs.plan import draw
from lab.tables.stored_trial import Trial
from tests.brief import present
from tests.conftest import Bench, experiment_on
from tests.link_bench import at_pace, cross

DURATION_S = 4
DELAY_TOLERANCE_MS = 0.1
WINDOW_PCT = 3.0  # tbf's bucket of 1,600 bytes is filled at each change; 100 ms at 8 Mb/s hold 100,000 bytes
LOSS_SDS = 4.0


def schedule(*values: float, from_s: float = 0.7) -> dict[str, Any]:
    """A value from 0 s on, and the others one after another, 0.7 s each."""
    steps = [{"from_s": from_s * number, "value": value} for number, value in enumerate(values)]
    return {"model": "schedule", "source": "tests", "steps": steps}


def profile(down: dict[str, Any], up: dict[str, Any]) -> Profile:
    return Profile.model_validate({"title": "steps", "down": down, "up": up, "recorded": [], "assumed": ["all"]})


STEPS = profile(
    {"rate_mbps": schedule(20, 8, 30, 12, 25), "delay_ms": 20, "buffer_bytes": 400_000},
    {"delay_ms": schedule(60, 20, 45, 10, 70)},
)


def lossy(first_pct: float) -> Profile:
    loss_pct = schedule(first_pct, 2, 0.5, 1)
    down = {"rate_mbps": 20, "delay_ms": 10, "buffer_bytes": 200_000, "loss_pct": loss_pct}
    return profile(down, {"delay_ms": 10})


def experiment(of: Profile) -> Experiment:
    return shaped_by(experiment_on(of, "cubic_plain", duration_s=DURATION_S), "netem")


@pytest.fixture(scope="module")
def trial(bench: Bench) -> Trial:
    return bench.run(experiment(STEPS), "cubic_plain", "steps-netem")


@pytest.fixture(scope="module")
def accuracy(bench: Bench) -> Accuracy:
    run = crossing.in_virtual(bench.kernel, Path(bench.world.root))
    link = draw(experiment(STEPS), 1).link
    return shaped_packets.measured(run, STEPS, link, "netem", bench.folder / "netem-packets", DURATION_S)


def test_a_trial_is_shaped_by_netem_and_tbf_only_on_time_and_as_its_series_was(trial: Trial) -> None:
    kinds = {each["part"]: each["spec"]["kind"] for each in trial.meta["applied"]}
    assert kinds == {"bottleneck": "tbf", "delay-down": "netem", "delay-up": "netem"}
    assert trial.meta["shaper"] == "netem"
    assert trial.valid, trial.meta["certificate"]
    assert {change["part"] for change in trial.meta["changes"]} == {"bottleneck", "delay-up"}
    for change in trial.meta["changes"]:
        assert change["played"]["changes"] == 5
        assert change["played"]["late_max_ns"] < 100_000
    begin_s = trial.link.table.filter(pl.col("quantity") == "down.rate_mbps")["t_s"][0]
    assert [trial.link.rate_mbps(begin_s + 0.7 * n + 0.1, begin_s + 0.7 * n + 0.6) for n in range(5)] == pytest.approx(
        [20, 8, 30, 12, 25]
    )


def test_a_full_queue_delivers_the_bytes_and_the_delay_of_the_series(accuracy: Accuracy) -> None:
    assert len(accuracy.windows_pct) >= 10 * DURATION_S - 2
    assert max(accuracy.windows_pct) < WINDOW_PCT
    assert accuracy.excess_pct == [pytest.approx(0, abs=0.5)]
    assert np.quantile(accuracy.delays_ms, 0.99) < DELAY_TOLERANCE_MS
    assert accuracy.reordered_pkts == 0
    assert accuracy.excess_lost_pkts == [0]


@pytest.mark.parametrize("first_pct", [0, 0.3])
def test_a_loss_that_changes_is_counted_and_judged(bench: Bench, first_pct: float) -> None:
    trial = bench.run(experiment(lossy(first_pct)), "cubic_plain", f"lossy-netem-{first_pct}")
    checks = [check for check in trial.meta["certificate"]["checks"] if "random loss" in check["name"]]
    assert [(check["name"], check["unit"]) for check in checks] == [("random loss, delay-down", "packets")]
    target, got = checks[0]["asked"], present(checks[0]["got"])
    assert got > 5
    assert got == pytest.approx(target, abs=LOSS_SDS * target**0.5)
    assert trial.valid, trial.meta["certificate"]


def test_what_tc_refuses_or_ends_too_early_ends_the_trial_with_its_line(bench: Bench) -> None:
    series = [(0, 10_000_000), (500_000, 5_000_000), (600_000, "end")]
    spec = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 1600, "limit_bytes": 100_000}
    with pytest.raises(Exception, match=r"router:eth2: steps\.tsv: must last as long as the trial"):
        cross(bench, "netem-too-short", spec, at_pace(5, 0, 1), 1.5, series=series)
    series = [(0, 10_000_000), (500_000, 10**25), (3_000_000, "end")]
    spec = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 1600, "limit_bytes": 100_000}
    with pytest.raises(Exception, match=r"router:eth2: .*rate"):
        cross(bench, "netem-refused", spec, at_pace(5, 0, 1), 1.5, series=series)


def test_a_stall_lets_next_to_nothing_pass(bench: Bench) -> None:
    series = [(0, 10_000_000), (500_000, 0), (1_500_000, 10_000_000), (9_000_000, "end")]
    spec = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 1600, "limit_bytes": 10_000_000}
    link = cross(bench, "netem-stall", spec, at_pace(20, 0, 2), 3.0, series=series)
    stalled = link.received.filter(pl.col("received_s").is_between(0.51, 1.49)).height
    assert stalled <= 2 + tc_alone.FLOOR_BPS / 8 / 1514
    assert link.received.filter(pl.col("received_s") > 1.5).height > 500
