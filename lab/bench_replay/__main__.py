# SPDX-License-Identifier: GPL-2.0-or-later
"""The command: which kernel, which recordings, and how busy the machine is meanwhile."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lab import crossing
from lab.bench_replay import cost
from lab.bench_replay.replayed import replayed
from lab.bench_replay.subjects import subjects
from lab.bench_replay.table import line, store, table
from lab.crossing import Run
from lab.errors import UserError, field_error
from lab.kernel import build
from lab.virtual import TrialError
from lab.world import image


def measure(
    names: Annotated[list[str] | None, typer.Argument(help="Recordings; without, all that were fetched.")] = None,
    where: Annotated[
        str, typer.Option(help="virtual; or host: the running kernel, in real time, as root.")
    ] = "virtual",
    busy: Annotated[bool, typer.Option("--busy", help="Keep every core busy meanwhile.")] = False,
    seconds: Annotated[float, typer.Option(min=2, help="Of each recording, at most.")] = 60.0,
    costs: Annotated[bool, typer.Option(help="Also what long recordings cost.")] = True,
) -> None:
    """Replay recordings, compare what packets got with the series, store and show it."""
    console = Console(highlight=False, soft_wrap=True)
    kernel = f"{where}, busy" if busy else where
    try:
        run, asked = runner(where), subjects(names or [])
        with tempfile.TemporaryDirectory(prefix="search-lab-bench-") as scratch, ExitStack() as stack:
            if busy:
                stack.enter_context(every_core_busy())
            traces = []
            for number, subject in enumerate(asked):
                traces.append(replayed(run, subject, Path(scratch) / str(number), seconds))
                console.print(line(traces[-1]), markup=False)
            file = store(kernel, traces, {})
            if costs:
                store(kernel, traces, cost.measure(run, Path(scratch)))
    except (UserError, TrialError) as error:
        sys.exit(f"bench-replay: {error}")
    console.print(table())
    console.print(str(file))


def runner(where: str) -> Run:
    """Return how to run a link on a kernel."""
    if where == "virtual":
        return crossing.in_virtual(build.ensure(), image.ensure("world").root)
    if where != "host":
        raise field_error("bench-replay", "--where", where, "virtual or host")
    return crossing.here


@contextmanager
def every_core_busy() -> Iterator["list[subprocess.Popen[bytes]]"]:
    """Let a program that never rests run on each core while the block runs."""
    restless = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(restless) for _ in range(os.cpu_count() or 1)]
    try:
        yield programs
    finally:
        for program in programs:
            program.kill()
            program.wait()


if __name__ == "__main__":
    typer.run(measure)
