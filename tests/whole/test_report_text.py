# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as text: sentences about a link, what a terminal shows, and what the trial browser draws."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from lab.base.named_files import profile_files
from lab.commands.progress import TrialBar, watched
from lab.commands.report import forms_of, report
from lab.judge.provenance import mark, provenance
from lab.links.profile import read_profile
from lab.report.answer import answer_of
from lab.report.browser import series
from lab.report.browser.series import BUCKETS, FOCUS, MOST_EVENTS
from lab.report.table import Group, Row, Table, short
from lab.report.text import NARROW_CHARS, shown
from lab.runs.execute import OpenRun
from lab.runs.trial import Job
from lab.tables.stored_run import Run
from tests.brief import error_of
from tests.conftest import SMALL, experiment_on
from tests.stored_run import store_run
from tests.unit.test_one_boot import VIRTUAL


@pytest.mark.parametrize("name", sorted(profile_files()))
def test_every_profile_as_run_json_keeps_it_has_its_sentences(name: str) -> None:
    profile = read_profile(profile_files()[name])
    kept = json.loads(json.dumps(profile.model_dump()))
    recorded, published, assumed, *_ = provenance(kept)
    assert recorded.startswith("Recorded of the link: ")
    assert published.startswith("Published of the link: ")
    assert assumed.startswith("Assumed of the link: ")


def test_a_link_states_the_kinds_of_its_values_and_the_spreads_of_its_levels() -> None:
    assert mark({"recorded": ["a"], "published": [], "assumed": ["b"]}) == "Link: recorded, assumed"
    assert mark({}) == "Link: without a source"
    spreads = {"mean": 285, "ln_sd": 0.5, "between_ln_sd": 0.593}
    levels = {"model": "levels", "period_s": 0.2, "least": 5, "most": float("inf"), "source": "a paper", **spreads}
    *_, sentence = provenance(json.loads(json.dumps({"down": {"rate_mbps": levels}})))
    assert sentence.startswith("Levels of down.rate_mbps: ")
    assert all(number in sentence for number in ("285", "0.5", "0.593")), sentence


FIGURES = tuple(f"Time {number} of 12 (ms)" for number in range(9))
CELLS = tuple(f"+{number}00 [+90 to +110]*" for number in range(9))
OF_ONE_ROW = Table("costs", "What it costs.", FIGURES, (Group("CUBIC", (Row(CELLS),)), Group("SEARCH", (Row(CELLS),))))
OF_TWO_ROWS = Table(
    "classes",
    "Where senders leave.",
    ("Judged by", *FIGURES),
    (Group("CUBIC", (Row(("the truth", *CELLS)), Row(("the time rule", *CELLS)))),),
)


def printed(table: Table, width: int) -> list[str]:
    console = Console(record=True, width=width)
    console.print(shown([], [table], width))
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", [48, 80, NARROW_CHARS, 150, 300])
@pytest.mark.parametrize("table", [OF_ONE_ROW, OF_TWO_ROWS], ids=["one row", "two rows"])
def test_every_cell_is_whole_at_every_width(table: Table, width: int) -> None:
    lines = printed(table, width)
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if "…" in line]
    cells = [short(cell) if width < NARROW_CHARS else cell for cell in CELLS]
    words = " ".join(lines)
    assert all(words.count(cell) == sum(len(group.rows) for group in table.groups) for cell in cells)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_table_without_a_figure_names_its_senders(rows: int) -> None:
    names = ("CUBIC", "SEARCH")[:rows]
    table = Table("ranks", "No trial was valid.", ("Sender",), (Group("GEO", tuple(Row((name,)) for name in names)),))
    text = " ".join(printed(table, 80))
    assert "No trial was valid." in text
    assert all(name in text for name in names)


def test_each_part_of_a_wide_table_names_senders_and_rows_down_to_a_column_a_part() -> None:
    lines = [line.split() for line in printed(OF_TWO_ROWS, 80)]
    parts = [line for line in lines if line and line[-1].startswith("+") and "truth" in line]
    assert len(parts) > 1
    assert all(line[:3] == ["CUBIC", "the", "truth"] for line in parts)
    cells = ("1" * 30, "2" * 30, "3" * 30)
    table = Table("t", "A table.", ("x", "y", "z"), (Group("all", (Row(cells),)),))
    narrow = printed(table, 60)
    assert max(map(len, narrow)) <= 60
    assert [sum(cell in line for line in narrow) for cell in cells] == [1, 1, 1]


def test_a_cell_without_its_interval_keeps_its_star() -> None:
    cells = ("+100 [+90 to +110]*", "+100 [+90 to +110]", "13.7 (1.7)")
    assert [short(cell) for cell in cells] == ["+100*", "+100", "13.7"]


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
    assert f"{experiment.name}: 1 trial run\n{experiment.name}: {INVALID}\n" in text.getvalue()


def test_the_answer_is_one_row_per_sender_the_reasons_and_a_sentence_at_80_columns(run: Path) -> None:
    console, text = terminal()
    report(run, console)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    rows = [line.split() for line in lines if line.endswith(("7.0", "6.5"))]
    assert next(row[-8:] for row in rows) == ["3", "of", "3", "0", "of", "3", "1.4", "7.0"]
    assert len(rows) == len(Run(run).ccas)
    assert INVALID in lines
    assert "Where senders leave slow start" not in text.getvalue()
    assert lines[-5].startswith("By the bottleneck's own queue, once it stands for good, SEARCH 2.0 + fixes left slow")
    assert [line.split()[0] for line in lines[-4:]] == ["page", "figures", "summary", "raw"]


def test_a_trial_that_is_no_longer_stored_is_named_in_the_terminal_and_in_every_form(run: Path) -> None:
    shutil.rmtree(run / "trials" / "search-002")
    console, text = terminal()
    report(run, console)
    sentence = "Not stored, so not counted: search-002."
    for shown_in in (
        text.getvalue(),
        *((run / name).read_text() for name in ("summary.md", "summary.txt", "report.html")),
    ):
        assert sentence in shown_in


def test_a_terminal_wraps_sentences_and_no_path_and_shows_long_tables_on_request(run: Path) -> None:
    console, text = terminal(is_terminal=True)
    report(run, console)
    lines = text.getvalue().splitlines()
    assert any(line.rstrip().endswith("left") for line in lines if line.startswith("By the bottleneck's own queue"))
    assert f"page      {run / 'report.html'}\n" in text.getvalue()
    console, text = terminal()
    report(run, console, verbose=True)
    assert "Where senders leave slow start" in text.getvalue()
    assert "Judged as in the papers" in text.getvalue()


def test_the_answer_is_there_before_a_figure_is_drawn(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console, text = terminal()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lab.report.write.draw", interrupted)
    with pytest.raises(KeyboardInterrupt):
        report(run, console)
    assert "By the bottleneck's own queue" in text.getvalue()


@pytest.mark.parametrize(
    ("change", "width", "is_judged", "is_same"),
    [
        (lambda _run: None, WIDTH, False, True),
        (lambda run: shutil.rmtree(run / "trials" / "search-002"), WIDTH, True, False),
        (lambda run: (run / "figures" / "exit_times.svg").unlink(), WIDTH, True, True),
        (lambda _run: None, 60, True, False),
    ],
    ids=["nothing", "a trial", "a lost figure", "a narrower terminal"],
)
def test_an_answer_is_printed_again_without_a_judgement_where_nothing_changed(
    run: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    width: int,
    is_judged: bool,
    is_same: bool,
) -> None:
    console, before = terminal()
    report(run, console)
    change(run)
    judge = Mock(wraps=answer_of)
    monkeypatch.setattr("lab.report.answer.answer_of", judge)
    console, after = terminal(width)
    report(run, console)
    assert judge.called == is_judged
    assert (before.getvalue() == after.getvalue()) == is_same


def test_a_damaged_trial_is_refused_where_its_report_is_there(run: Path) -> None:
    report(run, terminal()[0])
    with (run / "trials" / "search-002" / "acks.parquet").open("a") as file:
        file.write("x")
    console, text = terminal()
    assert "search-002/acks.parquet: sha256=" in error_of(report, run, console)
    assert not text.getvalue()


def test_a_bar_counts_in_a_terminal_and_leaves_no_line_in_a_file() -> None:
    for is_terminal in (True, False):
        console, text = terminal(is_terminal=is_terminal)
        assert list(watched(console, "drawing")(iter("abc"), 3)) == ["a", "b", "c"]
        assert ("3/3 parts" in text.getvalue()) == is_terminal
        assert bool(text.getvalue()) == is_terminal


def test_a_form_that_no_figure_has_is_refused() -> None:
    assert forms_of("pdf, png") == ("pdf", "png")
    assert forms_of(None) == ()
    assert error_of(forms_of, "gif") == "command line: format=gif: must be one of svg, png, pdf"


def test_half_of_the_stretches_lie_in_slow_start_and_each_has_its_extremes() -> None:
    edges_s = series._edges_s(30.0, 4.0)
    assert len(edges_s) == BUCKETS + 1
    assert edges_s[BUCKETS // 2] == 4.0 * FOCUS
    assert np.allclose(np.diff(edges_s[: BUCKETS // 2 + 1]), 5.0 / (BUCKETS // 2))
    assert np.allclose(np.diff(edges_s[BUCKETS // 2 :]), 25.0 / (BUCKETS // 2))
    assert (edges_s[0], edges_s[-1]) == (0.0, 30.0)
    values = pl.DataFrame({"t_s": [0.0, 0.5, 2.0, 2.9, 4.0], "value": [5.4, 1.6, 7.0, 3.0, 9.0]})
    found = series._ranges(values, np.array([0.0, 1.0, 2.0, 3.0, 4.0]), 0.1)
    assert found == {"step": 0.1, "low": [2, None, 1, 6], "high": [5, None, 2, 2]}
    qdisc = pl.DataFrame({"t_s": [-0.5, -0.2, 0.1, 0.2, 0.3, None], "drops_pkts": [0, 1, 1, 3, 4, 5]})
    assert series._drops_ms(qdisc) == [200.0, 300.0]


@pytest.mark.parametrize("last_moment_s", [None, 24.0, 29.0])
def test_stretches_are_alike_where_slow_start_has_no_end_or_lasts_to_the_end(last_moment_s: float | None) -> None:
    edges_s = series._edges_s(30.0, last_moment_s)
    assert np.allclose(edges_s, np.linspace(0, 30.0, BUCKETS + 1))


@pytest.mark.parametrize(
    ("events", "every"), [(0, 1), (1, 1), (MOST_EVENTS, 1), (MOST_EVENTS + 1, 2), (3 * MOST_EVENTS, 3)]
)
def test_many_events_are_thinned_evenly_and_counted(events: int, every: int) -> None:
    times_ms = [float(number) for number in range(events)]
    assert series._thin(times_ms) == {"count": events, "ms": times_ms[::every]}
