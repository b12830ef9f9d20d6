# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders whose code is built when they are first used, in whatever way they exist."""

from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base.command_line import COMMAND_LINE
from lab.base.errors import field_error
from lab.runs.experiment import Experiment
from lab.schema.cca import Cca
from lab.senders import ways
from lab.senders.way import Senders


def built(senders: Senders, virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with what they need; print what is built."""
    return ways.prepared(senders, virtual, lambda what: console.print(f"{what}, once", markup=False))


def prepared(experiment: Experiment, virtual: Virtual, console: Console) -> tuple[Experiment, Virtual]:
    """Return an experiment and the virtual kernel with what its senders need."""
    senders, with_all = built(experiment.senders, virtual, console)
    return experiment.with_senders(senders), with_all


def refuse(senders: Senders, backend: str) -> None:
    """Raise UserError where one of these senders cannot run on a backend."""
    for way, own in ways.by_way(senders):
        if rule := way.refuse(list(own), backend):
            raise field_error(COMMAND_LINE, "backend", backend, rule)
