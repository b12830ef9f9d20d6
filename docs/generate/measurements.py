# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of measurements: docs/measurements/answers.yml, and the figures that benchmarks wrote next to it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from bench.measured import Figure, Machine, Measured
from lab.schema.load import read_yaml

FOLDER = Path(__file__).parents[1] / "measurements"
HEAD = """# Measurements

Every measured figure of this documentation stands here, or on the page that is named here. `scripts/python -m
bench.measured NAME` copies what a benchmark wrote from `results/bench/` to `docs/measurements/`. To measure again, run
the command that stands with the figures, at its commit where it is no longer here.

A speed that was measured while the machine had other work is a lower bound: the load is given.
"""
MOST_ROWS = 20  # of a table: a longer one is a file to compute with, and its answer stands here


class Stanza(TypedDict):
    """What the page says of a file of figures."""

    title: str
    answer: str
    shown: NotRequired[str]  # the page that has its table


def page() -> str:
    """Write the page as Markdown."""
    return HEAD + "\n".join(_lines())


def _lines() -> Iterator[str]:
    groups: dict[str, dict[str, Stanza]] = read_yaml(FOLDER / "answers.yml")
    for group, stanzas in groups.items():
        yield f"\n## {group}\n"
        for name, stanza in stanzas.items():
            yield from _part(name, stanza)


def _part(name: str, stanza: Stanza) -> Iterator[str]:
    measured: Measured = json.loads((FOLDER / f"{name}.json").read_text())
    where = "; " + ", ".join(_facts(measured.get("machine") or {}))
    when = f"commit `{measured['commit']}`, {measured['measured_at'][:10]}"
    yield f"### {stanza['title']}\n"
    yield f"{stanza['answer']}\n"
    yield f"`{measured['command']}`, {when}{where.rstrip('; ')}. [{name}.json](measurements/{name}.json)\n"
    figures = measured["figures"]
    table = by_subject(figures) if all(": " in figure["name"] for figure in figures) else _table(figures)
    if shown := stanza.get("shown"):
        yield f"Table: [{shown.removesuffix('.md')}]({shown}).\n"
    elif len(table) <= MOST_ROWS + 2:
        yield from (*table, "")


def _facts(machine: Machine) -> list[str]:
    wording = {
        "processor": "{}",
        "cores": "{} cores",
        "memory_gb": "{} GB",
        "kernel": "Linux {}",
        "load_1_min": "load {}",
    }
    return [text.format(machine[name]) for name, text in wording.items() if machine.get(name) not in (None, "")]


def by_subject(figures: list[Figure]) -> list[str]:
    """Lay figures that are named `subject: quantity` out as one row per subject and one column per quantity."""
    subjects = list(dict.fromkeys(figure["name"].split(": ")[0] for figure in figures))
    columns: dict[str, dict[str, Figure]] = {}
    for figure in figures:
        subject, quantity = figure["name"].split(": ", 1)
        columns.setdefault(quantity, {})[subject] = figure
    lines = ["| | " + " | ".join(_heading(name, list(column.values())) for name, column in columns.items()) + " |"]
    lines.append("|---|" + "---:|" * len(columns))
    for subject in subjects:
        values = [column[subject]["value"] if subject in column else None for column in columns.values()]
        lines.append(f"| {subject} | " + " | ".join(_number(value) for value in values) + " |")
    return lines


def _heading(name: str, figures: list[Figure]) -> str:
    targets = {figure.get("target") for figure in figures}
    units = {figure["unit"] for figure in figures}
    unit = f" ({units.pop()})" if len(units) == 1 and units != {""} else ""
    return name + unit + (f", target: {targets.pop()}" if len(targets) == 1 and None not in targets else "")


def _table(figures: list[Figure]) -> list[str]:
    targets = any("target" in figure for figure in figures)
    lines = [
        "| figure | value | unit |" + (" target |" if targets else ""),
        "|---|---:|---|" + ("---|" if targets else ""),
    ]
    for figure in figures:
        target = f" {figure.get('target', '')} |" if targets else ""
        lines.append(f"| {figure['name']} | {_number(figure['value'])} | {figure['unit']} |{target}")
    return lines


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
