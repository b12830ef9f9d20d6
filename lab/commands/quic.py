# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders over QUIC in a command: their program, from the cache or built, given to the virtual kernel."""

from collections.abc import Mapping
from dataclasses import replace

from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base.errors import field_error
from lab.kernel.quic import build
from lab.runs.experiment import Experiment
from lab.schema.cca import Cca


def over_quic(senders: Mapping[str, Cca], virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with the program of those over QUIC; nothing is built without them."""
    if not any(sender.transport == "quic" for sender in senders.values()):
        return dict(senders), virtual
    built = build.ensure(lambda what: console.print(f"{what}, once", markup=False))
    named = {
        name: sender.model_copy(update={"module_digest": built.digest}) if sender.transport == "quic" else sender
        for name, sender in senders.items()
    }
    return named, replace(virtual, own_modules={**virtual.own_modules, built.digest: built.program})


def prepared(experiment: Experiment, virtual: Virtual, console: Console) -> tuple[Experiment, Virtual]:
    """Return an experiment and the virtual kernel with that program."""
    senders, with_program = over_quic(experiment.ccas, virtual, console)
    return replace(experiment, ccas=senders), with_program


def refuse_real_time(experiment: Experiment, backend: str) -> None:
    """Raise UserError where a sender over QUIC would run in real time."""
    quic = [name for name, sender in experiment.ccas.items() if sender.transport == "quic"]
    if quic:
        rule = f"virtual: senders over QUIC ({', '.join(quic)}) run in the virtual kernel only"
        raise field_error("command line", "backend", backend, rule)
