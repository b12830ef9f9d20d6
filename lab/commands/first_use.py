# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders over QUIC in a command: their stacks' programs, from the cache or built, for the virtual kernel.

`prepared` also builds the module of SEARCH as BPF (bpf_module.py), where an experiment has that sender.
"""

from collections.abc import Mapping
from dataclasses import replace

from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base.errors import field_error
from lab.kernel.bpf.module import MODULE
from lab.runs.experiment import Experiment
from lab.runs.own.bpf_module import with_bpf_module
from lab.runs.quic_programs import with_programs
from lab.schema.cca import Cca


def over_quic(senders: Mapping[str, Cca], virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with the programs of their stacks; print what is built."""
    return with_programs(senders, virtual, lambda what: console.print(f"{what}, once", markup=False))


def prepared(experiment: Experiment, virtual: Virtual, console: Console) -> tuple[Experiment, Virtual]:
    """Return an experiment and the virtual kernel with what is built for its senders when they are first used."""
    rival = experiment.rival
    every = experiment.ccas | ({rival.name: rival} if rival else {})
    senders, with_module = with_bpf_module(every, virtual)
    senders, with_program = over_quic(senders, with_module, console)
    ccas = {name: senders[name] for name in experiment.ccas}
    return replace(experiment, ccas=ccas, rival=senders[rival.name] if rival else None), with_program


def refuse_real_time(senders: Mapping[str, Cca], backend: str) -> None:
    """Raise UserError where a sender over QUIC, or the module of SEARCH as BPF, would run in real time."""
    if backend == "virtual":
        return
    quic = [name for name, sender in senders.items() if sender.stack]
    if quic:
        rule = f"virtual: senders over QUIC ({', '.join(quic)}) run in the virtual kernel only"
        raise field_error("command line", "backend", backend, rule)
    modules = [name for name, sender in senders.items() if sender.module == MODULE]
    if modules:
        rule = f"virtual: {', '.join(modules)} is a module of the virtual kernel ('lab senders load' is for stock ones)"
        raise field_error("command line", "backend", backend, rule)
