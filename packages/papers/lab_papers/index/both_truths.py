# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of shares by both truths: a group per scenario, and how many trials' class depends on the choice."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from lab.base.format import few, share
from lab.judge.registry import LASTING, TRUTH
from lab.judge.summary import CLASSES
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_senders

HEADER = (
    "Sender",
    "Trials",
    *(f"{name.capitalize()} (%)" for name in CLASSES),
    *(f"{name.capitalize()} by one RTT (%)" for name in CLASSES),
    "Class depends",
)
CAPTION = (
    "Shares by both truths, percent of the judged trials with 95 % Wilson interval. First where the queue must stand "
    "until slow start could not be needed again (lasting), which headlines follow; then where one round trip of "
    "standing queue is capacity. Last: the trials whose class depends on the choice."
)


def table(truths: pl.DataFrame, links: Mapping[str, str]) -> Table:
    """Return the table; a scenario has its link's name where it has one."""
    labels = {name: stanza.label for name, stanza in load_senders().items()}
    groups = tuple(
        Group(_title(str(scenario), links), tuple(_row(row, labels) for row in of.iter_rows(named=True)))
        for (scenario,), of in truths.group_by("scenario", maintain_order=True)
    )
    return Table("truths", CAPTION, HEADER, groups, (), "Scenario")


def _title(scenario: str, links: Mapping[str, str]) -> str:
    return f"{scenario}: {links[scenario]}" if scenario in links else scenario


def _row(row: Mapping[str, Any], labels: Mapping[str, str]) -> Row:
    name = labels.get(row["cca"], row["cca"]) + (", replayed" if row["replayed"] else "")
    by_both = [_share(row, truth, word) for truth in (LASTING, TRUTH) for word in CLASSES]
    return Row((name, str(row["trials"]), *by_both, few(row["depends"], row["trials"])))


def _share(row: Mapping[str, Any], truth: str, word: str) -> str:
    named = {name.removeprefix(f"{truth}_"): value for name, value in row.items() if name.startswith(f"{truth}_")}
    return share(named, word)
