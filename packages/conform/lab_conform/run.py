# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases on senders: one trial for each event that is placed, and the trial with all of them, which is judged."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab_compare.comparison import known_senders
from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base import paths
from lab.commands.prepare import run_all
from lab.runs.experiment import Experiment, assemble
from lab.runs.options import RunOptions
from lab.runs.plan import MSS_BYTES
from lab.schema.cca import Value
from lab.schema.load import parse
from lab.schema.scenario import Scenario
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab_conform.case import Case
from lab_conform.link import Span, digest, profile, written
from lab_conform.place import NeverComes, Placed, place, same_before
from lab_conform.subject import Subject
from lab_conform.verdict import Verdict, judged
from lab_conform.view import View

NAME = "conform"
QUESTION = "What does the sender do on the link of a case?"  # the same of all: cases on one link share a trial


@dataclass(frozen=True)
class Bench:
    """How trials run."""

    virtual: Virtual
    workers: int
    console: Console


@dataclass(frozen=True)
class Attempt:
    """A case on a sender, with the events that are placed so far."""

    number: int  # of the verdict
    case: Case
    subject: Subject
    placed: tuple[Placed, ...] = ()
    view: View | None = None  # of the trial with none of the last ones
    until_s: float = 0.0  # when the first of these can show at the client

    @property
    def spans(self) -> list[Span]:
        return [span for each in self.placed for span in each.spans]

    @property
    def whole(self) -> bool:
        return len(self.placed) == len(self.case.link.events)

    def seen(self, trial: Trial) -> View:
        """Return the view of a trial with the placed events."""
        times, dropped = (tuple(getattr(each, name) for each in self.placed) for name in ("at_s", "dropped"))
        return View(self.case.link, self.case.duration_s, trial, times, dropped)

    @property
    def params(self) -> dict[str, Value]:
        return {**self.subject.cca.params, **self.case.params}

    @property
    def sysctls(self) -> dict[str, str]:
        """Return the settings of the kernel: the sender's, and above them those of the case."""
        return self.subject.cca.sysctls | self.case.sysctls

    @property
    def scenario(self) -> dict[str, Any]:
        """Return the fields of a scenario that the case has."""
        case = self.case
        found = case.model_dump(include={"duration_s", "workload", "rival", "rival_start_s"})
        return found | {"size_bytes": case.size_pkts * MSS_BYTES if case.size_pkts else None}

    def key(self) -> dict[str, Any]:
        """Return what makes its trial another than that of another case."""
        case, cca = self.case, self.subject.cca
        own = {"sysctls": self.sysctls, "sender": cca.name, "params": self.params, "digest": cca.module_digest}
        return {"profile": profile(case, self.spans), **self.scenario, **own}


def verdicts(pairs: Iterable[tuple[Case, Subject]], bench: Bench) -> list[Verdict]:
    """Return the verdict of each case on its sender, in their order."""
    found: dict[int, Verdict] = {}
    attempts: list[Attempt] = []
    for number, (case, each) in enumerate(pairs):
        if why := each.why_not(case):
            found[number] = Verdict(case, each.cca.name, "not applicable", why)
        else:
            attempts.append(Attempt(number, case, each))
    while attempts:
        attempts = _pass(attempts, found, bench)
    return [found[number] for number in sorted(found)]


def _pass(attempts: list[Attempt], found: dict[int, Verdict], bench: Bench) -> list[Attempt]:
    """Run the trial of each attempt once; add the verdicts of those that end, and return the others."""
    trials = _trials({digest(each.key()): each for each in attempts}, bench)
    left: list[Attempt] = []
    for attempt in attempts:
        outcome = _stepped(attempt, trials[digest(attempt.key())])
        if isinstance(outcome, Attempt):
            left.append(outcome)
        else:
            found[attempt.number] = outcome
    return left


def _stepped(attempt: Attempt, trial: Trial | str) -> Attempt | Verdict:
    """Return the attempt with its next event, or its verdict."""
    case, sender = attempt.case, attempt.subject.cca.name
    if isinstance(trial, str):
        return Verdict(case, sender, "failed", f"the lab has no result: {trial}")
    view = attempt.seen(trial)
    if attempt.view and not same_before(attempt.view, view, attempt.until_s):
        return Verdict(case, sender, "failed", "the lab: the packets before an event differ with it", view=view)
    if any(each.spared(view) for each in attempt.placed):
        return Verdict(case, sender, "failed", "the lab: a segment came that an event loses", view=view)
    if not attempt.whole:
        try:
            events = case.link.events[len(attempt.placed) :]
            new = place(events, view)
            until_s = new[0].shows_s(view) if events[0].when else 0.0  # what happens at a time follows from no trial
            return replace(attempt, placed=(*attempt.placed, *new), view=view, until_s=until_s)
        except NeverComes as error:
            return Verdict(case, sender, "failed", f"event {len(attempt.placed)} never came: {error}", view=view)
    bad = [each["name"] for each in trial.meta["certificate"]["checks"] if not each["ok"]]
    if bad:
        return Verdict(case, sender, "failed", f"the trial's certificate is not valid: {', '.join(bad)}", view=view)
    return judged(case, sender, view)


def _trials(attempts: dict[str, Attempt], bench: Bench) -> dict[str, Trial | str]:
    """Run what is not stored; return each trial, or the reason for none."""
    experiments = (experiment_of(name, attempt) for name, attempt in attempts.items())
    options = RunOptions(bench.workers, keep_capture=False)
    runs = run_all(experiments, bench.virtual, options, bench.console, many_runs=False)
    return {name: _trial(run.folder, run.failures) for name, run in zip(attempts, runs, strict=True)}


def _trial(folder: Path, failures: list[str]) -> Trial | str:
    trials = Run(folder).trials
    return trials[0] if trials else "; ".join(failures) or f"{folder} has no trial"


def experiment_of(name: str, attempt: Attempt) -> Experiment:
    """Return the experiment of an attempt: its link, one trial, its sender."""
    case, cca = attempt.case, attempt.subject.cca
    file = written(profile(case, attempt.spans), paths.results() / NAME / "links")
    content = {
        "question": QUESTION,
        "topology": "dumbbell" if case.rival else "path",
        "profile": str(file),
        "ccas": [cca.name],
        "trials": 1,
        "seed": 1,
        **attempt.scenario,
    }
    scenario = parse(Scenario, {key: value for key, value in content.items() if value is not None}, case.file)
    with_settings = cca.model_copy(update={"sysctls": attempt.sysctls, "params": attempt.params})
    senders = (known_senders([case.rival]) if case.rival else {}) | {cca.name: cca}
    experiment = assemble(f"{NAME}-{name}", scenario, str(case.file), senders=senders)
    return replace(experiment.with_senders({cca.name: with_settings}), group=f"{NAME}-{experiment.scenario.topology}")


def failed(found: list[Verdict]) -> Iterator[Verdict]:
    """Yield the verdicts that failed."""
    return (each for each in found if each.outcome == "failed")
