# SPDX-License-Identifier: GPL-2.0-or-later
"""Explanations of rows that differ: the status follows the stored runs."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from counterfactuals import BASE, BECAUSE, FASTER, SENDERS, TRIALS, explained, own_scenarios, write
from lab_papers.evaluation.claims import counterfactual
from lab_papers.evaluation.claims import rows as claims
from lab_papers.evaluation.claims.measured import NOTHING
from lab_papers.evaluation.claims.verdict import AGREES, EXPLAINED, OPEN, PARTLY, UNEXPLAINED, UNJUDGED, Explained
from lab_papers.evaluation.write import claimed
from lab_papers.fullest import stored
from lab_papers.index.summary import one_a_link

from lab.base.cache import held
from lab.judge.judged import judged
from lab.judge.stored import Stored
from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run
from tests.stored_run import LINK, change, rewrite, store_run


def copy_of(name: str, make: Callable[[Path], None], temporary: pytest.TempPathFactory) -> Path:
    """Return a copy of the folder that `make` fills; the processes of a session (pytest -n) share the original."""
    own = temporary.getbasetemp()
    session = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    made, draft = session / f"once-{name}", session / f"draft-{name}"
    with held(session / f"{name}.lock", wait=True):
        if not made.exists():
            shutil.rmtree(draft, ignore_errors=True)
            make(draft)
            draft.rename(made)
    return Path(shutil.copytree(made, temporary.mktemp(name) / name, symlinks=True))


SLOW, FAST = LINK, replace(LINK, rate_mbps=16, buffer_bytes=1_200_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_scenarios(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stored runs of `mine`, and of `faster`, its counterfactual on a link of twice the rate and buffer."""
    return copy_of("counterfactuals", _store, tmp_path_factory)


def _store(results: Path) -> None:
    for name, link in (("mine", SLOW), ("faster", FAST)):
        run = store_run(results, TRIALS, name=name, link=link, senders=SENDERS, latest=True)
        judged(Run(run))  # stored with the run: no test judges it again
    shutil.copytree(results / "mine", results / "same", symlinks=True)


@cache
def losses_s(runs: Path, name: str) -> tuple[float, float]:
    """Mean first loss of the sender without HyStart: from the first data segment, and from the SYN."""
    outcomes = Stored.of(Run(runs / name / "latest")).judged.outcomes.filter(cca="cubic_plain", heuristic="truth")
    loss_s, data_s = (float(outcomes[column].mean()) for column in ("loss_s", "data_s"))  # type: ignore[arg-type]
    return loss_s - data_s, loss_s


def kept(runs: Path, folder: Path, *rows: dict[str, Any]) -> pl.DataFrame:
    """Evaluate `mine` with these claims in its file, and its runs."""
    write(folder, "mine", BASE | {"claims": list(rows)})
    write(folder, "faster", FASTER)
    write(folder, "same", FASTER | {"seed": 2})
    for name in ("mine", "faster", "same"):
        change(runs / name / "latest", scenario=json.loads(json.dumps(load_scenario(name)[1].model_dump())))
    every, faults = stored(runs)
    assert faults == []
    return claimed(every, {})


def one(runs: Path, folder: Path, published: float, *tests: str, **changes: Any) -> dict[str, Any]:
    (row,) = kept(runs, folder, explained(*tests, values={"loss_s": published}, **changes)).to_dicts()
    return row


def test_what_the_counterfactual_gives_explains_a_row_that_differs(runs: Path, folder: Path) -> None:
    published, _ = losses_s(runs, "faster")
    row = one(runs, folder, published, "faster")
    assert (row["verdict"], row["counterfactual"], row["because"]) == (EXPLAINED, "faster", BECAUSE)
    assert row["counterfactual_value"] == pytest.approx(published)
    assert row["counterfactual_lo"] <= row["counterfactual_value"] <= row["counterfactual_hi"]
    assert row["counterfactual_trials"] == TRIALS
    assert row["closed_pct"] == pytest.approx(100)
    assert row["changes"] == "profile wired-clean"
    assert row["ours"] == pytest.approx(losses_s(runs, "mine")[0])


def test_a_row_further_off_is_explained_in_part(runs: Path, folder: Path) -> None:
    ours, theirs = losses_s(runs, "mine")[0], losses_s(runs, "faster")[0]
    row = one(runs, folder, ours + 3 * (theirs - ours), "faster", open="a still faster link does not load")
    assert row["verdict"] == PARTLY
    assert row["closed_pct"] == pytest.approx(100 / 3)
    assert "it moves 33 % of the way" in row["why"]
    assert "a still faster link does not load" in row["why"]


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ([], "no run tests why"),
        (["same"], "its interval overlaps ours: it does not move"),
        (["never-run"], "not run yet"),
        (["mine"], "it is no counterfactual of mine"),
    ],
)
def test_without_a_run_that_moves_it_no_row_is_explained(runs: Path, folder: Path, tests: list[str], why: str) -> None:
    row = one(runs, folder, losses_s(runs, "faster")[0], *tests)
    assert row["verdict"] == UNEXPLAINED
    assert why in row["why"]


def test_a_counterfactual_that_moves_the_other_way_explains_nothing(runs: Path, folder: Path) -> None:
    ours, theirs = losses_s(runs, "mine")[0], losses_s(runs, "faster")[0]
    row = one(runs, folder, ours - (theirs - ours), "faster")
    assert row["verdict"] == UNEXPLAINED
    assert "it moves, and not closer to the published value" in row["why"]


def test_what_was_tried_makes_a_row_open_and_its_runs_are_reported(runs: Path, folder: Path) -> None:
    row = one(runs, folder, losses_s(runs, "faster")[0], "same", open="another seed was tried")
    assert row["verdict"] == OPEN
    assert row["why"].startswith("another seed was tried; the link is half as fast (same gives ")


def test_of_two_explanations_the_better_counts_and_the_other_is_reported(runs: Path, folder: Path) -> None:
    row = one(runs, folder, losses_s(runs, "faster")[0], "same", "faster")
    assert (row["verdict"], row["counterfactual"]) == (EXPLAINED, "faster")
    assert "no better: the link is half as fast (same gives " in row["why"]


def test_of_two_explanations_in_part_the_one_that_closes_more_comes_first() -> None:
    def tested(scenario: str, status: str, closed_pct: float | None) -> counterfactual.Tested:
        return counterfactual.Tested(scenario, BECAUSE, None, NOTHING, Explained(status, closed_pct, None))

    tests = [tested("none", UNEXPLAINED, None), tested("less", PARTLY, 30), tested("more", PARTLY, 60)]
    best_first = sorted([*tests, tested("all", EXPLAINED, 55)], key=counterfactual._rank)
    assert [test.scenario for test in best_first] == ["all", "more", "less", "none"]


def test_an_explanation_is_not_needed_where_ours_agrees(runs: Path, folder: Path) -> None:
    row = one(runs, folder, losses_s(runs, "mine")[0], "faster", open="nothing")
    assert (row["verdict"], row["counterfactual"], row["why"]) == (AGREES, None, None)


def test_an_explanation_of_one_value_leaves_the_others_of_its_row(runs: Path, folder: Path) -> None:
    values = {"loss_s": losses_s(runs, "faster")[0], "late_pct": 0.0}
    table = kept(runs, folder, explained("faster", values=values))
    found = dict(table.select("metric", "verdict").iter_rows())
    assert found == {"loss_s": EXPLAINED, "late_pct": UNEXPLAINED}


def test_times_are_compared_on_the_clock_of_the_source(runs: Path, folder: Path) -> None:
    from_data, from_syn = losses_s(runs, "mine")
    assert from_syn > from_data
    for clock, ours in (("data", from_data), ("syn", from_syn)):
        row = one(runs, folder, ours, clock=clock)
        assert (row["clock"], row["verdict"]) == (clock, AGREES)
        assert row["ours"] == pytest.approx(ours)
        assert row["ours_from_syn"] == pytest.approx(from_syn)


def test_a_spread_of_times_counts_on_the_clock_of_their_mean(runs: Path, folder: Path) -> None:
    """The begin of the data differs from trial to trial, so that it is part of a spread since the SYN."""
    outcomes = Stored.of(Run(runs / "mine" / "latest")).judged.outcomes.filter(cca="cubic_plain", heuristic="truth")
    row = kept(runs, folder, explained(values={"loss_s": [1.0, 1.0]})).to_dicts()[1]
    assert (row["metric"], row["clock"]) == ("loss_s_sd", "data")
    assert row["ours"] == pytest.approx((outcomes["loss_s"] - outcomes["data_s"]).std())
    assert row["ours_from_syn"] == pytest.approx(outcomes["loss_s"].std())


def test_a_value_that_follows_the_rule_names_it(runs: Path, folder: Path) -> None:
    rows = kept(runs, folder, explained(values={"median_mbps": 1.0, "exit_bitrate_mbps": 1.0})).to_dicts()
    found = {row["metric"]: row["heuristic"] for row in rows}
    assert found == {"median_mbps": "latency_offset", "exit_bitrate_mbps": None}


def test_a_difference_of_two_times_has_no_clock(runs: Path, folder: Path) -> None:
    (row,) = kept(runs, folder, explained(values={"headroom_s": 1.0}, cca="search")).to_dicts()
    assert (row["clock"], row["ours_from_syn"]) == (None, None)


def test_a_run_without_the_start_of_its_data_needs_a_new_run(runs: Path) -> None:
    found = Stored.of(Run(runs / "mine" / "latest"))
    bare = replace(found.judged, outcomes=found.judged.outcomes.with_columns(data_s=pl.lit(None, pl.Float64)))
    scenario: Any = found.run.scenario | {"claims": [explained() | {"not_judged": None, "trials": None}]}
    (row,) = claims.rows("mine", scenario, replace(found, judged=bare), {})
    assert (row["verdict"], row["why"]) == (UNJUDGED, "no stored trial records when its data began: it needs a new run")


def test_a_row_holds_its_difference_and_both_tests_of_it(runs: Path, folder: Path) -> None:
    ours = losses_s(runs, "mine")[0]
    for published, within, contains in ((ours, True, True), (ours * 1.015, True, False), (ours * 1.5, False, False)):
        row = one(runs, folder, published)
        assert row["difference"] == pytest.approx(ours - published)
        assert (row["within_tolerance"], row["interval_contains"]) == (within, contains), published


@pytest.mark.parametrize("not_judged", [None, "the slide gives no number"])
def test_a_run_without_a_valid_trial_names_the_check_that_its_trials_failed(
    runs: Path, tmp_path: Path, not_judged: str | None
) -> None:
    copied = shutil.copytree(runs / "mine", tmp_path / "mine", symlinks=True)
    for file in copied.glob("*/trials/*/trial.json"):
        meta = json.loads(file.read_text())
        (check,) = meta["certificate"]["checks"]
        meta["certificate"] = {"valid": False, "checks": [check | {"got": 7, "ok": False}]}
        rewrite(file, meta)
    found = Stored.of(Run(copied / "latest"))
    scenario: Any = found.run.scenario | {"claims": [explained() | {"not_judged": not_judged, "trials": None}]}
    (row,) = claims.rows("mine", scenario, found, {})
    invalid = "none of its 24 trials is valid: capture drops, in 24 trials: 7 packets, must be 0"
    assert (row["verdict"], row["why"]) == (UNJUDGED, f"{not_judged}; {invalid}" if not_judged else invalid)


def test_each_row_names_the_form_of_the_sender(runs: Path, folder: Path) -> None:
    table = kept(runs, folder, explained(), explained(row="Replayed", replayed="search1"))
    assert table["form"].to_list() == ["CUBIC without HyStart", "SEARCH 1.0, replayed over CUBIC without HyStart"]


def test_a_counterfactual_is_not_summed_up(runs: Path, folder: Path) -> None:
    assert set(kept(runs, folder, explained("faster"))["scenario"]) == {"mine"}
    assert [each.name for each in one_a_link(stored(runs)[0])] == ["mine"]
