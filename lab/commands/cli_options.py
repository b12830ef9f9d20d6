# SPDX-License-Identifier: GPL-2.0-or-later
"""What several commands share: the console, and options of the same name and meaning."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab.base.console import PlainConsole
from lab.base.errors import COMMAND_LINE, field_error
from lab.kernel.versions import DEBIAN, LARGE_SOCKETS

if TYPE_CHECKING:
    from lab.runs.options import RunOptions

console = PlainConsole()

SELDOM = "Seldom needed"  # panel of the options that most users never need

KernelVersion = Annotated[
    str,
    typer.Option(
        "--kernel", rich_help_panel=SELDOM, help=f"Kernel to build: {', '.join(DEBIAN)} of Debian, or {LARGE_SOCKETS}."
    ),
]
KernelSource = Annotated[
    Path | None, typer.Option("--source", rich_help_panel=SELDOM, help="A kernel tarball, configured like --kernel.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(rich_help_panel=SELDOM, help="Address of a dask scheduler; default: this machine's processors."),
]
NoPcap = Annotated[
    bool, typer.Option("--no-pcap", rich_help_panel=SELDOM, help="Store the tables only, without the captures.")
]
Shaper = Annotated[
    str,
    typer.Option(rich_help_panel=SELDOM, help="replay (the lab's own qdiscs), or netem (netem and tbf, by tc alone)."),
]
Jobs = Annotated[
    int | None, typer.Option(rich_help_panel=SELDOM, help="Trials at the same time; default: one per processor.")
]


def _above_zero(param: typer.CallbackParam, minutes: float | None) -> float | None:
    """Refuse a budget of nothing, by the option's own name, which is not the same everywhere."""
    if minutes is not None and not 0 < minutes < float("inf"):
        raise field_error(COMMAND_LINE, str(param.name).replace("_", "-"), minutes, "above 0")
    return minutes


Budget = Annotated[float | None, typer.Option(callback=_above_zero, help="Most minutes of trials.")]
Vary = Annotated[
    list[str] | None,
    typer.Option(help="FIELD=a,b,c: the same for each value, and a page of curves; twice: a heat map."),
]
Shards = Annotated[str | None, typer.Option(help="K/N: run only every N-th trial, for `lab merge`.")]
ShardFolder = Annotated[Path | None, typer.Option(help="The folder of a shard.")]
FigureForms = Annotated[
    str | None,
    typer.Option("--format", help="Forms of the figures in addition to SVG, with commas between them: pdf, png."),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show the long tables, with every rule and interval.")]


def run_options(jobs: int | None, scheduler: str | None = None, no_pcap: bool = False) -> "RunOptions":
    """Return how trials are run; default: as many at the same time as there are processors."""
    from lab.base import paths
    from lab.base.processes import processors
    from lab.runs.options import RunOptions

    if scheduler is not None:  # before anything is built
        from lab.runs.pool import require_cluster

        require_cluster(scheduler, paths.results(), [])
    return RunOptions(processors() if jobs is None else jobs, scheduler, keep_capture=not no_pcap)


def resumed_command() -> str:
    """Return the present command with --resume: what goes on takes the same options."""
    return shlex.join(["lab", *[word for word in sys.argv[1:] if word != "--resume"], "--resume"])
