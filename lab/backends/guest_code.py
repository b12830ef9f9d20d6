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

from lab.base import paths, sandbox, sandbox_mode
from lab.base.cache import finished, publish, use

ROOT = "/lab"  # in the guest, the parent folder of each package
OWN = "lab.node"
COMPILE = ["python3", "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]


@cache
def ensure(world: Path, package: str = OWN) -> Path:
    """Return the folder with the copy of lab.node and a package, taken at the first call of this process.

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


def package_of(module: str) -> str:
    """Return the package to copy for a guest that imports a module."""
    return OWN if module.startswith(f"{OWN}.") else module.rpartition(".")[0]


def _sources(package: str) -> Iterator[Path]:
    """List the files of lab.node and a package, with each enclosing __init__.py, relative to the repository."""
    for name in sorted({OWN, package}):
        folder = Path(*name.split("."))
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
    """Compile a copy with the world's Python; both ways give the same bytes."""
    if sandbox_mode.mode() == sandbox_mode.NONE:
        libraries = world / "usr/lib/x86_64-linux-gnu"
        loader = [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries)]
        python = [*loader, str(world / "usr/bin/python3"), *COMPILE[1:]]
        environment = {"PYTHONHOME": str(world / "usr"), **sandbox.ENVIRONMENT}
        subprocess.run([*python, "-s", str(copy), "-p", ROOT, str(copy)], env=environment, check=True)
        return
    sandbox.own_tree(copy)
    try:
        subprocess.run(sandbox.command(world, [*COMPILE, ROOT], writable={copy: ROOT}), check=True)
    finally:
        sandbox.disown_tree(copy)
