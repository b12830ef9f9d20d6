# SPDX-License-Identifier: GPL-2.0-or-later
"""All at-capacity rules: every file in lab/judge/rules/, and in the folder that LAB_RULES names."""

from functools import cache
from pathlib import Path

from lab.base.additions import load_addition
from lab.base.choice import suggested
from lab.base.errors import UserError, field_error
from lab.judge.rule import Rule
from lab.schema.heuristics import DEFAULT_RULE, rule_files
from lab.tables.records import ScenarioRecord
from lab.tables.stored_trial import TABLES

TRUTH, LASTING = "truth", "lasting"  # what no real network shows; pages and headlines class exits by the stricter
TRUTHS = (TRUTH, LASTING)


def rules() -> dict[str, Rule]:
    """Return every rule by name: in alphabetical order, the truths last."""
    return _load(tuple(rule_files().values()))


def inferred() -> dict[str, Rule]:
    """Return the rules that infer the capacity from what a real network shows: all but the truths."""
    return {name: rule for name, rule in rules().items() if name not in TRUTHS}


def label(name: str) -> str:
    """Return a rule's label; its name where a stored run has a rule that is no longer there."""
    known = rules().get(name)
    return known.label if known else name


def rule_of(scenario: ScenarioRecord) -> str:
    """Return the name of the rule that a stored scenario is judged by; UserError where the lab does not know it."""
    name = str(scenario.get("heuristic") or DEFAULT_RULE)
    if name not in rules():
        raise field_error("run.json", "heuristic", name, f"a known at-capacity rule: {suggested(name, rules())}")
    return name


@cache
def _load(files: tuple[Path, ...]) -> dict[str, Rule]:
    found = [_rule(file) for file in files]
    return {rule.name: rule for rule in sorted(found, key=_place)}


def _place(rule: Rule) -> tuple[int, str]:
    return TRUTHS.index(rule.name) if rule.name in TRUTHS else -1, rule.name


def _rule(file: Path) -> Rule:
    rule = getattr(load_addition(file), "RULE", None)
    if not isinstance(rule, Rule):
        raise UserError(f"{file}: RULE={rule}: must be a lab.judge.rule.Rule")
    if rule.name != file.stem:
        raise UserError(f"{file}: RULE.name={rule.name}: must be the name of the file, {file.stem}")
    for table in rule.needs:
        if table not in TABLES:
            raise UserError(f"{file}: RULE.needs={table}: must be one of {', '.join(TABLES)}")
    return rule
