# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run in real time knows of the machine it runs on, in the words that a run in the virtual kernel uses."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.backends import vagrant
from lab.backends.host import Host
from lab.backends.machine import Machine
from lab.backends.place import holder
from lab.base import paths
from lab.base.errors import UserError
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.node.exclusive import held_alone
from lab.node.host import STATE
from lab.node.tools import NodeError

SETTLE_S = 60


@dataclass(frozen=True)
class Seen:
    """The kernel and the packages of a machine, and how many processors it has."""

    kernel: Kernel
    world: Image
    processors: int


def look(place: Host | Machine, modules: list[str]) -> Seen:
    """Return what a machine is; UserError where it lacks one of these kernel modules."""
    facts = json.loads(place.ask("lab.node.facts", place.engine, *modules))
    described = {
        "kernel_source": f"Linux {facts['release']}",
        "kernel_digest": facts["kernel"],
        "modules_digest": _digest(facts["modules"]),
        "cpu": f"{facts['processors']} of {facts['cpu']}",
    }
    packages = facts["packages"]
    world = Image(Path("/"), _digest(packages), packages, {})
    return Seen(_worded(described), world, facts["processors"])


def _worded(described: dict[str, str]) -> Kernel:
    """A kernel that is not ours to boot; the virtual one's library for replay serves the report where it is built."""
    built = build.find()
    nowhere = Path("/nonexistent")
    library = built.replay_library if built else nowhere
    return Kernel(nowhere, nowhere, library, nowhere, described)


def _digest(found: Any) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def alone(place: Host | Machine) -> Iterator[None]:
    """Refuse a second experiment on the same machine while the block runs; the refusal names who is there."""
    name = "host" if isinstance(place, Host) else f"vm-{place.name.replace('/', '-')}"
    paths.cache().mkdir(parents=True, exist_ok=True)
    try:
        with held_alone(paths.cache() / f"{name}.lock", holder()):
            yield
    except NodeError as error:
        raise UserError(str(error)) from None


def settle(place: Host | Machine) -> None:
    """Wait until a trial whose command was interrupted is taken down there, and remove what it was brought in.

    UserError where that cannot be seen.
    """
    limit_s = time.monotonic() + SETTLE_S
    while True:
        try:
            place.ask("lab.node.host", "--clean")
            return
        except UserError:  # it is still at it, and holds the lock
            if time.monotonic() > limit_s:
                raise
        time.sleep(1)


def leftovers() -> Iterator[str]:
    """Remove what killed trials left on this machine, where there is something to look for, and in a VM that is up."""
    config = vagrant.ssh_config()
    places: list[Host | Machine] = [Host("netns")] if STATE.is_dir() else []
    if config:
        places.append(Machine("netns", vagrant.NAME, config))
    for place in places:
        try:
            with alone(place):
                yield from place.ask("lab.node.host", "--clean").splitlines()
        except UserError as error:
            yield f"nothing: {error}"
