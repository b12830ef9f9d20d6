# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab break`: search, shrink, show."""

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import yaml
from rich.console import Console

from lab.base import sandbox_mode
from lab.base.errors import COMMAND_LINE, field_error, going_on
from lab.base.format import counted, trials_text
from lab.base.scratch import scratch_folder
from lab.base.workers import one_pool
from lab.commands.lines import say, show_path
from lab.commands.prepare import prepare
from lab.commands.progress import TrialBar
from lab.commands.report import report
from lab.kernel.recipe import Recipe
from lab.runs import find_run
from lab.runs.estimate import about, minutes
from lab.runs.execute import execute
from lab.runs.experiment import Experiment, assemble
from lab.runs.options import RunOptions
from lab.schema.cca import Cca
from lab.schema.load import parse
from lab.schema.scenario import Scenario
from lab_break import own
from lab_break.find import Find
from lab_break.map import write_map
from lab_break.measures import CRASH, REFERENCE, Trials, value_of
from lab_break.numbers import Store
from lab_break.request import TRIALS, Request
from lab_break.search import Searched, search
from lab_break.shrink import shrink
from lab_break.space import Point, content_of, significant
from lab_break.trials import Bench

SEED = 1  # of every trial: the same as lab run's
S_PER_H = 3600


def break_sender(request: Request, island: int | None, options: RunOptions, console: Console) -> dict[str, str]:
    """Search, and show what was found, or search one island only; return the kernel's digests."""
    _announce(request, island, options, console)
    request.write()
    again = shlex.join(["lab", *sys.argv[1:]])
    with going_on(lambda: again), bench_of(request, options, console) as bench:
        numbers = [island] if island else range(1, request.islands + 1)
        parts = [searched(request, each, bench, console) for each in numbers]
        if island is None:
            whole = max(parts, key=lambda each: -CRASH if each.worst is None else each.worst.value or 0.0)
            _conclude(request, whole, bench, console)
        return bench.kernel


@contextmanager
def bench_of(request: Request, options: RunOptions, console: Console, store: Path | None = None) -> Iterator[Bench]:
    """Build what the senders need, and provide workers."""
    senders, virtual = own.ready(request.everyone, prepare(Recipe(), console), console)
    request.folder.mkdir(parents=True, exist_ok=True)
    with scratch_folder(request.folder) as work, one_pool():
        base = _base(request, senders, work)
        folder = store or request.folder.parent / TRIALS
        yield Bench(base, virtual, options.workers, Store(folder), work)


def _base(request: Request, senders: dict[str, Cca], work: Path) -> Experiment:
    """Return the senders on the usual link, by the names that were given."""
    file = work / "usual.yml"
    file.write_text(yaml.safe_dump(content_of(request.bounds.usual)))
    harm = request.measure.against == "reference"
    content = {
        "question": f"On which link is {request.sender} worst by {request.measure.name}?",
        "topology": "dumbbell" if harm else "path",
        "rival": REFERENCE if harm else None,
        "profile": str(file),
        "ccas": [cca.name for cca in senders.values()],
        "trials": 1,
        "duration_s": request.bounds.duration_s,
        "seed": SEED,
    }
    known = {cca.name: cca for cca in senders.values()}
    base = assemble("break", parse(Scenario, content, Path(COMMAND_LINE)), COMMAND_LINE, "sender", known)
    return replace(base, ccas=senders)


def searched(request: Request, island: int, bench: Bench, console: Console) -> Searched:
    """Search one island; print a line per batch."""
    began_s, before = time.monotonic(), bench.ran

    def evaluate(points: Sequence[Point]) -> list[tuple[float | None, Trials]]:
        found = bench.run(points, request.senders)
        return [(value_of(request.measure, request.sender, each), each) for each in found]

    def goes_on(found: Searched) -> bool:
        say(console, _line(request, found, bench.ran - before, time.monotonic() - began_s))
        return not (request.first and finds(request, found))

    bounds, seed = request.bounds, request.seed_of(island)
    return search(bounds, request.optimiser, seed, request.points, evaluate, goes_on)


def finds(request: Request, found: Searched) -> list[int]:
    """Return the numbers of the links that are finds."""
    valued = enumerate((each.value for each in found.tried), 1)
    return [number for number, value in valued if value is not None and value > request.measure.find]


def _line(request: Request, found: Searched, ran: int, spent_s: float) -> str:
    worst = "no value" if found.worst is None else shown(request, found.worst.value)
    speed = f"{trials_text(ran)} run, {ran / spent_s * S_PER_H:.0f}/h, optimiser {found.optimiser_s / spent_s:.1%}"
    tried = f"{len(found.tried)} of {counted(request.points, 'link')}"
    return f"{tried}: worst {worst}; finds: {len(finds(request, found))}; {speed}"


def shown(request: Request, value: float | None) -> str:
    """Return a value in words."""
    if value is None:
        return "no value"
    return "no result at all" if value >= CRASH else f"{value:.3g} {request.measure.unit}"


def _announce(request: Request, island: int | None, options: RunOptions, console: Console) -> None:
    trials = request.budget // (request.islands if island else 1)
    takes = about(minutes(request.bounds.title, trials, request.bounds.duration_s, options.workers))
    senders, part = ", ".join(request.senders), f", island {island} of {request.islands}" if island else ""
    say(console, f"the worst of {request.bounds.title} for {request.sender}: {request.measure.meaning}")
    links = counted(request.points * (1 if island else request.islands), "link")
    count = f"{trials_text(trials)} ({links} of {request.bounds.duration_s} s{part}, each with {senders})"
    say(console, f"budget: {count}, then some 50 links to shrink what is found")
    say(console, f"at most {takes}: less where stored; results in {request.folder}")
    if protection := sandbox_mode.less():
        say(console, protection)


def _conclude(request: Request, searched: Searched, bench: Bench, console: Console) -> None:
    """Shrink the worst link, write its files and show them."""
    worst = searched.worst
    if worst is None or worst.value is None:
        trials = [trial for each in searched.tried for trial in each.trials.values()]
        reasons = dict.fromkeys(trial["invalid"] for trial in trials if trial["invalid"])
        forged = next((f": {trial['contradiction']}" for trial in trials if "contradiction" in trial), "")
        because = f" (invalid: {', '.join(reasons)})" if reasons else forged
        rule = f"one that a trial has: none of {len(searched.tried)} links gave a value{because}"
        raise field_error(COMMAND_LINE, "measure", request.measure.name, rule)
    shares = write_map(request, searched)
    if shares:
        parts = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        say(console, f"what sets the worst links apart: {parts}")
    show_path(console, "map", request.folder / "map.svg")
    say(console, f"worst of {counted(len(searched.tried), 'link')}: {shown(request, worst.value)}")
    if worst.value <= request.measure.find:
        say(console, f"no find: one begins above {request.measure.find:g} {request.measure.unit}")
        return
    point = shrink(worst.point, request.bounds, worst.value, lambda points: _values(request, bench, points))
    _show(_find(request, point, bench), request, bench, console)


def _values(request: Request, bench: Bench, points: Sequence[Point]) -> list[float | None]:
    return [value_of(request.measure, request.sender, each) for each in bench.run(points, request.senders)]


def _find(request: Request, point: Point, bench: Bench) -> Find:
    (trials,) = bench.run([point], request.everyone)
    own_trials = {name: trials[name] for name in request.senders}
    value = value_of(request.measure, request.sender, own_trials)
    assert value is not None
    return Find(request, point, value, trials, bench.kernel)


def best_rival(find: Find) -> str:
    """Return who did best on the link by the measure; of throughput the fastest."""
    request = find.request
    if request.version:
        return request.version
    if request.measure.against == "rivals":
        return max(request.rivals, key=lambda name: find.trials[name]["throughput_mbps"] or 0.0)
    reference = [REFERENCE] if request.measure.against == "reference" else []
    alone = {name: {each: find.trials[each] for each in (name, *reference)} for name in request.rivals}
    values = {name: value_of(request.measure, name, trials) for name, trials in alone.items()}
    return min(request.rivals, key=lambda name: CRASH if values[name] is None else values[name] or 0.0)


def _show(find: Find, request: Request, bench: Bench, console: Console) -> None:
    file, rival = find.write(), best_rival(find)
    usual = request.bounds.usual
    changed = ", ".join(f"{name}={value}" for name, value in find.point.items() if value != usual[name])
    say(console, f"smallest link that shows it: {changed or 'the usual one'}: {shown(request, find.value)}")
    for name in (request.sender, rival):
        say(console, f"{name}: {_did(find, name)}")
    if find.value < CRASH:
        _page(find, rival, bench, console)
    show_path(console, "link", find.link)
    show_path(console, "digest", find.digest)
    show_path(console, "repeat", f"lab break {shlex.quote(request.sender)} --repeat {file}")


def _did(find: Find, name: str) -> str:
    trial = find.trials[name]
    if trial["crash"]:
        return f"no result: {trial['crash']}"
    ends = "never left slow start" if trial["exit_s"] is None else f"left slow start at {trial['exit_s']:.2f} s"
    cause = f" ({trial.get('contradiction', trial['exit_cause'])})" if trial["exit_cause"] else ""
    filled = (
        "the queue never stood" if trial["capacity_s"] is None else f"the queue stood at {trial['capacity_s']:.2f} s"
    )
    rate = f"{significant(trial['throughput_mbps'] or 0.0, 3):g} Mb/s"
    return f"{ends}{cause}, {filled}; {rate}, mean wait {trial['wait_ms'] or 0:.0f} ms"


def _page(find: Find, rival: str, bench: Bench, console: Console) -> None:
    """Run sender and rival on the link as an ordinary run, and report it."""
    pair = {name: bench.base.ccas[name] for name in (find.request.sender, rival)}
    scenario = bench.base.scenario.model_copy(
        update={"ccas": [cca.name for cca in pair.values()], "profile": str(find.link)}
    )
    experiment = replace(
        bench.experiment(find.point),
        name=f"break-{find.request.name}",
        scenario=scenario,
        ccas={cca.name: cca for cca in pair.values()},
    )
    with TrialBar(console, many_runs=False) as bar:
        done = execute([experiment], find_run.of_same_code, bench.virtual.site, RunOptions(2), bar)
    for line in done.runs[0].failures:
        say(console, f"no result: {line}")
    report(done.runs[0].folder, console)
