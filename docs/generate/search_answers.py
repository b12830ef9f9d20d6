# SPDX-License-Identifier: GPL-2.0-or-later
"""The page "What the lab says about SEARCH": every sentence is made from docs/measurements/search-answers.json.

An amount has its interval, and a star where the forms have separated.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from bench.questions.schema import names, question
from generate import measurements

HEAD = """# What the lab says about SEARCH

This page answers open questions about SEARCH. Each has an experiment: a file in `bench/questions/`, run by
`make bench-search`. Sentences and tables are made from the stored runs.

* Exits are judged by the [lasting truth](results.md#two-truths): early / at the chokepoint / late.
* Forms have the same draws of a link: a *pair* is one draw. Two forms have *separated* if the exact paired test
  rejects at 5 % that they are alike, after Holm's correction over all pairs of the question (of a workload: of the
  scenario). *Not separated* is no proof that they are alike.
* Intervals are 95 %, by paired bootstraps. RTTs are base RTTs of the link.
* A table of forms counts the pairs in which only one of two forms leaves at the chokepoint (or early), and names the
  place where exits move most, with the mean of its pairs.
* A cell of a table of places has early / at the chokepoint / late exits, and how much later the form left than the
  base. A cell of short flows has early exits, those with the application as the limit, and what a page, chunk or call
  costs. A cell of windows has their size and how much further from the true BDP they are than the base. A star:
  separated; *none*: no form left before a loss or a mark.
* Questions, links and forms were fixed before the runs. Points of questions 1, 2, 7 and 8 were cut for time when the
  results of six trials of one point of question 8 and of one scenario of question 1 were known.

"""
WAYS = {
    "replayed": "Forms of SEARCH are replayed over the same downloads without HyStart",
    "whole": "Each form runs its own trials on the same draws",
    "workload": "Each form runs the same short flows; a cost is against CUBIC without HyStart",
    "window": "Targets are computed at the same replayed exit, and compared with the link's BDP of that moment",
}
Row = dict[str, Any]


def page() -> str:
    """Write the page as Markdown."""
    stored = json.loads((measurements.FOLDER / "search-answers.json").read_text())
    answers = {name: {"commit": stored["commit"], **answer} for name, answer in stored["answers"].items()}
    return HEAD + "\n".join("\n".join(_part(name, answers.get(name))) + "\n" for name in names())


def _part(name: str, answer: Row | None) -> Iterator[str]:
    if answer is None:
        yield f"## {question(name).question}\n"
        yield f'Not measured yet: `make bench-search BENCH="{name}"` runs it.'
        return
    yield f"## {answer['question']}\n"
    yield f"Raised by: {answer['asked']}. {WAYS[answer['way']]}, {_pairs(answer)} at a place: {_forms(answer)}."
    yield f"Measured at commit `{answer['commit']}`.\n"
    yield from (f"* Not run: {reason}.\n" for reason in answer["not_run"])
    if answer["way"] not in ("workload", "window"):
        yield from (*_exits(answer), "")
    yield from _table(answer)


def _forms(answer: Row) -> str:
    described = []
    for name, form in answer["forms"].items():
        given = ", ".join(f"{key} {value}" for key, value in form["params"].items())
        given += ", second RTT sample" * form["second_rtt"] + ", current RTT" * form["current_rtt"]
        sender = form["sender"] + ", " * bool(given) + given.removeprefix(", ")
        described.append(f"`{name}`" + (f" ({sender})" if sender != name else ""))
    return ", ".join(described)


def _pairs(answer: Row) -> str:
    counts = sorted({row["pairs"] for row in answer["rows"] if row["form"] != answer["base"]})
    return f"{counts[0]} pairs" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} pairs"


def _exits(answer: Row) -> Iterator[str]:
    """Lay out each form over all places: who leaves right where the base does not, and where the two separate."""
    base, measure = answer["base"], answer["measure"]
    shown = {"chokepoint": "at the chokepoint", "early": "early"}[measure]
    yield f"| form | pairs | {shown}: only it | only `{base}` | separated on | exits move most on |"
    yield "|---|---|---|---|---|---|"
    for form in answer["forms"]:
        own = [row for row in answer["rows"] if row["form"] == form]
        if form == base:
            continue
        counts = " | ".join(str(sum(row[name] for row in own)) for name in ("pairs", "only_form", "only_base"))
        apart = "; ".join(row["place"] for row in own if row["separated"])
        yield f"| `{form}` | {counts} | {apart or 'nowhere'} | {_moves(own)} |"


def _moves(rows: Sequence[Row]) -> str:
    moved = [row for row in rows if row["later_rtts"]]
    if not moved:
        return "no exit moves"
    most = max(moved, key=lambda row: abs(row["later_rtts"]))
    size = f"{abs(most['later_rtts']):.2f} RTTs {'later' if most['later_rtts'] > 0 else 'earlier'}"
    return f"{most['place']}: {size} {_interval(most['later_lo'], most['later_hi'], 2)}"


def _interval(low: float | None, high: float | None, digits: int) -> str:
    return "(no interval)" if low is None or high is None else f"[{low:,.{digits}f}, {high:,.{digits}f}]"


def _table(answer: Row) -> Iterator[str]:
    """Lay the rows out: a row per place, a column per form; a star where a form has separated from the base."""
    forms, cells = list(answer["forms"]), {(row["place"], row["form"]): row for row in answer["rows"]}
    yield "| place | " + " | ".join(f"`{form}`" for form in forms) + " |"
    yield "|---|" + "---|" * len(forms)
    for place in dict.fromkeys(row["place"] for row in answer["rows"]):
        yield f"| {place} | " + " | ".join(_cell(answer["way"], cells[place, form]) for form in forms) + " |"


def _cell(way: str, row: Row) -> str:
    star = "&nbsp;*" if row["separated"] else ""
    if not row["trials"]:
        return "none"
    if way == "workload":
        limited = f", {row['limited']} limited" if row["limited"] else ""
        return f"{row['early']} of {row['left']} early{limited}{_amount(row, 'cost', 'ms', 0)}{star}"
    if way == "window":
        return f"{row['bdps']:.2f} BDPs{_amount(row, 'further', 'bdps', 2)}{star}"
    later = f", {row['later_rtts']:+.2f}&nbsp;RTTs" if row["later_rtts"] else ""
    return f"{row['early']}/{row['chokepoint']}/{row['late']}{later}{star}"


def _amount(row: Row, name: str, unit: str, digits: int) -> str:
    """Format a difference from the base with its interval; nothing where there is none."""
    value, low, high = (row[f"{name}_{each}"] for each in (unit, "lo", "hi"))
    if not value or low is None:
        return ""
    rounded = f"{round(value, digits) + 0.0:+,.{digits}f}"  # no -0
    return f", {rounded} {_interval(low, high, digits)}&nbsp;{unit.replace('bdps', 'BDPs')}"
