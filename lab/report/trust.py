# SPDX-License-Identifier: GPL-2.0-or-later
"""The certificates of a run's trials, summed up: each check over all trials, and the trials that failed one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from lab.tables.stored_trial import Trial
from lab.tables.trial_json import Certificate, Check


@dataclass(frozen=True)
class CheckSummary:
    """One check over all trials: the range requested, the range measured, and how many trials passed."""

    name: str
    requested: str
    measured: str
    unit: str | None
    tolerance: str
    passed: int
    trials: int


@dataclass(frozen=True)
class InvalidTrial:
    """A trial that is left out, with the checks that it failed."""

    cca: str
    trial: int
    failed: Sequence[Check]

    @classmethod
    def of(cls, cca: str, trial: int, certificate: Certificate) -> "InvalidTrial":
        """Take the checks that a certificate failed."""
        return cls(cca, trial, [check for check in certificate["checks"] if not check["ok"]])

    @property
    def reason(self) -> str:
        """Return what it failed."""
        return "; ".join(
            f"{check['name']} {_short(check['got'])} {check['unit'] or ''} where {_short(check['asked'])} was requested"
            for check in self.failed
        )

    @property
    def line(self) -> str:
        """Return in one line that it is left out, and why."""
        return f"invalid, in no result: {self.cca}-{self.trial:03d}: {self.reason}"


def _short(value: object) -> object:
    """Return a number as a person reads it; the record holds all of its digits."""
    return f"{value:.6g}" if isinstance(value, float) else value


def checks(trials: Iterable[Trial]) -> list[CheckSummary]:
    """Return one row per check."""
    gathered: dict[str, list[Check]] = {}
    for trial in trials:
        for check in trial.meta["certificate"]["checks"]:
            gathered.setdefault(check["name"], []).append(check)
    return [_over_all(name, of_name) for name, of_name in gathered.items()]


def invalid(trials: Iterable[Trial]) -> list[InvalidTrial]:
    """Return the trials that are left out."""
    left_out = (trial for trial in trials if not trial.valid)
    return [InvalidTrial.of(trial.cca, trial.number, trial.meta["certificate"]) for trial in left_out]


def losses(outcomes: pl.DataFrame) -> str:
    """State whether the first loss of each capture follows from a drop at the bottleneck, and where none shows."""
    valid = outcomes.filter("valid").unique(["cca", "trial"], maintain_order=True)
    odd = [f"{cca}-{trial:03d}" for cca, trial in valid.filter(loss_agrees=False).select("cca", "trial").rows()]
    hidden = valid.filter(pl.col("loss_agrees").is_null())["cca"].unique(maintain_order=True)
    found = "In every valid trial the first loss in the capture agrees with the drops that the bottleneck counted."
    if odd:
        found = f"The first loss in the capture does not follow from a drop at the bottleneck in: {', '.join(odd)}."
        found += " Of a link that loses packets itself (loss_pct) that is to be expected."
    rest = f" {found.replace('In every', 'In every other')}" if valid["loss_agrees"].count() else ""
    return f"The capture does not show the losses of: {', '.join(hidden)}.{rest}" if len(hidden) else found


def _over_all(name: str, checks: list[Check]) -> CheckSummary:
    return CheckSummary(
        name,
        _range([check["asked"] for check in checks]),
        _range([check["got"] for check in checks]),
        checks[0]["unit"],
        _range([check["tolerance"] for check in checks]),
        sum(check["ok"] for check in checks),
        len(checks),
    )


def _range(values: Iterable[str | float | None]) -> str:
    """Return smallest to largest of numbers; the distinct ones of anything else."""
    known = [value for value in values if value is not None]
    numbers = [value for value in known if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if known and len(numbers) == len(known):
        low, high = f"{min(numbers):.6g}", f"{max(numbers):.6g}"
        return low if low == high else f"{low} to {high}"
    return ", ".join(sorted({str(value) for value in known}))
