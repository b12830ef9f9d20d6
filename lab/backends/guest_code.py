# SPDX-License-Identifier: GPL-2.0-or-later
"""The code that runs inside a virtual kernel: a copy of lab.node, compiled once for the world image's Python.

Compiling in every kernel would cost a tenth of a second per trial, and an edit during a campaign would mix versions.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lab.base import paths, sandbox
from lab.base.cache import finished, publish, use

ROOT = "/lab"  # in the guest, the parent folder of each package
OWN = "lab.node"
COMPILE = ["python3", "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]


@cache
def ensure(world: Path, package: str = OWN) -> Path:
    """Return the folder with the copy of a package, taken at the first call of this process.

    `package` is a dotted name below the repository. Its modules import only the standard library, lab.node and each
    other.
    """
    folder = paths.cache() / f"guest-code-{_digest(world, package)}"
    use(folder)
    if not finished(folder):
        with publish(folder) as draft:
            if draft:
                _copy(draft / "code", package)
                _compile(draft / "code", world)
    return folder / "code"


def bound(world: Path, module: str) -> dict[Path, str]:
    """Return the mounts (copy -> place) of a guest that imports a module: lab.node and the module's own package."""
    packages = {OWN, OWN if module.startswith(f"{OWN}.") else module.rpartition(".")[0]}
    tops = [(ensure(world, package), package.split(".")[0]) for package in packages]
    return {copy / top: f"{ROOT}/{top}" for copy, top in tops}


def _sources(package: str) -> Iterator[Path]:
    """List a package's files and each enclosing package's __init__.py, relative to the repository."""
    folder = Path(*package.split("."))
    yield from (parent / "__init__.py" for parent in list(folder.parents)[:-1])
    yield from sorted(file.relative_to(paths.REPO) for file in (paths.REPO / folder).rglob("*.py"))


def _digest(world: Path, package: str) -> str:
    digest = hashlib.sha256(world.parent.name.encode())  # the name ends with the digest of the image
    for file in _sources(package):
        digest.update(str(file).encode() + b"\0" + (paths.REPO / file).read_bytes())
    return digest.hexdigest()[:16]


def _copy(copy: Path, package: str) -> None:
    for file in _sources(package):
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.REPO / file, copy / file)


def _compile(copy: Path, world: Path) -> None:
    sandbox.own_tree(copy)
    try:
        subprocess.run(sandbox.command(world, [*COMPILE, ROOT], writable={copy: ROOT}), check=True)
    finally:
        sandbox.disown_tree(copy)
