# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab run` with --vary, --shard or both: many runs, or a part of them. Stored trials are not run again."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from lab.backends.choose import choose
from lab.backends.virtual import Virtual
from lab.base import paths, sandbox_mode
from lab.base.errors import COMMAND_LINE, field_error, going_on
from lab.commands.lines import say, show_path
from lab.commands.part import Part, run_part
from lab.commands.prepare import all_prepared, prepare
from lab.commands.run import Request, Where
from lab.judge.stored import Stored
from lab.runs import estimate
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.runs.vary import Point, axes_of, points_of, require_parameters
from lab.senders.way import Senders
from lab.senders.ways import way_of
from lab.tables.stored_run import Run


def grid(
    request: Request,
    where: Where,
    options: RunOptions,
    vary: Sequence[str],
    part: Part | None,
    unused: Mapping[str, object],
    console: Console,
) -> None:
    """Run the points of a grid, and write its page; of a shard only its trials. `unused` options are refused."""
    for name, value in unused.items():
        if value:
            rule = "absent with --vary or --shard: stored trials are not run again, and no run is reported"
            raise field_error(COMMAND_LINE, name, value, rule)
    axes, base = axes_of(vary), request.experiment()
    points = points_of(base, axes, _minutes(base, options))
    backend = choose(where.backend, where.engine).backend
    if backend != "virtual":
        raise field_error(COMMAND_LINE, "backend", backend, "virtual with --vary or --shard: --backend virtual")
    if part:
        part.begin()
    _announce(base, points, part, options, console)
    points, virtual = _ready(points, prepare(where.recipe, console), console)
    with going_on(partial(shlex.join, ["lab", *sys.argv[1:]])):
        runs, failed = run_part([point.experiment for point in points], virtual, options, part, console)
        if not part:
            _page(base, points, runs, console)
        if failed:
            raise typer.Exit(1)


def _minutes(experiment: Experiment, options: RunOptions) -> float:
    """Return how long an experiment takes."""
    count = experiment.scenario.trials * len(experiment.ccas)
    return estimate.minutes(experiment.name, count, experiment.scenario.duration_s, options.workers)


def _announce(
    base: Experiment, points: Sequence[Point], part: Part | None, options: RunOptions, console: Console
) -> None:
    count = sum(point.experiment.scenario.trials * len(point.experiment.ccas) for point in points)
    minutes = sum(_minutes(point.experiment, options) for point in points)
    share = part.shard.count if part else 1
    say(console, base.scenario.question)
    what = f"shard {part.shard}: about {-(-count // share)} of {count} trials" if part else f"{count} trials"
    runs = f", {len(points)} points" if points[0].texts else ""
    say(console, f"{what}{runs}; at most {estimate.about(minutes / share)}: less where stored")
    say(console, f"results in {paths.results()}")
    for line in filter(None, (sandbox_mode.less(), base.topology.note)):
        say(console, line)


def _ready(points: Sequence[Point], virtual: Virtual, console: Console) -> tuple[list[Point], Virtual]:
    """Return the points with senders that are built; UserError where a module has no such parameter."""
    experiments, virtual = all_prepared((point.experiment for point in points), virtual, console)
    ready = [Point(point.texts, experiment) for point, experiment in zip(points, experiments, strict=True)]
    require_known_parameters([point.texts for point in points], points[0].experiment.senders, virtual)
    return ready, virtual


def require_known_parameters(points: Sequence[Mapping[str, str]], senders: Senders, virtual: Virtual) -> None:
    """Refuse a parameter that none of these senders has."""
    known = {}
    for name in {field.partition(".")[0] for texts in points for field in texts} & senders.keys():
        described = way_of(senders[name]).describe(senders[name], virtual.kernel, virtual.world.root)
        known[name] = [parameter["name"] for parameter in described["parameters"]]
    require_parameters(points, known)


def _page(base: Experiment, points: Sequence[Point], runs: Sequence[Path], console: Console) -> None:
    from lab.evaluation import sweep
    from lab.report.sweep import tables_of, write  # drawing loads slowly: not before the trials
    from lab.report.text import shown

    stored = Stored.each_of([Run(run) for run in runs])
    found = [(point.texts, each) for point, each in zip(points, stored, strict=True)]
    folder = sweep.store(base.name, sweep.table_of(found))
    table = sweep.read(folder)
    console.print(shown((), tables_of(table)[:1], console.width))
    show_path(console, "page", write(folder, base.name, base.scenario.question, table))
    show_path(console, "table", folder / sweep.FILE)
