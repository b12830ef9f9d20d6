# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab reproduce`: the campaign's missing trials, and the tables and page of all results."""

from rich.console import Console

from lab.commands.evaluate import evaluate
from lab.commands.prepare import prepare
from lab.commands.progress import TrialBar
from lab.kernel.recipe import Recipe
from lab.runs.campaign import load_campaign
from lab.runs.execute import execute
from lab.runs.find_run import matching
from lab.runs.options import RunOptions


def reproduce(names: list[str], quick: bool, options: RunOptions, console: Console) -> None:
    """Run the missing trials, then evaluate all results; exit status 1 if a scenario did not run to its end."""
    evaluate(console, run_campaign(names, quick, options, console), with_page=True)


def run_campaign(names: list[str], quick: bool, options: RunOptions, console: Console) -> list[str]:
    """Run the missing trials of scenarios, of the campaign if none is named; returns a line per problem.

    Of the campaign, a scenario that cannot run does not stop the others; one that was named is refused at once.
    """
    experiments, errors = load_campaign(names, quick)
    if names and errors:
        raise errors[0]
    backend = prepare(Recipe(), console)
    with TrialBar(console, many_runs=True) as bar:
        executed = execute(experiments, matching, backend.site, options, bar)
    failed = [
        f"{run.folder}: {len(run.failures)} trials gave no result: {run.failures[0]}"
        for run in executed.runs
        if run.failures
    ]
    return [*map(str, errors), *map(str, executed.refusals), *failed]
