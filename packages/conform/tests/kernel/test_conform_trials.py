# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases on real senders: what passes, what fails, what never comes, and the same bytes again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stack_files
import typer
from lab_conform.command import Request, answer, run
from lab_conform.page import PAGE
from rich.console import Console

from bench.conform_mutants import Mutant, all_mutants, noticed, verdicts_of
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


MUTANTS = [each for each in all_mutants() if each.of == "reno" and each.suite in ("rfc5681-6928", "rfc8985")]
HALF = "cwnd >> 1, 2U"
OPS = "static struct tcp_congestion_ops reno_parts __read_mostly = {"
TWICE = f"""
static void reno_acked(struct sock *sk, u32 flags)
{{
    struct tcp_sock *tp = tcp_sk(sk);
    u32 *lost = inet_csk_ca(sk); /* as the recovery began */

    if (inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery)
        *lost = 0;
    else if (!*lost)
        *lost = tp->lost;
    else if (tp->lost != *lost) {{
        tp->snd_ssthresh = max(tp->snd_ssthresh >> 1, 2U);
        *lost = tp->lost;
    }}
}}

{OPS}
    .in_ack_event = reno_acked,"""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.case}: {mutant.name}")
def test_a_case_notices_the_fault_of_its_rule(bench: Bench, mutant: Mutant) -> None:
    ((original, mutated),) = verdicts_of([mutant], bench.backend)
    assert noticed(original, mutated), f"{original.reason}; {mutated.reason}"


@pytest.mark.parametrize(
    ("case", "old", "new", "outcome"),
    [
        ("rfc5681-6928/halving", "cwnd >> 1", "cwnd * 2 / 5", "passed"),
        ("rfc5681-6928/timeout-threshold", "cwnd >> 1", "cwnd * 2 / 5", "passed"),
        ("rfc5681-6928/threshold-least", HALF, "cwnd >> 1, 1U", "passed"),
        ("rfc5681-6928/threshold-from-flight", "", "", "failed"),
        (
            "rfc5681-6928/threshold-from-flight",
            "tcp_snd_cwnd(tcp_sk(sk));\n\n",
            "tcp_sk(sk)->packets_out;\n\n",
            "passed",
        ),
        ("rfc5681-6928/lost-retransmission", "", "", "failed"),
        ("rfc5681-6928/lost-retransmission", OPS, TWICE, "passed"),
        (
            "rfc5681-6928/spurious-timeout",
            "return tcp_reno_undo_cwnd(sk);",
            "return tcp_snd_cwnd(tcp_sk(sk));",
            "passed",
        ),
        ("rfc9438/ecn-least-window", HALF, "cwnd * 7 / 10, 2U", "failed"),
        ("rfc9438/ecn-least-window", HALF, "cwnd * 7 / 10, 1U", "passed"),
    ],
)
def test_a_sender_that_obeys_passes_and_one_that_breaks_a_rule_fails(
    case: str, old: str, new: str, outcome: str, tmp_path: Path
) -> None:
    source = (REPO / "packages/conform/mutants/reno.c").read_text()
    (tmp_path / "mine.c").write_text(source.replace(old, new) if old else source)
    (verdict,) = run(Request(str(tmp_path / "mine.c"), case=case), QUIET)
    assert verdict.outcome == outcome, verdict.reason


@pytest.mark.parametrize(
    ("control", "case", "outcome"),
    [
        ("halves", "initial-window", "passed"),
        ("twenty", "initial-window", "failed"),
        ("halves", "packet-threshold", "failed"),  # a single packet that is late halves its window
        ("halves", "persistent-congestion", "failed"),  # it keeps its window
        ("halves", "pto-backoff", "failed"),  # each of its waits is a second
    ],
)
def test_a_stack_that_breaks_a_rule_of_quic_fails(control: str, case: str, outcome: str, tmp_path: Path) -> None:
    stack = stack_files.written(tmp_path, controls=[control])
    (verdict,) = run(Request(f"{stack}:{control}", case=f"rfc9002/{case}"), QUIET)
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
