# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own code as a virtual kernel runs it: a copy, compiled once for the world image's Python.

Compiling it anew in every kernel costs a tenth of a second of each trial, and an edit in the midst of a campaign would
mix two versions.
"""

import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path

from lab import paths, sandbox
from lab.cache import finished, publish

PLACE = "/lab/lab"
COMPILE = ["python3", "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", PLACE]


@cache
def ensure(world: Path) -> Path:
    """Return the copy for a world, as this process found the code when it first asked."""
    folder = paths.cache() / f"guest-code-{_digest(world)}"
    if not finished(folder):
        with publish(folder) as draft:
            if draft:
                _copy(draft / "lab")
                _compile(draft / "lab", world)
    return folder / "lab"


def _sources() -> list[Path]:
    return sorted(paths.LAB.rglob("*.py"))


def _digest(world: Path) -> str:
    digest = hashlib.sha256(world.parent.name.encode())  # which is its own digest
    for file in _sources():
        digest.update(str(file.relative_to(paths.LAB)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _copy(copy: Path) -> None:
    for file in _sources():
        target = copy / file.relative_to(paths.LAB)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _compile(copy: Path, world: Path) -> None:
    sandbox.own_tree(copy)
    try:
        subprocess.run(sandbox.command(world, COMPILE, writable={copy: PLACE}), check=True)
    finally:
        sandbox.disown_tree(copy)
