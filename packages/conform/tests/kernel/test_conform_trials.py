# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases on real senders: what passes, what fails, what never comes, and the same bytes again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from lab_conform.cell_page import PAGE
from lab_conform.command import Request, answer, run
from rich.console import Console

from lab.base.paths import REPO
from tests.brief import error_of
from tests.conftest import Bench

QUIET = Console(quiet=True)
CASE = """
title: A window that is never reached
source: {document: rfc5681, section: "3.1"}
needs: [window]
link: {rate_mbps: 20, events: [{when: {cwnd_pkts: 100000}, drop: [0]}]}
size_pkts: 50
duration_s: 1
checks: [{measure: reductions, least: 1, because: "a loss"}]
"""


@pytest.fixture(autouse=True)
def _results(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bench
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))


def test_verdicts_are_the_same_bytes_in_new_trials(tmp_path: Path) -> None:
    texts = []
    for turn in ("first", "second"):
        file = tmp_path / f"{turn}.json"
        run(Request("cubic,reno", case="rfc9438/decrease-factor", json=file, workers=2), QUIET)
        shutil.rmtree(tmp_path / "results")
        texts.append(file.read_bytes())
    assert texts[0] == texts[1]
    assert [each["verdict"] for each in json.loads(texts[0])] == ["passed", "not applicable"]


def test_an_event_that_never_comes_is_reported_and_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "never.yml").write_text(CASE)
    (verdict,) = run(Request("cubic", case=str(tmp_path / "never.yml")), QUIET)
    assert verdict.outcome == "failed"
    assert verdict.reason == "event 0 never came: the sender never comes to cwnd_pkts=100000.0"


def test_parameters_of_a_case_are_those_of_the_module_in_its_trial() -> None:
    """With the same set one connection jumps to half of it, and one that finds it stale does not."""
    found = [run(Request("careful_resume", case=name), QUIET)[0] for name in ("rfc9959/jump-to-half", "rfc9959/stale")]
    assert [each.outcome for each in found] == ["passed", "passed"]
    assert [each.checked[0].value for each in found] == [1.0, 0.0]


def test_a_failure_ends_with_status_one_and_a_page_with_its_figure(tmp_path: Path) -> None:
    out = tmp_path / "page"
    with pytest.raises(typer.Exit) as ended:
        answer(Request("reno", case="rfc5681-6928/timeout-least", out=out), QUIET)
    assert ended.value.exit_code == 1
    page = (out / PAGE).read_text()
    cell = "rfc5681-6928-timeout-least-reno.html"
    assert f'href="{cell}"' in page
    assert "<svg" in (out / cell).read_text()


IN_SLOW_START, HALF = "tcp_in_slow_start(tp)", "return max(cwnd >> 1, 2U);"
OPS = "static struct tcp_congestion_ops reno_parts __read_mostly = {"
AT_ACKS = f"static void reno_acked(struct sock *sk, u32 flags)\n{{\n%s\n}}\n\n{OPS}\n.in_ack_event = reno_acked,"
TWICE = """
    struct tcp_sock *tp = tcp_sk(sk);
    u32 *lost = inet_csk_ca(sk); /* as the recovery began */

    if (inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery)
        *lost = 0;
    else if (!*lost)
        *lost = tp->lost;
    else if (tp->lost != *lost) {
        tp->snd_ssthresh = max(tp->snd_ssthresh >> 1, 2U);
        *lost = tp->lost;
    }"""
AS_BEFORE = "if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery) tcp_sk(sk)->prior_cwnd = tcp_sk(sk)->snd_ssthresh;"
REPEATS = "tcp_sk(sk)->frto = 0; tcp_sk(sk)->undo_marker = 0;"


@pytest.mark.parametrize(
    ("case", "old", "new", "outcome"),
    [
        ("halving", "cwnd >> 1", "cwnd * 2 / 5", "passed"),
        ("halving", "cwnd >> 1", "cwnd * 7 / 10", "failed"),
        ("timeout-threshold", "cwnd >> 1", "cwnd * 2 / 5", "passed"),
        ("timeout-threshold", "cwnd >> 1", "cwnd * 7 / 10", "failed"),
        ("threshold-least", "cwnd >> 1, 2U", "cwnd >> 1, 1U", "passed"),
        ("threshold-least", "cwnd >> 1, 2U", "cwnd >> 1, 3U", "failed"),
        ("threshold-from-flight", "", "", "failed"),
        ("threshold-from-flight", "tcp_snd_cwnd(tcp_sk(sk));\n\n", "tcp_sk(sk)->packets_out;\n\n", "passed"),
        ("timeout-after-lost-syn-ack", "", "", "passed"),
        ("timeout-after-lost-syn-ack", "/* init */", "inet_csk(sk)->icsk_rto = HZ;", "failed"),
        ("recovery-sends-half", "", "", "passed"),
        ("recovery-sends-half", OPS, AT_ACKS % AS_BEFORE, "failed"),
        ("lost-retransmission", "", "", "failed"),
        ("lost-retransmission", OPS, AT_ACKS % TWICE, "passed"),
        ("spurious-timeout", "return tcp_reno_undo_cwnd(sk);", "return tcp_snd_cwnd(tcp_sk(sk));", "passed"),
        ("spurious-timeout", OPS, AT_ACKS % REPEATS, "failed"),
        ("timeout-slow-start", "", "", "passed"),
        ("timeout-slow-start", IN_SLOW_START, f"{IN_SLOW_START} && tp->snd_ssthresh >= 1000", "failed"),
        ("two-windows-two-reductions", "", "", "passed"),
        ("two-windows-two-reductions", HALF, f"if (tcp_sk(sk)->snd_ssthresh < 1000) return cwnd; {HALF}", "failed"),
    ],
)
def test_a_sender_that_breaks_a_rule_fails(case: str, old: str, new: str, outcome: str, tmp_path: Path) -> None:
    source = (REPO / "packages/conform/mutants/reno.c").read_text()
    (tmp_path / "mine.c").write_text(source.replace(old, new) if old else source)
    (verdict,) = run(Request(str(tmp_path / "mine.c"), case=f"rfc5681-6928/{case}"), QUIET)
    assert verdict.outcome == outcome, verdict.reason


@pytest.mark.parametrize(("least", "outcome"), [(2, "failed"), (1, "passed")])
def test_marks_must_lower_the_window_to_one_segment(least: int, outcome: str, tmp_path: Path) -> None:
    source = (REPO / "packages/conform/mutants/reno.c").read_text()
    (tmp_path / "mine.c").write_text(source.replace("cwnd >> 1, 2U", f"cwnd * 7 / 10, {least}U"))
    (verdict,) = run(Request(str(tmp_path / "mine.c"), case="rfc9438/ecn-least-window"), QUIET)
    assert verdict.outcome == outcome, verdict.reason


def test_a_packet_behind_a_longer_delay_is_lost() -> None:
    (verdict,) = run(Request("hystartpp", case="rfc9406/loss-ends-it"), QUIET)
    assert verdict.outcome == "passed", verdict.reason


def test_a_source_that_does_not_build_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("int x = ;\n")
    assert "mine.c" in error_of(run, Request(str(tmp_path / "mine.c"), case="rfc5681-6928/initial-window"), QUIET)


def test_pytest_runs_cases_and_shows_the_lines_that_matter(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["lab_conform.pytest_plugin"]\n')
    (tmp_path / "reno.conform.yml").write_text("sender: reno\ncase: rfc5681-6928/timeout-least\n")
    (tmp_path / "cubic.conform.yml").write_text("sender: cubic\ncase: rfc5681-6928/halving\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", str(tmp_path)]
    path = ":".join(map(str, (REPO, *(REPO / "packages").glob("*/"))))
    environment = {"PYTHONPATH": path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(Path.home())}
    environment["LAB_RESULTS"] = str(tmp_path / "results")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "1 failed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "first_timeout_ms" in done.stdout
    assert "figure: " in done.stdout
    assert "another rule here" in done.stdout
