# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab compare`: senders over kinds of link, and one page that ranks them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from lab.backends.backend import Site
from lab.base import paths, sandbox_mode
from lab.base.choice import names
from lab.base.errors import COMMAND_LINE, UserError, field_error, going_on
from lab.base.workers import one_pool
from lab.commands.grid import require_known_parameters
from lab.commands.lines import say, show_path
from lab.commands.part import Part, run_part
from lab.commands.prepare import built, prepare
from lab.commands.progress import TrialBar, watched
from lab.evaluation import sweep
from lab.evaluation.measures import PRIMARY
from lab.evaluation.sequential import ALPHA
from lab.kernel.recipe import Recipe
from lab.runs.estimate import about, minutes
from lab.runs.missing import require_possible
from lab.runs.options import RunOptions
from lab.runs.vary import Axis, axes_of, cells, require_few
from lab_compare import record
from lab_compare.comparison import PREFIX, SEED, TRIALS, Comparison, known_senders, measure_of, primary_of
from lab_compare.growing import State, grow, looks_of
from lab_compare.link_kinds import Link, links
from lab_compare.report.ranked import Ranked, ranked
from lab_compare.results import LinkResult, results
from lab_compare.stand_ins import as_link, lack_of, stand_in_of


@dataclass(frozen=True)
class CompareOptions:
    """How a comparison is run: what decides when a link has enough trials, and how long it may take."""

    measure: str = PRIMARY
    budget_minutes: float | None = None
    resume: bool = False
    reports: bool = True  # also write the report of each link's run
    verbose: bool = False  # print the ranks by all measures, and a sentence per link
    again: str = "lab compare --resume"  # the command that goes on after Ctrl-C

    def __post_init__(self) -> None:
        """Refuse a measure that is none."""
        measure_of(self.measure)


@dataclass(frozen=True)
class Chosen:
    """What a command line chooses, as it is written there."""

    ccas: str
    links: str | None = None
    trials: int | None = None
    duration_s: int | None = None
    seed: int | None = None
    quick: bool = False
    fixed: bool = False
    vary: tuple[str, ...] = ()
    part: Part | None = None

    @property
    def names(self) -> list[str]:
        return names(self.ccas)

    def comparison(self) -> Comparison:
        """Return the comparison; the first sender is the subject."""
        senders = known_senders(self.names)
        chosen = links(names(self.links) if self.links else None, self.duration_s, self.quick)
        trials = (1 if self.quick else TRIALS) if self.trials is None else self.trials
        axes = axes_of(self.vary)
        require_few(axes, trials * len(senders), 0.0, len(chosen))
        chosen = tuple(point for link in chosen for point in _points(link, axes)) if axes else chosen
        seed = SEED if self.seed is None else self.seed
        return Comparison([next(iter(senders))], senders, chosen, trials, seed, self.duration_s, self.fixed)


def _points(link: Link, axes: Sequence[Axis]) -> Iterator[Link]:
    """Yield a link once for each point of a grid."""
    for name, texts in cells(link.name, axes).items():
        shown = ", ".join(f"{field} {text}" for field, text in texts.items())
        yield replace(link, name=name, base=link.name, meaning=f"{link.title}, {shown}", varied=tuple(texts.items()))


def compare_known(chosen: Chosen, how: CompareOptions, options: RunOptions, console: Console) -> None:
    """Compare senders of cca.yml."""
    if chosen.part:
        _require_fixed(chosen, how)
        chosen.part.begin()
    comparison = fetched(chosen.comparison(), console)
    senders, virtual = built(comparison.senders, prepare(Recipe(), console), console)
    comparison = replace(comparison, senders=senders)
    require_known_parameters([dict(link.varied) for link in comparison.links], senders, virtual)
    if chosen.part:
        experiments = [comparison.experiment(link, comparison.trials) for link in comparison.links]
        _, failed = run_part(experiments, virtual, options, chosen.part, console)
        if failed:
            raise typer.Exit(1)
        return
    how = replace(how, reports=how.reports and not chosen.quick)
    compare(comparison, how, virtual.site, options, console).require_valid()


def _require_fixed(chosen: Chosen, how: CompareOptions) -> None:
    """Refuse a shard of a comparison whose results decide which trials come next, or that is not whole."""
    if not (chosen.fixed or chosen.quick):
        rule = "used with --fixed or --quick: else results decide which trials come next"
        raise field_error(COMMAND_LINE, "shard", chosen.part and chosen.part.shard, rule)
    for name, value in (("resume", how.resume), ("budget-minutes", how.budget_minutes)):
        if value:
            raise field_error(COMMAND_LINE, name, value, "absent with --shard: stored trials are not run again")


def fetched(comparison: Comparison, console: Console) -> Comparison:
    """Return the comparison with the stand-in of each link whose recording is not there, or without it; say which."""
    kept: dict[str, Link] = {}
    for link in comparison.links:
        experiment = comparison.experiment(replace(link, varied=()), 1)  # a point has its link's recordings
        lack, stand_in = lack_of(experiment), stand_in_of(experiment.profile)
        if lack and stand_in:
            replaced = as_link(link, stand_in)
            say(console, f"{link.name}: {lack}: {replaced.name}, a modelled link, stands in")
            kept.setdefault(replaced.name, replaced)
        elif lack:
            say(console, f"without {link.name}: {lack}")
        else:
            kept[link.name] = link
    if not kept:
        raise UserError("links: must be at least one whose recording is fetched: lab traces fetch --all")
    return replace(comparison, links=tuple(kept.values()))


@dataclass(frozen=True)
class Compared:
    """What came out of a comparison, printed and written."""

    answer: Ranked
    found: list[LinkResult]
    files: Mapping[str, Path]
    failures: Mapping[str, str]

    def require_valid(self) -> None:
        """End with status 1 where a trial is invalid or has no result: its reason is printed."""
        if self.answer.invalid or self.failures:
            raise typer.Exit(1)


def compare(comparison: Comparison, how: CompareOptions, site: Site, options: RunOptions, console: Console) -> Compared:
    """Run the trials, print the ranks, and write its page; a link or a trial that fails does not stop the others."""
    request = record.requested(comparison, how.measure)
    folder = record.resumed(request) if how.resume else None
    for link in comparison.links:
        require_possible(comparison.experiment(link, comparison.trials), site.backend, options)
    _announce(comparison, how, options, site.backend.kind == "virtual", console)
    folder = folder or record.begin(request)
    say(console, f"results in {folder}, runs in {paths.results()}/compare-*")
    with going_on(partial(str, how.again)), one_pool():
        state = _run(comparison, how, folder.name, site, options, console)
        found = results(comparison, folder.name, looks_of(comparison))
        record.write(folder, {**request, "command": record.read(folder)["command"], "complete": state.decided})
        answer = ranked(comparison, how.measure, found)
        _conclude(state, folder, how, answer, console)
        files = _draw(folder, comparison, how, found, state, console)
        _draw_sweeps(found, console)
    return Compared(answer, found, files, state.failures)


def _draw(
    folder: Path, comparison: Comparison, how: CompareOptions, found: list[LinkResult], state: State, console: Console
) -> Mapping[str, Path]:
    """Write the page, then the reports that its cells open."""
    from lab_compare.report.write import write, write_reports  # drawing loads slowly: not before the answer

    files = write(folder, comparison, how.measure, found, state, how.reports)
    for name, path in files.items():
        show_path(console, name, path)
    if how.reports:
        say(console, "writing the reports that its cells open")
        for fault in write_reports(found, watched(console, "reports")):
            say(console, fault)
    return files


def _draw_sweeps(found: Sequence[LinkResult], console: Console) -> None:
    """Write the page of each link over its fields; a point without a run is left out."""
    for base in dict.fromkeys(each.link.base for each in found if each.link.base):
        points = [(dict(each.link.varied), each.stored) for each in found if each.link.base == base and each.stored]
        if points:
            from lab.report.sweep import write  # here: it loads what draws

            folder = sweep.store(f"{PREFIX}{base}", sweep.table_of(points))
            question = f"What follows {' and '.join(points[0][0])} on link {base}?"
            show_path(console, "sweep", write(folder, base, question, sweep.read(folder)))


def _run(
    comparison: Comparison, how: CompareOptions, began: str, site: Site, options: RunOptions, console: Console
) -> State:
    budget_s = None if how.budget_minutes is None else 60 * how.budget_minutes
    state, most = State(), looks_of(comparison).trials[-1]
    bars = partial(TrialBar, console, many_runs=True)
    for state in grow(comparison, how.measure, began, site, options, bars, budget_s):
        say(console, _after(state, comparison, most))
    return state


def _after(state: State, comparison: Comparison, most: int) -> str:
    """Return the line of a look."""
    if most == 1:  # the answer states what one trial cannot show
        return "after one trial of each sender"
    others = len(comparison.senders) - 1
    count = len(comparison.subjects) * (others - (len(comparison.subjects) - 1) / 2) * len(comparison.links)
    left = sum(map(len, state.undecided.values()))
    line = f"after {state.trials} trials of each sender: {count - left:.0f} of {count:.0f} pairs need no more trials"
    still = [name for name, undecided in state.undecided.items() if undecided]
    if not still:
        return line
    goes_on = "goes on with" if state.trials < most and not state.budget_used else "not separated on"
    return f"{line}; {goes_on} {', '.join(still)}"


def _announce(
    comparison: Comparison, how: CompareOptions, options: RunOptions, virtual: bool, console: Console
) -> None:
    """Print what will be done, when it stops, how long it may take, and what is protected less without bubblewrap."""
    plan = looks_of(comparison)
    others = [name for name in comparison.senders if name not in comparison.subjects]
    per_trial_s = [comparison.seconds(link) for link in comparison.links]
    first, most = plan.trials[0], plan.trials[-1]
    counts = str(most) if first == most else f"{first} to {most}"
    links = [(link.name, each) for link, each in zip(comparison.links, per_trial_s, strict=True)]
    takes = [
        about(sum(minutes(name, count * len(comparison.senders), each, options.workers) for name, each in links))
        for count in (first, most)
    ]
    shown = ", ".join(f"{link.name} ({each} s)" for link, each in zip(comparison.links, per_trial_s, strict=True))
    measure = primary_of(comparison.links[0], how.measure)
    budget = "" if how.budget_minutes is None else f", at most {how.budget_minutes:g} min of trials"
    say(console, f"{', '.join(comparison.subjects)} against {', '.join(others) or 'one another'}, on {shown}")
    subjects = " and ".join(comparison.subjects)
    each = f"{counts} {'trial' if most == 1 else 'trials'} of each sender on each link, the same draws for all"
    error = f"error {100 * ALPHA:g} % per link, over all looks and pairs"
    ends = f"a link ends once {subjects} has separated from every other by {measure.name}, or cannot"
    say(console, each if most == 1 else f"{each}; {'no link ends early' if comparison.fixed else ends} ({error})")
    if virtual and (protection := sandbox_mode.less()):
        say(console, protection)
    say(console, f"{' to '.join(dict.fromkeys(takes))}{budget}")


def _conclude(state: State, folder: Path, how: CompareOptions, answer: Ranked, console: Console) -> None:
    """Print what failed, then the ranks and the answer."""
    for name, reason in state.failures.items():
        say(console, f"no result: {name}: {reason}")
    if state.budget_used:
        say(console, f"the budget of {how.budget_minutes:g} min is used: '{how.again}' goes on in {folder}")
    console.print(answer.shown(console.width, how.verbose))
