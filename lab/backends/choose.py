# SPDX-License-Identifier: GPL-2.0-or-later
"""Which backend and engine a run uses: the requested ones, else the VM if it is up, else the virtual kernel."""

import os
from dataclasses import dataclass

from lab.backends import vagrant
from lab.backends.backend import ENGINES, KINDS
from lab.backends.host import Host
from lab.backends.machine import Machine
from lab.backends.real import RealBackend
from lab.base.choice import one_of
from lab.base.errors import COMMAND_LINE, UserError, field_error

DEFAULT_ENGINES = {"virtual": "netns", "host": "netns", "vm": "containerlab"}


@dataclass(frozen=True)
class Choice:
    """Backend and engine, and the reason for them."""

    backend: str
    engine: str
    reason: str

    @property
    def line(self) -> str:
        """Return the beginning of a run's first line."""
        return f"backend {self.backend}, engine {self.engine}"


def choose(backend: str | None, engine: str | None) -> Choice:
    """Choose; UserError if the two do not fit each other."""
    variable = os.environ.get("LAB_BACKEND") if backend is None else None
    source, backend = ("environment", variable) if variable else (COMMAND_LINE, backend)
    if backend is not None and backend not in KINDS:
        raise field_error(source, "backend", backend, one_of(backend, KINDS))
    if engine is not None and engine not in ENGINES:
        raise field_error(COMMAND_LINE, "engine", engine, one_of(engine, ENGINES))
    chosen, reason = (backend, "set by LAB_BACKEND" if variable else "as requested") if backend else _default(engine)
    if chosen == "virtual" and engine not in (None, "netns"):
        raise field_error(COMMAND_LINE, "engine", engine, "netns in the virtual kernel: use --backend vm or host")
    return Choice(chosen, engine or DEFAULT_ENGINES[chosen], reason)


def _default(engine: str | None) -> tuple[str, str]:
    if vagrant.is_up():
        return "vm", "the VM is up"
    if engine not in (None, "netns"):
        raise field_error(COMMAND_LINE, "engine", engine, "netns without a VM: run 'vagrant up', or use --backend host")
    return "virtual", "the default that needs no VM and no root"


def real_backend(choice: Choice) -> RealBackend:
    """Return the backend for a choice that is not `virtual`; UserError if the VM is not up."""
    if choice.backend == "host":
        return Host(choice.engine)
    other = os.environ.get("LAB_MACHINE")
    if other:
        return Machine(choice.engine, other)
    config = vagrant.ssh_config()
    if config is None:
        raise UserError("vm: not up: run 'vagrant up', or name a provisioned machine in LAB_MACHINE")
    return Machine(choice.engine, vagrant.NAME, config)
