# SPDX-License-Identifier: GPL-2.0-or-later
"""What a terminal shows of trials: a bar that fits, the reason of each invalid trial, the answer before any picture."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from lab.base.errors import UserError
from lab.commands.progress import TrialBar, watched
from lab.commands.report import forms_of, report
from lab.runs.execute import OpenRun
from lab.runs.trial import Job
from tests.conftest import SMALL, experiment_on
from tests.stored_run import store_run
from tests.unit.test_one_boot import VIRTUAL

WIDTH = 80
INVALID = "invalid, in no result: bbr-003: capture drops 7 packets where 0 was requested"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stored run whose report is not kept yet; its last trial of bbr is invalid."""
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    return store_run(tmp_path / "results", senders=("search", "bbr"))


def terminal(width: int = WIDTH, is_terminal: bool = False) -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, width=width, force_terminal=is_terminal, color_system=None), text


def test_an_invalid_trial_of_a_campaign_is_a_line_with_its_reason(run: Path) -> None:
    experiment = experiment_on(SMALL, "bbr")
    job = Job(experiment, "bbr", 3, run / "trials" / "bbr-003", VIRTUAL)
    console, text = terminal(200)
    with TrialBar(console, many_runs=True) as bar:
        bar.begin([job])
        bar.trial_ended(job, json.loads((job.folder / "trial.json").read_text()))
        bar.run_ended(OpenRun(experiment, run, [job], 0))
    assert f"{experiment.name}: 1 trials run\n{experiment.name}: {INVALID}\n" in text.getvalue()


def test_the_answer_is_one_row_per_sender_the_reasons_and_a_sentence_at_80_columns(run: Path) -> None:
    console, text = terminal()
    answer = report(run, None, console)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    rows = [line.split() for line in lines if line.endswith(("7.0", "6.5"))]
    assert next(row[-8:] for row in rows) == ["3", "of", "3", "0", "of", "3", "1.4", "7.0"]
    assert len(rows) == len(answer.run.ccas)
    assert INVALID in lines
    assert lines[-5].startswith("By the bottleneck's own queue, once it stands for good, SEARCH 2.0 + fixes left slow")
    assert [line.split()[0] for line in lines[-4:]] == ["page", "figures", "summary", "raw"]


def test_a_terminal_wraps_sentences_and_no_path_and_shows_long_tables_on_request(run: Path) -> None:
    console, text = terminal(is_terminal=True)
    report(run, None, console)
    lines = text.getvalue().splitlines()
    assert any(line.rstrip().endswith("left") for line in lines if line.startswith("By the bottleneck's own queue"))
    assert f"page      {run / 'report.html'}\n" in text.getvalue()
    console, text = terminal()
    report(run, None, console)
    assert "Where senders leave slow start" not in text.getvalue()
    report(run, None, console, verbose=True)
    assert "Where senders leave slow start" in text.getvalue()
    assert "Judged as in the papers" in text.getvalue()


def test_the_answer_is_there_before_a_figure_is_drawn(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console, text = terminal()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lab.report.write.draw", interrupted)
    with pytest.raises(KeyboardInterrupt):
        report(run, None, console)
    assert "By the bottleneck's own queue" in text.getvalue()


def test_a_bar_counts_in_a_terminal_and_leaves_no_line_in_a_file() -> None:
    for is_terminal in (True, False):
        console, text = terminal(is_terminal=is_terminal)
        assert list(watched(console, "drawing")(iter("abc"), 3)) == ["a", "b", "c"]
        assert ("3/3 parts" in text.getvalue()) == is_terminal
        assert bool(text.getvalue()) == is_terminal


def test_a_form_that_no_figure_has_is_refused() -> None:
    assert forms_of("pdf, png") == ("pdf", "png")
    assert forms_of(None) == ()
    with pytest.raises(UserError, match=r"^command line: format=gif: must be one of svg, png, pdf$"):
        forms_of("gif")
