# SPDX-License-Identifier: GPL-2.0-or-later
"""Build the virtual-time kernel and the lab's modules in the builder's root, each cached by a digest."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, sandbox
from lab.base.cache import finished, publish, use
from lab.base.errors import UserError, field_error
from lab.base.plain_file import MEGABYTE, copy_made, read_plain, require_made, write_whole
from lab.base.remove import remove
from lab.images import image
from lab.images.compile import Compile
from lab.kernel.recipe import Recipe, Source
from lab.kernel.versions import VERSIONS

HERE = Path(__file__).parent
SENDERS = (HERE / "search", HERE / "startup")  # the second takes symbols of the first
MODULES = (*SENDERS, HERE / "qdisc", HERE / "virtual")  # a folder with a Kbuild file each
PRELOAD = HERE / "fewer_wakeups.c"
# Functions that no trial ran are compiled as without a profile, and so are those that have changed since.
PROFILED = "KCFLAGS=-fprofile-use -fprofile-partial-training -Wno-missing-profile -Wno-coverage-mismatch"
PLACE = "/tmp/modules"  # where they are built
COMPILER_PACKAGES = ("gcc", "gcc-14", "binutils", "libc6-dev")
DEFAULT = Recipe()
Progress = Callable[[int], None]  # receives the number of finished compiler steps
RELEASE = "obj/include/config/kernel.release"
KERNEL_STEPS, MODULES_STEPS = 1105, 135  # lines of the compiler's output, 6.12's: only a bar depends on them
SOCKETS = "include/net/inet_connection_sock.h"  # the room that a socket has for its congestion control
SOCKET_SIZE = re.compile(r"(icsk_ca_priv\[|#define\s+ICSK_CA_PRIV_SIZE\s+\()\d+")


@dataclass(frozen=True)
class Kernel:
    """A built virtual-time kernel with its modules."""

    linux: Path
    modules: Path  # what is bound at /usr/lib/modules
    replay_library: Path  # the SEARCH core for user space
    preload: Path
    described: dict[str, str]
    traps: bool = False  # the calls of its programs by filters of its own

    @property
    def folders(self) -> tuple[Path, Path]:
        return self.linux.parents[1], self.modules.parents[1]


def find(recipe: Recipe = DEFAULT) -> Kernel | None:
    """Return the kernel and modules of the present sources, if they are built; `lab clean` leaves what it returns."""
    builder = image.find("builder")
    source = recipe.find_source()
    if not builder or not source:
        return None
    kernel, modules = _folders(builder, recipe, source)
    return _described(kernel, modules, recipe) if finished(kernel) and finished(modules) else None


def pinned() -> tuple[Path, Path]:
    """Return where the kernel and the modules of the present sources are cached, built with the pinned packages."""
    builder = image.pinned("builder")
    return _folders(builder, DEFAULT, DEFAULT.packaged(builder))


def ensure(recipe: Recipe = DEFAULT, progress: Progress = lambda _steps: None) -> Kernel:
    """Return the kernel and modules; build what is not cached."""
    sandbox.require()
    builder = image.ensure("builder")
    source = recipe.source()
    kernel, modules = _folders(builder, recipe, source)
    with publish(kernel) as draft:
        if draft:
            _build_kernel(Compile(builder.root, draft, progress), recipe, source)
    with publish(modules) as draft:
        if draft:
            compile_ = Compile(builder.root, draft, lambda steps: progress(KERNEL_STEPS + steps), PLACE, kernel)
            _build_modules(compile_, kernel)
    return _described(kernel, modules, recipe)


def _folders(builder: image.Image, recipe: Recipe, source: Source) -> tuple[Path, Path]:
    compiler = [
        f"{package} {builder.versions[package]}" for package in COMPILER_PACKAGES if package in builder.versions
    ]
    made_from = [*recipe.fragments, *recipe.patches, *recipe.profile]
    held_bytes = VERSIONS[recipe.version].socket_bytes
    larger = [f"socket {held_bytes}"] if held_bytes else []  # nothing for Debian's own
    kernel = digest_of_files(made_from, source.name, *compiler, *larger)
    files = [file for folder in MODULES for file in sorted(folder.iterdir())]
    modules = digest_of_files([*files, PRELOAD], kernel)
    return paths.cache() / f"kernel-{kernel}", paths.cache() / f"modules-{modules}"


def digest_of_files(files: list[Path], *words: str) -> str:
    """Return a digest of the names and contents of files, after some words."""
    digest = hashlib.sha256("\n".join(words).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _build_kernel(compile_: Compile, recipe: Recipe, source: Source) -> None:
    if not source.tarball.is_file():
        builder = compile_.builder.parent
        raise UserError(f"build: {builder}: holds no kernel source, it came from a bundle: remove it, and run again")
    configure(compile_, recipe, source)
    for profile in recipe.profile:
        bound = f"/lab/{profile.name}"
        compile_.run("tar", "-x", "-f", bound, "-C", "obj", read_only={profile: bound})
    compile_.make(*(PROFILED for _ in recipe.profile), "all")
    compile_.make("INSTALL_MOD_PATH=/build", "modules_install")
    release = read_plain(require_made(compile_.folder, RELEASE), MEGABYTE).decode(errors="replace").strip()
    if not re.fullmatch(r"\w[\w.+~-]{0,63}", release, re.ASCII):  # it names a folder
        raise field_error("build", RELEASE, release, "letters, digits and _ . + ~ - only, at most 64")
    for made in ("obj/linux", f"lib/modules/{release}"):
        require_made(compile_.folder, made)
    (compile_.folder / "built.json").write_text(json.dumps({"source": recipe.named(source.name), "release": release}))


def configure(compile_: Compile, recipe: Recipe, source: Source, patch: Path | None = None) -> None:
    """Unpack a kernel, patch it, and make its configuration; `patch` is applied last."""
    compile_.unpack(source.tarball)
    for each in (*recipe.patches, *([patch] if patch else [])):
        compile_.patch(each)
    enlarge_sockets(compile_, recipe)
    compile_.configure(recipe.fragments)


def _build_modules(compile_: Compile, kernel: Path) -> None:
    """Build modules; what a user's kernel tree makes of its own is copied, and no link of it followed."""
    release = json.loads((kernel / "built.json").read_text())["release"]
    libraries = _libraries(compile_)
    make_modules(compile_)
    made, target = compile_.folder, compile_.folder / "lib/modules"
    if os.path.lexists(made / "lib"):
        raise UserError("build: lib: must not be made by the modules' own build")
    shutil.copytree(kernel / "lib/modules", target, symlinks=True)
    for folder in MODULES:
        for module in require_made(made, folder.name).glob("*.ko"):
            copy_made(module.parent, module.name, target / release / module.name)
    sandbox.disown_tree(made)  # the next command gives all of it to the user that builds
    compile_.run("depmod", "-b", PLACE, release)
    for name, content in libraries.items():
        write_whole(made / name, content)


def _libraries(compile_: Compile) -> dict[str, bytes]:
    """Build what this user's programs load, where nothing of a kernel's tree runs; returns the files by name."""
    own = copy(compile_)
    own.folder, own.kernel = compile_.folder / "own", None
    for folder in SENDERS:
        shutil.copytree(folder, own.folder / folder.name)
    shutil.copy(PRELOAD, own.folder)
    for folder in SENDERS:
        own.run("make", "-s", "-C", f"{PLACE}/{folder.name}", f"OUT={PLACE}")
    own.run("gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o", "fewer_wakeups.so", PRELOAD.name)
    libraries = {file.name: file.read_bytes() for file in own.folder.glob("*.so")}
    remove(own.folder)
    return libraries


def make_modules(compile_: Compile, *words: str) -> None:
    """Copy each module folder and make its modules there; `words` are further arguments of make."""
    for folder in MODULES:  # before the first command: it gives the whole folder to the user that builds
        shutil.copytree(folder, compile_.folder / folder.name)
    for folder in MODULES:
        argv = ["make", "-C", "/build/obj", "ARCH=um", f"M={PLACE}/{folder.name}", *words, "modules"]
        compile_.run(*argv, words=f"modules of {folder.name}")


def _described(kernel: Path, modules: Path, recipe: Recipe) -> Kernel:
    for folder in (kernel, modules):
        use(folder)
    built = json.loads((kernel / "built.json").read_text())
    described = {"kernel_source": built["source"], "kernel_digest": kernel.name, "modules_digest": modules.name}
    return Kernel(
        kernel / "obj/linux",
        modules / "lib/modules",
        modules / "libsearch_replay.so",
        modules / "fewer_wakeups.so",
        described,
        recipe.traps,
    )


def enlarge_sockets(compile_: Compile, recipe: Recipe) -> None:
    """Change the header of an unpacked source, where the recipe requests larger sockets."""
    if held_bytes := VERSIONS[recipe.version].socket_bytes:
        header = require_made(compile_.folder, f"src/{SOCKETS}")
        header.write_text(with_socket_bytes(read_plain(header, MEGABYTE).decode(), held_bytes))


def with_socket_bytes(header: str, held_bytes: int) -> str:
    """Return the header with another ICSK_CA_PRIV_SIZE, which stands there as a number exactly once."""
    changed, count = SOCKET_SIZE.subn(rf"\g<1>{held_bytes}", header)
    if count != 1:
        raise UserError(f"build: {SOCKETS}: must state the size of icsk_ca_priv once as a number, not {count} times")
    return changed
