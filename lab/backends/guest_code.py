# SPDX-License-Identifier: GPL-2.0-or-later
"""The code that runs inside a virtual kernel: a copy of lab.node, compiled once for the world image's Python.

Compiling in every kernel would cost a tenth of a second per trial, and an edit during a campaign would mix versions.
"""

import hashlib
import importlib.util
import shutil
import subprocess
from functools import cache
from pathlib import Path

from lab.base import paths, sandbox, sandbox_mode
from lab.base.cache import ensured, finished, use
from lab.base.errors import UserError

ROOT = "/lab"  # in the guest, the parent folder of each package
OWN = "lab.node"
COMPILE = ["python3", "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]


@cache
def ensure(world: Path, package: str = OWN) -> Path:
    """Return the folder with the copy of lab.node and a package, taken at the first call of this process.

    The modules of `package`, a dotted name, import only the standard library, lab.node and each other.
    """
    folder = paths.cache() / f"guest-code-{_digest(world, package)}"
    use(folder)
    if not finished(folder):
        ensured(folder, lambda draft: _fill(draft / "code", package, world))
    return folder / "code"


def package_of(module: str) -> str:
    """Return the package to copy for a kernel that imports a module, or does work of the core's."""
    return module.rpartition(".")[0] if "." in module and not module.startswith(f"{OWN}.") else OWN


def sources(package: str) -> dict[str, Path]:
    """Return the files of lab.node and a package, with each enclosing __init__.py, by their place in the copy."""
    found: dict[str, Path] = {}
    for name in sorted({OWN, package}):
        root, folder = root_of(name), Path(*name.split("."))
        files = [root / parent / "__init__.py" for parent in list(folder.parents)[:-1]]
        files += sorted((root / folder).rglob("*.py"))
        found |= {str(file.relative_to(root)): file for file in files}
    return found


def root_of(package: str) -> Path:
    """Return the folder in which a package lies: the checkout, or one of its packages/."""
    spec = importlib.util.find_spec(package.partition(".")[0])
    if spec is None or spec.origin is None:
        raise UserError(f"{package}: must be a package that can be imported, to run on the kernel under test")
    return Path(spec.origin).parents[1]


def _digest(world: Path, package: str) -> str:
    digest = hashlib.sha256(world.parent.name.encode())  # the name ends with the digest of the image
    for place, file in sources(package).items():
        digest.update(place.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _fill(copy: Path, package: str, world: Path) -> None:
    """Copy the sources, and compile them with the world's Python; both ways give the same bytes."""
    for place, file in sources(package).items():
        (copy / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy / place)
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
