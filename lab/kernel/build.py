# SPDX-License-Identifier: GPL-2.0-or-later
"""Building the virtual-time kernel and the sender modules in the builder's root, each cached by a digest."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab import paths, sandbox
from lab.cache import finished, publish
from lab.errors import UserError
from lab.kernel.compile import Compile
from lab.world import image

HERE = Path(__file__).parent
CONFIG = HERE / "virtual.config"
MODULES = (HERE / "search", HERE / "qdisc")  # a folder with a Kbuild file each
PRELOAD = HERE / "fewer_wakeups.c"
PLACE = "/tmp/modules"  # where they are built
SOURCE_PACKAGE = "linux-source-6.12"
COMPILER_PACKAGES = ("gcc", "gcc-14", "binutils", "libc6-dev")
Progress = Callable[[int], None]  # told the number of compiler steps done


@dataclass(frozen=True)
class Source:
    """A kernel source tarball, and what names it."""

    tarball: Path
    name: str


@dataclass(frozen=True)
class Kernel:
    """A built virtual-time kernel with its modules."""

    linux: Path
    modules: Path  # what is bound at /usr/lib/modules
    replay_library: Path  # the SEARCH core for user space
    preload: Path
    described: dict[str, str]


def source_of(builder: image.Image, tarball: Path | None) -> Source:
    """Name the kernel source: a tarball of the user's, else the builder's package."""
    if tarball is None:
        file = builder.root / f"usr/src/{SOURCE_PACKAGE}.tar.xz"
        return Source(file, f"{SOURCE_PACKAGE} {builder.versions[SOURCE_PACKAGE]}")
    if not tarball.is_file():
        raise UserError(f"command line: source={tarball}: must be a kernel source tarball")
    return Source(tarball, f"{tarball.name} sha256:{hashlib.file_digest(tarball.open('rb'), 'sha256').hexdigest()}")


def find(tarball: Path | None = None) -> Kernel | None:
    """Return the kernel and modules that the present sources give, if they are built."""
    builder = image.find("builder")
    if not builder:
        return None
    kernel, modules = _folders(builder, source_of(builder, tarball))
    return _described(kernel, modules) if finished(kernel) and finished(modules) else None


def ensure(tarball: Path | None = None, progress: Progress = lambda _steps: None) -> Kernel:
    """Return the kernel and modules, building what is not cached."""
    sandbox.require()
    builder = image.ensure("builder")
    source = source_of(builder, tarball)
    kernel, modules = _folders(builder, source)
    with publish(kernel) as draft:
        if draft:
            _build_kernel(Compile(builder.root, draft, progress), source)
    with publish(modules) as draft:
        if draft:
            _build_modules(Compile(builder.root, draft, progress, PLACE, kernel), kernel)
    return _described(kernel, modules)


def _folders(builder: image.Image, source: Source) -> tuple[Path, Path]:
    compiler = [
        f"{package} {builder.versions[package]}" for package in COMPILER_PACKAGES if package in builder.versions
    ]
    kernel = _digest([source.name, *compiler], [CONFIG, *_patches()])
    files = [file for folder in MODULES for file in sorted(folder.iterdir())]
    modules = _digest([kernel], [*files, PRELOAD])
    return paths.cache() / f"kernel-{kernel}", paths.cache() / f"modules-{modules}"


def _patches() -> list[Path]:
    return sorted((HERE / "patches").glob("*.patch"))


def _digest(words: list[str], files: list[Path]) -> str:
    digest = hashlib.sha256("\n".join(words).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _build_kernel(compile_: Compile, source: Source) -> None:
    shutil.copytree(HERE / "patches", compile_.folder / "patches")
    shutil.copy(CONFIG, compile_.folder)
    compile_.unpack(source.tarball)
    for patch in _patches():
        compile_.run("patch", "-s", "-p1", "-d", "src", "-i", f"/build/patches/{patch.name}")
    compile_.configure(CONFIG)
    compile_.make("all")
    compile_.make("INSTALL_MOD_PATH=/build", "modules_install")
    release = (compile_.folder / "obj/include/config/kernel.release").read_text().strip()
    (compile_.folder / "built.json").write_text(json.dumps({"source": source.name, "release": release}))


def _build_modules(compile_: Compile, kernel: Path) -> None:
    release = json.loads((kernel / "built.json").read_text())["release"]
    shutil.copytree(kernel / "lib/modules", compile_.folder / "lib/modules", symlinks=True)
    for folder in MODULES:  # before the first command: it gives the whole folder to the user that builds
        shutil.copytree(folder, compile_.folder / folder.name)
    for folder in MODULES:
        place = f"{PLACE}/{folder.name}"
        compile_.run("make", "-C", "/build/obj", "ARCH=um", f"M={place}", "modules", words=f"modules of {folder.name}")
        for module in (compile_.folder / folder.name).glob("*.ko"):
            shutil.copy(module, compile_.folder / "lib/modules" / release)
    compile_.run("depmod", "-b", PLACE, release)
    compile_.run("make", "-s", "-C", f"{PLACE}/search", f"OUT={PLACE}")
    shutil.copy(PRELOAD, compile_.folder)
    compile_.run("gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o", "fewer_wakeups.so", PRELOAD.name)


def _described(kernel: Path, modules: Path) -> Kernel:
    built = json.loads((kernel / "built.json").read_text())
    described = {"kernel_source": built["source"], "kernel_digest": kernel.name, "modules_digest": modules.name}
    return Kernel(
        kernel / "obj/linux",
        modules / "lib/modules",
        modules / "libsearch_replay.so",
        modules / "fewer_wakeups.so",
        described,
    )
