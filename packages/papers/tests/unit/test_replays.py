# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays: versions of SEARCH and maps of its parameters over stored downloads, and points that were run."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from lab_papers.evaluation.search import kernel_checks, sensitivity
from lab_papers.evaluation.search.replay import BASE, JUDGES, downloads, varied
from lab_papers.evaluation.truths import shares
from lab_papers.search_replay import BIN, built_versions, exit_pkts, replay, version

from lab.judge.stored import Stored
from lab.runs.experiment import load_experiment
from lab.runs.options import RunOptions
from lab.schema.cca import search_versions
from lab.tables.stored_run import Run
from tests.stored_run import store_run


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored.of(Run(store_run(tmp_path_factory.mktemp("results"), 2, senders=("search", BASE))))


def test_the_library_holds_every_version_with_the_parameters_of_its_file(library: Path) -> None:
    assert set(search_versions()) <= set(built_versions(library))
    assert {version(library, name).params.threshold_pct for name in ("search2", "search4")} == {35}
    assert version(library, "search").params.threshold_pct == 26
    assert version(library, "search31").compact
    assert not version(library, "search2").compact


def test_trials_without_any_class_have_shares_by_both_truths_without_a_value(
    library: Path, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of a few seconds alone among the results."""
    monkeypatch.setattr(sensitivity, "class_of", lambda *_: None)
    replayed = [row for row in shares(stored, sensitivity.versions(stored, library)) if row["replayed"]]
    assert {row["cca"] for row in replayed} >= set(search_versions())
    assert {(row["truth_judged"], row["truth_early_pct"], row["depends"]) for row in replayed} == {(0, None, 0)}


def test_a_replay_has_counts_where_it_compared_and_leaves_once(library: Path, stored: Stored) -> None:
    one = downloads(stored)[0]
    every = replay(library, one.t_us, one.rtt_us, one.delivered_bytes, stop_at_exit=False)
    compared = every.filter(pl.col("norm_pct").is_not_null())
    assert 0 < compared.height < every.height
    assert compared["curr_delv_bytes"].null_count() == compared["prev_delv_bytes"].null_count() == 0
    assert (every.filter(pl.col("norm_pct").is_null())["curr_delv_bytes"].is_null()).all()
    expected = 2 * compared["prev_delv_bytes"]
    shortfall_pct = 100 * (expected - compared["curr_delv_bytes"]) / expected
    assert compared["norm_pct"].to_list() == pytest.approx(shortfall_pct.to_list(), abs=0.11)  # whole permilles
    assert every["exit"].sum() == 1
    stopped = replay(library, one.t_us, one.rtt_us, one.delivered_bytes)
    assert stopped.height == every.filter(pl.col("exit").cum_sum().shift(1, fill_value=0) == 0).height


def test_the_maps_have_every_point_by_both_judges_and_the_published_one_is_the_version_itself(
    library: Path, stored: Stored
) -> None:
    table = sensitivity.maps(stored, library)
    published = version(library, sensitivity.PUBLISHED).params
    expected = list(sensitivity.points(published))
    assert table.height == len(expected) * len(JUDGES)
    assert set(table["scenario"]) == {stored.name}
    by_map = table.group_by("map").len().rows()
    assert dict(by_map) == {name: len(JUDGES) * sum(each == name for each, _, _ in expected) for name, _, _ in expected}


def test_without_a_download_to_replay_over_there_is_no_map(library: Path, tmp_path: Path) -> None:
    none = Stored.of(Run(store_run(tmp_path, 1, senders=("bbr",))))
    assert downloads(none) == []
    assert sensitivity.maps(none, library).is_empty()


def test_a_point_runs_on_the_link_of_a_scenario_that_has_another_sender(library: Path, tmp_path: Path) -> None:
    backend: Any = SimpleNamespace(kernel=SimpleNamespace(replay_library=library), kind="virtual")
    job = kernel_checks._job("geo", {}, 1, tmp_path, backend)
    assert kernel_checks.SENDER not in load_experiment("geo").ccas
    assert list(job.experiment.ccas) == [kernel_checks.SENDER]
    assert job.experiment.profile == load_experiment("geo").profile


def test_a_point_that_was_run_stands_next_to_its_replay(library: Path, tmp_path: Path) -> None:
    stored = Stored.of(Run(store_run(tmp_path, 1, name="thesis-geo", senders=(BASE,))))
    folder = tmp_path / "checks"
    own = store_run(tmp_path / "own", 1, senders=("search",))
    place = folder / stored.name / "published"
    place.mkdir(parents=True)
    (own / "trials" / "search-001").rename(place / f"{kernel_checks.SENDER}-001")
    backend: Any = SimpleNamespace(kernel=SimpleNamespace(replay_library=library), kind="virtual")
    jobs = [kernel_checks._job("thesis-geo", point, 1, folder, backend) for point in kernel_checks.POINTS]
    assert [job.folder.parent.name for job in jobs][:2] == ["published", "window_factor_tenths20-threshold_pct20"]
    assert jobs[1].experiment.ccas[kernel_checks.SENDER].params == kernel_checks.POINTS[1]
    (row,) = kernel_checks._rows("thesis-geo", jobs, {1: downloads(stored)[0]}, library)
    form = version(library, kernel_checks.SENDER).params
    assert (row["window_rtts"], row["threshold"]) == (form.window_factor_tenths / 10, form.threshold_pct / 100)
    assert (row["bins"], row["extra_bins"], row["trial"]) == (form.bins, form.extra_bins, 1)
    replayed_s, kernel_s = row["replayed_exit_s"], row["kernel_exit_s"]
    assert isinstance(replayed_s, float)
    assert isinstance(kernel_s, float)
    assert row["difference_ms"] == pytest.approx(1e3 * (kernel_s - replayed_s))
    assert {row["replayed_class"], row["kernel_class"]} <= {"early", "chokepoint", "late"}


def test_points_that_are_stored_are_not_run_again_and_each_stands_next_to_its_replay(
    library: Path, tmp_path: Path
) -> None:
    stored = Stored.of(Run(store_run(tmp_path, kernel_checks.TRIALS + 1, name="thesis-geo", senders=(BASE,))))
    own = store_run(tmp_path / "own", kernel_checks.TRIALS, senders=("search",))
    backend: Any = SimpleNamespace(kernel=SimpleNamespace(replay_library=library), kind="virtual")
    folder = tmp_path / "checks"
    for point in kernel_checks.POINTS:
        for number in range(1, kernel_checks.TRIALS + 1):
            job = kernel_checks._job("thesis-geo", point, number, folder, backend)
            shutil.copytree(own / "trials" / f"search-00{number}", job.folder)
    table = kernel_checks.run_checks(stored, folder, backend, RunOptions(workers=1))
    assert table["trial"].to_list() == [1, 2] * len(kernel_checks.POINTS)
    published = version(library, kernel_checks.SENDER).params
    points = [varied(published, **point).params for point in kernel_checks.POINTS]
    assert table["window_rtts"].to_list()[::2] == [params.window_factor_tenths / 10 for params in points]
    assert table["threshold"].to_list()[::2] == [params.threshold_pct / 100 for params in points]
    assert table["extra_bins"].to_list()[::2] == [params.extra_bins for params in points]
    assert table["replayed_exit_s"].n_unique() > 2
    assert table["kernel_exit_s"].n_unique() == kernel_checks.TRIALS
    apart_ms = 1e3 * (table["kernel_exit_s"] - table["replayed_exit_s"])
    assert table["difference_ms"].to_list() == pytest.approx(apart_ms.to_list())


def test_a_version_that_keeps_its_window_leaves_with_the_one_that_it_has(library: Path) -> None:
    nothing_counted = np.zeros(1, dtype=BIN)[0]
    assert exit_pkts(library, version(library, "search").params, nothing_counted, 100, 1448) == 100
