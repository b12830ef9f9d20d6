# SPDX-License-Identifier: GPL-2.0-or-later
"""From the file of a stack to its senders: one for each of its controls."""

import os
from pathlib import Path

from lab.base.errors import UserError, field_error
from lab.base.named_files import by_name
from lab.schema.cca import ESTIMATED, Cca, load_senders, looks
from lab_quic.stack.prepared import Prepared, prepare

TRANSPORT = "udp"
VARIABLE = "LAB_STACKS"  # a folder of the user's with files of stacks
OWN = "own"  # cause of an exit
BY_QLOG = "the stack's own rule, as its qlog reports it"
BY_PACKETS = "estimated from the packets: the stack writes no qlog, or one without congestion events"
SUFFIX = ".yml"


def own(name: str) -> dict[str, Cca]:
    """Return the senders of a stack's file by control; none where the name is of no such file."""
    file = file_of(name)
    return senders_of(prepare(file), file) if file else {}


def file_of(name: str) -> Path | None:
    """Return the file of a stack: a path that ends in .yml, or a name in the current folder or in LAB_STACKS."""
    if name.endswith(SUFFIX):
        return Path(name)
    return named_files().get(name)


def named_files() -> dict[str, Path]:
    """Return the files of stacks that a name alone finds."""
    folder = os.environ.get(VARIABLE)
    if folder and not Path(folder).is_dir():
        raise UserError(f"environment: {VARIABLE}={folder}: must be a folder")
    folders = {Path(), Path(folder)} if folder else {Path()}
    return by_name((file for each in sorted(folders) for file in each.glob(f"*{SUFFIX}")), lambda file: file.stem)


def senders_of(prepared: Prepared, file: Path) -> dict[str, Cca]:
    """Return a sender for each control of a stack, by control; none looks or is called like one of the lab's."""
    stack, known = prepared.stack, load_senders()
    free = looks({cca.look for cca in known.values()})
    found = {}
    for control in stack.controls:
        name = f"{stack.name}_{control}"
        if name in known:
            raise field_error(file, "name", stack.name, f"another one: {name} is known")
        found[control] = Cca(
            name=name,
            label=f"{stack.name} {stack.version}: {control}{'' if stack.qlog else ', exit estimated'}",
            transport=TRANSPORT,
            stack=stack.name,
            algorithm=control,
            module_digest=prepared.digest,
            slow_start_exit=stack.causes.get(control, OWN) if stack.qlog else ESTIMATED,
            exit_label=BY_QLOG if stack.qlog else BY_PACKETS,
            **next(free),
        )
    return found
