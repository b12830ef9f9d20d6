# SPDX-License-Identifier: GPL-2.0-or-later
"""The run that stands for a scenario: of the scenario as its file is now, the one with most valid trials.

A run that is smaller, or that the command line gave another duration or seed, does not replace it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from lab.base.errors import UserError
from lab.base.format import trials_text
from lab.base.named_files import scenario_files
from lab.base.workers import map_in_processes
from lab.judge.stored import Stored
from lab.runs.run_folder import LATEST
from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import Check

Fullest = tuple[list[Stored], list[str], list[str]]  # as `fullest` returns them
# Fields of a scenario that decide its trials, apart from their number.
DECISIVE = ("topology", "profile", "ccas", "duration_s", "seed", "size_bytes", "mtu_bytes", "pacing", "rival", "rivals")


def stored(results: Path, names: Iterable[str] | None = None, keep: bool = True) -> tuple[list[Stored], list[str]]:
    """Every scenario's fullest run (or of those named), and a line for each that cannot be read."""
    runs, faults = fullest_runs(results, names)
    return list(Stored.each_of(runs.values(), keep)), faults


def fullest_runs(results: Path, names: Iterable[str] | None = None) -> tuple[dict[Path, Run], list[str]]:
    """Return the run that stands for each scenario by the folder `latest`, and a line for each that cannot be read."""
    wanted = None if names is None else list(names)
    latest = [file.parent for file in sorted(results.glob(f"*/{LATEST}/run.json"))]
    named = [folder for folder in latest if wanted is None or folder.parent.name in wanted]
    checked = map_in_processes(_checked, named, size=lambda folder: sum(1 for _ in (folder / "trials").glob("*")))
    found = {folder: Run.checked(*of) for folder, of in zip(named, checked, strict=True) if not isinstance(of, str)}
    faults = [line for line in checked if isinstance(line, str)]
    return found, [*faults, *_without_latest(results, scenario_files() if wanted is None else wanted)]


def _checked(latest: Path) -> tuple[Path, list[Trial], dict[str, str]] | str:
    """Return the run that stands for a scenario, as Run.checked takes it, or why it cannot be read."""
    try:
        run = fullest_run(latest)
        return run.path, run.whole, run.faulty
    except UserError as error:
        return str(error)


def _without_latest(results: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield a line for each scenario whose complete run no link names: a copy of results may have lost its links."""
    for folder in (results / name for name in names if not (results / name / LATEST).exists()):
        for file in sorted(folder.glob("[0-9]*/run.json"), reverse=True):
            with suppress(UserError):
                if Run(file.parent).complete:
                    newest = file.parent.name
                    yield f"{folder / LATEST}: must be a link to the newest run: ln -sfn {newest} {folder / LATEST}"
                    break


def first_stored(results: Path, names: Sequence[str]) -> Stored | None:
    """Return the first of some scenarios that has a run; none when none has."""
    for name in names:
        if (results / name / LATEST / "run.json").exists():
            return Stored.of(fullest_run(results / name / LATEST))
    return None


def fullest(results: Path) -> Fullest:
    """Return each scenario's fullest run, a line for each that cannot be read, and a line for each newer run."""
    runs, faults = fullest_runs(results)
    found = list(Stored.each_of(runs.values()))
    with_newest = zip(found, (latest.resolve() for latest in runs), strict=True)
    return found, faults, [_newer(each, newest) for each, newest in with_newest if each.run.path != newest]


def _newer(shown: Stored, newest: Path) -> str:
    run = Run(newest)
    begin = f"{shown.name}: its latest run, {newest.name}, "
    end = f"the run of {shown.run.path.name} shown here"
    if not same_trials(run.scenario, shown.run.scenario):
        return f"{begin}has another link, duration, seed or senders than {end}"
    return f"{begin}has fewer valid trials ({valid_trials(run)}) than {end} ({valid_trials(shown.run)})"


def fullest_run(latest: Path) -> Run:
    """Return the run that stands for the scenario of `latest`, a link to its newest run; of equals, the newest."""
    newest = Run(latest.resolve())
    others = list(_others(newest.path))
    if not others:
        return newest
    now = _present(latest.parent.name) or newest.scenario
    return max([*others, newest], key=lambda run: (same_trials(run.scenario, now), valid_trials(run), run.path.name))


def same_trials(then: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Return whether two scenarios have the same trials, but for their number."""
    return all(then[field] == now[field] for field in DECISIVE if field in then and field in now)


def valid_trials(run: Run) -> int:
    """Return the number of valid trials."""
    return sum(trial.valid for trial in run.trials)


def _present(name: str) -> Mapping[str, object] | None:
    """Return the scenario of this name as its file is now; null where there is none, or where it is refused."""
    try:
        return load_scenario(name)[1].model_dump() if name in scenario_files() else None
    except UserError:
        return None


def _others(newest: Path) -> Iterator[Run]:
    """Yield the other whole runs; one that cannot be read is left out."""
    for file in newest.parent.glob("[0-9]*/run.json"):
        run = Run(file.parent)
        try:
            if run.path != newest and run.complete and run.trials:
                yield run
        except UserError:
            continue


def why_invalid(trials: Sequence[Trial]) -> str | None:
    """Return a line that names the check which most trials failed; null where a trial is valid, or none is stored."""
    if not trials or any(trial.valid for trial in trials):
        return None
    failed: dict[str, list[Check]] = {}
    for check in chain.from_iterable(trial.meta["certificate"]["checks"] for trial in trials):
        if not check["ok"]:
            failed.setdefault(check["name"], []).append(check)
    worst = max(failed.values(), key=len, default=[])
    return f"none of its {trials_text(len(trials))} is valid{_words(worst)}"


def _words(failed: Sequence[Check]) -> str:
    if not failed:
        return ""
    first = failed[0]
    found = sorted({f"{check['got']:.3g}" for check in failed if check["got"] is not None}, key=float)
    measured = " to ".join(dict.fromkeys((found[0], found[-1]))) if found else "not measured"
    rule = f"must be {first['asked']}" + (f" \N{PLUS-MINUS SIGN} {first['tolerance']:g}" if first["tolerance"] else "")
    return f": {first['name']}, in {trials_text(len(failed))}: {measured} {first['unit']}, {rule}"
