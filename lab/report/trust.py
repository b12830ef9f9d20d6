# SPDX-License-Identifier: GPL-2.0-or-later
"""What the certificates of a run's trials say: each check over all trials, and who failed."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from lab.tables.stored_trial import Trial
from lab.tables.trial_json import Check


def checks(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """One row per check: what was asked, the range of what was got, and how many trials passed."""
    gathered: dict[str, list[Check]] = {}
    for trial in trials:
        for check in trial.meta["certificate"]["checks"]:
            gathered.setdefault(check["name"], []).append(check)
    return [_over_all(name, of_name) for name, of_name in gathered.items()]


def invalid(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """The trials left out, each with the checks it failed."""
    return [{"cca": trial.cca, "trial": trial.number, "failed": _failed(trial)} for trial in trials if not trial.valid]


def loss_disagreements(outcomes: pl.DataFrame) -> list[str]:
    """Valid trials whose first loss in the capture is not explained by a drop at the bottleneck."""
    odd = outcomes.filter(pl.col("valid") & ~pl.col("loss_agrees")).unique(["cca", "trial"], maintain_order=True)
    return [f"{cca}-{trial:03d}" for cca, trial in odd.select("cca", "trial").iter_rows()]


def _failed(trial: Trial) -> list[Check]:
    return [check for check in trial.meta["certificate"]["checks"] if not check["ok"]]


def _over_all(name: str, checks: list[Check]) -> dict[str, Any]:
    return {
        "name": name,
        "asked": _range([check["asked"] for check in checks]),
        "got": _range([check["got"] for check in checks]),
        "unit": checks[0]["unit"],
        "tolerance": _range([check["tolerance"] for check in checks]),
        "passed": sum(check["ok"] for check in checks),
        "trials": len(checks),
    }


def _range(values: list[Any]) -> str:
    """Smallest to largest of numbers; the distinct ones of anything else."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        low, high = f"{min(known):.6g}", f"{max(known):.6g}"
        return low if low == high else f"{low} to {high}"
    return ", ".join(sorted({str(value) for value in known}))
