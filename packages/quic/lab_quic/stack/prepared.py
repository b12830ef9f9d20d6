# SPDX-License-Identifier: GPL-2.0-or-later
"""A stack in the cache: its gathered files and its contract, in a folder named by a digest of both."""

import hashlib
import json
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.base import paths
from lab.base.cache import ensured, finished, use
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
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
        """Return the folder that its guests can read."""
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
