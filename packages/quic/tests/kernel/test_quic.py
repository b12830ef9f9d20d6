# SPDX-License-Identifier: GPL-2.0-or-later
"""A download over QUIC is a trial like any other: the same twice, certified, judged, and its SEARCH is the kernel's."""

import io
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from lab_conform import command as conform
from lab_papers.search_replay import EXIT, replay_bins, version
from lab_quic.log import NO_THRESHOLD, read_server
from lab_quic.quinn import build
from quic_cores import bbr3, bins, careful_resume, core_bins, decisions, events_of, paced, rapid_start
from quic_trials import (
    line_without_an_answer,
    over_quic,
    require_certified_and_judged,
    require_the_same_twice,
    run,
    senders_on,
)
from rich.console import Console

from bench.same_exit.quic import Event
from lab.links.profile import Profile
from lab.runs.trial import prepare
from tests.brief import folder_at
from tests.conftest import LOSSY, SMALL, Bench, experiment_on
from tests.exact_links import deep

DEEP = deep(rate_mbps=20, rtt_ms=60)
# SMALL holds 20 Mb/s x 100 ms = 170 datagrams, and its buffer twice as many.
RIGHT = {"saved_cwnd_pkts": 170, "saved_rtt_us": 100_000}
TOO_LARGE = {"saved_cwnd_pkts": 2000, "saved_rtt_us": 100_000}
SENDERS = senders_on("quinn")

pytestmark = pytest.mark.skipif(build.QUINN.find() is None, reason="lab-quic is not built: lab run tcp-quic builds it")


def test_the_same_trial_is_the_same_byte_for_byte_handshake_and_qlogs_included(bench: Bench) -> None:
    require_the_same_twice(bench, "search_quic", "quic-first", "quic-second")


@pytest.mark.parametrize("cca", SENDERS)
def test_every_sender_over_quic_passes_the_certificate_and_has_an_outcome(bench: Bench, cca: str) -> None:
    require_certified_and_judged(run(SMALL, cca, bench, "quic-first"))


def test_the_certificate_names_datagrams_of_one_size(bench: Bench) -> None:
    checks = {one["name"]: one for one in run(SMALL, "search_quic", bench, "quic-first").meta["certificate"]["checks"]}
    largest = checks["largest UDP datagram (no segmentation offload, no MTU discovery)"]
    assert (largest["asked"], largest["got"]) == (1472, 1472)
    assert checks["datagrams that capture and client recorded differently"]["got"] == 0


def test_gaps_of_the_stream_are_filled_and_each_byte_counts_once(bench: Bench) -> None:
    trial = run(SMALL, "cubic_quic", bench, "quic-first")
    data = trial.packets.filter(pl.col("to_client") & (pl.col("len_bytes") > 0))
    acked = trial.packets.filter(~pl.col("to_client"))["ack_bytes"].drop_nulls().to_numpy()
    assert (trial.meta["flows"][0]["retransmits_pkts"] or 0) > 100  # there were gaps
    assert data["seq_bytes"].min() == 1
    assert (np.diff(acked) >= 0).all()
    received = int(data["len_bytes"].sum())
    assert received == trial.meta["flows"][0]["bytes"]
    assert received - 200_000 < int(acked[-1]) - 1 <= received  # all but the newest gap is filled


def test_qlogs_are_json_records_of_both_ends(bench: Bench) -> None:
    trial = run(SMALL, "search_quic", bench, "quic-first")
    for end in ("server", "client"):
        with pa.input_stream(str(trial.path / f"{end}.qlog.zst"), compression="zstd") as stream:
            lines = io.BytesIO(stream.read()).readlines()[:200]
        names = {json.loads(line.lstrip(b"\x1e")).get("name") for line in lines}
        assert {"transport:packet_sent", "transport:packet_received"} <= names


def test_search_over_quic_decides_as_the_core_does_on_its_acks(bench: Bench, tmp_path: Path) -> None:
    _, job = over_quic(DEEP, "search_quic", bench)
    folder = folder_at(tmp_path / "trial")
    job.backend.run_plan(prepare(job, folder), folder)
    server = read_server(folder / "server.rows")
    acks, bins = server["ack"], server["bin"]
    library = bench.kernel.replay_library
    in_slow_start = acks.filter(pl.col("t_ns") <= pl.lit(bins["t_ns"].max()))
    replayed = replay_bins(
        library,
        (in_slow_start["t_ns"] // 1000).to_numpy(),
        in_slow_start["rtt_us"].to_numpy(),
        in_slow_start["delivered"].to_numpy(),
        version(library, "search").params,
        sent_bytes=in_slow_start["sent"].to_numpy(),
        limited=in_slow_start["limited"].to_numpy(),
    )
    for ours, core in (("bin", "bin"), ("curr", "curr_delv_bytes"), ("norm_permille", "norm_permille")):
        assert bins[ours].to_list() == replayed[core].tolist()
    assert bins["verdict"].to_list() == replayed["verdict"].tolist()
    assert bins["verdict"][-1] == EXIT
    assert server["exit"]["cause"].to_list() == ["search"]


def recorded(profile: Profile, cca: str, bench: Bench, folder: Path, **params: int) -> list[Event]:
    """The ACK stream of a download, as its server has recorded it."""
    _, job = over_quic(profile, cca, bench, **params)
    folder.mkdir()
    job.backend.run_plan(prepare(job, folder), folder)
    return events_of(folder / "server.rows")


@pytest.mark.parametrize("name", ["search", "search9", "search4"])
def test_on_a_recorded_stream_quic_decides_as_the_kernels_search(
    bench: Bench, search_library: Path, tmp_path: Path, name: str
) -> None:
    events = recorded(DEEP, f"{name}_quic", bench, tmp_path / "trial")
    in_slow_start = [event for event in events if event.window_bytes < event.ssthresh_bytes]
    core = core_bins(search_library, name, in_slow_start)
    assert bins(name, in_slow_start) == core
    assert core[-1][-1] == EXIT


def test_on_a_recorded_stream_quic_decides_as_kernels_rapid_start(bench: Bench, cores: Path, tmp_path: Path) -> None:
    events = recorded(SMALL, "rapid_start_quic", bench, tmp_path / "trial")
    core = rapid_start(cores, events)
    assert decisions("rapid_start", events) == core
    assert {event.kind for event in events} == {"ack", "loss"}
    assert any(w_max for _, _, w_max in core.values())  # to the end of its recovery period
    for place, (window, _, _) in core.items():  # and the sender did so
        if window and place + 1 < len(events) and events[place + 1].kind == "ack":
            assert events[place + 1].window_bytes == window


@pytest.mark.parametrize(("params", "retreats"), [({}, False), (RIGHT, False), (TOO_LARGE, True)])
def test_on_a_recorded_stream_quic_decides_as_the_kernels_careful_resume(
    bench: Bench, cores: Path, tmp_path: Path, params: dict[str, int], retreats: bool
) -> None:
    events = recorded(SMALL, "careful_resume_quic", bench, tmp_path / "trial", **params)
    core = careful_resume(cores, events, **params)
    assert decisions("careful_resume", events, **params) == core
    jump_bytes = params.get("saved_cwnd_pkts", 0) // 2 * 1472
    assert [window for window, _, _ in core.values()][:1] == ([jump_bytes] if params else [])
    assert any(ssthresh for _, ssthresh, _ in core.values()) == retreats


def test_on_a_recorded_stream_quic_decides_as_the_kernels_bbr(bench: Bench, cores: Path, tmp_path: Path) -> None:
    events = recorded(LOSSY, "bbr3_quic", bench, tmp_path / "trial")
    core = bbr3(cores, events)
    assert paced("bbr3", events) == core
    assert {"ack", "loss"} <= {event.kind for event in events}
    for place, (window, _, _) in core.items():  # and the sender did so
        if place + 1 < len(events):
            assert events[place + 1].window_bytes == window


def test_bbr_paces_at_its_own_rate_so_that_the_queue_stays_low_and_the_link_in_use(bench: Bench) -> None:
    trial = run(DEEP, "bbr3_quic", bench, "quic-deep", duration_s=6)
    assert trial.exits["cause"].to_list() == ["bbr"]
    after = trial.packets.filter(pl.col("to_client") & pl.col("t_s").is_between(2, 6))
    assert after["len_bytes"].sum() * 8 / 4 > 0.8 * 20e6
    queue = trial.qdisc.filter(pl.col("t_s").is_between(2, 6))["backlog_bytes"]
    bdp_bytes = 20e6 / 8 * 0.06
    assert queue.median() < bdp_bytes / 2  # type: ignore[operator]
    assert queue.max() < 2 * bdp_bytes  # type: ignore[operator]


def test_rapid_starts_window_triples_each_round_trip_until_a_queue_builds(bench: Bench) -> None:
    trial = run(SMALL, "rapid_start_quic", bench, "quic-first")
    acks = trial.acks.filter(pl.col("t_s") < trial.exits["t_s"][0])
    rounds = [acks.filter(pl.col("cwnd_pkts") >= pkts)["t_s"][0] for pkts in (21, 59, 179)]
    assert [later - earlier for earlier, later in pairwise(rounds)] == pytest.approx([0.1, 0.1], rel=0.25)
    assert trial.exits["cause"].to_list() == ["loss"]


def test_a_drain_takes_the_window_down_to_its_threshold_and_not_below(bench: Bench) -> None:
    trial = run(DEEP, "search4_quic", bench, "quic-deep")
    (exit_,) = trial.exits.to_dicts()
    after = trial.acks.filter(pl.col("t_s") > exit_["t_s"])
    windows, threshold = after["cwnd_pkts"].to_list(), exit_["ssthresh_pkts"]
    assert exit_["cause"] == "search"
    assert threshold < exit_["cwnd_pkts"]
    drained = windows.index(threshold)
    assert all(earlier >= later >= threshold for earlier, later in pairwise(windows[: drained + 1]))
    assert windows[-1] >= threshold
    assert NO_THRESHOLD not in after["ssthresh_pkts"].to_list()


def test_search_leaves_at_about_the_same_window_over_tcp_and_over_quic(bench: Bench) -> None:
    tcp = bench.run(experiment_on(DEEP, "search", duration_s=3), "search", "quic-deep-tcp").exits.row(0, named=True)
    quic = run(DEEP, "search_quic", bench, "quic-deep").exits.row(0, named=True)
    assert (tcp["cause"], quic["cause"]) == ("search", "search")
    assert quic["cwnd_pkts"] == pytest.approx(tcp["cwnd_pkts"], rel=0.5)


def test_conform_takes_senders_over_quic_and_of_the_kernel_at_once(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bench
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    found = conform.run(conform.Request("bbr3_quic,bbr3", case="bbr/startup-bandwidth", workers=2), Console(quiet=True))
    assert [(each.sender, each.outcome) for each in found] == [("bbr3_quic", "passed"), ("bbr3", "passed")]


def test_a_handshake_that_no_answer_reaches_is_one_line(bench: Bench) -> None:
    assert line_without_an_answer(bench, "search_quic") == "lab-quic: no handshake within 25 s"
