# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of the at-capacity rules on trial: how far each is from the truth, and where better constants lie."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.format import NONE, few, number, share
from lab.base.plain_file import write_whole
from lab.figures.page_figure import Place
from lab.judge.registry import LASTING, TRUTH, label, rules
from lab.judge.summary import CLASSES
from lab.report import template
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_senders
from lab_papers.evaluation.kept import evaluation
from lab_papers.index.drawn import drawn

HERE = Path(__file__).parent
PAGE = "heuristics.html"
HEADER = (
    "Rule",
    "Trials",
    "Found (%)",
    "Bias (s)",
    "Spread (s)",
    "Same class (%)",
    "Timely called early",
    "Early called timely",
)
CONSTANTS = ("Constants", "Trials", "Found (%)", "Bias (s)", "Error, rms (s)", "Misjudged (%)")
BEST = 3  # grid points shown in addition to the published one
TRUTHS_CAPTION = (
    "Shares by both truths, percent of the judged trials with 95 % Wilson interval. First where the queue must stand "
    "until slow start could not be needed again (lasting), which headlines follow; then where one round trip of "
    "standing queue is capacity. Last: the trials whose class depends on the choice."
)


def write(results: Path, links: Mapping[str, str]) -> bool:
    """Write results/heuristics.html; false where no rule has been scored yet."""
    scored, trials = evaluation(results, "heuristics"), evaluation(results, "heuristics_trials")
    if scored is None or trials is None or scored.is_empty():
        return False
    tables, by_both = [_scores(scored, links)], evaluation(results, "truths")
    if by_both is not None and not by_both.is_empty():
        tables.insert(0, truths_table(by_both, links))
    constants = evaluation(results, "heuristics_constants")
    if constants is not None and not constants.is_empty():
        tables.append(_constants(constants, links))
    write_whole(
        results / PAGE,
        template.render("heuristics.html.j2", HERE, pictures=drawn(results, Place.RULES, trials, links), tables=tables),
    )
    return True


def _scores(scored: pl.DataFrame, links: Mapping[str, str]) -> Table:
    rows = scored.filter(cca="all")
    groups = [
        Group(links.get(str(scenario), str(scenario)), tuple(_score(row) for row in of.iter_rows(named=True)))
        for (scenario,), of in rows.group_by(["scenario"], maintain_order=True)
    ]
    caption = (
        "Each rule against the moment at which the queue truly filled. Bias: rule minus truth, mean with its 95 % "
        "interval. Last columns: how many exits of one class the rule takes for the other."
    )
    return Table("scores", caption, HEADER, tuple(groups), (), "Link")


def _score(row: Mapping[str, Any]) -> Row:
    found = None if not row["trials"] else 100 * row["found"] / row["trials"]
    interval = "" if row["bias_lo_s"] is None else f" [{row['bias_lo_s']:.2f} to {row['bias_hi_s']:.2f}]"
    cells = (
        label(row["rule"]),
        str(row["trials"]),
        number(found, 0),
        number(row["bias_s"], 2) + interval,
        number(row["spread_s"], 2),
        number(row["agree_pct"], 1),
        f"{row['timely_called_early']} of {row['truly_timely']}",
        f"{row['early_called_timely']} of {row['truly_early']}",
    )
    return Row(cells)


def _constants(constants: pl.DataFrame, links: Mapping[str, str]) -> Table:
    groups = []
    for (scenario, rule), of in constants.group_by(["scenario", "rule"], maintain_order=True):
        best = of.filter(~pl.col("published")).sort("rms_s", nulls_last=True, maintain_order=True).head(BEST)
        rows = pl.concat([of.filter("published"), best])
        name = f"{links.get(str(scenario), str(scenario))}: {label(str(rule))}"
        groups.append(Group(name, tuple(_constant(row) for row in rows.iter_rows(named=True))))
    caption = "The constants of the rules: the papers' own (published), and the best of a grid by error."
    return Table("constants", caption, CONSTANTS, tuple(groups), (), "Link and rule")


def _constant(row: Mapping[str, Any]) -> Row:
    rule = rules().get(row["rule"])
    labels = rule.constants.labels if rule and rule.constants else {}
    words = ", ".join(f"{name} {row[column]:g}" for column, name in labels.items() if column in row) or NONE
    found = None if not row["trials"] else 100 * row["found"] / row["trials"]
    cells = (
        words,
        str(row["trials"]),
        number(found, 0),
        number(row["bias_s"], 2),
        number(row["rms_s"], 2),
        number(row["misjudged_pct"], 1),
    )
    return Row(cells, published=bool(row["published"]))


TRUTHS_HEADER = (
    "Sender",
    "Trials",
    *(f"{name.capitalize()} (%)" for name in CLASSES),
    *(f"{name.capitalize()} by one RTT (%)" for name in CLASSES),
    "Class depends",
)


def truths_table(truths: pl.DataFrame, links: Mapping[str, str]) -> Table:
    """Return the truths_table; a scenario has its link's name where it has one."""
    labels = {name: stanza.label for name, stanza in load_senders().items()}
    groups = tuple(
        Group(
            _scenario_title(str(scenario), links), tuple(_truths_row(row, labels) for row in of.iter_rows(named=True))
        )
        for (scenario,), of in truths.group_by("scenario", maintain_order=True)
    )
    return Table("truths", TRUTHS_CAPTION, TRUTHS_HEADER, groups, (), "Scenario")


def _scenario_title(scenario: str, links: Mapping[str, str]) -> str:
    return f"{scenario}: {links[scenario]}" if scenario in links else scenario


def _truths_row(row: Mapping[str, Any], labels: Mapping[str, str]) -> Row:
    name = labels.get(row["cca"], row["cca"]) + (", replayed" if row["replayed"] else "")
    by_both = [_share_by(row, truth, word) for truth in (LASTING, TRUTH) for word in CLASSES]
    return Row((name, str(row["trials"]), *by_both, few(row["depends"], row["trials"])))


def _share_by(row: Mapping[str, Any], truth: str, word: str) -> str:
    named = {name.removeprefix(f"{truth}_"): value for name, value in row.items() if name.startswith(f"{truth}_")}
    return share(named, word)
