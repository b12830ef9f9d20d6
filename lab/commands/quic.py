# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders over QUIC in a command: their stacks' programs, from the cache or built, for the virtual kernel."""

from collections.abc import Mapping
from dataclasses import replace

from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base.errors import field_error
from lab.runs.experiment import Experiment
from lab.runs.quic_programs import with_programs
from lab.schema.cca import Cca


def over_quic(senders: Mapping[str, Cca], virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with the programs of their stacks; print what is built."""
    return with_programs(senders, virtual, lambda what: console.print(f"{what}, once", markup=False))


def prepared(experiment: Experiment, virtual: Virtual, console: Console) -> tuple[Experiment, Virtual]:
    """Return an experiment and the virtual kernel with those programs."""
    senders, with_them = over_quic(experiment.ccas, virtual, console)
    return replace(experiment, ccas=senders), with_them


def refuse_real_time(senders: Mapping[str, Cca], backend: str) -> None:
    """Raise UserError where a sender over QUIC would run in real time."""
    quic = [name for name, sender in senders.items() if sender.stack]
    if quic and backend != "virtual":
        rule = f"virtual: senders over QUIC ({', '.join(quic)}) run in the virtual kernel only"
        raise field_error("command line", "backend", backend, rule)
