# SPDX-License-Identifier: GPL-2.0-or-later
"""Which backend and engine a run uses: the requested ones, else the VM if it is up, else the virtual kernel."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console

from lab.backends.backend import Site
from lab.base.choice import one_of
from lab.base.entry_points import loaded
from lab.base.errors import COMMAND_LINE, field_error

NETNS = "netns"


@dataclass(frozen=True)
class Choice:
    """Backend and engine, and the reason for them."""

    backend: str
    engine: str
    reason: str


class Running(Protocol):
    """A backend that a package brings: a kernel that runs already, in real time."""

    @property
    def engines(self) -> tuple[str, ...]:
        """Return what can build the network there, the usual one first."""

    def preferred(self) -> str | None:
        """Return why a run goes there unless something else is requested, or None if it does not."""

    def site(self, choice: Choice, modules: list[str], console: Console) -> AbstractContextManager[Site]:
        """Print where trials run, and provide the machine, which no other experiment uses meanwhile."""

    def leftovers(self) -> Iterator[str]:
        """Remove what killed trials left there; yield each name."""


def running() -> dict[str, Running]:
    """Return the backends that packages bring, by name."""
    return loaded("lab.backends")


def choose(backend: str | None, engine: str | None) -> Choice:
    """Choose; UserError if the two do not fit each other."""
    engines = {"virtual": (NETNS,)} | {name: each.engines for name, each in running().items()}
    variable = os.environ.get("LAB_BACKEND") if backend is None else None
    source, backend = ("environment", variable) if variable else (COMMAND_LINE, backend)
    if backend is not None and backend not in engines:
        raise field_error(source, "backend", backend, one_of(backend, engines))
    known = list(dict.fromkeys(name for names in engines.values() for name in names))
    if engine is not None and engine not in known:
        raise field_error(COMMAND_LINE, "engine", engine, one_of(engine, known))
    chosen, reason = (backend, "set by LAB_BACKEND" if variable else "as requested") if backend else _default(engine)
    if engine not in (None, *engines[chosen]):
        raise field_error(COMMAND_LINE, "engine", engine, "netns in the virtual kernel: use --backend vm or host")
    return Choice(chosen, engine or engines[chosen][0], reason)


def _default(engine: str | None) -> tuple[str, str]:
    for name, each in running().items():
        if reason := each.preferred():
            return name, reason
    if engine not in (None, NETNS):
        raise field_error(COMMAND_LINE, "engine", engine, "netns without a VM: run 'vagrant up', or use --backend host")
    return "virtual", "the default that needs no VM and no root"
