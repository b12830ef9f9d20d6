# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab run` with --vary, --shard or both: many runs, or a part of them. Stored trials are not run again."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from lab.backends.choose import COMMAND_LINE, choose
from lab.backends.virtual import Virtual
from lab.base import paths, sandbox_mode
from lab.base.errors import field_error, going_on
from lab.commands import first_use
from lab.commands.lines import say, show_path
from lab.commands.prepare import prepare
from lab.commands.progress import BOOT_S, TrialBar
from lab.commands.run import VIRTUAL_S_PER_S, Request, Where
from lab.runs import shard as shards
from lab.runs.execute import every, execute
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.runs.shard import Shard
from lab.runs.vary import Axis, Point, axes_of, points_of, require_parameters, stored_or_new
from lab.senders.module import load_module

OF_A_SHARD = ("--shard", "--out")


@dataclass(frozen=True)
class Part:
    """Which part of the trials this machine runs, and where they go."""

    shard: Shard
    out: Path

    @classmethod
    def of(cls, shard: str | None, out: Path | None) -> "Part | None":
        """Read --shard and --out, which belong together."""
        if shard is None and out is None:
            return None
        if shard is None or out is None:
            field, rule = ("out", "used with --shard K/N") if shard is None else ("shard", "used with --out DIR")
            raise field_error(COMMAND_LINE, field, out or shard, rule)
        return cls(Shard.of(shard), out)


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
            rule = "left out with --vary or --shard: stored trials are not run again, and no run is reported"
            raise field_error(COMMAND_LINE, name, value, rule)
    axes, base = axes_of(vary), request.experiment()
    points = points_of(base, axes, _minutes(base, options))
    backend = choose(where.backend, where.engine).backend
    if backend != "virtual":
        raise field_error(COMMAND_LINE, "backend", backend, "virtual with --vary or --shard: --backend virtual")
    if part:
        shards.begin(part.out, part.shard)
        os.environ["LAB_RESULTS"] = str(part.out.resolve())
    _announce(base, points, part, options, console)
    points, virtual = _ready(points, axes, prepare(where.recipe, console), console)
    with going_on(partial(shlex.join, ["lab", *sys.argv[1:]])):
        runs, failed = _run(points, virtual, options, part, console)
        if part and not failed:
            folders = {point.experiment.name: run.name for point, run in zip(points, runs, strict=True)}
            shards.write(part.out, part.shard, folders, without_shard(sys.argv[1:]))
            say(console, f"shard {part.shard} is whole in {part.out}: 'lab merge' joins all {part.shard.count}")
        elif not part:
            _page(base, points, runs, console)
        if failed:
            raise typer.Exit(1)


def _minutes(experiment: Experiment, options: RunOptions) -> float:
    """Return how long an experiment takes."""
    count = experiment.scenario.trials * len(experiment.ccas)
    return count * (experiment.scenario.duration_s + BOOT_S) / VIRTUAL_S_PER_S / options.workers / 60


def _announce(
    base: Experiment, points: Sequence[Point], part: Part | None, options: RunOptions, console: Console
) -> None:
    count = sum(point.experiment.scenario.trials * len(point.experiment.ccas) for point in points)
    minutes = sum(_minutes(point.experiment, options) for point in points)
    share = part.shard.count if part else 1
    say(console, base.scenario.question)
    what = f"shard {part.shard}: about {-(-count // share)} of {count} trials" if part else f"{count} trials"
    runs = f", {len(points)} points" if points[0].texts else ""
    say(console, f"{what}{runs}; at most about {max(round(minutes / share), 1)} min: less where stored")
    say(console, f"results in {paths.results()}")
    for line in filter(None, (sandbox_mode.less(), base.topology.note)):
        say(console, line)


def _ready(
    points: Sequence[Point], axes: Sequence[Axis], virtual: Virtual, console: Console
) -> tuple[list[Point], Virtual]:
    """Return the points with senders that are built; UserError where a module has no such parameter."""
    ready = []
    for point in points:
        experiment, virtual = first_use.prepared(point.experiment, virtual, console)
        ready.append(Point(point.texts, experiment))
    senders = points[0].experiment.senders
    known = {}
    for name in {axis.field.partition(".")[0] for axis in axes} & senders.keys():
        module = load_module(senders[name], virtual.kernel, virtual.world.root)
        known[name] = [parameter["name"] for parameter in module["parameters"]] if module else []
    require_parameters(points, known)
    return ready, virtual


def _run(
    points: Sequence[Point], virtual: Virtual, options: RunOptions, part: Part | None, console: Console
) -> tuple[list[Path], bool]:
    """Run what is missing; returns the run of each point, and whether a trial gave no result."""
    experiments = [point.experiment for point in points]
    wanted = part.shard.wanted(experiments) if part else every
    with TrialBar(console, many_runs=len(points) > 1) as bar:
        done = execute(experiments, stored_or_new(options.keep_capture), virtual.site, options, bar, wanted)
    for refusal in done.refusals:
        raise refusal
    failures = [f"{run.experiment.name}/{line}" for run in done.runs for line in run.failures]
    for line in failures:
        say(console, f"no result: {line}")
    if failures:
        say(console, f"{len(failures)} trials gave no result; the others are stored: the same command goes on")
    return [run.folder for run in done.runs], bool(failures)


def _page(base: Experiment, points: Sequence[Point], runs: Sequence[Path], console: Console) -> None:
    from lab.evaluation import sweep
    from lab.report.sweep import write  # drawing loads slowly: not before the trials

    folder = sweep.store(base.name, sweep.table_of(points, runs))
    show_path(console, "page", write(folder, base.name, base.scenario.question, sweep.read(folder)))
    show_path(console, "table", folder / sweep.FILE)


def without_shard(words: Sequence[str]) -> list[str]:
    """Return a command line without --shard and --out, in whichever way they were written."""
    kept: list[str] = []
    passed = False
    for word in words:
        if not passed and word.partition("=")[0] not in OF_A_SHARD:
            kept.append(word)
        passed = word in OF_A_SHARD
    return ["lab", *kept]
