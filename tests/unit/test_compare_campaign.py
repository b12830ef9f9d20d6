# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison's runs: how they grow, what they take over from earlier ones, and a campaign that fails throughout."""

import errno
import json
import os
import shutil
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from lab.backends.backend import Site
from lab.backends.virtual import Virtual
from lab.base.errors import UserError
from lab.evaluation.compare import record
from lab.evaluation.compare.campaign import State, campaign, looks_of
from lab.evaluation.compare.comparison import Comparison, known_senders
from lab.evaluation.compare.measures import PRIMARY
from lab.evaluation.compare.results import results as results_of
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs import run_folder
from lab.runs.execute import Observer
from lab.runs.find_run import grown_since
from lab.runs.link_kinds import KINDS, links
from lab.runs.options import RunOptions
from lab.runs.reuse import reuse
from lab.tables.digests import write_with_digest
from lab.tables.stored_run import Run
from tests.stored_run import store_run
from tests.unit.test_runs_that_fail import Watched

WIRED = KINDS["wired"]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


def site(folder: Path, modules: str = "m", kernel: str = "k") -> Site:
    """A machine whose kernel was removed since."""
    gone = folder / "gone"
    digests = {"kernel_source": "Linux 6.12.48", "kernel_digest": kernel, "modules_digest": modules}
    return Virtual(Kernel(gone / "obj/linux", gone, gone, gone, digests), Image(gone, "w", {}, {})).site


def compared(*ccas: str, trials: int = 8) -> Comparison:
    return Comparison([ccas[0]], known_senders(ccas), links(["wired"]), trials, duration_s=1)


def test_a_run_that_grows_keeps_its_first_trials_and_their_seeds(results: Path, tmp_path: Path) -> None:
    few, many = (compared("cubic", "bbr").experiment(WIRED, trials) for trials in (2, 5))
    folder = run_folder.create(few, site(tmp_path))
    seeds = Run(folder).meta["seeds"]
    assert grown_since(folder.name)(many, site(tmp_path)) == folder
    assert Run(folder).meta["seeds"][:2] == seeds
    assert Run(folder).scenario["trials"] == len(Run(folder).meta["seeds"]) == 5
    assert grown_since(folder.name)(few, site(tmp_path)) == folder  # a look of before: nothing shrinks
    assert Run(folder).scenario["trials"] == 5
    assert results in folder.parents


def test_a_run_of_before_the_comparison_is_not_its_own(results: Path, tmp_path: Path) -> None:
    experiment = compared("cubic", "bbr").experiment(WIRED, 2)
    run_folder.create(experiment, site(tmp_path))
    assert results
    assert grown_since("9999-01-01T00-00-00Z")(experiment, site(tmp_path)) is None


def test_a_run_does_not_go_on_with_other_modules(results: Path, tmp_path: Path) -> None:
    experiment = compared("cubic", "bbr").experiment(WIRED, 2)
    folder = run_folder.create(experiment, site(tmp_path))
    assert results
    with pytest.raises(UserError, match="modules=m: must be n, as they are now: run without --resume"):
        grown_since(folder.name)(experiment, site(tmp_path, "n"))


def test_a_run_does_not_go_on_with_another_kernel(results: Path, tmp_path: Path) -> None:
    experiment = compared("cubic", "bbr").experiment(WIRED, 2)
    folder = run_folder.create(experiment, site(tmp_path))
    assert results
    with pytest.raises(UserError, match=r"kernel=k: must be l: it began on Linux 6\.12\.48: run without --resume"):
        grown_since(folder.name)(experiment, site(tmp_path, kernel="l"))


def test_a_run_does_not_go_on_with_another_version_of_a_sender(results: Path, tmp_path: Path) -> None:
    before = compared("cubic", "bbr")
    folder = run_folder.create(before.experiment(WIRED, 2), site(tmp_path))
    changed = {**before.senders, "bbr": before.senders["bbr"].model_copy(update={"module_digest": "c" * 16})}
    now = Comparison(["cubic"], changed, links(["wired"]), 5, duration_s=1)
    assert results
    with pytest.raises(UserError, match=r"ccas=.*: must be .*, as it is now: run without --resume"):
        grown_since(folder.name)(now.experiment(WIRED, 2), site(tmp_path))


@pytest.fixture
def earlier(results: Path, tmp_path: Path) -> Path:
    """A run of an earlier comparison: two trials of CUBIC and of BBR."""
    folder = run_folder.create(compared("cubic", "bbr").experiment(WIRED, 2), site(tmp_path))
    source = store_run(tmp_path / "source", 2, senders=("cubic", "bbr"))
    shutil.rmtree(folder / "trials")
    shutil.copytree(source / "trials", folder / "trials")
    assert results
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "trials").iterdir())


def test_a_new_run_takes_over_the_trials_of_senders_that_did_not_change(earlier: Path, tmp_path: Path) -> None:
    experiment = compared("search", "cubic", "reno").experiment(WIRED, 4)
    folder = run_folder.create(experiment, site(tmp_path))
    assert reuse(experiment, folder, site(tmp_path), keep_capture=False) == 2
    assert names(folder) == ["cubic-001", "cubic-002"]
    assert (folder / "trials/cubic-001/trial.json").samefile(earlier / "trials/cubic-001/trial.json")
    assert reuse(experiment, folder, site(tmp_path), keep_capture=False) == 0


@pytest.mark.parametrize("what", ["modules", "seed", "sender", "capture"])
def test_a_trial_that_may_have_come_out_otherwise_is_run_again(earlier: Path, tmp_path: Path, what: str) -> None:
    before = compared("cubic", "reno")
    changed = before.senders["cubic"].model_copy(update={"params": {"hystart": 0}} if what == "sender" else {})
    now = Comparison(
        ["cubic"], {**before.senders, "cubic": changed}, before.links, 2, 3 if what == "seed" else before.seed, 1
    )
    place = site(tmp_path, "n" if what == "modules" else "m")
    folder = run_folder.create(now.experiment(WIRED, 2), place)
    assert earlier != folder
    assert reuse(now.experiment(WIRED, 2), folder, place, keep_capture=what == "capture") == 0
    assert names(folder) == []


def test_trials_of_a_lab_that_did_not_know_a_field_of_a_stanza_are_taken_over(earlier: Path, tmp_path: Path) -> None:
    meta = json.loads((earlier / "run.json").read_text())
    for stanza in meta["ccas"]:
        del stanza["first_window_pkts"]
    write_with_digest(earlier / "run.json", json.dumps(meta).encode())
    experiment = compared("cubic", "reno").experiment(WIRED, 2)
    folder = run_folder.create(experiment, site(tmp_path))
    assert reuse(experiment, folder, site(tmp_path), keep_capture=False) == 2


def test_a_damaged_trial_is_not_taken_over(earlier: Path, tmp_path: Path) -> None:
    (earlier / "trials/cubic-001/packets.parquet").write_bytes(b"PAR1")
    experiment = compared("cubic", "reno").experiment(WIRED, 2)
    folder = run_folder.create(experiment, site(tmp_path))
    reuse(experiment, folder, site(tmp_path), keep_capture=False)
    assert names(folder) == ["cubic-002"]


def test_on_a_disk_that_links_nothing_trials_are_run_again_and_no_draft_is_left(
    earlier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_names: object, **_options: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    experiment = compared("cubic", "reno").experiment(WIRED, 2)
    folder = run_folder.create(experiment, site(tmp_path))
    monkeypatch.setattr(os, "link", refuse)
    assert reuse(experiment, folder, site(tmp_path), keep_capture=False) == 0
    assert names(folder) == []
    assert names(earlier)


def test_a_campaign_in_which_every_trial_fails_names_each_once_and_ends(results: Path, tmp_path: Path) -> None:
    comparison = compared("cubic", "bbr")
    watched = Watched()

    def bars() -> AbstractContextManager[Observer]:
        return nullcontext(watched)

    began = "2026-01-01T00-00-00Z"
    states: list[State] = list(
        campaign(comparison, PRIMARY, began, site(tmp_path), RunOptions(workers=1), bars, budget_s=None)
    )
    (state,) = states  # nothing was measured at the first look: more trials would not help
    assert looks_of(comparison).trials[0] == state.trials == 6
    assert sorted(state.failures) == [f"compare-wired {cca}-00{n}" for cca in ("bbr", "cubic") for n in range(1, 7)]
    (found,) = results_of(comparison, began, looks_of(comparison))
    assert found.stored is None
    assert results.exists()


def test_a_comparison_of_a_fixed_number_of_trials_ends_no_link_early(results: Path, tmp_path: Path) -> None:
    comparison = replace(compared("cubic", "bbr"), fixed=True)
    began = "2026-01-01T00-00-00Z"
    (state,) = campaign(
        comparison, PRIMARY, began, site(tmp_path), RunOptions(workers=1), lambda: nullcontext(Watched()), budget_s=None
    )
    assert state.trials == comparison.trials == 8
    assert len(state.failures) == 2 * 8  # the kernel is gone: each was tried, although none has a value
    assert results.exists()


def test_resume_does_not_go_on_with_a_fixed_number_where_links_could_end_early(results: Path) -> None:
    before = compared("cubic", "bbr")
    record.begin(record.requested(before, PRIMARY))
    assert results.exists()
    with pytest.raises(UserError, match="fixed=False: must be True, as it is now: run without --resume"):
        record.resumed(record.requested(replace(before, fixed=True), PRIMARY))


def test_a_campaign_whose_time_is_up_ends_after_the_trial_that_runs_and_is_not_decided(
    results: Path, tmp_path: Path
) -> None:
    comparison = compared("cubic", "bbr")
    watched = Watched()

    def bars() -> AbstractContextManager[Observer]:
        return nullcontext(watched)

    options = RunOptions(workers=1)
    (state,) = campaign(comparison, PRIMARY, "2026-01-01T00-00-00Z", site(tmp_path), options, bars, budget_s=0.0)
    assert (state.budget_used, state.decided) == (True, False)
    assert len(watched.results) == 1
    assert len(watched.begun) == 12  # six of each sender were to run
    assert results.exists()


@pytest.mark.parametrize(
    ("ccas", "left"), [(("search", "cubic", "bbr"), [("search", "bbr")]), (("cubic", "search", "bbr"), [])]
)
def test_a_campaign_goes_on_for_pairs_of_its_subject_that_have_not_separated_and_for_no_others(
    results: Path, tmp_path: Path, ccas: tuple[str, ...], left: list[tuple[str, str]]
) -> None:
    """SEARCH and BBR leave at the chokepoint in each trial, CUBIC early."""
    comparison = compared(*ccas, trials=12)
    first = looks_of(comparison).trials[0]
    folder = run_folder.create(comparison.experiment(WIRED, first), site(tmp_path))
    source = store_run(tmp_path / "source", first + 1, senders=ccas)  # its last trial of BBR is invalid
    shutil.rmtree(folder / "trials")
    shutil.copytree(source / "trials", folder / "trials", ignore=shutil.ignore_patterns(f"*-00{first + 1}"))
    watched = Watched()
    states = campaign(
        comparison, PRIMARY, folder.name, site(tmp_path), RunOptions(workers=1), lambda: nullcontext(watched), None
    )
    state = next(states)
    assert watched.results == {}  # every trial of this look was stored
    undecided = state.undecided["wired"] + state.tied["wired"]
    assert [(pair.first, pair.second) for pair in undecided] == left
    assert state.decided == (not state.undecided["wired"])
    assert results in folder.parents


def test_trials_of_earlier_comparisons_are_counted_over_all_links(earlier: Path, tmp_path: Path) -> None:
    comparison = replace(compared("cubic", "reno"), links=links(["wired", "wifi-high"]))
    began = f"{earlier.name}+"  # after it
    options = RunOptions(workers=1, keep_capture=False)
    states = list(
        campaign(comparison, PRIMARY, began, site(tmp_path), options, lambda: nullcontext(Watched()), budget_s=None)
    )
    assert [state.reused for state in states] == [2] * len(states)
