# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel for the VM from Debian's source, with the lab's modules in the tree; vm/kernel/build has the steps.

It is built on this machine, or in the VM itself, which then is brought the recipe alone. Its release ends in a digest
of what it is made from: so its name shows whether it is the present one.
"""

import hashlib
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, sandbox
from lab.base.cache import publish
from lab.images import image
from lab.images.compile import Compile

IMAGE = "kernel-build"
HERE, KERNEL = Path(__file__).parent / "kernel", paths.LAB / "kernel"
FRAGMENT = "lab.config"
SHARED = re.compile(r"CONFIG_(NET_SCH|NET_CLS|TCP_CONG|VETH|NETDEVICES|FTRACE)")  # of the virtual kernel's fragment
SOURCE = "/usr/src/linux-source-6.12.tar.xz"
CONFIG = "/usr/src/linux-config-6.12/config.amd64_none_cloud-amd64.xz"
PLACE = "/build"
PACKED = "recipe.tar"


@dataclass(frozen=True)
class Made:
    """A kernel's package, or the packed recipe of one; and how the release of that kernel ends, and of no other."""

    file: Path
    suffix: str


def package() -> Made:
    """Return the package, building it where it is not cached: some minutes, of all cores."""
    sandbox.require()
    root = image.ensure(IMAGE)
    suffix = _suffix(root.digest)
    folder = paths.cache() / f"vm-kernel{suffix}"
    with publish(folder) as draft:
        if draft:
            _write(draft / "recipe", suffix)
            compile_ = Compile(root.root, draft, lambda _steps: None, PLACE)
            compile_.run("sh", "recipe/build", SOURCE, CONFIG, words="the VM's kernel")
    (deb,) = folder.glob("linux-image-*.deb")
    return Made(deb, suffix)


def recipe() -> Made:
    """Return what builds the package in the machine."""
    suffix = _suffix("the machine's own source and compiler")
    folder = paths.cache() / f"vm-kernel-recipe{suffix}"
    with publish(folder) as draft:
        if draft:
            _write(draft / "recipe", suffix)
            with tarfile.open(draft / PACKED, "w") as tar:
                tar.add(draft / "recipe", "recipe")
    return Made(folder / PACKED, suffix)


def fragment(suffix: str) -> str:
    """Build the requested configuration: what both kernels share is read from the virtual kernel's."""
    shared = [line for line in (KERNEL / "virtual.config").read_text().splitlines() if SHARED.match(line)]
    release = [f'CONFIG_LOCALVERSION="{suffix}"', "# CONFIG_LOCALVERSION_AUTO is not set"]
    return (HERE / "vm.config").read_text() + "\n".join([*shared, *release]) + "\n"


def _files() -> dict[str, Path]:
    """Find all that the recipe holds beside the fragment, by its place there."""
    modules = [file for name in ("search", "qdisc") for file in sorted((KERNEL / name).iterdir())]
    single = [HERE / "build", HERE / "kept", paths.LAB / "images" / "refused.py"]
    return {file.name: file for file in single} | {f"{file.parent.name}/{file.name}": file for file in modules}


def _suffix(builder: str) -> str:
    digest = hashlib.sha256(f"{builder} {SOURCE} {CONFIG} {fragment('')}".encode())
    for place, file in _files().items():
        digest.update(place.encode() + b"\0" + file.read_bytes())
    return f"-{digest.hexdigest()[:8]}-search-lab"


def _write(folder: Path, suffix: str) -> None:
    for place, file in _files().items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(file.read_bytes())
    (folder / FRAGMENT).write_text(fragment(suffix))
