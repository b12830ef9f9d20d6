# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial ends at its time whatever the queue holds, with its measurements whole; nothing is left running."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab_vm.real_time import in_real_time

from lab.backends import boot
from lab.backends.records import TrialError
from lab.base.stats import largest
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.profile import Profile
from lab.node.traffic.download import CLOSING_S
from lab.node.traffic.flow import BLOCK_BYTES
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_ccas
from lab.schema.topology import load_topology
from lab.tables.stored_trial import TABLES, Trial
from tests.conftest import IN_GUEST, SMALL, Bench, experiment_on
from tests.guest import host as guest_host

SLOW_MBPS, DURATION_S = 1.0, 20
SLOW = Profile.model_validate(
    {
        "title": "a slow link with a deep buffer that drops a quarter",
        "down": {
            "rate_mbps": SLOW_MBPS,
            "delay_ms": 300.0,
            "buffer_bytes": 30_000_000,
            "queue": {"kind": "step_drop", "threshold_share": 0.01, "drop_pct": 25},
        },
        "up": {"delay_ms": 300.0},
        "recorded": [],
        "assumed": ["everything"],
    }
)
PAYLOAD_SHARE = 1448 / 1514
TICK_S = 0.02  # two of the virtual kernel's, in which a sleeping process is awakened


@pytest.fixture(scope="module", params=["cubic_plain", "search"])
def slow(request: pytest.FixtureRequest, bench: Bench) -> Trial:
    return bench.run(experiment_on(SLOW, request.param, duration_s=DURATION_S), request.param, "slow")


def test_a_queue_that_iperf3_cannot_finish_behind_is_no_failure_and_has_its_reason(slow: Trial) -> None:
    assert slow.valid, slow.meta["certificate"]
    assert slow.meta["flows"][0]["iperf3"] == {"error": f"stopped {CLOSING_S:g} s after the download's end"}
    stored = json.loads((slow.path / "trial.json").read_text())["flows"][0]["iperf3"]
    assert list(stored) == ["error"]
    (check,) = (check for check in slow.meta["certificate"]["checks"] if check["name"] == "download lasted")
    assert check["got"] is not None
    assert check["asked"] <= check["got"] <= check["asked"] + TICK_S


def test_it_had_the_links_whole_rate_for_its_whole_time_with_which_its_tables_end(slow: Trial) -> None:
    """Until data fill the link, some round trips of it pass; what is dropped is dropped before it."""
    flow = slow.meta["flows"][0]
    queue = slow.qdisc.filter(pl.col("t_s").is_between(flow["data_s"], flow["end_s"]))
    sent_mbps = (queue["sent_bytes"][-1] - queue["sent_bytes"][0]) * 8 / 1e6 / (queue["t_s"][-1] - queue["t_s"][0])
    assert flow["seconds"] == pytest.approx(DURATION_S)
    assert flow["throughput_mbps"] == pytest.approx(sent_mbps * PAYLOAD_SHARE, rel=0.05)
    assert 0.75 * SLOW_MBPS * PAYLOAD_SHARE < flow["throughput_mbps"] < SLOW_MBPS * PAYLOAD_SHARE
    end_s = slow.meta["flows"][0]["end_s"]
    last_s = {name: largest(pl.read_parquet(slow.path / f"{name}.parquet")["t_s"]) for name in TABLES if name != "link"}
    assert all(last is None or last <= end_s for last in last_s.values()), last_s
    assert last_s["packets"] == pytest.approx(end_s, abs=0.1)


@pytest.mark.parametrize("cca", ["cubic", "cubic_plain", "search"])
def test_where_iperf3_finishes_both_agree(bench: Bench, cca: str) -> None:
    """iperf3 counts whole blocks that its reader took in order, awakened a tick late, and ends a tick later."""
    trial = bench.run(experiment_on(SMALL, cca), cca, "both")
    flow, theirs = trial.meta["flows"][0], trial.meta["flows"][0]["iperf3"]
    in_order = (largest(trial.packets.filter(~pl.col("to_client"), pl.col("flow") == 1)["ack_bytes"]) or 1) - 1
    tick_bytes = TICK_S * 20e6 / 8
    assert in_order - tick_bytes - BLOCK_BYTES <= theirs["bytes"] <= in_order + tick_bytes
    assert in_order <= flow["bytes"] <= in_order + 500_000 + 20e6 / 8 * 0.1  # out of order: at most what is in flight
    assert flow["retransmits_pkts"] is not None
    assert flow["retransmits_pkts"] <= theirs["retransmits_pkts"] <= flow["retransmits_pkts"] + 10


def test_a_client_that_cannot_start_is_a_line_and_leaves_nothing(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    reported = _host_trial(tmp_path, kernel, world, algorithm="no_such_sender")
    assert reported["error"].startswith("iperf3: ")
    assert "\n" not in reported["error"]
    assert reported["after"] == reported["before"]


def test_a_slow_trial_leaves_no_process_either(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    reported = _host_trial(tmp_path, kernel, world, profile=SLOW)
    assert reported["error"] is None
    assert reported["after"] == reported["before"]


def _host_trial(folder: Path, kernel: Kernel, world: Image, profile: Profile = SMALL, **flow: Any) -> dict[str, Any]:
    experiment = experiment_on(profile, "search", duration_s=4)
    plan = make_plan(experiment, experiment.ccas["search"], draw(experiment, 1))
    plan["flows"][0] |= flow  # type: ignore[typeddict-item]
    arguments = {"plan": in_real_time(plan, "netns")}
    answer: dict[str, Any] = boot.call(guest_host.whole, arguments, folder, kernel, world.root, more=IN_GUEST).result
    return answer


def test_a_server_that_is_not_there_is_one_line(bench: Bench) -> None:
    experiment = experiment_on(SMALL, "cubic", duration_s=1)
    job = bench.job(experiment, "cubic", "no-server")
    job.folder.mkdir(parents=True)
    plan = make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1))
    plan["addresses"]["server"] = plan["addresses"]["client"]  # where nobody listens
    plan["probes"] = []
    with pytest.raises(TrialError, match=r"^iperf3: .*[Cc]onnection refused$"):
        boot.run_plan({**plan, "shapes": []}, job.folder, bench.kernel, bench.world.root)


def test_of_two_downloads_each_is_measured_and_agrees_with_iperf3(bench: Bench) -> None:
    """The rival's bytes are those acknowledged to its sender, and iperf3's those read in whole blocks."""
    alone = experiment_on(SMALL, "cubic", rival="cubic_plain")
    both = dataclasses.replace(
        alone, topology=load_topology("dumbbell", "test"), rivals={"cubic_plain": load_ccas()["cubic_plain"]}
    )
    trial = bench.run(both, "cubic", "rivals")
    assert trial.valid, trial.meta["certificate"]
    assert [flow["cca"] for flow in trial.meta["flows"]] == ["cubic", "cubic_plain"]
    for flow in trial.meta["flows"]:
        late_bytes = 500_000 + 20e6 / 8 * 0.1  # what a full queue and path hold
        assert abs(flow["bytes"] - flow["iperf3"]["bytes"]) < BLOCK_BYTES + late_bytes
        assert flow["seconds"] == pytest.approx(4)
    assert sum(flow["throughput_mbps"] for flow in trial.meta["flows"]) == pytest.approx(20 * 1448 / 1514, rel=0.15)
