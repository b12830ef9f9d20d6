# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison's runs: how they grow, what they take over from earlier ones, and a comparison that fails throughout."""

import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_compare import record
from lab_compare.comparison import Comparison, known_senders
from lab_compare.growing import State, grow, looks_of
from lab_compare.link_kinds import KINDS, links
from lab_compare.results import of_run, ranked_by
from lab_compare.results import results as results_of
from lab_papers.fullest import first_stored
from lab_papers.fullest import stored as every_stored

from lab.base.errors import UserError
from lab.evaluation.measures import PRIMARY, REFERENCE, values
from lab.judge.stored import Stored, in_order
from lab.runs import run_folder
from lab.runs.find_run import grown_since
from lab.runs.options import RunOptions
from lab.runs.reuse import reuse
from lab.tables.stored_run import Run
from tests.brief import present
from tests.compared import site
from tests.stored_run import LINK, change, rewrite, store_run, with_extent
from tests.unit.conftest import one_process  # noqa: F401
from tests.whole.test_runs_that_fail import Watched

WIRED = KINDS["wired"]


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


def compared(*ccas: str, trials: int = 8) -> Comparison:
    return Comparison([ccas[0]], known_senders(ccas), links(["wired"]), trials, duration_s=1)


def states_of(
    comparison: Comparison, folder: Path, began: str = "2026-01-01", watched: Watched | None = None, **more: Any
) -> Iterator[State]:
    """Run a comparison on a machine whose kernel is gone: whatever is not stored fails."""
    options, observer = more.pop("options", RunOptions(workers=1)), watched or Watched()
    budget_s = more.pop("budget_s", None)
    return grow(comparison, PRIMARY, began, site(folder), options, lambda: nullcontext(observer), budget_s)


def test_a_run_that_grows_keeps_its_first_trials_and_their_seeds(tmp_path: Path) -> None:
    few, many = (compared("cubic", "bbr").experiment(WIRED, trials) for trials in (2, 5))
    folder = run_folder.create(few, site(tmp_path))
    seeds = Run(folder).meta["seeds"]
    assert grown_since(folder.name)(many, site(tmp_path)) == folder
    assert Run(folder).meta["seeds"][:2] == seeds
    assert Run(folder).scenario["trials"] == len(Run(folder).meta["seeds"]) == 5
    assert grown_since(folder.name)(few, site(tmp_path)) == folder  # a look of before: nothing shrinks
    assert Run(folder).scenario["trials"] == 5


@pytest.mark.parametrize(
    ("modules", "kernel", "version", "line"),
    [
        ("n", "k", None, "modules=m: must be n, as they are now: run without --resume"),
        ("m", "l", None, r"kernel=k: must be l: it began on Linux 6\.12\.48: run without --resume"),
        ("m", "k", "c" * 16, r"ccas\.1\.module_digest=absent: must be c{16}, as it is now: run without --resume"),
    ],
)
def test_a_run_goes_on_with_the_same_modules_kernel_and_senders_or_is_not_its_own(
    tmp_path: Path, modules: str, kernel: str, version: str | None, line: str
) -> None:
    before = compared("cubic", "bbr")
    folder = run_folder.create(before.experiment(WIRED, 2), site(tmp_path))
    changed = {**before.senders, "bbr": before.senders["bbr"].model_copy(update={"module_digest": version})}
    now = replace(before, senders=changed if version else before.senders).experiment(WIRED, 2)
    assert grown_since("9999-01-01T00-00-00Z")(now, site(tmp_path)) is None
    with pytest.raises(UserError, match=line):
        grown_since(folder.name)(now, site(tmp_path, modules, kernel))


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A run of an earlier comparison: two trials of CUBIC and of BBR."""
    folder = run_folder.create(compared("cubic", "bbr").experiment(WIRED, 2), site(tmp_path))
    source = store_run(tmp_path / "source", 2, senders=("cubic", "bbr"))
    shutil.rmtree(folder / "trials")
    shutil.copytree(source / "trials", folder / "trials")
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


@pytest.mark.parametrize("what", ["modules", "lab", "seed", "sender", "capture"])
def test_a_trial_that_may_have_come_out_otherwise_is_run_again(earlier: Path, tmp_path: Path, what: str) -> None:
    before = compared("cubic", "reno")
    changed = before.senders["cubic"].model_copy(update={"params": {"hystart": 0}} if what == "sender" else {})
    now = Comparison(
        ["cubic"], {**before.senders, "cubic": changed}, before.links, 2, 3 if what == "seed" else before.seed, 1
    )
    place = site(tmp_path, "n" if what == "modules" else "m")
    if what == "lab":  # an older one may have written other certificates
        change(earlier, lab_version="0")
    folder = run_folder.create(now.experiment(WIRED, 2), place)
    assert earlier != folder
    assert reuse(now.experiment(WIRED, 2), folder, place, keep_capture=what == "capture") == 0
    assert names(folder) == []


def test_trials_of_a_lab_that_did_not_know_a_field_of_a_stanza_are_taken_over(earlier: Path, tmp_path: Path) -> None:
    stanzas = json.loads((earlier / "run.json").read_text())["ccas"]
    change(earlier, ccas=[{name: stanza[name] for name in stanza if name != "first_window_pkts"} for stanza in stanzas])
    experiment = compared("cubic", "reno").experiment(WIRED, 2)
    folder = run_folder.create(experiment, site(tmp_path))
    assert reuse(experiment, folder, site(tmp_path), keep_capture=False) == 2


def test_a_damaged_trial_is_not_taken_over(earlier: Path, tmp_path: Path) -> None:
    (earlier / "trials/cubic-001/packets.parquet").write_bytes(b"PAR1")
    experiment = compared("cubic", "reno").experiment(WIRED, 2)
    folder = run_folder.create(experiment, site(tmp_path))
    reuse(experiment, folder, site(tmp_path), keep_capture=False)
    assert names(folder) == ["cubic-002"]


def test_trials_of_earlier_comparisons_are_counted_over_all_links(earlier: Path, tmp_path: Path) -> None:
    comparison = replace(compared("cubic", "reno"), links=links(["wired", "wifi-high"]))
    began = f"{earlier.name}+"  # after it
    options = RunOptions(workers=1, keep_capture=False)
    states = list(states_of(comparison, tmp_path, began, options=options))
    assert [state.reused for state in states] == [2] * len(states)


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


def test_a_comparison_of_any_number_names_each_failure_once(tmp_path: Path) -> None:
    comparison = compared("cubic", "bbr")
    (state,) = states_of(comparison, tmp_path)  # nothing was measured at the first look: more would not help
    assert looks_of(comparison).trials[0] == state.trials == 6
    assert sorted(state.failures) == [f"compare-wired {cca}-00{n}" for cca in ("bbr", "cubic") for n in range(1, 7)]
    (found,) = results_of(comparison, "2026-01-01", looks_of(comparison))
    assert found.stored is None
    (folder,) = (tmp_path / "results" / "compare-wired").glob("[0-9]*")
    assert Run(folder).meta["attempted"] == 6  # although none is stored


def test_a_fixed_comparison_ends_no_link_early_and_one_out_of_time_after_its_trial(tmp_path: Path) -> None:
    comparison = replace(compared("cubic", "bbr"), fixed=True)
    (state,) = states_of(comparison, tmp_path)
    assert state.trials == comparison.trials == 8
    assert len(state.failures) == 2 * 8  # the kernel is gone: each was tried, although none has a value
    watched = Watched()
    (state,) = states_of(compared("cubic", "bbr"), tmp_path, watched=watched, budget_s=0.0)
    assert (state.budget_used, state.decided) == (True, False)
    assert len(watched.results) == 1
    assert len(watched.begun) == 12  # six of each sender were to run


def test_resume_does_not_go_on_with_a_fixed_number_where_links_could_end_early() -> None:
    before = compared("cubic", "bbr")
    record.begin(record.requested(before, PRIMARY))
    with pytest.raises(UserError, match="fixed=False: must be True, as it is now: run without --resume"):
        record.resumed(record.requested(replace(before, fixed=True), PRIMARY))


@pytest.mark.parametrize(
    ("ccas", "left"), [(("search", "cubic", "bbr"), [("search", "bbr")]), (("cubic", "search", "bbr"), [])]
)
def test_a_comparison_goes_on_for_pairs_of_its_subject_that_have_not_separated_and_for_no_others(
    tmp_path: Path, ccas: tuple[str, ...], left: list[tuple[str, str]]
) -> None:
    """SEARCH and BBR leave at the chokepoint in each trial, CUBIC early."""
    comparison = replace(compared(*ccas, trials=12), duration_s=round(LINK.duration_s))
    first = looks_of(comparison).trials[0]
    folder = run_folder.create(comparison.experiment(WIRED, first), site(tmp_path))
    source = store_run(tmp_path / "source", first + 1, senders=ccas)  # its last trial of BBR is invalid
    shutil.rmtree(folder / "trials")
    shutil.copytree(source / "trials", folder / "trials", ignore=shutil.ignore_patterns(f"*-00{first + 1}"))
    own = {name: Run(folder).meta["scenario"][name] for name in ("profile", "duration_s")}
    change(folder, name="geo", seeds=list(range(1, first + 1)), scenario=own)
    watched = Watched()
    state = next(states_of(comparison, tmp_path, folder.name, watched))
    assert watched.results == {}  # every trial of this look was stored
    undecided = state.undecided["wired"] + state.tied["wired"]
    assert [(pair.first, pair.second) for pair in undecided] == left
    assert state.decided == (not state.undecided["wired"])


def share(run: Path, rates: Mapping[tuple[str, int], float]) -> None:
    """Have a rival of that throughput in each trial."""
    for file in run.glob("trials/*/trial.json"):
        meta = json.loads(file.read_text())
        rival = with_extent(meta["flows"][0], flow=2, throughput_mbps=rates[meta["cca"], meta["trial"]])
        rewrite(file, meta | {"flows": [meta["flows"][0], rival]})
    change(run, scenario={"rival": REFERENCE})


def test_a_shared_link_without_the_reference_has_no_harm(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=("search",))
    share(run, {("search", 1): 2.0})
    stored = Stored.of(Run(run))
    assert values(stored, ranked_by(stored)) == {}


def test_harm_is_what_the_rival_lost_against_its_share_next_to_the_reference(tmp_path: Path) -> None:
    run = store_run(tmp_path, 2, senders=("search", REFERENCE))
    rates = {("search", 1): 2.0, ("search", 2): 6.0, (REFERENCE, 1): 4.0, (REFERENCE, 2): 4.0}
    share(run, rates)
    for who, found in ((REFERENCE, [50.0, -50.0, None]), ("bbr", None)):
        change(run, scenario={"rival": who})
        harm = values(Stored.of(Run(run))).get("harm")
        assert (harm and harm["search"]) == found
    change(run, scenario={"rival": REFERENCE})
    assert set(of_run(Stored.of(Run(run))).values) == {"harm"}


def test_runs_stand_by_their_link_and_then_by_name(tmp_path: Path) -> None:
    kept = []
    for name, profile in (("b", "geo"), ("a", "wifi"), ("c", "geo")):
        run = store_run(tmp_path, 1, name=name, senders=("cubic",))
        change(run, name=name, scenario={"profile": profile})
        (run.parent / "latest").symlink_to(run.name)
        kept.append(Stored.of(Run(run)))
    assert [each.run.path.parent.name for each in in_order(kept)] == ["b", "c", "a"]
    assert [each.name for each in every_stored(tmp_path)[0]] == ["a", "b", "c"]
    assert [each.name for each in every_stored(tmp_path, ["c", "none"])[0]] == ["c"]
    first = present(first_stored(tmp_path, ["none", "a", "b"]))
    assert first.run.scenario["profile"] == "wifi"
    assert first_stored(tmp_path, ["none"]) is None
