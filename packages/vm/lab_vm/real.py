# SPDX-License-Identifier: GPL-2.0-or-later
"""A real machine around a run: its description, its lock, and its state after an interrupted trial."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from lab.backends.backend import Description, Site
from lab.backends.choose import Choice
from lab.base import paths
from lab.base.errors import UserError
from lab.commands.lines import say
from lab.node.system.tools import NodeError
from lab_vm import machine
from lab_vm.host import Host
from lab_vm.machine import Machine
from lab_vm.node.exclusive import held_alone
from lab_vm.node.host import STATE
from lab_vm.real_time import holder

SETTLE_S = 60
RealBackend = Host | Machine


@dataclass(frozen=True)
class Running:
    """A backend by its name: entry points name it."""

    kind: str
    engines: tuple[str, ...]

    def preferred(self) -> str | None:
        """Return why a run goes there unless something else is requested, or None if it does not."""
        return "the VM is up" if self.kind == "vm" and machine.is_up() else None

    @contextmanager
    def site(self, choice: Choice, modules: list[str], console: Console) -> Iterator[Site]:
        """Print where trials run, and provide the real machine, locked."""
        where = f"backend {choice.backend}, engine {choice.engine}"
        say(console, f"{where}: real time, one trial at a time; {choice.reason}")
        backend = real_backend(choice)
        with alone(backend):
            site = inspect(backend, modules)
            kernel = site.description.kernel
            console.print(f"{kernel['kernel_source']} on {kernel['cpu']}", markup=False)
            try:
                yield site
            except KeyboardInterrupt:
                console.print("waiting until the trial has ended; after a second Ctrl-C run 'lab clean'", markup=False)
                settle(backend)
                raise

    def leftovers(self) -> Iterator[str]:
        """Remove what killed trials left on this machine, if any ran here, or in a VM that is up; yield each name."""
        backend: RealBackend | None = None
        try:
            if self.kind == "host":
                backend = Host("netns") if STATE.is_dir() else None
            elif config := machine.ssh_config():
                backend = Machine("netns", machine.NAME, config)
            if backend:
                with alone(backend):
                    yield from backend.call("lab_vm.node.host", "--clean").splitlines()
        except UserError as error:
            yield f"nothing: {error}"


HOST = Running("host", ("netns", "containerlab", "mininet", "pair"))
VM = Running("vm", ("containerlab", "netns", "mininet", "pair"))


def real_backend(choice: Choice) -> RealBackend:
    """Return the backend for a choice that is not `virtual`; UserError if the VM is not up."""
    if choice.backend == "host":
        return Host(choice.engine)
    other = os.environ.get("LAB_MACHINE")
    if other:
        return Machine(choice.engine, other)
    config = machine.ssh_config()
    if config is None:
        raise UserError("vm: not up: run 'vagrant up', or name a provisioned machine in LAB_MACHINE")
    return Machine(choice.engine, machine.NAME, config)


def inspect(backend: RealBackend, modules: list[str]) -> Site:
    """Return a backend with the description of its machine; UserError if it lacks one of these kernel modules."""
    facts = json.loads(backend.call("lab_vm.node.facts", backend.engine, *modules))
    kernel = {
        "kernel_source": f"Linux {facts['release']}",
        "kernel_digest": facts["kernel"],
        "modules_digest": _digest(facts["modules"]),
        "cpu": f"{facts['processors']} of {facts['cpu']}",
    }
    return Site(backend, Description(kernel, _digest(facts["packages"]), facts["packages"], {}))


def _digest(found: Any) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def alone(backend: RealBackend) -> Iterator[None]:
    """Keep other experiments off a machine while the block runs; UserError names the command that has it."""
    name = "host" if isinstance(backend, Host) else f"vm-{backend.name.replace('/', '-')}"
    paths.cache().mkdir(parents=True, exist_ok=True)
    try:
        with held_alone(paths.cache() / f"{name}.lock", holder()):
            yield
    except NodeError as error:
        raise UserError(str(error)) from None


def settle(backend: RealBackend) -> None:
    """Wait until an interrupted trial has ended on a machine, and remove its leftovers; UserError after SETTLE_S."""
    limit_s = time.monotonic() + SETTLE_S
    while True:
        try:
            backend.call("lab_vm.node.host", "--clean")
            return
        except UserError:  # the trial still holds the machine's lock
            if time.monotonic() > limit_s:
                raise
        time.sleep(1)
