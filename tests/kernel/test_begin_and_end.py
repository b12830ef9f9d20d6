# SPDX-License-Identifier: GPL-2.0-or-later
"""When a series, a server and a download begin and end; segments of a scenario's MTU, and a host that paces."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from lab.base.stats import largest
from lab.judge.digest import OBJECT_BYTES, digest
from lab.judge.outcome import outcome
from lab.links.models import Schedule
from lab.node.traffic.flow import BLOCK_BYTES
from lab.node.traffic.series_begin import AHEAD_NS
from lab.runs.experiment import Experiment
from lab.runs.plan import PACED
from lab.schema.topology import load_topology
from lab.tables.downloads import FLOW, first_data_s
from lab.tables.stored_trial import Trial
from tests.brief import present
from tests.conftest import SMALL, Bench, experiment_on
from tests.exact_links import over as over_wires
from tests.unit.test_begin_and_end import MTU_BYTES, SIZE_BYTES

ONE_WAY_S, SLOWER_FROM_S = 0.05, 1.0
STEPS = [{"from_s": 0, "value": 20}, {"from_s": SLOWER_FROM_S, "value": 5}]
CLOSE_TO_SERIES_S = 2e-4


@pytest.fixture(scope="module")
def begun(bench: Bench) -> dict[str, Trial]:
    rate = Schedule.model_validate({"model": "schedule", "source": "a test", "steps": STEPS})
    experiment = experiment_on(SMALL, "cubic_plain", duration_s=2)
    down = experiment.profile.down.model_copy(update={"rate_mbps": rate})
    profile = experiment.profile.model_copy(update={"down": down})
    return {
        begin: bench.run(
            replace(experiment, profile=profile.model_copy(update={"series_begin": begin})), "cubic_plain", begin
        )
        for begin in ("syn", "data")
    }


def mean_mbps(trial: Trial) -> float:
    """Return the rate that the link has until its series begins."""
    return float(json.loads((trial.path / "plan.json").read_text())["link"]["rate_mbps"])


def begin_s(trial: Trial) -> float:
    """Return when the rate's series begins, since the SYN at the client."""
    rate = trial.table("link").filter(pl.col("quantity") == "down.rate_mbps")
    assert rate["value"].to_list() == pytest.approx([mean_mbps(trial), 20, 5])
    assert rate["t_s"].diff()[1:].to_list() == pytest.approx([1e-6, SLOWER_FROM_S], abs=1e-8)
    return float(rate["t_s"][1])


def test_a_series_begins_with_the_syn_or_the_first_data_in_valid_trials(begun: dict[str, Trial]) -> None:
    assert begin_s(begun["syn"]) == pytest.approx(ONE_WAY_S + AHEAD_NS / 1e9, abs=CLOSE_TO_SERIES_S)
    arrived_s = present(first_data_s(begun["data"].packets, FLOW))
    frame_s = 1514 * 8 / (mean_mbps(begun["data"]) * 1e6)
    sent_s = arrived_s - ONE_WAY_S - frame_s
    assert begin_s(begun["data"]) == pytest.approx(sent_s + AHEAD_NS / 1e9, abs=CLOSE_TO_SERIES_S)
    assert all(trial.valid for trial in begun.values())


CLOSE_S = 5e-5  # less than the kernel's slack for a thread


def late_by(most_ms: float) -> Experiment:
    """Return a download over a constant link whose server begins up to so late."""
    experiment = experiment_on(SMALL, "cubic", duration_s=2)
    noise = experiment.profile.noise.model_copy(update={"server_start_ms": most_ms})
    return replace(experiment, profile=experiment.profile.model_copy(update={"noise": noise}))


@pytest.fixture(scope="module")
def late_trials(bench: Bench) -> dict[float, Trial]:
    return {most_ms: bench.run(late_by(most_ms), "cubic", f"late-{most_ms:g}") for most_ms in (0.0, 4.0, 80.0)}


@pytest.mark.parametrize("most_ms", [4.0, 80.0])
def test_the_first_data_come_later_by_what_was_drawn(late_trials: dict[float, Trial], most_ms: float) -> None:
    usual_s, late_s = (first_data_s(late_trials[each].packets, FLOW) for each in (0.0, most_ms))
    assert usual_s is not None
    assert late_s is not None
    drawn_s = late_trials[most_ms].meta["server_start_s"]
    assert 0 < drawn_s <= most_ms / 1e3 + CLOSE_S
    assert late_s - usual_s == pytest.approx(drawn_s, abs=CLOSE_S)


def test_a_server_that_begins_at_once_has_no_such_field_and_no_check(late_trials: dict[float, Trial]) -> None:
    assert "server_start_s" not in late_trials[0.0].meta
    checked = {
        most_ms: [check["name"] for check in trial.meta["certificate"]["checks"]]
        for most_ms, trial in late_trials.items()
    }
    assert ["start of the server" in checked[most_ms] for most_ms in checked] == [False, True, True]
    assert all(trial.valid for trial in late_trials.values())


LONG_ROUND_TRIP_S = 0.6
FAR = SMALL.model_copy(
    update={way: getattr(SMALL, way).model_copy(update={"delay_ms": LONG_ROUND_TRIP_S * 500}) for way in ("down", "up")}
)
AT_MOST_S = 30


@pytest.fixture(scope="module")
def download(bench: Bench) -> Trial:
    return bench.run(experiment_on(FAR, "cubic", duration_s=AT_MOST_S, size_bytes=SIZE_BYTES), "cubic", "of-a-size")


def test_it_is_valid_and_ends_with_the_acknowledgement_of_the_segment_that_completes_the_size(download: Trial) -> None:
    assert download.valid, download.meta["certificate"]
    assert download.meta["flows"][0]["bytes"] >= SIZE_BYTES
    flow = download.meta["flows"][0]
    arrived = download.packets.filter(pl.col("to_client"), pl.col("flow") == 1, pl.col("len_bytes") > 0)
    assert SIZE_BYTES <= flow["bytes"] < SIZE_BYTES + 2 * download.meta["mss_bytes"]
    assert arrived["t_s"][-1] == pytest.approx(flow["end_s"], abs=0.001)  # until it is acknowledged
    assert flow["seconds"] < AT_MOST_S / 2


def test_every_size_up_to_its_own_has_a_time(download: Trial) -> None:
    """Tables end with the download, and the times of the objects in it are read from them."""
    times_s = digest(download)["download_s"][: SIZE_BYTES // OBJECT_BYTES]
    assert None not in times_s
    assert times_s == sorted(time_s for time_s in times_s if time_s is not None)
    assert times_s[-1] == pytest.approx(download.meta["flows"][0]["end_s"], abs=1e-6)


def test_iperf3_is_through_some_round_trips_later(download: Trial) -> None:
    (check,) = (check for check in download.meta["certificate"]["checks"] if check["name"].startswith("download"))
    assert download.meta["flows"][0]["iperf3"]["bytes"] >= SIZE_BYTES
    assert check["got"] is not None
    assert check["got"] < download.meta["flows"][0]["seconds"] + BLOCK_BYTES * 8 / 20e6 + 5 * LONG_ROUND_TRIP_S


def test_a_size_that_does_not_come_in_time_ends_at_its_time(bench: Bench) -> None:
    late = bench.run(experiment_on(FAR, "cubic", duration_s=2, size_bytes=50_000_000), "cubic", "too-large")
    flow = late.meta["flows"][0]
    assert late.valid, late.meta["certificate"]
    assert flow["seconds"] == pytest.approx(2)
    assert flow["bytes"] < 50_000_000


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


@pytest.fixture(scope="module")
def both(bench: Bench) -> tuple[Trial, Trial]:
    paced = bench.run(experiment_on(SMALL, "cubic_plain", pacing="fq"), "cubic_plain", "paced")
    return paced, bench.run(experiment_on(SMALL, "cubic_plain"), "cubic_plain", "small")


def test_a_paced_senders_host_has_the_qdisc_that_paces_and_queues_less_than_a_burst(both: tuple[Trial, Trial]) -> None:
    paced, plain = both
    (shape,) = (shape for shape in paced.meta["applied"] if shape["part"] == "egress")
    assert (shape["node"], shape["spec"]["kind"]) == ("server", "fq")
    assert shape["got"] == {name: value for name, value in PACED.items() if name != "kind"}
    assert [shape["part"] for shape in plain.meta["applied"] if shape["part"] == "egress"] == []
    assert paced.valid, paced.meta["certificate"]
    # The first window is a burst with either; the second, of twice as many segments, is spread by pacing.
    queued = [_most_queued(trial, 1.2, 2.8) for trial in both]
    assert queued[0] < queued[1] / 2


def _most_queued(trial: Trial, from_rtts: float, to_rtts: float) -> float:
    data_s = trial.meta["flows"][0]["data_s"]
    span = pl.col("t_s").is_between(data_s + from_rtts * ROUND_TRIP_S, data_s + to_rtts * ROUND_TRIP_S)
    return largest(trial.qdisc.filter(span)["backlog_pkts"]) or 0


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
