# SPDX-License-Identifier: GPL-2.0-or-later
"""What a benchmark measured, as results/bench/<name>.json: commit, machine, command, and figures with their units.

`python -m bench.measured NAME...` copies such files to docs/measurements/, which the site's page shows.
"""

import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from lab.base import paths
from lab.base.commit import commit
from lab.base.errors import UserError
from lab.base.processes import processor

Machine = dict[str, str | int | float]
PUBLISHED = paths.REPO / "docs" / "measurements"


class Figure(TypedDict):
    """One measured value."""

    name: str
    value: float | int | str | None
    unit: str
    target: NotRequired[str]  # what is required of it


class Measured(TypedDict):
    """A file of figures; those copied from an older page lack the machine."""

    name: str
    command: str
    commit: str | None
    measured_at: str
    machine: Machine
    figures: list[Figure]


def store(name: str, command: str, figures: list[Figure], details: Mapping[str, object] | None = None) -> Path:
    """Write results/bench/<name>.json and return its path; `details` keeps what the figures were computed from."""
    file = paths.results() / "bench" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    measured: Measured = {
        "name": name,
        "command": command,
        "commit": commit(),
        "measured_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine(),
        "figures": figures,
    }
    file.write_text(lines({**measured, **(details or {})}))
    return file


def lines(measured: Mapping[str, object]) -> str:
    """Write a measurement as JSON: one line per member, and per element of a list."""
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {_member(value)}" for name, value in measured.items()) + "\n}\n"


def _member(value: object) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n" + ",\n".join(f"  {json.dumps(element)}" for element in value) + "\n ]"


def show_and_store(name: str, command: str, figures: list[Figure], details: Mapping[str, object] | None = None) -> None:
    """Print each figure beside what is required of it and what was published, and store all."""
    before = published(name)
    for figure in figures:
        old, new, target = before.get(figure["name"]), figure["value"], figure.get("target")
        notes = [f"target: {target}"] * (target is not None) + [f"published: {old}"] * (old is not None)
        if isinstance(old, int | float) and isinstance(new, int | float) and old:
            notes.append(f"ratio: {new / old:.2f}")
        print(f"{figure['name']}: {new} {figure['unit']}" + (f" ({', '.join(notes)})" if notes else ""))
    print(store(name, command, figures, details))


def last(name: str) -> dict[str, Any]:
    """Return what was measured last: in results/, else as published; empty where nothing was."""
    files = [folder / f"{name}.json" for folder in (paths.results() / "bench", PUBLISHED)]
    found: dict[str, Any] = next((json.loads(file.read_text()) for file in files if file.exists()), {})
    return found


def rounded(name: str, value: float, unit: str, digits: int = 3) -> Figure:
    """Round a value to `digits` decimals."""
    return {"name": name, "value": round(value, digits), "unit": unit}


def run_command(main: Callable[[list[str]], object], words: list[str]) -> None:
    """Run a benchmark's command: what the user can mend is one line and status 2, no traceback."""
    try:
        main(words)
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def machine() -> Machine:
    """Describe this machine as far as it affects a measurement; its name is not among that."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory_bytes / 1e9, 1),
        "load_1_min": round(os.getloadavg()[0], 1),
        "kernel": platform.release().split("-")[0],
        "python": platform.python_version(),
    }


def published(name: str) -> dict[str, float | int | str | None]:
    """Return the stored value of each figure of a measurement; nothing where none is stored."""
    file = PUBLISHED / f"{name}.json"
    content = json.loads(file.read_text()) if file.is_file() else {"figures": []}
    return {figure["name"]: figure["value"] for figure in content["figures"]}


def publish(names: list[str]) -> None:
    """Copy measured figures to docs/measurements/."""
    for name in names:
        file = paths.results() / "bench" / f"{name}.json"
        if not file.is_file():
            raise UserError(f"{file}: must be there: measure it first (make bench-{name.split('-')[0]})")
        measured = json.loads(file.read_text())
        if not measured["commit"] or measured["commit"].endswith("-dirty"):
            raise UserError(
                f"{file}: commit={measured['commit']}: must be a commit without changes: commit, and measure again"
            )
        (PUBLISHED / file.name).write_text(lines(measured))
        print(f"{PUBLISHED / 'answers.yml'}: {name}: does its answer still hold?")


if __name__ == "__main__":
    run_command(publish, sys.argv[1:])
