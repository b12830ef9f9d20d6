# SPDX-License-Identifier: GPL-2.0-or-later
"""Which backend and engine a run uses: what was asked for, else the VM where it is up, else the virtual kernel."""

import os
from dataclasses import dataclass

from lab.backends import vagrant
from lab.backends.host import Host
from lab.backends.machine import Machine
from lab.backends.place import ENGINES
from lab.base.errors import UserError, field_error

BACKENDS = ("virtual", "host", "vm")
USUAL = {"virtual": "netns", "host": "netns", "vm": "containerlab"}
ASKED_IN = "command line"


@dataclass(frozen=True)
class Choice:
    """Backend and engine, and why these."""

    backend: str
    engine: str
    why: str

    @property
    def line(self) -> str:
        """Word the choice as a run's first line begins."""
        return f"backend {self.backend}, engine {self.engine}"


def choose(backend: str | None, engine: str | None) -> Choice:
    """Choose; UserError where what was asked for does not go together."""
    said = os.environ.get("LAB_BACKEND") if backend is None else None
    asked_in, backend = ("environment", said) if said else (ASKED_IN, backend)
    if backend is not None and backend not in BACKENDS:
        raise field_error(asked_in, "backend", backend, f"one of {', '.join(BACKENDS)}")
    if engine is not None and engine not in ENGINES:
        raise field_error(ASKED_IN, "engine", engine, f"one of {', '.join(ENGINES)}")
    chosen, why = (backend, "LAB_BACKEND says so" if said else "as asked") if backend else _usual(engine)
    if chosen == "virtual" and engine not in (None, "netns"):
        raise field_error(ASKED_IN, "engine", engine, "netns in the virtual kernel: use --backend vm or host")
    return Choice(chosen, engine or USUAL[chosen], why)


def _usual(engine: str | None) -> tuple[str, str]:
    if vagrant.is_up():
        return "vm", "the VM is up"
    if engine not in (None, "netns"):
        raise field_error(ASKED_IN, "engine", engine, "netns without a VM: run 'vagrant up', or use --backend host")
    return "virtual", "the default that needs no VM and no root"


def place(choice: Choice) -> Host | Machine:
    """Return where trials run in real time; UserError where the VM is not up."""
    if choice.backend == "host":
        return Host(choice.engine)
    other = os.environ.get("LAB_MACHINE")
    if other:
        return Machine(choice.engine, other)
    config = vagrant.ssh_config()
    if config is None:
        raise UserError("vm: not up: run 'vagrant up', or name a provisioned machine in LAB_MACHINE")
    return Machine(choice.engine, vagrant.NAME, config)
