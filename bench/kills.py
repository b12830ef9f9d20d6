# SPDX-License-Identifier: GPL-2.0-or-later
"""Kill commands at random times with random signals, again and again; results/bench/kills.json.

A life is a results folder in which commands are killed a few times, one after the other: a run, the run that goes on,
its report, the evaluation; some lives begin with a stored run. Then every command may end, and summary and claims must
be those of a life without a kill.
"""

import argparse
import itertools
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from rich.console import Console

from bench import measured
from bench.kill_checks import Place, after_clean, faults
from bench.measured import Figure
from lab.base.processes import map_in_threads, processors
from lab.base.scratch import scratch_folder
from lab.tables.stored_run import Run

LINK = "geo-small"
SCENARIO = {
    "question": "What is left when a command is killed?",
    "topology": "path",
    "profile": LINK,
    "ccas": ["cubic_plain"],
    "trials": 2,
    "duration_s": 2,
    "seed": 7,
}
RUN, RESUME, REPORT, TRY, EVALUATE = "run", "run --resume", "report", "run --profile", "evaluate"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
OF_TERMINAL = (signal.SIGINT, signal.SIGHUP)  # reach the whole foreground group
KILLS_A_LIFE = 10
KINDS = (RUN, TRY, REPORT)  # what a life begins with


@dataclass
class Tally:
    """What was killed, and what then did not hold."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)  # of command and signal
    left: Counter[str] = field(default_factory=Counter)  # kills by signal after which `lab clean` had a draft to remove
    faults: list[dict[str, str]] = field(default_factory=list)
    lives: int = 0

    def add(self, other: "Tally") -> None:
        """Add the kills and faults of another tally."""
        self.kills += other.kills
        self.left += other.left
        self.faults += other.faults
        self.lives += other.lives


@dataclass
class Life:
    """One results folder, and the command line that begins its run."""

    place: Place
    begins: list[str]
    kind: str
    lasted_s: dict[str, float] = field(default_factory=dict)  # each command that ended

    @classmethod
    def of(cls, folder: Path, kind: str, stored: Path | None = None) -> "Life":
        """Begin a life of a scenario, of a link that is tried, or with the results of a scenario that are stored."""
        folder.mkdir()
        if stored and kind == REPORT:
            shutil.copytree(stored, Place(folder).results, symlinks=True)
        if kind == TRY:
            words = ["run", "--profile", LINK, "--cca", "cubic_plain", "--trials", "2", "--duration", "2"]
            return cls(Place(folder), words, kind)
        file = folder / "mine.yml"
        file.write_text(yaml.safe_dump(SCENARIO))
        return cls(Place(folder), ["run", str(file)], kind)

    @property
    def unfinished(self) -> bool:
        """Return whether a run lacks trials."""
        return any(not Run(folder).complete for folder in self.place.runs)

    @property
    def running(self) -> tuple[str, list[str]] | None:
        """Return the name and the words of the command that runs what is missing; null where nothing is."""
        if self.unfinished:
            return RESUME, [*self.begins, "--resume"]
        return None if self.place.runs else (self.kind, self.begins)

    @property
    def reading(self) -> list[tuple[str, list[str]]]:
        """Return the commands that read a stored run."""
        return [(REPORT, ["report", str(self.place.runs[-1])]), (EVALUATE, ["evaluate"])]

    def finish(self) -> dict[str, bytes]:
        """Let every command end, and return what must not depend on a kill."""
        if self.running:
            self._let_end(*self.running)
        for name, words in self.reading:
            self._let_end(name, words)
        run = self.place.runs[-1]
        files = [run / "summary.csv", run / "outcomes.csv", self.place.results / "evaluation" / "claims.csv"]
        return {file.name: file.read_bytes() for file in files} | self.place.trials

    def _let_end(self, name: str, words: list[str]) -> None:
        begun_s = time.monotonic()
        self.place.run(words)
        self.lasted_s[name] = time.monotonic() - begun_s


def kills(options: argparse.Namespace, scratch: Path, console: Console) -> Tally:
    """Kill until there are at least so many kills, or so much time is over; seed and number decide a life."""
    end_s = time.monotonic() + options.minutes * 60
    expected, lasts_s = _undisturbed(scratch)
    tally, numbers, turn = Tally(), itertools.count(), threading.Lock()

    def live(_job: int) -> None:
        while tally.kills.total() < options.kills and time.monotonic() < end_s:
            number = next(numbers)
            one = _life(number, random.Random(f"{options.seed}:{number}"), expected, lasts_s, scratch)  # noqa: S311
            with turn:
                tally.add(one)
                for fault in one.faults:
                    console.print(str(fault), markup=False)
                console.print(f"{tally.kills.total()} kills in {tally.lives} lives, {len(tally.faults)} faults")

    map_in_threads(live, range(options.jobs))
    return tally


def _life(
    number: int, draw: random.Random, expected: Mapping[str, dict[str, bytes]], lasts_s: dict[str, float], scratch: Path
) -> Tally:
    """Live once: kill a few commands, let each end, and compare with a life without a kill."""
    tally, kind = Tally(lives=1), draw.choice(KINDS)
    life = Life.of(scratch / f"life-{number}", kind, scratch / "undisturbed-run" / "results")
    for _ in range(KILLS_A_LIFE):
        _kill(life, draw, lasts_s, tally)
    if life.finish() != expected[kind]:
        tally.faults.append({"fault": "results differ from those of a life without kills"})
    tally.faults = [{"life": str(number)} | fault for fault in tally.faults]
    lasts_s |= life.lasted_s  # other work on the machine may have begun or ended
    shutil.rmtree(life.place.folder)
    return tally


def _undisturbed(scratch: Path) -> tuple[dict[str, dict[str, bytes]], dict[str, float]]:
    """Return the results of lives without a kill, and how long each command takes."""
    expected: dict[str, dict[str, bytes]] = {}
    lasts_s: dict[str, float] = {}
    for kind, name in ((RUN, "undisturbed-run"), (TRY, "undisturbed-try")):
        life = Life.of(scratch / name, kind)
        expected[kind] = life.finish()
        lasts_s |= life.lasted_s
    return expected | {REPORT: expected[RUN]}, lasts_s | {RESUME: lasts_s[RUN]}


def _kill(life: Life, draw: random.Random, lasts_s: dict[str, float], tally: Tally) -> None:
    """Start the next command and kill it; one that ends before is no kill."""
    name, words = life.running or draw.choice(life.reading)
    before, number, after_s = life.place.trials, draw.choice(SIGNALS), draw.uniform(0, lasts_s[name])
    process = life.place.start(words)
    time.sleep(after_s)
    if process.poll() is not None:
        return
    if number in OF_TERMINAL:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    process.wait()
    tally.kills[name, number.name] += 1
    found = faults(life.place, before)
    if life.place.left:
        tally.left[number.name] += 1
        if number != signal.SIGKILL:
            found.append(f"left: {life.place.left}")
        found += after_clean(life.place)
    about = {"command": name, "signal": number.name, "after_s": f"{after_s:.2f}"}
    tally.faults += [about | {"fault": fault} for fault in found]


def figures(tally: Tally) -> Iterator[Figure]:
    """Yield the number of kills by command and signal, and how many faults followed."""
    for name in (RUN, RESUME, REPORT, TRY, EVALUATE):
        of_name = {number.name: tally.kills[name, number.name] for number in SIGNALS}
        yield from _row(f"`lab {name}`", of_name, sum(fault.get("command") == name for fault in tally.faults))
    of_all = {number.name: sum(tally.kills[key] for key in tally.kills if key[1] == number.name) for number in SIGNALS}
    yield from _row("all", of_all, len(tally.faults))
    yield from _kills("of these, `lab clean` had a draft to remove", tally.left)


def _kills(subject: str, by_signal: Mapping[str, int]) -> Iterator[Figure]:
    for number in SIGNALS:
        yield {"name": f"{subject}: {number.name}", "value": by_signal[number.name], "unit": "kills"}
    yield {"name": f"{subject}: all", "value": sum(by_signal.values()), "unit": "kills"}


def _row(subject: str, by_signal: Mapping[str, int], faults: int) -> Iterator[Figure]:
    yield from _kills(subject, by_signal)
    yield {"name": f"{subject}: faults", "value": faults, "unit": "faults", "target": "0"}


def main() -> None:
    """Kill, show, and store what was found; exit status 1 after a fault."""
    parser = argparse.ArgumentParser(prog="make bench-kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=120, help="end after so many minutes at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=processors(), help="lives at once")
    given, console = parser.parse_args(), Console(highlight=False, soft_wrap=True)
    begun_s = time.monotonic()
    with scratch_folder() as scratch:
        tally = kills(given, scratch, console)
    details = {
        "seed": given.seed,
        "jobs": given.jobs,
        "lives": tally.lives,
        "minutes": round((time.monotonic() - begun_s) / 60, 1),
        "faults": tally.faults,
    }
    file = measured.store("kills", f'make bench-kills BENCH="--seed {given.seed}"', list(figures(tally)), details)
    console.print(f"kills     {file}", markup=False)
    raise SystemExit(bool(tally.faults))


if __name__ == "__main__":
    main()
