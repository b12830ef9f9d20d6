# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of measurements, from docs/measurements/*.json: what benchmarks wrote, with commit and machine."""

import json
from pathlib import Path
from typing import Any

from bench.measured import Figure, Machine, Measured

FOLDER = Path(__file__).parents[1] / "measurements"
HEAD = """# Measurements

Every measured figure of this project's documentation stands here and nowhere else. A benchmark writes
`results/bench/<name>.json`; `scripts/python -m bench.measured <name>` copies that file to `docs/measurements/`,
from which this page is made. To measure again, run the command that stands with the figures,
at their commit where it is no longer here.

A speed that was measured while the machine had other work is a lower bound: the load is given.

"""


TITLES = {
    "speed": "Speed of a trial",
    "senders": "What a sender costs",
    "reproduce": "What make reproduce takes",
    "kills": "What killed commands leave",
    "filter-cost": "What the filter of system calls costs",
    "bundle": "What a bundle takes",
    "course": "What the grades of a class take",
    "course-start": "A student's first minutes",
    "replay-virtual": "How exactly recordings are replayed, in virtual time",
    "replay-vm": "How exactly recordings are replayed, in a VM",
    "wifi-place": "WiFi, measured where the paper measured it",
    "quic": "Speed of a trial over QUIC",
    "shapers": "Both shapers on the same links",
    "conform": "How the cases of each suite end on each sender: passed / failed / not applicable",
    "conform-mutants": "Which deliberate faults of senders the cases notice",
    "conform-cubic-all": "What lab conform takes for all suites of one sender",
    "conform-cubic-rfc9438": "What lab conform takes for one suite, and whether it says the same again",
    "break-cost": "What a trial of lab break costs",
    "break-mutants": "How soon lab break finds faults",
    "whatif": "How often lab whatif is right",
}


def page() -> str:
    """Write the page as Markdown."""
    files = sorted(FOLDER.glob("*.json"))
    parts = [_part(json.loads(file.read_text())) for file in files]
    return HEAD + ("\n".join(parts) if parts else "Nothing was measured yet.\n")


def _part(measured: Measured) -> str:
    machine = measured.get("machine") or {}
    where = ", ".join(text for name, text in _facts(machine))
    commit = f"commit `{measured['commit']}`" if measured.get("commit") else "commit not recorded"
    lines = [
        f"## {_title(measured)}\n",
        f"`{measured['command']}`, {commit}, {measured['measured_at'][:10]}",
    ]
    lines[-1] += f"; {where}.\n" if where else ".\n"
    if measured.get("note"):
        lines.append(f"{measured['note']}\n")
    figures = measured["figures"]
    lines += by_subject(figures) if all(": " in figure["name"] for figure in figures) else _table(figures)
    return "\n".join(lines) + "\n"


def _title(measured: Measured) -> str:
    return str(measured.get("title") or TITLES.get(measured["name"], measured["name"]))


def _facts(machine: Machine) -> list[tuple[str, str]]:
    wording = {
        "processor": "{}",
        "cores": "{} cores",
        "memory_gb": "{} GB",
        "kernel": "Linux {}",
        "load_1_min": "load {}",
    }
    return [(name, text.format(machine[name])) for name, text in wording.items() if machine.get(name) not in (None, "")]


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
