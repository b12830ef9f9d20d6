# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict of a case on one sender: passed, failed or not applicable, each with its reason."""

from dataclasses import dataclass
from typing import Any, Literal

from lab.judge.seen_exit import contradiction
from lab.judge.slow_start import BY_LOSS, first_exit
from lab.tables.downloads import FLOW
from lab_conform.case import Case, Check
from lab_conform.measures import MEASURES
from lab_conform.view import Unmeasured, View

Outcome = Literal["passed", "failed", "not applicable"]
DIGITS = 6  # of a measured number: the last ones of a float depend on the processor


@dataclass(frozen=True)
class Checked:
    """One check with what was measured."""

    check: Check
    value: float | str | None
    passed: bool
    reason: str = ""

    @property
    def line(self) -> str:
        wanted = self.check.equals or _bounds(self.check.least, self.check.most)
        given = ", ".join(f"{name}={value}" for name, value in self.check.with_.items())
        value = self.reason or (self.value if isinstance(self.value, str) else f"{self.value:.6g}")
        return f"{self.check.measure}({given}): {value}, must be {wanted}: {self.check.because}"


@dataclass(frozen=True)
class Verdict:
    """What became of a case on a sender."""

    case: Case
    sender: str
    outcome: Outcome
    reason: str
    checked: tuple[Checked, ...] = ()
    view: View | None = None

    @property
    def lines(self) -> list[str]:
        """Return the lines that matter: of a failure what the text requires, and each check that failed."""
        failed = [each.line for each in self.checked if not each.passed]
        return [
            f"{self.case.name}: {self.case.title}",
            f"{self.case.rule} ({self.case.keyword})",
            *(failed or [self.reason]),
        ]

    @property
    def record(self) -> dict[str, Any]:
        """Return the verdict as JSON has it: the same at every run."""
        return {
            "case": self.case.name,
            "title": self.case.title,
            "source": self.case.source.model_dump(),
            "keyword": self.case.keyword,
            "sender": self.sender,
            "verdict": self.outcome,
            "reason": self.reason,
            "checks": [
                {"measure": each.check.measure, "with": each.check.with_, "value": each.value, "passed": each.passed}
                | {
                    name: value
                    for name in ("least", "most", "equals")
                    if (value := getattr(each.check, name)) is not None
                }
                for each in self.checked
            ],
        }


def judged(case: Case, sender: str, view: View) -> Verdict:
    """Check a trial whose every event came."""
    if why := _forged(case, view):
        return Verdict(case, sender, "failed", why, view=view)
    checked = tuple(_checked(each, view) for each in case.checks)
    failed = [each for each in checked if not each.passed]
    reason = f"{len(failed)} of {len(checked)} checks: {failed[0].line}" if failed else "every check holds"
    return Verdict(case, sender, "failed" if failed else "passed", reason, checked, view)


def _forged(case: Case, view: View) -> str | None:
    """Return how the packets contradict the exit that a case needs and a user's code wrote; none where they do not.

    Nothing is compared where a loss ended slow start, after which it may begin again, nor where the flight stands for
    another reason: an application that stops, a slow return path, a link that loses all.
    """
    left = first_exit(view.trial.exits, FLOW)
    stands = case.workload or case.link.up_rate_mbps or any(event.loss_pct for event in case.link.events)
    compared = "exit" in case.needs and not stands and left and left.cause not in BY_LOSS
    return contradiction(view.trial, left) if compared else None


def _checked(check: Check, view: View) -> Checked:
    try:
        value = MEASURES[check.measure](view, **check.with_)
    except Unmeasured as error:
        return Checked(check, None, False, str(error))
    except (ValueError, ArithmeticError, LookupError) as error:  # such as no time from from_s to until_s
        return Checked(check, None, False, f"no value with these parameters ({error})")
    if isinstance(value, str):
        return Checked(check, value, value == check.equals)
    value = float(f"{value:.{DIGITS}g}")
    if check.equals is not None:
        return Checked(check, value, False, f"{value:g} is a number")
    above = check.least is None or value >= check.least
    below = check.most is None or value <= check.most
    return Checked(check, value, above and below)


def _bounds(least: float | None, most: float | None) -> str:
    parts = [f"at least {least:g}"] if least is not None else []
    return " and ".join([*parts, *([f"at most {most:g}"] if most is not None else [])])
