# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab reproduce`: the campaign's missing trials, and the tables and page of all results."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

import typer
from lab_compare.stand_ins import lack_of, stand_in_of, unfetched
from lab_formats.fetching.candidates import Mirror
from lab_formats.fetching.download import Unreachable
from lab_formats.fetching.fetch import fetch
from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base import paths
from lab.base.errors import COMMAND_LINE, Faults, UserError, field_error
from lab.base.format import trials_text
from lab.commands.lines import say
from lab.commands.part import Part, run_part
from lab.commands.prepare import all_prepared, prepare
from lab.commands.progress import TrialBar
from lab.kernel.recipe import Recipe
from lab.runs import estimate
from lab.runs.execute import Executed, execute
from lab.runs.experiment import Experiment
from lab.runs.find_run import matching
from lab.runs.options import RunOptions
from lab.schema.scenario import load_scenario
from lab.traces.datasets import Dataset
from lab_papers.campaign import load_campaign, stages
from lab_papers.commands.evaluate import evaluate
from lab_papers.commands.verify import verify
from lab_papers.evaluation.claims.numbered import claim_of

STAGE = "The page shows the papers' experiments. Their counterfactuals, which test why results differ, come now."


def fetch_for(experiments: Sequence[Experiment], mirror: Path | None, console: Console) -> list[str]:
    """Fetch what experiments need, and print the licences; return one line per experiment that lacks a recording.

    All origins are on one server: where it cannot be reached, no other file is requested.
    """
    place = Mirror(mirror) if mirror else None
    for _, files in groupby(_files_of(experiments), key=lambda file: file.collection):
        try:
            for line in fetch(list(files), place):
                say(console, line)
        except Unreachable as error:
            say(console, str(error))
            break
        except UserError as error:  # these files are not there; those of other collections may be
            say(console, str(error))
    lacking = [_line(each, lack) for each in experiments if (lack := lack_of(each))]
    for line in lacking:
        say(console, line)
    return lacking


def _files_of(experiments: Iterable[Experiment]) -> list[Dataset]:
    """Return the files to fetch for experiments, those of a collection together; none that has no licence."""
    files = {file.name: file for each in experiments for one in unfetched(each) for file in one.files}
    licensed = [file for file in files.values() if file.origin.may_be_passed_on]
    return sorted(licensed, key=lambda file: file.collection)


def as_run(experiment: Experiment) -> Experiment | None:
    """Return the run over the stand-in, which no claim is judged by; none where nothing stands in."""
    profile = stand_in_of(experiment.profile)
    if profile is None or experiment.scenario.counterfactual_of:
        return None
    name = profile.file.stem
    scenario = experiment.scenario.model_copy(update={"profile": name, "claims": [], "published": []})
    return replace(experiment, name=f"{experiment.name}-on-{name}", scenario=scenario, profile=profile)


def _line(experiment: Experiment, lack: str) -> str:
    stand_in = as_run(experiment)
    instead = f"; {stand_in.name}, over a modelled link, runs instead: no claim is judged by it" if stand_in else ""
    return f"missing   {experiment.name}: not run: {lack}{instead}"


class Problems(NamedTuple):
    """One line per scenario that did not run to its end, and per scenario whose recordings could not be fetched."""

    faults: list[str]
    missing: list[str]


def reproduce(names: list[str], quick: bool, options: RunOptions, mirror: Path | None, console: Console) -> None:
    """Run the missing trials, then evaluate all results; exit status 1 if a scenario did not run to its end.

    The claims of named scenarios are printed. A scenario whose recordings could not be fetched is missing, which is no
    error; its stand-in runs.
    """
    if names:
        problems = run_campaign(names, quick, options, console, mirror)
    else:
        problems = run_stages(quick, options, mirror, console)
    try:
        evaluate(console, problems.faults, with_page=True)
        if claiming := [name for name in names if load_scenario(name)[1].claims]:
            verify(claiming, None, console)
    finally:
        for line in problems.missing:
            say(console, line)


def run_stages(quick: bool, options: RunOptions, mirror: Path | None, console: Console) -> Problems:
    """Run the campaign; the page of the papers' experiments is there before their counterfactuals begin.

    All recordings are fetched first. A scenario that cannot run does not stop the others.
    """
    own, counterfactuals = stages()
    experiments, errors = load_campaign([*own, *counterfactuals], quick)
    missing = fetch_for(experiments, mirror, console)
    first = _run([each for each in experiments if each.name in own], options, console)
    later = [each for each in experiments if each.name not in own]
    if later and any(run.ended for run in first.runs):
        with suppress(typer.Exit):  # what could not be read is reported at the end
            evaluate(console, [], with_page=True)
        console.print(STAGE)
    second = _run(later, options, console)
    return Problems([*Faults(errors).lines, *_faults(first), *_faults(second)], missing)


def reproduce_claim(
    name: str, scenarios: list[str], quick: bool, options: RunOptions, mirror: Path | None, console: Console
) -> None:
    """Run what one claim needs, and compare it with the source; exit status 1 if a scenario did not run to its end."""
    if scenarios:
        raise field_error(COMMAND_LINE, "claim", name, f"used without scenarios ({scenarios[0]})")
    claim = claim_of(name)
    problems = run_campaign(claim.scenarios, quick, options, console, mirror)
    verify([claim.scenario], claim.place, console)
    for line in (*problems.missing, *problems.faults):
        say(console, line)
    if problems.faults:
        raise typer.Exit(1)


class Requested(NamedTuple):
    """What a command line requests of a campaign."""

    names: list[str]
    quick: bool
    claim: str | None
    mirror: Path | None
    scheduler: str | None


def reproduce_part(requested: Requested, part: Part, options: RunOptions, console: Console) -> None:
    """Run a shard's trials of the campaign: those of its counterfactuals, too; exit status 1 if one has no result.

    A scenario that cannot run would be missing from every shard, so it is refused.
    """
    for name, value in (("claim", requested.claim), ("scheduler", requested.scheduler)):
        if value:
            raise field_error(COMMAND_LINE, name, value, "absent with --shard")
    experiments, errors = load_campaign(requested.names or [*chain(*stages())], requested.quick)
    if errors:
        raise errors[0]
    part.begin()
    missing = fetch_for(experiments, requested.mirror, console)
    runnable, virtual = _runnable(experiments, console)
    _, failed = run_part(runnable, virtual, options, part, console)
    for line in missing:
        say(console, line)
    if failed:
        raise typer.Exit(1)


def run_campaign(
    names: list[str], quick: bool, options: RunOptions, console: Console, mirror: Path | None = None
) -> Problems:
    """Fetch recordings and run the missing trials of scenarios; one that cannot run is refused before any runs."""
    experiments, errors = load_campaign(names, quick)
    if errors:
        raise errors[0]
    missing = fetch_for(experiments, mirror, console)
    return Problems(_faults(_run(experiments, options, console)), missing)


def _trials(experiment: Experiment) -> int:
    return experiment.scenario.trials * len(experiment.scenario.ccas)


def _run(experiments: list[Experiment], options: RunOptions, console: Console) -> Executed:
    """Print what will be done; run the missing trials of what has its recordings, and of the stand-ins of the rest."""
    trials = sum(map(_trials, experiments))
    minutes = sum(
        estimate.minutes(each.name, _trials(each), each.scenario.duration_s, options.workers) for each in experiments
    )
    took = f"{options.workers} at once; at most {estimate.about(minutes)}: less where stored"
    named = "1 scenario" if len(experiments) == 1 else f"{len(experiments)} scenarios"
    about = f"{named} of {trials_text(trials)}, {options.scheduler or took}"
    say(console, f"{about}; results in {paths.results()}, cache in {paths.cache()}")
    runnable, backend = _runnable(experiments, console)
    with TrialBar(console, many_runs=True) as bar:
        return execute(runnable, matching, backend.site, options, bar, alone=True)


def _runnable(experiments: list[Experiment], console: Console) -> tuple[list[Experiment], Virtual]:
    """Return what has its recordings, and the stand-ins of the rest, with senders that are built."""
    at_hand = [each for one in experiments if (each := as_run(one) if unfetched(one) else one)]
    return all_prepared(at_hand, prepare(Recipe(), console), console)


def _faults(executed: Executed) -> list[str]:
    """Return a line for each scenario that did not run to its end."""
    failed = [
        f"{run.folder}: {trials_text(len(run.failures))} gave no result: {run.failures[0]}"
        for run in executed.runs
        if run.failures
    ]
    return [*Faults(executed.refusals).lines, *failed]
