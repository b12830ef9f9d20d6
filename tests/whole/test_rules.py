# SPDX-License-Identifier: GPL-2.0-or-later
"""An at-capacity rule is one file: from `lab check` to summary.csv and the page, nothing else is edited."""

from pathlib import Path

import polars as pl
import pytest
import yaml
from lab_papers.evaluation.write import write_all

from lab.base import paths
from lab.base.errors import UserError
from lab.judge.judged import judged
from lab.judge.registry import TRUTHS, inferred, rules
from lab.judge.source import judging_files
from lab.report.write import write_report
from lab.schema.heuristics import rule_files
from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run
from tests.brief import error_of, folder_at, put
from tests.command import lab
from tests.stored_run import change, store_run

HALF_SECOND = """
from lab.judge.classify import by_time
from lab.judge.rule import Constants, Judgement, Rule


def _judge(evidence):
    return Judgement(0.5, by_time(evidence.exit, 0.5, evidence.loss_s))


def _judge_points(evidence, points):
    for (after_s,) in points:
        yield Judgement(after_s, by_time(evidence.exit, after_s, evidence.loss_s))


RULE = Rule(
    name="half_second",
    label="half a second",
    meaning="The link is full half a second after the SYN.",
    needs=("packets",),
    judge=_judge,
    constants=Constants({"after_s": "after (s)"}, (0.5,), ((0.25,), (0.5,)), _judge_points),
)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    added = folder_at(tmp_path / "rules")
    (added / "half_second.py").write_text(HALF_SECOND)
    monkeypatch.setenv("LAB_RULES", str(added))
    return added


def stored_with(tmp_path: Path, heuristic: str) -> Path:
    run = store_run(tmp_path / "results", trials=1, senders=("search",))
    change(run, scenario={"heuristic": heuristic})
    (run.parent / "latest").symlink_to(run.name)
    return run


def test_the_registry_holds_what_the_folder_holds_and_only_what_judges_decides_about_a_trial() -> None:
    assert set(rules()) == {file.stem for file in paths.RULES.glob("[!_]*.py")}
    assert tuple(rules())[-2:] == TRUTHS
    files = {str(file.relative_to(paths.LAB)) for file in judging_files((paths.RULES / "latency_offset.py",))}
    assert {"judge/rules/latency_offset.py", "judge/classify.py", "judge/rtt.py", "tables/downloads.py"} <= files
    assert not {name for name in files if name.startswith(("schema/", "report/", "figures/"))}
    assert "judge/rules/truth.py" not in files


def scenario(folder: Path, heuristic: str) -> str:
    content = yaml.safe_load((paths.SCENARIOS / "geo.yml").read_text()) | {"heuristic": heuristic}
    (folder / "mine.yml").write_text(yaml.safe_dump(content))
    return str(folder / "mine.yml")


def test_an_added_rule_passes_check_and_a_scenario_may_name_it_and_no_unknown_one(folder: Path, tmp_path: Path) -> None:
    assert "all good" in lab(tmp_path, "check", LAB_RULES=str(folder)).stdout
    assert load_scenario(scenario(tmp_path, "half_second"))[1].heuristic == "half_second"
    with pytest.raises(UserError, match="heuristic=guess: must be a known at-capacity rule: half_second, lasting, "):
        load_scenario(scenario(tmp_path, "guess"))


@pytest.mark.usefixtures("folder")
def test_an_added_rule_is_in_the_outcomes_the_summary_and_the_page(tmp_path: Path) -> None:
    run = stored_with(tmp_path, "half_second")
    write_report(run)
    outcomes = pl.read_parquet(run / "outcomes.parquet").filter(heuristic="half_second")
    assert outcomes["capacity_s"].unique().to_list() == [0.5]
    summary = pl.read_csv(run / "summary.csv")
    assert summary.filter(cca="search", heuristic="half_second")["capacity_s"].to_list() == [0.5]
    page = (run / "report.html").read_text()
    assert "Judged as in the papers, by half a second" in page
    assert "<dt>half a second</dt>" in page
    assert "capacity by half a second at 0.50 s" in page
    assert '"rule":"half a second"' in page


@pytest.mark.usefixtures("folder")
def test_an_added_rule_is_scored_against_the_truth_with_its_constants(tmp_path: Path) -> None:
    run = stored_with(tmp_path, "half_second")
    evaluation, _ = write_all(run.parent.parent, None)
    scores = pl.read_parquet(evaluation / "heuristics.parquet")
    assert set(scores["rule"]) == set(inferred())
    points = pl.read_parquet(evaluation / "heuristics_constants.parquet").filter(rule="half_second")
    assert points.select("after_s", "published").rows() == [(0.25, False), (0.5, True)]


def test_a_changed_rule_judges_a_stored_run_again(folder: Path, tmp_path: Path) -> None:
    run = stored_with(tmp_path, "half_second")
    judged(Run(run))
    added = folder_at(folder.parent / "changed")
    (added / "half_second.py").write_text(HALF_SECOND.replace("0.5", "0.75"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RULES", str(added))
        again = judged(Run(run)).outcomes.filter(heuristic="half_second")
    assert again["capacity_s"].unique().to_list() == [0.75]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("RULE = 1", "RULE=1: must be a lab.judge.rule.Rule"),
        (HALF_SECOND.replace('name="half_second"', 'name="other"'), "RULE.name=other: must be the name of the file"),
        (HALF_SECOND.replace('needs=("packets",)', 'needs=("sound",)'), "RULE.needs=sound: must be one of packets, "),
        ("import nothing_like_this", "ModuleNotFoundError=No module named 'nothing_like_this': must be Python"),
    ],
)
def test_a_broken_rule_is_one_line_that_names_its_file(folder: Path, text: str, line: str) -> None:
    (folder / "half_second.py").write_text(text)
    assert error_of(rules).startswith(f"{folder / 'half_second.py'}: {line}")


def test_a_rule_with_the_name_of_one_of_the_labs_is_refused(folder: Path) -> None:
    (folder / "truth.py").write_text(HALF_SECOND)
    assert "truth.py: name=truth: must differ from the names in lab/judge/rules" in error_of(rule_files)


def test_a_broken_rule_is_no_damage_of_the_trials(folder: Path, tmp_path: Path) -> None:
    run = store_run(tmp_path, trials=3, senders=("search",))
    (folder / "half_second.py").write_text("RULE = 1")
    with pytest.raises(UserError, match="RULE=1: must be") as refusal:
        write_report(run)
    assert "damaged" not in str(refusal.value)


def test_a_rule_that_fails_while_it_judges_is_one_line_with_its_place(folder: Path, tmp_path: Path) -> None:
    run = store_run(tmp_path / "results", trials=1, senders=("search",))
    file = put(folder / "half_second.py", HALF_SECOND.replace("Judgement(0.5, by_time", "Judgement(1 / 0, by_time"))
    done = lab(tmp_path, "report", str(run), LAB_RULES=str(folder))
    place, rule = f"{file}:7: ZeroDivisionError=division by zero", "must be a rule that judges every trial: half_second"
    assert (done.returncode, done.stderr) == (2, f"{place}: {rule}\n")
