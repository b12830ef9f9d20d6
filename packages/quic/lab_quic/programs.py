# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of senders over QUIC: built where the cache lacks them, and copied into each trial's folder.

They take the same options and write the same logs, so that nothing else of the lab differs by stack.
"""

import subprocess
from dataclasses import replace
from pathlib import Path

from lab.backends.backend import Backend
from lab.backends.virtual import Virtual
from lab.base import sandbox
from lab.base.errors import UserError
from lab.kernel.program import Buildable, Progress
from lab.node.system.modules import Parameter
from lab.schema.cca import Cca
from lab.senders.way import Senders
from lab_quic.ngtcp2.build import NGTCP2
from lab_quic.quinn.build import QUINN

STACKS = {"quinn": QUINN, "ngtcp2": NGTCP2}  # by the name that senders of quic.yml have


def stack_of(cca: Cca) -> Buildable:
    """Return the stack of a sender over QUIC."""
    assert cca.stack
    return STACKS[cca.stack]


def with_programs(
    senders: Senders, virtual: Virtual, progress: Progress = lambda _what: None
) -> tuple[dict[str, Cca], Virtual]:
    """Return senders over QUIC and the virtual kernel with the programs of their stacks; no other stack is built."""
    stacks = sorted({sender.stack for sender in senders.values() if sender.stack})
    built = {stack: STACKS[stack].ensure(progress) for stack in stacks}
    named = {
        name: sender.model_copy(update={"module_digest": built[sender.stack or ""].digest})
        for name, sender in senders.items()
    }
    programs = {each.digest: each.program for each in built.values()}
    return named, replace(virtual, own_modules={**virtual.own_modules, **programs})


def program_of(cca: Cca, backend: Backend) -> Path:
    """Return the program of a sender over QUIC; UserError where the cache no longer has it, or never had."""
    program = backend.own_modules.get(cca.module_digest or "")
    if not program or not program.is_file():
        rule = f"must be built and in the cache: 'lab run --profile geo-small --cca {cca.name}' builds it"
        raise UserError(f"{stack_of(cca).program}: {rule}")
    return program


def parameters(cca: Cca, world: Path) -> list[Parameter]:
    """Return the parameters of a controller's core, as its program prints them."""
    inside = f"/lab/{stack_of(cca).program}"
    command = sandbox.command(
        world, [inside, "params", cca.algorithm], read_only={stack_of(cca).ensure(lambda _what: None).program: inside}
    )
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise UserError(done.stdout.strip())
    rows = [line.split() for line in done.stdout.splitlines()]
    return [{"name": name, "value": value, "meaning": f"({least} to {most})"} for name, value, least, most in rows]
