# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's MTU gives segments of exactly that size, and `pacing: fq` a sender's host that paces."""

import polars as pl
import pytest

from lab.base.stats import largest
from lab.node import sysctl
from lab.node.tools import NodeError
from lab.runs.plan import draw, make_plan, mss_bytes
from lab.runs.settings import FQ_RATIOS, PACED
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

MTU_BYTES, MSS_BYTES = 1360, 1308  # the servers of the papers
HEADERS_BYTES = 20 + 20 + 12  # IP, TCP and timestamps
ROUND_TRIP_S = 0.1


def segments(trial: Trial) -> pl.Series:
    return trial.packets.filter(pl.col("to_client"), pl.col("flow") == 1, pl.col("len_bytes") > 0)["len_bytes"]


@pytest.mark.parametrize("mtu_bytes", [MTU_BYTES, 576])
def test_a_trial_with_an_mtu_has_segments_of_that_size(bench: Bench, mtu_bytes: int) -> None:
    trial = bench.run(experiment_on(SMALL, "search", mtu_bytes=mtu_bytes), "search", f"mtu-{mtu_bytes}")
    assert trial.valid, trial.meta["certificate"]
    assert trial.meta["mss_bytes"] == mtu_bytes - HEADERS_BYTES
    assert largest(segments(trial)) == trial.meta["mss_bytes"]
    assert (segments(trial) == trial.meta["mss_bytes"]).sum() > 0.99 * len(segments(trial))


def test_the_papers_mtu_gives_their_segments() -> None:
    assert mss_bytes(experiment_on(SMALL, "search", mtu_bytes=MTU_BYTES)) == MSS_BYTES
    assert mss_bytes(experiment_on(SMALL, "search")) == 1448


def test_a_scenario_that_says_nothing_pins_no_mtu_and_no_qdisc() -> None:
    experiment = experiment_on(SMALL, "cubic")
    plan = make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1))
    assert "mtu" not in plan["sysctls"]["route"]
    assert plan["egress"] == []
    assert not FQ_RATIOS.keys() & plan["sysctls"]["ends"].keys()


@pytest.fixture(scope="module")
def both(bench: Bench) -> tuple[Trial, Trial]:
    """The same trial paced and not."""
    paced = bench.run(experiment_on(SMALL, "cubic_plain", pacing="fq"), "cubic_plain", "paced")
    return paced, bench.run(experiment_on(SMALL, "cubic_plain"), "cubic_plain", "small")


def test_the_paced_senders_host_has_the_qdisc_that_paces(both: tuple[Trial, Trial]) -> None:
    paced, plain = both
    (shape,) = (shape for shape in paced.meta["applied"] if shape["part"] == "egress")
    assert (shape["node"], shape["spec"]["kind"]) == ("server", "fq")
    assert shape["got"] == {name: value for name, value in PACED.items() if name != "kind"}
    assert [shape["part"] for shape in plain.meta["applied"] if shape["part"] == "egress"] == []
    assert paced.valid, paced.meta["certificate"]


def test_a_paced_round_trip_queues_less_than_a_burst(both: tuple[Trial, Trial]) -> None:
    """The first window is a burst with either; the second, of twice as many segments, is spread by pacing."""
    queued = [_most_queued(trial, 1.2, 2.8) for trial in both]
    assert queued[0] < queued[1] / 2


def _most_queued(trial: Trial, from_rtts: float, to_rtts: float) -> float:
    data_s = trial.meta["flows"][0]["data_s"]
    span = pl.col("t_s").is_between(data_s + from_rtts * ROUND_TRIP_S, data_s + to_rtts * ROUND_TRIP_S)
    return largest(trial.qdisc.filter(span)["backlog_pkts"]) or 0


def test_a_route_whose_mtu_did_not_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysctl, "_default_route", lambda _node: ("10.0.1.2", "eth1"))
    monkeypatch.setattr(sysctl, "run_json", lambda *_, **__: [{"metrics": [{"initcwnd": 10}]}])
    with pytest.raises(NodeError, match=r"^server: default route=.*: must be \{'initcwnd': '10', 'mtu': '1360'\}$"):
        sysctl.pin_route("server", {"initcwnd": "10", "mtu": "1360"})
