# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's stack on the kernel: its trials are certified and repeat, its exit is known, and a bad one is one line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_quic.stack.prepared import own
from lab_quic.stack.smoke import DURATION_S
from rich.console import Console
from stack_files import written

from lab.commands.prepare import prepared
from lab.judge.outcome import outcome
from lab.links.profile import Profile
from lab.runs.experiment import Experiment
from lab.runs.trial import Job, run_trial
from lab.schema.cca import Cca
from lab.tables.digests import SUMS
from lab.tables.stored_trial import Trial
from tests.brief import error_of
from tests.command import lab_ok
from tests.conftest import SMALL, Bench, experiment_on
from tests.exact_links import deep, lossy

DEEP = deep(rate_mbps=20, rtt_ms=60)
LOSSY = lossy(DEEP, loss_pct=1.0)
LOSSY_IN_FRAMES = lossy(DEEP, loss_pct=1.0, frames={"period_ms": 2.6})
QUIET = Console(quiet=True)


def experiment_of(cca: Cca, profile: Any, duration_s: int = DURATION_S) -> Experiment:
    plain = experiment_on(profile, "search", duration_s=duration_s)
    return replace(plain, scenario=plain.scenario.model_copy(update={"ccas": [cca.name]}), ccas={cca.name: cca})


def run(bench: Bench, folder: Path, control: str, profile: Any = DEEP, **fields: Any) -> Trial:
    cca = own(str(written(folder, **fields)))[control]
    experiment, backend = prepared(experiment_of(cca, profile), bench.backend, QUIET)
    job = Job(experiment, cca.name, 1, folder / "trial", backend)
    run_trial(job)
    return Trial(job.folder)


def test_a_stack_of_ones_own_passes_the_certificate_and_is_judged(bench: Bench, tmp_path: Path) -> None:
    trial = run(bench, tmp_path, "halves", SMALL)
    assert [check for check in trial.meta["certificate"]["checks"] if not check["ok"]] == []
    assert trial.meta["flows"][0]["bytes"] > 1_000_000
    assert {row["exit_cause"] for row in outcome(trial)} == {"loss"}
    assert (trial.path / "server.qlog.zst").is_file()


def test_without_a_qlog_the_exit_is_estimated_near_the_one_that_the_qlog_reports(bench: Bench, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("reported", "estimated")]
    for folder in folders:
        folder.mkdir()
    reported, estimated = run(bench, folders[0], "stops"), run(bench, folders[1], "stops", qlog=None)
    assert reported.exits["cause"].to_list() == ["own"]
    assert estimated.exits["cause"].to_list() == ["estimated"]
    round_s = 0.06 + 80 * 1514 * 8 / 20e6
    assert estimated.exits["t_s"][0] == pytest.approx(reported.exits["t_s"][0], abs=0.3 * round_s)
    assert estimated.exits["cwnd_pkts"][0] == pytest.approx(80, abs=12)
    assert estimated.acks.is_empty()
    assert [each.meta["flows"][0]["retransmits_pkts"] for each in (reported, estimated)] == [0, None]
    assert {row["loss_agrees"] for row in outcome(estimated)} == {None}
    assert (reported.packets.equals(estimated.packets)) is True


@pytest.mark.parametrize("profile", [SMALL, LOSSY, LOSSY_IN_FRAMES], ids=["queue", "link", "link in frames"])
def test_without_a_qlog_an_exit_upon_loss_is_one_and_so_late(bench: Bench, tmp_path: Path, profile: Profile) -> None:
    folders = [tmp_path / name for name in ("reported", "estimated")]
    for folder in folders:
        folder.mkdir()
    reported, estimated = (
        run(bench, folders[0], "halves", profile),
        run(bench, folders[1], "halves", profile, qlog=None),
    )
    assert estimated.exits["cause"].to_list() == ["loss"]
    assert estimated.exits["t_s"][0] == pytest.approx(reported.exits["t_s"][0], abs=0.02)
    classes = [{row["heuristic"]: row["exit_class"] for row in outcome(each)} for each in (reported, estimated)]
    assert "late" in classes[0].values()
    for truth in ("truth", "lasting"):
        assert classes[0][truth] == classes[1][truth]


def test_what_a_log_that_names_no_loss_sent_again_is_not_known(bench: Bench, tmp_path: Path) -> None:
    trial = run(bench, tmp_path, "mute", SMALL, controls=["mute"])
    assert trial.qdisc["drops_pkts"].max()
    assert trial.exits["cause"].to_list() == ["loss"]
    assert trial.meta["flows"][0]["retransmits_pkts"] is None


@pytest.mark.parametrize("profile", [SMALL, LOSSY], ids=["queue", "link"])
def test_where_a_log_names_neither_loss_nor_recovery_the_packets_show_why(
    bench: Bench, tmp_path: Path, profile: Profile
) -> None:
    trial = run(bench, tmp_path, "bare", profile, controls=["bare"])
    assert trial.exits["cause"].to_list() == ["loss"]
    assert "late" in {row["exit_class"] for row in outcome(trial)}


def test_the_same_trial_is_the_same_byte_for_byte_qlog_included(bench: Bench, tmp_path: Path) -> None:
    cca = own(str(written(tmp_path)))["halves"]
    experiment, backend = prepared(experiment_of(cca, SMALL), bench.backend, QUIET)
    sums = []
    for name in ("first", "second"):
        run_trial(Job(experiment, cca.name, 1, tmp_path / name, backend))
        sums.append((tmp_path / name / SUMS).read_text())
    assert "server.qlog.zst" in sums[0]
    assert sums[0] == sums[1]
    assert "not repeatable" not in experiment.ccas[cca.name].label


@pytest.mark.usefixtures("kernel")
def test_a_control_of_a_stack_is_shown_as_any_sender(tmp_path: Path) -> None:
    shown = lab_ok(tmp_path / "results", "senders", "show", f"{written(tmp_path)}:halves")
    assert "none: a control of tiny 1, over UDP" in shown.stdout


BAD = "python3 ends.py bad"
NO_QLOG = {"qlog": None, "controls": ["any"]}


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        (
            {"server": f"{BAD} exits {{address}} {{port}}"},
            "server: ended with status 1 before it opened its port: no such",
        ),
        ({"server": f"{BAD} silent {{port}}"}, "server: does not open UDP port 5201 within 10 s"),
        ({"server": f"{BAD} crashes {{address}} {{port}}"}, "server: ended by SIGSEGV during the download"),
        (
            {"server": f"{BAD} hangs {{address}} {{port}}"},
            "download: bytes=1472: must be at least 20000 in 3 s: it hangs",
        ),
        ({"server": f"{BAD} spins {{address}} {{port}}"}, "no end after"),
        ({"server": f"{BAD} prints {{address}} {{port}}"}, "server: ended"),
        ({"server": f"{BAD} logs {{address}} {{port}} {{qlog}}/a"}, "server: ended"),
        ({"server": f"{BAD} stops_capture {{address}} {{port}}"}, "dumpcap: no closing count: "),
        ({"server": f"{BAD} ends_capture {{address}} {{port}}"}, "dumpcap: ended before the traffic"),
        ({"server": f"{BAD} sets_date {{address}} {{port}}"}, "clock: stepped_s=0.0"),
        ({"client": "python3 ends.py nosuch {address} {port} {bytes}"}, "client: ended with status 1 without any data"),
        ({"server": f"{BAD} hangs {{address}} {{port}} {{qlog}}", "qlog": "*.sqlog"}, "0 files"),
    ],
    ids=[
        "exits",
        "silent",
        "crashes",
        "hangs",
        "spins",
        "prints",
        "logs",
        "capture",
        "capture ended",
        "date",
        "client",
        "no qlog",
    ],
)
def test_a_bad_stack_is_refused_in_one_line(bench: Bench, tmp_path: Path, fields: dict[str, Any], rule: str) -> None:
    cca = own(str(written(tmp_path, **{**NO_QLOG, **fields})))["any"]
    refused = error_of(prepared, experiment_of(cca, SMALL), bench.backend, QUIET)
    line = refused
    assert rule in line
    assert line.startswith("tiny: ")
    assert "\n" not in line


@pytest.mark.parametrize(("how", "label"), [("ids", ""), ("sizes", " (not repeatable)")])
def test_a_stack_with_random_numbers_of_its_own_is_named(bench: Bench, tmp_path: Path, how: str, label: str) -> None:
    server = f"python3 ends.py serve {{address}} {{port}} {how}"
    cca = own(str(written(tmp_path, **NO_QLOG, server=server)))["any"]
    experiment, _ = prepared(experiment_of(cca, SMALL), bench.backend, QUIET)
    assert experiment.ccas[cca.name].label == f"tiny 1: any, exit estimated{label}"
