# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in a terminal: one row per sender, which fits 80 columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from lab.base.format import NONE, significant
from lab.judge.registry import LASTING
from lab.report.published import short_label

HEADER = ("Sender", "Chokepoint,\nby the queue", "by the\npapers' rule", "Exit\n(s)", "Throughput\n(Mb/s)")


Brief = tuple[tuple[str, ...], ...]  # of each sender the cells in the order of HEADER


def brief_of(summary: pl.DataFrame, ccas: Sequence[Mapping[str, Any]], heuristic: str) -> Brief:
    """Return a row per sender, in the order of the senders."""
    return tuple(_row(summary.filter(cca=each["name"]), short_label(each["label"]), heuristic) for each in ccas)


def drawn(brief: Brief) -> RichTable:
    """Return the rows as a table of the terminal; a label that is too long goes on in the next line, after a word."""
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(HEADER[0], style="bold", overflow="fold")
    for name in HEADER[1:]:
        table.add_column(name, justify="right", no_wrap=True, min_width=max(map(len, name.splitlines())))
    for row in brief:
        table.add_row(*map(Text, row))
    return table


def _row(of_sender: pl.DataFrame, label: str, heuristic: str) -> tuple[str, ...]:
    """Return how many judged trials left at the chokepoint by two rules, when, and what it cost."""
    by_queue, by_rule = (of_sender.filter(heuristic=rule).row(0, named=True) for rule in (LASTING, heuristic))
    times = (significant(by_queue["exit_s"], 1), significant(by_queue["throughput_mbps"], 1))
    return label, _chokepoint(by_queue), _chokepoint(by_rule), *times


def _chokepoint(row: Mapping[str, Any]) -> str:
    """Return a count, and not a share: of how many trials is part of the answer."""
    judged = row["judged"]
    return f"{round(row['chokepoint_pct'] * judged / 100)} of {judged}" if judged else NONE
