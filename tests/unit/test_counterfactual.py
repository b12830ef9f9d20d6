# SPDX-License-Identifier: GPL-2.0-or-later
"""Explanations of rows that differ: what a scenario may state, and that the status follows the stored runs."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from rich.console import Console

from lab.base import paths
from lab.base.errors import UserError
from lab.commands import evaluate
from lab.commands.inventory import require_counterfactuals
from lab.evaluation.claims import rows as claims
from lab.evaluation.claims.verdict import AGREES, EXPLAINED, OPEN, PARTLY, UNEXPLAINED, UNJUDGED
from lab.evaluation.write import claimed
from lab.judge.stored import Stored, stored
from lab.report.index.summary import one_a_link
from lab.runs.experiment import digest, load_experiment, specification, trial_part
from lab.schema.scenario import load_scenario, scenarios
from lab.tables.stored_run import Run
from tests.stored_run import LINK, store_run

TRIALS, SENDERS = 12, ("search", "cubic_plain")
SLOW, FAST = LINK, replace(LINK, rate_mbps=16, buffer_bytes=1_200_000)
BASE = {
    "question": "Is the link as fast as the source's?",
    "topology": "path",
    "profile": "geo-small",
    "ccas": list(SENDERS),
    "trials": TRIALS,
    "duration_s": 4,
    "seed": 1,
    "tolerance": {"relative_pct": 2},
}
FASTER = {"counterfactual_of": "mine", "profile": "wired-clean"}
BECAUSE = "the link is half as fast"


def explained(*scenarios: str, **changes: Any) -> dict[str, Any]:
    """State a row of a source's table, with the scenarios that test why ours differs."""
    tests = [{"scenario": name, "because": BECAUSE, "moves": ["loss_s"]} for name in scenarios]
    row = {"source": "paper, table 1", "row": "Mine", "cca": "cubic_plain", "values": {"loss_s": 9.0}}
    return row | {"counterfactuals": tests} | changes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of scenarios, instead of the lab's."""
    monkeypatch.setattr(paths, "SCENARIOS", tmp_path / "scenarios")
    (tmp_path / "scenarios").mkdir()
    return tmp_path / "scenarios"


def write(folder: Path, name: str, content: dict[str, Any]) -> Path:
    (folder / f"{name}.yml").write_text(yaml.safe_dump(content))
    return folder / f"{name}.yml"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stored runs of `mine`, and of `faster`, its counterfactual on a link of twice the rate and buffer."""
    results = tmp_path_factory.mktemp("results")
    for name, link in (("mine", SLOW), ("same", SLOW), ("faster", FAST)):
        run = store_run(results, TRIALS, name=name, link=link, senders=SENDERS)
        (run.parent / "latest").symlink_to(run.name)
    return results


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
        file = runs / name / "latest" / "run.json"
        meta = json.loads(file.read_text())
        scenario = json.loads(json.dumps(load_scenario(name)[1].model_dump()))
        file.write_text(json.dumps(meta | {"scenario": scenario}))
    every, faults = stored(runs)
    assert faults == []
    return claimed(every, {})


def one(runs: Path, folder: Path, published: float, *tests: str, **changes: Any) -> dict[str, Any]:
    (row,) = kept(runs, folder, explained(*tests, values={"loss_s": published}, **changes)).to_dicts()
    return row


def test_a_counterfactual_takes_from_its_base_what_it_does_not_change(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained()], "tolerance": {"relative_pct": 5}})
    write(folder, "faster", FASTER | {"ccas": ["cubic_plain"]})
    _, found = load_scenario("faster")
    assert (found.question, found.trials, found.seed) == (BASE["question"], TRIALS, 1)
    assert (found.profile, found.ccas, found.counterfactual_of) == ("wired-clean", ["cubic_plain"], "mine")
    assert found.claims == []


def test_a_counterfactual_by_its_path_finds_its_base_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "own", BASE)
    assert load_scenario(str(write(tmp_path, "other", {"counterfactual_of": "own", "seed": 3})))[1].seed == 3


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ({"counterfactual_of": "nobody", "seed": 3}, "counterfactual_of=nobody: must be a known scenario: "),
        ({"counterfactual_of": "mine"}, "counterfactual_of=mine: must be followed by what differs from it"),
        ({"counterfactual_of": "mine", "seed": 1}, "counterfactual_of=mine: must be followed by what differs from it"),
        ({"counterfactual_of": "mine", "trials": 5}, "counterfactual_of=mine: must be followed by what differs from"),
        (FASTER | {"claims": []}, "claims=...: must be left out: a counterfactual is held to those of mine"),
        (FASTER | {"tolerance": {}}, "tolerance=...: must be left out: a counterfactual is held to those of mine"),
        ({"counterfactual_of": "faster", "seed": 3}, "counterfactual_of=faster: must be a scenario that is no counter"),
        (FASTER | {"colour": "red"}, "colour=red: must be left out: it is not a field"),
    ],
)
def test_a_counterfactual_that_is_none_is_one_line(folder: Path, content: dict[str, Any], line: str) -> None:
    write(folder, "mine", BASE)
    write(folder, "faster", FASTER)
    file = write(folder, "wrong", content)
    with pytest.raises(UserError) as refused:
        load_scenario("wrong")
    assert str(refused.value).startswith(f"{file}: {line}")


def test_an_explanation_names_a_counterfactual_of_its_own_scenario(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained("other")]})
    write(folder, "other", BASE)
    with pytest.raises(UserError, match="scenario=other: must be a scenario with counterfactual_of: mine"):
        require_counterfactuals("mine", load_scenario("mine")[1])


def test_an_explanation_moves_a_value_of_its_row(folder: Path) -> None:
    tests = [{"scenario": "faster", "because": BECAUSE, "moves": ["exit_s"]}]
    file = write(folder, "mine", BASE | {"claims": [explained(counterfactuals=tests)]})
    with pytest.raises(UserError, match="must be a counterfactual that moves one of the row's values: loss_s"):
        load_scenario(str(file))


def test_a_text_alone_is_no_field_of_a_claim(folder: Path) -> None:
    file = write(folder, "mine", BASE | {"claims": [explained(known="the link is slow")]})
    with pytest.raises(UserError, match=r"claims\.0\.known=the link is slow: must be left out"):
        load_scenario(str(file))


def test_an_explanation_may_be_written_after_the_run_and_leaves_its_digest(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained()]})
    before = specification(load_experiment("mine"))
    write(folder, "mine", BASE | {"claims": [explained("faster", open="a wider link was tried")]})
    after = specification(load_experiment("mine"))
    assert before["digests"] == after["digests"]
    assert after["scenario"]["claims"][0]["open"]
    assert digest(trial_part(after["scenario"])) == after["digests"]["scenario"]
    write(folder, "mine", BASE | {"claims": [explained(values={"loss_s": 8.0})]})
    assert specification(load_experiment("mine"))["digests"] != before["digests"]


def test_counterfactuals_run_after_what_they_explain(folder: Path) -> None:
    write(folder, "mine", BASE)
    write(folder, "another", {"counterfactual_of": "mine", "seed": 3})
    assert scenarios() == ["mine", "another"]


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
def test_without_a_run_that_moves_it_a_row_is_not_explained(
    runs: Path, folder: Path, tests: list[str], why: str
) -> None:
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
        file.write_text(json.dumps(meta))
    found = Stored.of(Run(copied / "latest"))
    scenario: Any = found.run.scenario | {"claims": [explained() | {"not_judged": not_judged, "trials": None}]}
    (row,) = claims.rows("mine", scenario, found, {})
    invalid = "none of its 24 trials is valid: capture drops, in 24 trials: 7 packets, must be 0"
    assert (row["verdict"], row["why"]) == (UNJUDGED, f"{not_judged}; {invalid}" if not_judged else invalid)


def test_each_row_names_the_form_of_the_sender(runs: Path, folder: Path) -> None:
    table = kept(runs, folder, explained(), explained(row="Replayed", replayed="search1"))
    assert table["form"].to_list() == [
        "CUBIC without HyStart",
        "SEARCH 1.0, replayed over CUBIC without HyStart",
    ]


def test_a_counterfactual_is_not_summed_up(runs: Path, folder: Path) -> None:
    assert set(kept(runs, folder, explained("faster"))["scenario"]) == {"mine"}
    assert [each.name for each in one_a_link(stored(runs)[0])] == ["mine"]


def test_verify_counts_every_status_and_shows_what_the_counterfactual_gave(
    runs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(runs, folder, explained("faster", values={"loss_s": losses_s(runs, "faster")[0], "late_pct": 100}))
    monkeypatch.setenv("LAB_RESULTS", str(runs))
    console = Console(record=True, width=300)
    evaluate.verify(console)
    printed = console.export_text()
    assert (
        "1 agree; 1 differ, explained by a run; 0 differ, partly explained by a run; 0 differ, not explained; 0 open; "
        "0 cannot be judged here"
    ) in printed
    assert f"faster: {losses_s(runs, 'faster')[0]:.3g} (" in printed
    assert f"differs, explained: mine: Mine loss_s: {BECAUSE}" in printed
    assert "times count from the first data segment in: paper" in printed
    for name in ("means", "heuristics", "outcomes"):
        assert set(pl.read_parquet(runs / "evaluation" / f"{name}.parquet")["scenario"]) == {"mine"}


def test_a_run_of_fewer_trials_is_a_run_of_the_same_scenario(folder: Path) -> None:
    write(folder, "mine", BASE | {"claims": [explained()]})
    write(folder, "faster", FASTER)
    for name in ("mine", "faster"):
        whole, few = (trial_part(load_scenario(name, changes)[1].model_dump()) for changes in ({}, {"trials": 2}))
        assert (few["trials"], whole["trials"]) == (2, TRIALS)
        assert digest(few | {"trials": TRIALS}) == digest(whole)
