# SPDX-License-Identifier: GPL-2.0-or-later
"""A module that forges the record of its exit gets nothing for it; the same rule without forgery does."""

from pathlib import Path

import pytest
from lab_course.assignment import HIDDEN_PART, find_assignment
from lab_course.bench import Bench
from lab_course.rehearse import KEY, STUDENT
from lab_course.submission import Submission
from lab_course.work import Download, Work

from lab.backends.virtual import Virtual
from lab.base import paths, sandbox_mode
from lab.base.errors import UserError
from lab.images.image import Image
from lab.kernel.build import Kernel

FORGED = paths.REPO / "tests/hostile/escapes/forged_exit.c"
DURATION_S, FILE = 4, "rule.c"
WORDS = {"FORGE_EARLY": "and the flight grew on to", "FORGE_LATE": "the flight had stopped growing"}


@pytest.fixture
def bench(tmp_path: Path, kernel: Kernel, world: Image, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return Bench.on(Virtual(kernel, world))


def work(bench: Bench, source: str) -> Work:
    return Work(find_assignment("6"), Submission(Path("in"), STUDENT, {FILE: source.encode()}), bench, HIDDEN_PART, KEY)


@pytest.mark.attack("a submission forges the record of its exit from slow start")
@pytest.mark.parametrize("forgery", WORDS)
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_a_forged_exit_is_refused_by_the_packets(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, mode: str, forgery: str
) -> None:
    monkeypatch.setenv(sandbox_mode.VARIABLE, mode)
    submitted = work(bench, FORGED.read_text().replace("enum {", f"#define FORGE {forgery}\nenum {{", 1))
    with pytest.raises(UserError, match=f"slow_start_left=.* must be an exit that the packets show.*{WORDS[forgery]}"):
        submitted.run(FILE, "far", submitted.seed(), Download(DURATION_S))


def test_a_module_that_writes_what_the_kernel_traces_of_its_socket_has_no_points(bench: Bench) -> None:
    solution = (find_assignment("6").folder / "teacher/solution" / FILE).read_text()
    record = 'slow_start_left(sk, tcp_snd_cwnd(tp), tp->rack.rtt_us, "my_rule");'
    submitted = work(bench, solution.replace(record, f"{record}\n\t\ttp->srtt_us = 8;"))
    with pytest.raises(UserError, match=r"^a trial: smallest smoothed round trip, at least .* must be valid"):
        submitted.run(FILE, "far", submitted.seed(), Download(DURATION_S))


def test_a_rule_that_leaves_when_it_says_so_is_judged(bench: Bench) -> None:
    solution = find_assignment("6").folder / "teacher/solution" / FILE
    submitted = work(bench, solution.read_text())
    assert submitted.run(FILE, "far", submitted.seed(), Download(DURATION_S)).exit
