# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays of SEARCH's core: where they end, versions and maps of its parameters, and points that were run."""

import shutil
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from lab_papers.evaluation.rules.scores import shares
from lab_papers.evaluation.search import kernel_checks, sensitivity
from lab_papers.evaluation.search.replay import BASE, JUDGES, downloads, varied
from lab_papers.search_replay import (
    BIN,
    EXIT,
    FRACTION,
    PRINTED,
    SENT,
    SearchParams,
    built_versions,
    exit_pkts,
    replay,
    replay_bins,
    version,
)

from lab.base.errors import UserError
from lab.judge.ack_stream import ack_stream
from lab.judge.stored import Stored
from lab.runs.experiment import load_experiment
from lab.runs.options import RunOptions
from lab.runs.trial import Job
from lab.schema.cca import search_versions
from lab.tables.stored_run import Run
from tests.approved import approved
from tests.slow_start_model import download
from tests.stored_run import LINK, store_run


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
    monkeypatch.setattr(sensitivity, "judged", lambda *_: (None, None))
    replayed = [row for row in shares(stored, sensitivity.versions(stored, library)) if row["replayed"]]
    assert {row["cca"] for row in replayed} >= set(search_versions())
    assert {(row["truth_judged"], row["truth_early_pct"], row["depends"]) for row in replayed} == {(0, None, 0)}


def test_a_replay_has_counts_where_it_compared_and_leaves_once(library: Path, stored: Stored) -> None:
    one = next(downloads(stored))
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
    assert not [*downloads(none)]
    assert sensitivity.maps(none, library).is_empty()


def test_a_point_runs_on_the_link_of_a_scenario_that_has_another_sender(library: Path, tmp_path: Path) -> None:
    backend: Any = SimpleNamespace(kernel=SimpleNamespace(replay_library=library), kind="virtual")
    job = kernel_checks._job("geo", {}, 1, tmp_path, backend)
    assert kernel_checks.SENDER not in load_experiment("geo").ccas
    assert list(job.experiment.ccas) == [kernel_checks.SENDER]
    assert job.experiment.profile == load_experiment("geo").profile
    changed = kernel_checks._job("geo", kernel_checks.POINTS[1], 1, tmp_path, backend)
    names = ("published", "window_factor_tenths20-threshold_pct20")
    assert (job.folder.parent.name, changed.folder.parent.name) == names
    assert changed.experiment.ccas[kernel_checks.SENDER].params == kernel_checks.POINTS[1]


def test_stored_points_are_not_run_again_and_each_stands_next_to_its_replay(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Job] = []
    monkeypatch.setattr(kernel_checks, "run_jobs", lambda jobs, _: map(given.append, jobs))
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
    assert table["bins"].to_list()[::2] == [params.bins for params in points]
    assert {*table["replayed_class"], *table["kernel_class"]} <= {"early", "chokepoint", "late"}
    assert table["replayed_exit_s"].n_unique() > 2
    assert table["kernel_exit_s"].n_unique() == kernel_checks.TRIALS
    apart_ms = 1e3 * (table["kernel_exit_s"] - table["replayed_exit_s"])
    assert table["difference_ms"].to_list() == pytest.approx(apart_ms.to_list())
    assert given == []
    shutil.rmtree(job.folder)
    assert kernel_checks.run_checks(stored, folder, backend, RunOptions(workers=1)).equals(table[:-1])
    assert [each.folder for each in given] == [job.folder]  # which failed, so it has no row


def test_a_version_that_keeps_its_window_leaves_with_the_one_that_it_has(library: Path) -> None:
    nothing_counted = np.zeros(1, dtype=BIN)[0]
    assert exit_pkts(library, version(library, "search").params, nothing_counted, 100, 1448) == 100


@pytest.fixture(scope="module")
def stream() -> pl.DataFrame:
    """The ACKs of a sender that goes on until it loses something."""
    return ack_stream(download(LINK).tables()["acks"])


def bins(library: Path, stream: pl.DataFrame, **more: Any) -> pl.DataFrame:
    return replay(library, stream["t_us"], stream["rtt_us"], stream["delivered_bytes"], **more)


def test_each_bin_has_the_round_trip_of_its_ack(library: Path, stream: pl.DataFrame) -> None:
    found = bins(library, stream)
    known = dict(zip(stream["t_us"], stream["rtt_us"], strict=True))
    assert found["rtt_ms"].to_list() == pytest.approx([known[round(t_s * 1e6)] / 1e3 for t_s in found["t_s"]])


@pytest.mark.parametrize("wrong", [{"bins": 0}, {"extra_bins": 201}, {"threshold_pct": 0}])
def test_parameters_the_kernel_module_would_refuse_are_refused(
    library: Path, stream: pl.DataFrame, wrong: dict[str, int]
) -> None:
    with pytest.raises(UserError, match="must be within the ranges"):
        bins(library, stream, params=SearchParams(**wrong))


def test_a_column_that_has_no_value_for_an_ack_is_refused(library: Path, stream: pl.DataFrame) -> None:
    with pytest.raises(ValueError, match=rf"^shape=\(3,\): must be one value per ACK, \({stream.height},\)$"):
        bins(library, stream, sent_bytes=[0, 0, 0])
    with pytest.raises(ValueError, match=r"^sent_bytes=None: must be given to versions that expect what was sent$"):
        bins(library, stream, params=SearchParams(expected=SENT))


def test_without_parameters_the_core_is_algorithm_1_of_the_thesis(library: Path, stream: pl.DataFrame) -> None:
    """Windows of 3.5 round trips in 10 bins, 15 bins more to look back, and an exit at 35 %; nothing added later."""
    chosen = {"window_factor_tenths": 35, "bins": 10, "extra_bins": 15, "threshold_pct": 35, "interpolation": FRACTION}
    assert asdict(PRINTED) == dict.fromkeys(asdict(PRINTED), 0) | chosen
    for changed in ({"window_factor_tenths": 36}, {"bins": 11}, {"threshold_pct": 20}):
        other = bins(library, stream, params=SearchParams(**changed), stop_at_exit=False)
        assert not other.equals(bins(library, stream, stop_at_exit=False))


def test_each_version_replays_a_download_as_approved(library: Path, stream: pl.DataFrame) -> None:
    """Its parameters, what it compares, when it leaves, and with which window; each twentieth bin."""
    sent = stream["delivered_bytes"] + 100 * 1448
    lines = []
    for name in sorted(built_versions(library)):
        known = version(library, name)
        found = replay_bins(
            library,
            stream["t_us"],
            stream["rtt_us"],
            stream["delivered_bytes"],
            known.params,
            sent_bytes=sent,
            compact=known.compact,
        )
        chosen = {field: value for field, value in asdict(known.params).items() if value}
        windows = [exit_pkts(library, known.params, row, 1000, 1448) for row in found[found["verdict"] == EXIT]]
        lines.append(f"{name}: {chosen}, compact={known.compact}: {len(found)} bins, leaves with {windows}")
        lines += [f"{name}: {row}" for row in found[::20].tolist()]
    expected = approved("replays.txt", "\n".join(lines) + "\n").splitlines()
    names = {line.split(":")[0] for line in expected}  # a new version waits for its approval
    assert [line for line in lines if line.split(":")[0] in names] == expected
    with pytest.raises(UserError, match=r"SEARCH_NAME=none: must be one of .*search2"):
        version(library, "none")
    with pytest.raises(UserError, match=r"must be within the ranges of lab/kernel/search/search_core\.h$"):
        bins(library, stream, params=SearchParams(bins=0))
