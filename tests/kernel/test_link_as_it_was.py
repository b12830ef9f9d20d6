# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial states its link as packets met it: before its series begin, with long frames, and without any guarantee."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from lab.judge.outcome import outcome
from lab.runs.experiment import Experiment
from lab.schema.topology import load_topology
from tests.conftest import Bench, experiment_on
from tests.exact_links import over as over_wires


def steps(*values: float, every_s: float) -> dict[str, Any]:
    rows = [{"from_s": number * every_s, "value": value} for number, value in enumerate(values)]
    return {"model": "schedule", "source": "a test", "steps": rows}


over = partial(over_wires, duration_s=2)

SHORT = {"delay_ms": 0.5}
FALLING = {"rate_mbps": steps(2, 30, every_s=0.05), "buffer_bytes": 30_000} | SHORT
UNGRANTED = {"frame_ms": 20, "guaranteed_pkts": 0, "request_delay_ms": 30, "cap_bytes": 30_000}
ON_DEMAND = {"on_demand": UNGRANTED | {"report": "backlog"}, "delay_ms": 5, "buffer_bytes": 200_000}
OF_A_RATE = {"on_demand": UNGRANTED | {"report": "rate", "period_ms": 100}, "delay_ms": 5, "buffer_bytes": 200_000}
STEADY = {"rate_mbps": 10, "delay_ms": 5, "buffer_bytes": 30_000}


@pytest.mark.parametrize(
    ("name", "experiment"),
    [
        ("before-its-series", over(FALLING, SHORT)),
        ("before-its-data", over(FALLING | {"delay_ms": 20}, SHORT, "data")),
        (
            "long-frames",
            over({"rate_mbps": steps(1, 2, every_s=1), "buffer_bytes": 20_000} | SHORT, SHORT, mtu_bytes=9000),
        ),
        ("on-demand", over(STEADY, ON_DEMAND)),
        ("on-demand-of-a-rate", over(STEADY, OF_A_RATE)),
    ],
)
def test_no_more_passes_than_the_stored_link_allows_and_the_trial_is_valid(
    bench: Bench, name: str, experiment: Experiment
) -> None:
    trial = bench.run(experiment, "cubic_plain", f"as-it-was-{name}")
    assert trial.valid, trial.meta["certificate"]
    t_s, sent = (trial.qdisc[column].to_numpy().astype(float) for column in ("t_s", "sent_bytes"))
    allowed = trial.link.sent_bytes(t_s)
    for samples in (1, 5, 20, 100):
        over_bytes = (sent[samples:] - sent[:-samples]) - (allowed[samples:] - allowed[:-samples])
        assert over_bytes.max() < 2 * trial.link.frame_bytes
    assert trial.meta["rate_mbps"] == pytest.approx(_rate_mbps(trial.link, trial.meta["flows"][0]))


def _rate_mbps(link: Any, flow: Any) -> float:
    begin, end = link.sent_bytes(np.array([flow["data_s"], flow["end_s"]]))
    return float((end - begin) * 8e-6 / flow["seconds"])


def test_a_stall_before_the_data_is_no_part_of_the_rate(bench: Bench) -> None:
    down = {"rate_mbps": steps(0, 0, 20, every_s=0.5), "delay_ms": 20, "buffer_bytes": 100_000}
    trial = bench.run(over(down, {"delay_ms": 20}), "cubic_plain", "stall-first")
    assert trial.meta["flows"][0]["data_s"] > 0
    assert trial.meta["rate_mbps"] == pytest.approx(20, rel=0.01)


@pytest.mark.parametrize("buffer_bytes", [1514, 3028, 4600])
def test_losses_of_a_buffer_of_few_packets_agree_with_its_drops(bench: Bench, buffer_bytes: int) -> None:
    down = STEADY | {"buffer_bytes": buffer_bytes}
    trial = bench.run(over(down, {"delay_ms": 5}), "cubic_plain", f"few-{buffer_bytes}")
    assert trial.qdisc["drops_pkts"].max() > 0  # type: ignore[operator]
    assert {row["loss_agrees"] for row in outcome(trial)} == {True}


def test_a_rivals_drops_are_not_those_of_the_download_under_test(bench: Bench) -> None:
    experiment = over(STEADY, {"delay_ms": 5}, size_bytes=3000, rivals=[{"cca": "cubic", "count": 4}])
    rivals = {"cubic": experiment_on(experiment.profile, "cubic").ccas["cubic"]}
    experiment = replace(experiment, topology=load_topology("dumbbell-4", "test"), rivals=rivals)
    trial = bench.run(experiment, "cubic_plain", "rivals-drops")
    assert trial.valid, trial.meta["certificate"]
    assert {row["loss_agrees"] for row in outcome(trial)} == {True}
