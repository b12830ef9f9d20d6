# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders whose code is built when they are first used: the programs over QUIC, and SEARCH as BPF as a module."""

from collections.abc import Mapping

from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base.errors import field_error
from lab.kernel.bpf.module import MODULE
from lab.runs.experiment import Experiment
from lab.runs.own.bpf_module import with_bpf_module
from lab.runs.quic_programs import with_programs
from lab.schema.cca import Cca


def built(senders: Mapping[str, Cca], virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with what they need; print what is built."""
    with_module = with_bpf_module(senders, virtual)
    return with_programs(*with_module, lambda what: console.print(f"{what}, once", markup=False))


def prepared(experiment: Experiment, virtual: Virtual, console: Console) -> tuple[Experiment, Virtual]:
    """Return an experiment and the virtual kernel with what its senders need."""
    senders, with_all = built(experiment.senders, virtual, console)
    return experiment.with_senders(senders), with_all


def refuse_real_time(senders: Mapping[str, Cca], backend: str) -> None:
    """Raise UserError where one of these senders would run in real time."""
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
