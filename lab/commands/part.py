# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs, or one machine's part of their trials: what is stored is not run again."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.format import trials_text
from lab.commands.lines import say
from lab.commands.progress import TrialBar
from lab.runs import shard as shards
from lab.runs.execute import every, execute
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.runs.shard import Shard
from lab.runs.vary import stored_or_new

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

    def begin(self) -> None:
        """Make the shard's folder, which is that of all results from here on."""
        shards.begin(self.out, self.shard)
        os.environ["LAB_RESULTS"] = str(self.out.resolve())


def run_part(
    experiments: Sequence[Experiment], virtual: Virtual, options: RunOptions, part: Part | None, console: Console
) -> tuple[list[Path], bool]:
    """Run what is missing of all experiments, or of a shard its own trials.

    Returns the run of each experiment, and whether a trial gave no result.
    """
    wanted = part.shard.wanted(experiments) if part else every
    with TrialBar(console, many_runs=len(experiments) > 1) as bar:
        done = execute(experiments, stored_or_new(options.keep_capture), virtual.site, options, bar, wanted)
    failures = [f"{run.experiment.name}/{line}" for run in done.runs for line in run.failures]
    for line in failures:
        say(console, f"no result: {line}")
    runs = [run.folder for run in done.runs]
    if part and not failures:
        folders = {each.name: run.name for each, run in zip(experiments, runs, strict=True)}
        shards.write(part.out, part.shard, folders, without_shard(sys.argv[1:]))
        say(console, f"shard {part.shard} is whole in {part.out}: 'lab merge' joins all {part.shard.count}")
    if failures:
        say(console, f"{trials_text(len(failures))} gave no result; the others are stored: the same command goes on")
    return runs, bool(failures)


def without_shard(words: Sequence[str]) -> list[str]:
    """Return a command line without --shard and --out, in whichever way they were written."""
    kept: list[str] = []
    passed = False
    for word in words:
        if not passed and word.partition("=")[0] not in OF_A_SHARD:
            kept.append(word)
        passed = word in OF_A_SHARD
    return ["lab", *kept]
