# SPDX-License-Identifier: GPL-2.0-or-later
"""JupyterLab and what the notebooks import, installed on this machine for the VM's Python: one file to bring there."""

import hashlib
import shutil
import sys
from pathlib import Path

from lab.base import paths
from lab.base.cache import ensured
from lab.images import image

LOCK = Path(__file__).with_name("notebook.lock")  # for the Python of the machine: scripts/lock
PYTHON = "3.13"
PACKED = "notebook.tar.gz"
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)] + ["manylinux2014_x86_64", "linux_x86_64"]


def ensure() -> Path:
    """Return the packed folder, making it where it is not made."""
    digest = hashlib.sha256(repr((PYTHON, PLATFORMS)).encode() + LOCK.read_bytes()).hexdigest()[:16]
    return ensured(paths.cache() / f"notebook-{digest}", _install) / PACKED


def _install(draft: Path) -> None:
    site = draft / "site"
    wanted = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement", str(LOCK)]
    wanted += ["--ignore-requires-python"]  # pip would check its own Python; the lock was made for the other
    machine = ["--python-version", PYTHON, "--implementation", "cp", "--abi", f"cp{PYTHON.replace('.', '')}"]
    machine += ["--abi", "abi3", "--abi", "none", *(option for name in PLATFORMS for option in ("--platform", name))]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(site), *machine, *wanted]
    image.run_logged(pip, None, draft / "pip.log")
    pack = ["tar", "-c", "--use-compress-program=gzip -1", "--owner=0", "--group=0", "-f", str(draft / PACKED)]
    image.run_logged([*pack, "-C", str(site), "."], None, draft / "tar.log")
    shutil.rmtree(site)
