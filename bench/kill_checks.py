# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold after a command was killed: nothing runs, nothing is lost, and `lab clean` removes what is left."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench.left_behind import mounted_on, running_on
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.tables.digests import SUMS
from lab.tables.stored_run import Run

PATIENCE_S = 10.0
Trials = dict[str, bytes]  # the digests of each stored trial, by the name of its folder


@dataclass(frozen=True)
class Place:
    """A results folder with temporary files of its own."""

    folder: Path

    @property
    def results(self) -> Path:
        """Return where results go."""
        return self.folder / "results"

    @property
    def temporary(self) -> Path:
        """Return where temporary files go."""
        return self.folder / "tmp"

    def start(self, words: list[str], **environment: str) -> "subprocess.Popen[str]":
        """Start `lab` as the leader of a process group, like a shell does."""
        for folder in (self.results, self.temporary):
            folder.mkdir(parents=True, exist_ok=True)
        own = {"LAB_RESULTS": str(self.results), "TMPDIR": str(self.temporary)}
        with (self.folder / "errors").open("w") as errors:
            return subprocess.Popen(
                [str(REPO / "scripts" / "lab"), *words],
                cwd=REPO,
                env=os.environ | own | environment,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def run(self, words: list[str], **environment: str) -> None:
        """Run `lab` to its end; UserError where it fails."""
        if self.start(words, **environment).wait():
            raise UserError(f"lab {' '.join(words)}: {self.errors}")

    @property
    def errors(self) -> str:
        """Return what the last command printed as its error."""
        return (self.folder / "errors").read_text()

    @property
    def runs(self) -> list[Path]:
        """Return the folders of all runs."""
        return sorted(file.parent for file in self.results.glob("*/[0-9]*/run.json"))

    @property
    def trials(self) -> Trials:
        """Return what is stored whole."""
        return {
            f"{folder.parent.name}/{trial.path.name}": (trial.path / SUMS).read_bytes()
            for folder in self.runs
            for trial in Run(folder).trials
        }

    @property
    def left(self) -> list[str]:
        """Name drafts of trials and temporary files."""
        drafts = self.results.glob("*/*/trials/.*")
        return [str(path.relative_to(self.folder)) for path in (*drafts, *self.temporary.iterdir())]


def faults(place: Place, before: Trials) -> list[str]:
    """Return a line for all that a killed command lost, damaged, or keeps running."""
    end_s = time.monotonic() + PATIENCE_S
    while (running := running_on(place.folder)) and time.monotonic() < end_s:
        time.sleep(0.05)
    lost = [f"lost or changed: {name}" for name, digests in before.items() if place.trials.get(name) != digests]
    damaged = [fault for folder in place.runs for fault in Run(folder).faults]
    more = ["a traceback"] if "Traceback" in place.errors else []
    return [
        *(f"runs: {process}" for process in running),
        *(f"mounted: {path}" for path in mounted_on(place.folder)),
        *lost,
        *damaged,
        *more,
    ]


def after_clean(place: Place) -> list[str]:
    """Name what `lab clean` does not remove; without a cache, since another command may use that."""
    place.run(["clean"], LAB_CACHE=str(place.folder / "cache"))
    return [f"after clean: {path}" for path in place.left]
