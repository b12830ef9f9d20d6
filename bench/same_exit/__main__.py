# SPDX-License-Identifier: GPL-2.0-or-later
"""The command: record the streams that are not there yet, replay each by every implementation, store and show it."""

from typing import Annotated

import typer
from lab_bpf.node import loader
from lab_quic.quinn import build as quic

from bench.measured import show_and_store
from bench.same_exit import implementations as decide
from bench.same_exit.compare import differences, figures
from bench.same_exit.record import TRIALS, record
from bench.same_exit.stream import Decisions, load
from lab.backends.virtual import ensure_built
from lab.base import paths
from lab.kernel.recipe import Recipe
from lab.node.system.tools import NodeError

FOLDER = "same-exit"


def measure(
    trials: Annotated[int, typer.Option(min=1, help="Of each sender on each link.")] = TRIALS,
    stock: Annotated[bool, typer.Option(help="Boot Debian's stock kernel for BPF.")] = True,
) -> None:
    """Record streams below results/bench/same-exit, and compare who leaves slow start on which ACK."""
    virtual = ensure_built(Recipe())
    files = list(record(paths.results() / "bench" / FOLDER, virtual, trials))
    loaded = [load(file) for file in files]
    streams, names = [stream for stream, _ in loaded], [file.stem for file in files]
    modules: list[Decisions] = [decisions for _, decisions in loaded]
    by: dict[str, list[Decisions]] = {"core": decide.by_core(virtual.kernel.replay_library, streams)}
    by["modules"] = modules
    by["QUIC"] = decide.by_quic(quic.QUINN.ensure(print).program, streams)
    if able_here():
        by["BPF, this machine's kernel"] = decide.by_bpf_here(streams)
    details: dict[str, object] = {}
    if stock:
        by["BPF, Debian's stock kernel"], details["transfer"] = decide.by_bpf_stock(streams)
    for line in differences(names, by):
        print(line)
    show_and_store(FOLDER, "make bench-same-exit", list(figures(names, by)), details)


def able_here() -> bool:
    """Report whether this process can load BPF into the running kernel."""
    try:
        loader.this_machine().require_able("same_exit")
    except NodeError as error:
        print(f"without this machine's kernel: {error}")
        return False
    return True


if __name__ == "__main__":
    typer.run(measure)
