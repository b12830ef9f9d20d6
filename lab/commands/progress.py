# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress bars: of a build, and of trials."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab.base.format import trials_text
from lab.commands.lines import say
from lab.kernel.build import KERNEL_STEPS, MODULES_STEPS
from lab.report.trust import InvalidTrial
from lab.runs.estimate import BOOT_S

if TYPE_CHECKING:  # a report shows bars, too, and runs no trials
    from lab.backends.virtual import BuildProgress
    from lab.runs.execute import OpenRun
    from lab.runs.pool import Result
    from lab.runs.trial import Job

T = TypeVar("T")
NARROW_CHARS = 100  # below it the name of a run leaves no room for a bar
REFRESHES_PER_S = 2  # ten took a twentieth of a processor from the trials
BUILD_STEPS = KERNEL_STEPS + MODULES_STEPS


@contextmanager
def build_bar(console: Console) -> Iterator["BuildProgress"]:
    """Show what is being built, and how many steps of the kernel's build are done."""
    with _bar(console, "steps") as bar:
        task = bar.add_task("", total=None, count="")

        def show(what: str, steps: int | None) -> None:
            done = min(steps or 0, BUILD_STEPS)
            count = "" if steps is None else f"{done}/{BUILD_STEPS}"
            bar.update(
                task, description=what, total=None if steps is None else BUILD_STEPS, completed=done, count=count
            )

        yield show


def watched(console: Console, what: str) -> Callable[[Iterable[T], int], Iterator[T]]:
    """Return what counts results on a bar while they are made; the bar goes with the last one."""

    def counted(results: Iterable[T], total: int) -> Iterator[T]:
        with _bar(console, "parts", transient=True) as bar:
            task = bar.add_task(what, total=total, count=f"0/{total}")
            for number, result in enumerate(results, start=1):
                bar.update(task, completed=number, count=f"{number}/{total}")
                yield result

    return counted


class TrialBar(AbstractContextManager["TrialBar"]):
    """Observes trials: one bar for all, from the first one on, and one line per ended run if there are many."""

    def __init__(self, console: Console, many_runs: bool) -> None:
        self._console, self._many_runs = console, many_runs
        self._bar = _bar(console, "trials", numbers_alone=many_runs and console.width < NARROW_CHARS)
        self._task: TaskID | None = None
        self._total, self._begin_s = 0, 0.0
        self._counts: Counter[str] = Counter()
        self._virtual_s = 0.0
        self._invalid: dict[str, list[str]] = {}  # the line of each, by experiment

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Take the bar down."""
        if self._task is not None:
            self._bar.stop()

    def begin(self, jobs: "list[Job]") -> None:
        """Show the bar; a trial's share of it is its expected wall time."""
        self._total, self._begin_s = len(jobs), time.monotonic()
        self._task = self._bar.add_task("trials", total=sum(map(_cost_s, jobs)), count=f"0/{len(jobs)}")
        self._bar.start()

    def trial_ended(self, job: "Job", result: "Result") -> None:
        """Count a trial."""
        assert self._task is not None
        self._counts[_kind(result)] += 1
        if not isinstance(result, str) and not result["certificate"]["valid"]:
            line = InvalidTrial.of(result["cca"], result["trial"], result["certificate"]).line
            self._invalid.setdefault(job.experiment.name, []).append(line)
        self._virtual_s += 0 if isinstance(result, str) else job.experiment.scenario.duration_s
        count = f"{self._counts.total()}/{self._total}"
        self._bar.update(self._task, advance=_cost_s(job), description=self._summary(job), count=count)

    def run_ended(self, run: "OpenRun") -> None:
        """Print how many trials of a run were run, how many failed, and why some are invalid."""
        if self._many_runs:
            base = run.experiment.scenario.counterfactual_of
            name = f"{run.experiment.name} (counterfactual of {base})" if base else run.experiment.name
            failed = f", {len(run.failures)} without a result" if run.failures else ""
            say(self._console, f"{name}: {trials_text(len(run.jobs))} run{failed}")
            for line in self._invalid.get(run.experiment.name, ()):
                say(self._console, f"{name}: {line}")

    def _summary(self, job: "Job") -> str:
        """Return the counts, behind the run's name if there are many, else with the speed: 80 columns hold no more."""
        speed = self._virtual_s / (time.monotonic() - self._begin_s)
        others = "".join(f", {self._counts[kind]} {kind}" for kind in ("invalid", "failed") if self._counts[kind])
        counts = f"{self._counts['valid']} valid{others}"
        if self._many_runs:
            return f"{job.experiment.name.removeprefix('compare-')}: {counts}"
        return f"{counts}, {speed:.1f} virtual s/s"


def _kind(result: "Result") -> str:
    if isinstance(result, str):
        return "failed"
    return "valid" if result["certificate"]["valid"] else "invalid"


def _cost_s(job: "Job") -> float:
    return BOOT_S + job.experiment.scenario.duration_s


def _bar(console: Console, unit: str, transient: bool = False, numbers_alone: bool = False) -> Progress:
    """Return a bar that leaves the numbers their room: its own width is what is left of the terminal's."""
    return Progress(
        TextColumn("{task.description}"),
        *(() if numbers_alone else (BarColumn(bar_width=None),)),
        TextColumn("{task.fields[count]} " + unit),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
        console=console,
        expand=True,
        transient=transient,
        disable=transient and not console.is_terminal,  # a line that ends empty says nothing in a file
        refresh_per_second=REFRESHES_PER_S,
    )
