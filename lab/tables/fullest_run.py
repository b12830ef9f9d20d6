# SPDX-License-Identifier: GPL-2.0-or-later
"""The run that stands for a scenario: of the scenario as its file is now, the one with most valid trials.

A run that is smaller, or that the command line gave another duration or seed, does not replace it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.base.errors import UserError
from lab.base.named_files import scenario_files
from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run

# Fields of a scenario that decide its trials, apart from their number.
DECISIVE = ("topology", "profile", "ccas", "duration_s", "seed", "size_bytes", "mtu_bytes", "pacing", "rival", "rivals")


def fullest_run(latest: Path) -> Run:
    """Return the run that stands for the scenario of `latest`, a link to its newest run; of equals, the newest."""
    newest = Run(latest.resolve())
    others = list(_others(newest.path))
    if not others:
        return newest
    now = _present(latest.parent.name) or newest.scenario
    return max([*others, newest], key=lambda run: (same_trials(run.scenario, now), valid_trials(run), run.path.name))


def same_trials(then: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Return whether two scenarios have the same trials, but for their number."""
    return all(then[field] == now[field] for field in DECISIVE if field in then and field in now)


def valid_trials(run: Run) -> int:
    """Return the number of valid trials."""
    return sum(trial.valid for trial in run.trials)


def _present(name: str) -> Mapping[str, object] | None:
    """Return the scenario of this name as its file is now; null where there is none, or where it is refused."""
    try:
        return load_scenario(name)[1].model_dump() if name in scenario_files() else None
    except UserError:
        return None


def _others(newest: Path) -> Iterator[Run]:
    """Yield the other whole runs; one that cannot be read is left out."""
    for file in newest.parent.glob("[0-9]*/run.json"):
        run = Run(file.parent)
        try:
            if run.path != newest and run.complete and run.trials:
                yield run
        except UserError:
            continue
