# SPDX-License-Identifier: GPL-2.0-or-later
"""The page "What the lab says about SEARCH": every sentence is made from docs/measurements/search-answers.json.

A sentence states its number of pairs, an interval where it has an amount, and whether the forms have separated.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from bench.questions.schema import names, question
from generate import measurements

HEAD = """# What the lab says about SEARCH

Open questions about SEARCH, each with its experiment: a file in `bench/questions/`, run by
`make bench-search`. Sentences and tables are made from what the runs stored.

* Exits are judged by the [lasting truth](results.md#two-truths): early / at the chokepoint / late.
* Forms have the same draws of a link: a *pair* is one draw. Two forms have *separated* where the exact paired test
  rejects at 5 % that they are alike, after Holm's correction over all pairs of the question (of a workload: of the
  scenario). *Not separated* is no proof that they are alike.
* Intervals are 95 %: Wilson's of shares, paired bootstraps of amounts. RTTs are base RTTs of the link.
* A cell has early / at the chokepoint / late exits and how much later the form left than the base; a star: separated;
  *none*: no form left before a loss or a mark.
* Nothing was chosen by its results: questions, links and forms stood before the runs. Points of questions 1, 2, 7
  and 8 were cut for time after six trials of one point of question 8 and of one scenario of question 1 had been seen.

"""
WAYS = {
    "replayed": "Forms of SEARCH are replayed over the same downloads without HyStart",
    "whole": "Each form runs its own trials on the same draws",
    "workload": "Each form runs the same short flows; a cost is against CUBIC without HyStart",
    "window": "Targets are computed at the same replayed exit, and held against the link's BDP of that moment",
}
Row = dict[str, Any]


def page() -> str:
    """Write the page as Markdown."""
    stored = json.loads((measurements.FOLDER / "search-answers.json").read_text())
    where = f"Measured at commit `{stored['commit']}`, {stored['measured_at'][:10]}, by `{stored['command']}`.\n\n"
    answers = stored["answers"]
    return HEAD + where + "\n".join("\n".join(_part(name, answers.get(name))) + "\n" for name in names())


def _part(name: str, answer: Row | None) -> Iterator[str]:
    if answer is None:
        yield f"## {question(name).question}\n"
        yield f'Not measured yet: `make bench-search BENCH="{name}"` runs it.'
        return
    yield f"## {answer['question']}\n"
    yield f"Raised by: {answer['asked']}. {WAYS[answer['way']]}: {_forms(answer)}.\n"
    tell = {"workload": _workload, "window": _window}.get(answer["way"], _exits)
    yield from (f"* {sentence}" for sentence in tell(answer))
    yield from (f"* Not run: {reason}." for reason in answer["not_run"])
    yield ""
    yield from _table(answer)


def _forms(answer: Row) -> str:
    described = []
    for name, form in answer["forms"].items():
        given = ", ".join(f"{key} {value}" for key, value in form["params"].items())
        given += ", second RTT sample" * form["second_rtt"] + ", current RTT" * form["current_rtt"]
        described.append(f"`{name}`" + (f" ({form['sender']}{', ' * bool(given)}{given.removeprefix(', ')})"))
    return ", ".join(described)


def _exits(answer: Row) -> Iterator[str]:
    """Tell of each form over all places: who leaves right where the other does not, where they separate."""
    base, measure = answer["base"], answer["measure"]
    shown = {"chokepoint": "at the chokepoint", "early": "early"}[measure]
    for form in answer["forms"]:
        own = [row for row in answer["rows"] if row["form"] == form]
        if form == base:
            yield f"`{form}`: {shown} {_counts(own, measure)}."
            continue
        pairs, only, other = (sum(row[name] for row in own) for name in ("pairs", "only_form", "only_base"))
        moved = [row for row in own if row["later_rtts"]]
        yield (
            f"`{form}` against `{base}`, {pairs} pairs at {len(own)} places: {shown} only with the first in {only}, "
            f"only with the second in {other}; {_separations(own)}. {_moves(moved, len(own))}"
        )


def _counts(rows: Sequence[Row], measure: str) -> str:
    found = [f"{row['place']} {row[measure]} of {row['trials']} {_percent(row)}" for row in rows]
    return "; ".join(found)


def _percent(row: Row) -> str:
    return "" if row["lo_pct"] is None else f"[{row['lo_pct']:.0f} to {row['hi_pct']:.0f} %]"


def _separations(rows: Sequence[Row]) -> str:
    apart = [f"{row['place']} ({row['pairs']} pairs)" for row in rows if row["separated"]]
    if not apart:
        return "not separated anywhere"
    return f"separated on {', '.join(apart)}" + ("; not separated elsewhere" if len(apart) < len(rows) else "")


def _moves(moved: Sequence[Row], places: int) -> str:
    if not moved:
        return "Every exit comes at the same time."
    most = max(moved, key=lambda row: abs(row["later_rtts"]))
    size = f"{abs(most['later_rtts']):.2f} RTTs {'later' if most['later_rtts'] > 0 else 'earlier'}"
    return (
        f"Exits move at {len(moved)} of {places} places, most on {most['place']}: {size} in the mean "
        f"{_interval(most['later_lo'], most['later_hi'], 2)} of {most['pairs']} pairs."
    )


def _interval(low: float | None, high: float | None, digits: int) -> str:
    return "(no interval)" if low is None or high is None else f"[{low:,.{digits}f}, {high:,.{digits}f}]"


def _workload(answer: Row) -> Iterator[str]:
    for row in answer["rows"]:
        if row["form"] == answer["base"] or row["cost_ms"] is None:
            continue
        longer = f"{abs(row['cost_ms']):,.0f} ms {'longer' if row['cost_ms'] > 0 else 'shorter'}"
        longer = longer if round(row["cost_ms"]) else "as long"
        yield (
            f"`{row['form']}` in `{row['place']}`: {row['early']} of {row['left']} exits early, {row['limited']} with "
            f"the application as the limit; a page, chunk or call takes {longer} "
            f"{_interval(row['cost_lo'], row['cost_hi'], 0)}, {row['pairs']} pairs, {_verdict(row)}."
        )


def _verdict(row: Row) -> str:
    return "separated" if row["separated"] else "not separated"


def _window(answer: Row) -> Iterator[str]:
    for form in answer["forms"]:
        own = [row for row in answer["rows"] if row["form"] == form and row["trials"]]
        if form == answer["base"] or not own:
            continue
        for row in own:
            way = "further from" if row["further_bdps"] > 0 else "nearer to"
            yield (
                f"`{form}` on {row['place']}: {row['bdps']:.2f} BDPs in the mean, "
                f"{abs(row['further_bdps']):.2f} BDPs {way} the true one than `{answer['base']}` "
                f"{_interval(row['further_lo'], row['further_hi'], 2)}, {row['pairs']} pairs, {_verdict(row)}."
            )


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
        cost = "" if row["cost_ms"] is None else f", {round(row['cost_ms']):+,}&nbsp;ms"
        return f"{row['early']} of {row['left']} early{cost}{star}"
    if way == "window":
        return f"{row['bdps']:.2f} BDPs{star}"
    later = f", {row['later_rtts']:+.2f}&nbsp;RTTs" if row["later_rtts"] else ""
    return f"{row['early']}/{row['chokepoint']}/{row['late']}{later}{star}"
