# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares by both truths: the classes of each scenario's exits, and how many of them depend on the choice.

By `truth` the link is at capacity after one base RTT of standing queue, by `lasting` once the queue stands for as long
as slow start could be needed again (lab/judge/rules/lasting.py), which is the stricter one. Rows with a form of SEARCH
that was replayed over the downloads without HyStart stand beside those of the senders that ran.
"""

import polars as pl

from lab.judge import summary
from lab.judge.copies import copied, distinct
from lab.judge.frames import Cell, Row
from lab.judge.registry import LASTING, TRUTH, TRUTHS
from lab.judge.stored import Stored
from lab_papers.evaluation.search.replay import BASE


def shares(stored: Stored, versions: pl.DataFrame) -> list[Row]:
    """Return one row per sender that ran, and per form that was replayed, with its shares by both truths."""
    same = copied(stored.judged.outcomes)
    ran = distinct(stored.judged.outcomes).select("cca", "trial", "exit_class", judge="heuristic")
    about: dict[str, Cell] = {"scenario": stored.name, "replayed": False}
    rows: list[Row] = [about | _shares(cca, part, copies=cca in same) for cca, part in _by_both(ran)]
    if versions.is_empty():
        return rows
    replayed = versions.filter(scenario=stored.name).select("trial", "exit_class", "judge", cca="version")
    about["replayed"] = True
    return rows + [about | _shares(form, part, copies=BASE in same) for form, part in _by_both(replayed)]


def _by_both(classes: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the trials of each sender, with a column for each truth."""
    one, other = (
        classes.filter(judge=truth).select("cca", "trial", pl.col("exit_class").alias(truth)) for truth in TRUTHS
    )
    both = one.join(other, on=["cca", "trial"], maintain_order="left")
    return [(str(cca), part) for (cca,), part in both.group_by("cca", maintain_order=True)]


def _shares(cca: str, part: pl.DataFrame, *, copies: bool) -> dict[str, Cell]:
    depends = int(part.select(pl.col(TRUTH).ne_missing(pl.col(LASTING)).sum()).item())
    row: dict[str, Cell] = {"cca": cca, "trials": part.height, "depends": depends}
    for truth in TRUTHS:
        row |= summary.shares(part[truth], copies=copies, prefix=f"{truth}_")
    return row
