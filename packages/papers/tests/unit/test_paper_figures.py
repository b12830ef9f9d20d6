# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab figure` gives each kind of figure to draw, how it names the files, and whose sources it states."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ack_logs import log
from lab_papers.evaluation.kept import sign
from lab_papers.evaluation.recorded.comparison import SCENARIO
from lab_papers.figures import two_runs
from lab_papers.figures.replayed import replayed_bins
from lab_papers.figures.sensitivity import JUDGES
from lab_papers.paper import Sources, drawings
from matplotlib.figure import Figure

from lab.base.errors import UserError
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.style import Drawing
from lab.figures.subject import Subject
from lab.judge.provenance import provenance
from lab.judge.rules import truth
from lab.report.answer import answer_of
from lab.tables.link_capacity import LinkCapacity
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.brief import error_of, present
from tests.first_screen import TWO, of_link
from tests.slow_start_model import download
from tests.stored_run import change, store_run

__all__ = ["log"]  # a fixture
SENDERS = ("search", "cubic")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three stored runs, and two tables of an evaluation."""
    results = tmp_path_factory.mktemp("results")
    for name, senders in (("geo", SENDERS), ("leo", SENDERS), (SCENARIO, ("cubic_plain",))):
        run = store_run(results, 1, name=name, senders=senders)
        change(run, scenario={"profile": name})
        (run.parent / "latest").symlink_to(run.name)
    (results / "evaluation").mkdir()
    maps = {"scenario": ["geo", "geo", "leo"], "map": ["bins", "extra-bins", "bins"]}
    pl.DataFrame(maps).write_parquet(results / "evaluation" / "sensitivity.parquet")
    pl.DataFrame({"scenario": ["geo"]}).write_parquet(results / "evaluation" / "heuristics_trials.parquet")
    sign(results / "evaluation")
    return results


@pytest.fixture(autouse=True)
def results(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_RESULTS", str(folder))
    return folder


class Drawn:
    """A figure that keeps what it was given."""

    def __init__(self, given: Given | None, draw: Callable[..., Drawing | None] | None = None) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.draw = draw or (lambda *_given: Drawing(Figure(), "A line.", "a line that rises"))
        self.figure = PageFigure("line", Place.NO_PAGE, self._draw, of=given)

    def _draw(self, *given: Any) -> Drawing | None:
        self.calls.append(given)
        return self.draw(*given)

    def of(self, *names: str, footer: bool = False) -> dict[str, Drawing]:
        return dict(drawings(self.figure, Sources(names, None), footer))


def sources_of(results: Path, name: str) -> tuple[str, ...]:
    return provenance(Run(results / name / "latest").meta["profile"])


def test_a_figure_of_a_run_is_given_that_run_and_states_where_its_link_is_from(results: Path) -> None:
    drawn = Drawn(Given.RUN)
    (drawing,) = drawn.of("leo").values()
    ((run,),) = drawn.calls
    assert run.name == "leo"
    assert drawing.provenance == sources_of(results, "leo") != ()


def test_a_figure_of_a_trial_is_drawn_once_per_sender_and_one_of_trials_is_given_all() -> None:
    each, together = Drawn(Given.TRIAL), Drawn(Given.TRIALS)
    assert set(each.of("geo")) == {f"line-{cca}" for cca in SENDERS}
    assert set(together.of("geo")) == {"line"}
    ((subjects,),) = together.calls
    assert [subject.trial.cca for subject in subjects] == [subject.trial.cca for (subject,) in each.calls]
    assert all(isinstance(subject, Subject) for subject in subjects)


def test_a_figure_of_one_run_is_refused_for_none_and_for_two() -> None:
    for names in ((), ("geo", "leo")):
        assert "must be one run for this figure" in error_of(Drawn(Given.RUN).of, *names)
    with pytest.raises(UserError, match="--run=nothing: must be the folder of a sweep, such as results/sweeps/geo/"):
        Drawn(Given.SWEEP).of()


def test_a_figure_of_a_run_with_a_damaged_trial_is_refused_as_its_report_is(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=SENDERS)
    os.truncate(run / "trials" / "cubic-001" / "acks.parquet", 100)
    line = error_of(Drawn(Given.TRIAL).of, str(run))
    assert "cubic-001/acks.parquet: sha256=" in line
    assert error_of(answer_of, run) == line


def test_a_figure_of_runs_has_the_named_ones_in_their_order_else_the_fullest_of_each_link(results: Path) -> None:
    drawn = Drawn(Given.RUNS)
    (both,), (one,), (every,) = (drawn.of(*names).values() for names in (("leo", "geo"), ("leo",), ()))
    assert [run.name for run in drawn.calls[0][0]] == ["leo", "geo"]
    assert len({run.name for run in drawn.calls[2][0]}) == len(drawn.calls[2][0]) > 0
    assert (both.provenance, one.provenance) == ((), sources_of(results, "leo"))  # two links have no common source
    (same,) = drawn.of("leo", "leo").values()  # two runs of one link
    assert same.provenance == one.provenance
    assert every.alt == "a line that rises"


def test_a_figure_of_the_rules_is_given_their_scores_and_the_links_of_the_runs() -> None:
    drawn = Drawn(Given.RULES)
    assert set(drawn.of("geo")) == {"line"}
    ((table, links),) = drawn.calls
    assert table["scenario"].to_list() == ["geo"]
    assert links == {"geo": "A link in theory"}


def test_a_map_is_drawn_per_scenario_kind_and_judge() -> None:
    drawn = Drawn(Given.MAP)
    places = [("geo", "bins"), ("geo", "extra-bins"), ("leo", "bins"), ("leo", "extra-bins")]
    assert list(drawn.of()) == [f"line-{name}-{kind}-{judge}" for name, kind in places for judge in JUDGES]
    assert [call[1:] for call in drawn.calls[: len(JUDGES)]] == [
        ("bins", judge, "geo", "A link in theory") for judge in JUDGES
    ]
    assert len(drawn.of("leo")) == 2 * len(JUDGES)


@pytest.mark.parametrize(("given", "table"), [(Given.RULES, "heuristics_trials"), (Given.MAP, "sensitivity")])
def test_without_the_evaluation_the_command_that_makes_it_is_named(
    given: Given, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    with pytest.raises(UserError, match=rf"evaluation: must have {table}\.parquet: run `lab evaluate`"):
        Drawn(given).of()


def test_downloads_are_compared_with_the_recordings_that_are_named(log: str, results: Path) -> None:
    drawn = Drawn(Given.DOWNLOADS)
    (drawing,) = drawn.of(SCENARIO, log).values()
    ((comparison,),) = drawn.calls
    assert comparison.run.startswith(SCENARIO)
    assert [Path(log).stem in each.name for each in comparison.recorded] == [True]
    assert drawing.provenance == sources_of(results, SCENARIO)


def test_without_a_name_the_run_next_to_the_recorded_downloads_is_the_scenario_made_for_them(
    log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab_papers.paper.fetched", lambda: [log])
    drawn = Drawn(Given.DOWNLOADS)
    assert set(drawn.of()) == {"line"}
    assert drawn.calls[0][0].run.startswith(SCENARIO)


def test_a_figure_of_a_recording_has_the_plain_name_of_its_file(log: str) -> None:
    drawn = Drawn(Given.RECORDING)
    assert set(drawn.of(log)) == {f"line-{Path(log).name}"}
    ((recording, name),) = drawn.calls
    assert (name, recording.frame.height > 0) == (Path(log).name, True)


def test_what_has_nothing_to_draw_makes_no_file() -> None:
    assert Drawn(Given.RUN, lambda _run: None).of("geo") == {}


def test_a_figure_that_states_not_what_it_is_drawn_from_is_refused() -> None:
    assert "line: of=None: must be" in error_of(Drawn(None).of, "geo")


def test_replayed_over_a_slow_start_into_a_full_link_search_leaves_after_the_capacity(library: Path) -> None:
    path = model.Path(rate_mbps=80, base_rtt_ms=200, buffer_bytes=8_000_000, duration_s=4)
    tables = download(path).tables()
    capacity_s = present(truth.capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms)))
    bins = replayed_bins(tables["acks"], library)
    # 2 to 3 RTTs, each of them longer than the base RTT by then.
    assert capacity_s < bins.filter("exit")["t_s"][0] < capacity_s + 6 * path.base_rtt_ms / 1000
    assert bins.filter(pl.col("t_s") < capacity_s)["norm_pct"].drop_nulls().len() > 0


def test_two_runs_of_a_link_lie_over_each_other_sender_by_sender(tmp_path: Path) -> None:
    geo = of_link(tmp_path, "geo-viasat")
    drawing = two_runs.draw([geo, geo])
    assert drawing
    assert [len(axis.lines) for axis in drawing.figure.axes] == [2] * 2 * len(TWO)
    solid, dashed = drawing.figure.axes[0].lines
    assert np.array_equal(np.asarray(solid.get_xydata()), np.asarray(dashed.get_xydata()))
    assert solid.get_linestyle() != dashed.get_linestyle()


def test_only_two_runs_of_one_link_are_laid_over_each_other(tmp_path: Path) -> None:
    geo, leo = (of_link(tmp_path, name) for name in ("geo-viasat", "leo-starlink"))
    for runs in ([], [geo], [geo, leo], [geo] * 3):
        assert "must be two runs of one link" in error_of(two_runs.draw, runs)
