# SPDX-License-Identifier: GPL-2.0-or-later
"""A real machine around a run: its description, its lock, and its state after an interrupted trial."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.backends import vagrant
from lab.backends.backend import Description, Site
from lab.backends.host import Host
from lab.backends.machine import Machine
from lab.backends.real_time import holder
from lab.base import paths
from lab.base.errors import UserError
from lab.node.host import STATE
from lab.node.system.exclusive import held_alone
from lab.node.system.tools import NodeError

SETTLE_S = 60
RealBackend = Host | Machine


def inspect(backend: RealBackend, modules: list[str]) -> Site:
    """Return a backend with the description of its machine; UserError if it lacks one of these kernel modules."""
    facts = json.loads(backend.call("lab.node.facts", backend.engine, *modules))
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
            backend.call("lab.node.host", "--clean")
            return
        except UserError:  # the trial still holds the machine's lock
            if time.monotonic() > limit_s:
                raise
        time.sleep(1)


def leftovers() -> Iterator[str]:
    """Remove what killed trials left on this machine, if any ran here, and in a VM that is up; yield each name."""
    config = vagrant.ssh_config()
    backends: list[RealBackend] = [Host("netns")] if STATE.is_dir() else []
    if config:
        backends.append(Machine("netns", vagrant.NAME, config))
    for backend in backends:
        try:
            with alone(backend):
                yield from backend.call("lab.node.host", "--clean").splitlines()
        except UserError as error:
            yield f"nothing: {error}"
