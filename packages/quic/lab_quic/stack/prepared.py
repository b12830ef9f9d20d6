# SPDX-License-Identifier: GPL-2.0-or-later
"""A stack in the cache: its gathered files and its contract, in a folder named by a digest of both."""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.base import paths
from lab.base.cache import ensured, finished, use
from lab.base.errors import UserError, field_error
from lab.base.named_files import by_name
from lab.base.scratch import scratch_folder
from lab.schema.cca import ESTIMATED, Cca, load_senders, looks
from lab_quic.stack.contract import Stack, read
from lab_quic.stack.gather import Gathered

KIND = "stack"
CONTRACT, FILES = "stack.json", "files"
CONTRACT_OF_LAB = "1"  # of this code: what is gathered otherwise has another digest
IDENTITY = Path(__file__).with_name("identity")  # a certificate and its key, for the server; no secret
IDENTITY_AT = ".lab-identity"


@dataclass(frozen=True)
class Prepared:
    """A stack in the cache."""

    stack: Stack
    folder: Path
    loaded: tuple[str, ...]  # programs that need the loader

    @property
    def digest(self) -> str:
        """Return the digest of its contract and files."""
        return self.folder.name.removeprefix(f"{KIND}-")

    @property
    def files(self) -> Path:
        return self.folder / FILES


def prepare(file: Path) -> Prepared:
    """Gather a stack into the cache, where it is not there; UserError where its file or a program is refused."""
    stack = read(file)
    with scratch_folder() as scratch:
        gathered = Gathered(file, scratch / FILES, tuple(stack.libraries))
        gathered.target.mkdir()
        loaded = [program for program in stack.programs if gathered.program(program)]
        for place in stack.files:
            gathered.copy_all(place)
        (gathered.target / IDENTITY_AT).mkdir(exist_ok=True)
        for name in ("cert.pem", "key.pem"):
            (gathered.target / IDENTITY_AT / name).write_bytes((IDENTITY / name).read_bytes())
        content = json.dumps({"stack": stack.model_dump(), "loaded": loaded}, indent=1, sort_keys=True)
        (scratch / CONTRACT).write_text(content)
        copy = partial(shutil.copytree, scratch, dirs_exist_ok=True)
        folder = ensured(paths.cache() / f"{KIND}-{_digest(scratch)}", copy)
    return Prepared(stack, folder, tuple(loaded))


def stored(digest: str) -> Prepared:
    """Return a stack of the cache; UserError where it is no longer there."""
    folder = paths.cache() / f"{KIND}-{digest}"
    if not finished(folder):
        raise UserError(f"{folder}: must be in the cache: name the stack's file again, as 'lab try ./mystack.yml' does")
    use(folder)
    content = json.loads((folder / CONTRACT).read_text())
    return Prepared(Stack.model_validate(content["stack"]), folder, tuple(content["loaded"]))


def _digest(folder: Path) -> str:
    """Digest all files of a folder, with their names and their rights."""
    digest = hashlib.sha256(CONTRACT_OF_LAB.encode())
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        of_file = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder)}\0{path.stat().st_mode & 0o777}\0{of_file}\n".encode())
    return digest.hexdigest()[:16]


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
