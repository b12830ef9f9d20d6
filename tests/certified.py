# SPDX-License-Identifier: GPL-2.0-or-later
"""A stored trial, and the checks of its certificate after a change."""

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from lab.node.plan import Plan
from lab.node.record import NodeRecord
from lab.runs.certificate import certify
from lab.senders.traced import tables_of
from lab.tables.pieces import collected
from lab.tables.trial_json import Check

DRAFT = Path(__file__).parent / "data" / "draft"
PLAN = json.loads((DRAFT / "plan.json").read_text())
NODE = json.loads((DRAFT / "node.json").read_text())


def decode(folder: Path, node: NodeRecord, *causes: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Decode the raw records of a trial into tables in memory."""
    return {name: collected(table) for name, table in tables_of(folder, node, *causes).items()}


TABLES = decode(DRAFT, NODE, {})
ELSEWHERE = "drops anywhere but at the bottleneck"
Change = Callable[[Any, Any, dict[str, pl.DataFrame]], None]


def parts() -> tuple[Any, Any, dict[str, pl.DataFrame]]:
    return copy.deepcopy(PLAN), copy.deepcopy(NODE), dict(TABLES)


def checked(plan: Plan, node: NodeRecord, tables: dict[str, pl.DataFrame]) -> dict[str, Check]:
    certificate = certify(plan, node, tables)
    assert certificate["valid"] == all(check["ok"] for check in certificate["checks"])
    return {check["name"]: check for check in certificate["checks"]}


def checked_with(put_in: Change) -> dict[str, Check]:
    changed = parts()
    put_in(*changed)
    return checked(*changed)


def failed(checks: dict[str, Check]) -> list[str]:
    return [name for name, check in checks.items() if not check["ok"]]


def drop_at(_plan: Any, node: dict[str, Any], _tables: Any, end: str, counter: str) -> None:
    node["counters"]["interfaces"][end][counter] += 1
