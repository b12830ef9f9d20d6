# SPDX-License-Identifier: GPL-2.0-or-later
"""The sender modules for the box's own kernel, built on this machine: a VM may be too slow for a compiler."""

import hashlib
import re
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.base import paths, sandbox
from lab.base.cache import ensured
from lab.base.errors import UserError
from lab.images import image
from lab.images.compile import Compile

IMAGE = "stock"
FOLDERS = [paths.LAB / "kernel" / name for name in ("search", "startup", "qdisc")]  # the second needs the first
PLACE = "/build"
PACKED = "modules.tar"
CUBIC = "net/ipv4/tcp_cubic.c"


@dataclass(frozen=True)
class Stock:
    """Modules (*.ko in a folder) for a kernel release."""

    folder: Path
    release: str

    @property
    def packed(self) -> Path:
        """Return all modules in one file: on a slow machine the copy of each file takes seconds."""
        return self.folder.parent / PACKED


def ensure() -> Stock:
    """Return the modules; build what is not cached."""
    sandbox.require()
    root = image.ensure(IMAGE)
    release = _release(root)
    folder = ensured(paths.cache() / f"stock-{_digest(root, release)}", partial(_build, root.root, release))
    return Stock(folder / "modules", release)


def _release(root: image.Image) -> str:
    """Return the release of the headers; its source must have the same version."""
    (headers,) = (root.root / "usr/src").glob("linux-headers-*-cloud-amd64")
    release = headers.name.removeprefix("linux-headers-")
    source, wanted = root.versions["linux-source-6.12"], root.versions[f"linux-headers-{release}"]
    if source != wanted:
        raise UserError(f"image {IMAGE}: linux-source-6.12={source}: must be {wanted}, as its headers: run 'make lock'")
    return release


def _digest(root: image.Image, release: str) -> str:
    digest = hashlib.sha256(f"{root.digest} {release} {PACKED}".encode())
    for file in sorted(file for folder in FOLDERS for file in folder.iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _build(root: Path, release: str, draft: Path) -> None:
    compile_ = Compile(root, draft, lambda _steps: None, PLACE)
    for folder in FOLDERS:
        shutil.copytree(folder, compile_.folder / folder.name)
    tarball = "/usr/src/linux-source-6.12.tar.xz"
    compile_.run("tar", "-x", "-f", tarball, "--strip-components=3", "--occurrence=1", f"linux-source-6.12/{CUBIC}")
    for folder in FOLDERS:
        make = ["make", "-C", f"/usr/src/linux-headers-{release}", f"M={PLACE}/{folder.name}"]
        compile_.run(*make, f"CUBIC_SOURCE={PLACE}/tcp_cubic.c", "modules", words=f"modules of {folder.name}")
    (compile_.folder / "modules").mkdir()
    for module in compile_.folder.glob("*/*.ko"):
        shutil.copy(module, compile_.folder / "modules")
    packed = ["tar", "-c", "-f", PACKED, "--owner=0", "--group=0", "--sort=name", "-C", "modules", "."]
    compile_.run(*packed, words="packing the modules")


def names(stock: Stock) -> list[str]:
    """Return the modules' names for modprobe."""
    return sorted(re.sub("-", "_", file.stem) for file in stock.folder.glob("*.ko"))
