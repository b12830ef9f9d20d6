# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders on inferred links: the lab's own trials, without a page."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from lab.backends.virtual import find_built
from lab.base.errors import UserError
from lab.base.named_files import require_name
from lab.commands.prepare import build, run_all
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEFAULT
from lab.runs.experiment import Experiment, try_link
from lab.runs.options import RunOptions
from lab.runs.plan import HEADERS_BYTES
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab_whatif import segments
from lab_whatif.infer import Inferred, infer
from lab_whatif.link import RUNS
from lab_whatif.measures import Measures, measured
from lab_whatif.path import at_receiver

SPARE_S = 0.5  # behind the recorded end
TICKS_PER_S = 1000  # of the lab's kernels (include/net/tcp.h, TCP_TS_HZ): a queue hides it in a trial of a second


class Link(NamedTuple):
    """A profile, and the seed of what is drawn on it."""

    file: Path
    seed: int


@dataclass(frozen=True)
class Emulated:
    """A trial on an inferred link."""

    measures: Measures
    exit_s: float | None  # of the kernel's own report, since the first data
    most_queued_bytes: int  # in the bottleneck


@dataclass(frozen=True)
class Bench:
    """How trials run."""

    name: str  # of the capture
    mss_bytes: int
    pacing: str
    length_s: float
    workers: int
    console: Console

    def run(self, links: Mapping[str, Link], ccas: list[str], trials: int = 1) -> dict[str, dict[str, list[Emulated]]]:
        """Run trials of each sender on each link; returns by link and sender."""
        virtual = find_built(Recipe(DEFAULT)) or build(Recipe(DEFAULT), self.console)
        experiments = (self._experiment(name, link, ccas, trials) for name, link in links.items())
        runs = run_all(experiments, virtual, RunOptions(self.workers), self.console)
        return {
            name: {cca: self._emulated(run.folder, cca, trials) for cca in ccas}
            for name, run in zip(links, runs, strict=True)
        }

    def _experiment(self, name: str, link: Link, ccas: list[str], trials: int) -> Experiment:
        given = {
            "trials": trials,
            "seed": link.seed,
            "duration_s": math.ceil(self.length_s + SPARE_S),
            "mtu_bytes": self.mss_bytes + HEADERS_BYTES,
            "pacing": None if self.pacing == "internal" else self.pacing,
        }
        name = require_name(f"{RUNS}{self.name}-{name}", "command line")
        return replace(try_link(str(link.file), ccas, given), name=name)

    def _emulated(self, run: Path, cca: str, count: int) -> list[Emulated]:
        trials = {trial.number: trial for trial in Run(run).trials if trial.cca == cca}
        for number in range(1, count + 1):
            if number not in trials:
                log = f"'lab log {run} {cca}-{number:03d}' shows its kernel's log"
                raise UserError(f"{run}: {cca}: must have a result of each trial: {log}")
        return [emulated(trials[number], self.length_s) for number in sorted(trials)]


def emulated(trial: Trial, length_s: float | None = None) -> Emulated:
    """Measure a trial by the rules for a capture."""
    inferred = of_trial(trial)
    numbers = measured(inferred, length_s)
    exits = trial.exits.filter(trial.exits["flow"] == 1)["t_s"]
    exit_s = float(exits[0]) - numbers.begin_s if len(exits) else None
    most = int(trial.qdisc["backlog_bytes"].max() or 0)  # type: ignore[arg-type]
    return Emulated(numbers, exit_s, most)


def of_trial(trial: Trial) -> Inferred:
    """Infer the link of a stored trial from its client's packets."""
    path = at_receiver(segments.of_trial(trial.packets, trial.path.name), TICKS_PER_S)
    if path is None:
        raise UserError(f"{trial.path}: packets: must have time stamps")
    return infer(path, trial.path.name)
