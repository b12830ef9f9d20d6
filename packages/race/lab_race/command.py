# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab race`: run what is not stored, then table, sentences and page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import typer
from rich.console import Console

from lab.base import paths
from lab.base.choice import names
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.plain_file import write_whole
from lab.commands.known import require_senders
from lab.commands.lines import say, show_path
from lab.commands.prepare import prepare, run_all
from lab.kernel.recipe import Recipe
from lab.report.trust import InvalidTrial
from lab.runs.options import RunOptions
from lab.schema.cca import Cca, load_cca
from lab.tables.csv_text import to_csv
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab_race.experiments import Pairing, experiment, links, pairings
from lab_race.flows import Trials, flows, table
from lab_race.page import PAGE, render, sentences

TABLE = "race.csv"
MOST_TRIALS, MOST_SECONDS = 1000, 3600


@dataclass(frozen=True)
class Request:
    """What the command line holds."""

    cca: str
    links: str | None
    starts: str
    trials: int
    duration_s: int | None
    out: Path | None
    workers: int

    @property
    def folder(self) -> Path:
        return self.out or paths.results() / "race"

    @property
    def starts_s(self) -> list[float]:
        """Return how much later the second begins."""
        try:
            found = [float(text) for text in self.starts.split(",")]
        except ValueError:
            found = []
        if not found or len(set(found)) < len(found) or not all(0 <= start_s < MOST_SECONDS for start_s in found):
            rule = "different numbers of seconds with commas, such as 0,0.5"
            raise field_error(COMMAND_LINE, "starts", self.starts, rule)
        return found

    def senders(self) -> dict[str, Cca]:
        """Return the senders that are named."""
        require_senders(self.cca)
        given = names(self.cca)
        senders = {name: load_cca(name, COMMAND_LINE, "cca") for name in given}
        if len(senders) < len(given):
            raise field_error(COMMAND_LINE, "cca", self.cca, "senders that are named once")
        return senders

    def require_bounds(self) -> None:
        """Refuse no trials, and trials that never end."""
        for name, value, most in (("trials", self.trials, MOST_TRIALS), ("duration", self.duration_s, MOST_SECONDS)):
            if value is not None and not 1 <= value <= most:
                raise field_error(COMMAND_LINE, name, value, f"1 to {most}")


def answer(request: Request, console: Console) -> None:
    """Run the race and show it; exit status 1 where a trial has no result or is not valid."""
    request.require_bounds()
    senders = request.senders()
    every = pairings(
        links(request.links, request.duration_s, request.folder / "links"), list(senders), request.starts_s
    )
    count, count_links = len(every) * len(senders) * request.trials, len({pairing.link.name for pairing in every})
    on = "one link" if count_links == 1 else f"{count_links} links"
    say(console, f"{count} trials: {', '.join(senders)} beside each other and alone, on {on}")
    found, left_out = _run(request, every, senders, console)
    rows = table(found)
    write_whole(request.folder / TABLE, to_csv(rows, float_precision=6))
    write_whole(request.folder / PAGE, render(rows, list(senders), left_out))
    for line in (*left_out, *sentences(rows, list(senders))):
        say(console, line)
    show_path(console, "page", request.folder / PAGE)
    show_path(console, "table", request.folder / TABLE)
    if left_out:
        raise typer.Exit(1)


def _run(
    request: Request, every: Sequence[Pairing], senders: Mapping[str, Cca], console: Console
) -> tuple[dict[Pairing, Trials], list[str]]:
    """Return the valid trials of each pairing, and a line for each that is not."""
    request.folder.mkdir(parents=True, exist_ok=True)
    experiments = (experiment(pairing, senders, request.trials) for pairing in every)
    options = RunOptions(request.workers, keep_capture=False)
    runs = run_all(experiments, prepare(Recipe(), console), options, console)
    left_out = [line for run in runs for line in run.failures]
    stored = {pairing: Run(run.folder).trials for pairing, run in zip(every, runs, strict=True)}
    invalid = [each for each in chain(*stored.values()) if not each.valid]
    left_out += [InvalidTrial.of(each.cca, each.number, each.meta["certificate"]).line for each in invalid]
    return {pairing: _valid(trials) for pairing, trials in stored.items()}, left_out


def _valid(trials: Sequence[Trial]) -> Trials:
    return {(trial.cca, trial.number): flows(trial) for trial in trials if trial.valid}
