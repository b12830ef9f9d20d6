# SPDX-License-Identifier: GPL-2.0-or-later
"""The command: which kernel, which recordings."""

import sys
from typing import Annotated

import typer
from lab_vm.machine import Machine
from lab_vm.real import real_backend
from rich.console import Console

from bench import crossing
from bench.crossing import Run
from bench.replay.replayed import replayed
from bench.replay.subjects import subjects
from bench.replay.table import line, store
from lab.backends.choose import Choice
from lab.backends.records import TrialError
from lab.base.errors import UserError, field_error
from lab.base.scratch import scratch_folder
from lab.images import image
from lab.kernel import build


def measure(
    names: Annotated[list[str] | None, typer.Argument(help="Recordings; without, all that were fetched.")] = None,
    where: Annotated[
        str, typer.Option(help="virtual; in real time: vm, the one that is up; host: the running kernel, as root.")
    ] = "virtual",
    seconds: Annotated[float, typer.Option(min=2, help="Of each recording, at most.")] = 60.0,
) -> None:
    """Replay recordings, compare what packets got with the series, store and show it."""
    console = Console(highlight=False, soft_wrap=True)
    try:
        run, requested = runner(where), subjects(names or [])
        with scratch_folder() as scratch:
            traces = []
            for number, subject in enumerate(requested):
                traces.append(replayed(run, subject, scratch / str(number), seconds))
                console.print(line(traces[-1]), markup=False)
            store(where, traces)
    except (UserError, TrialError) as error:
        sys.exit(f"bench-replay: {error}")


def runner(where: str) -> Run:
    """Return how to run a link on a kernel."""
    if where == "virtual":
        return crossing.in_virtual(build.ensure(), image.ensure("world").root)
    if where == "vm":
        return crossing.on(vm())
    if where != "host":
        raise field_error("bench-replay", "--where", where, "virtual, vm or host")
    return crossing.here


def vm() -> Machine:
    """Return the VM that is up, or the machine that LAB_MACHINE names; UserError where there is none."""
    machine = real_backend(Choice("vm", "netns", "as requested"))
    assert isinstance(machine, Machine)
    return machine


if __name__ == "__main__":
    typer.run(measure)
