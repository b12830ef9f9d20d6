# SPDX-License-Identifier: GPL-2.0-or-later
"""What a bundle holds of the cache: which folders, and which of their files."""

import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path, PurePosixPath

from lab.base import paths
from lab.base.cache import finished
from lab.base.errors import UserError, field_error
from lab.images import image
from lab.kernel import build
from lab.kernel.program import Buildable
from lab.senders.ways import ways
from lab.traces.datasets import Dataset, datasets

IMAGES = ("world", "builder")
TRACES = "traces"
DOCUMENTS = "documents"
# Of a built kernel: what boots, and what a module is compiled against. Its source and objects are ten times as large.
KERNEL_KEPT = (
    *("built.json", "lib", "obj/linux", "obj/.config", "obj/Makefile", "obj/Module.symvers"),
    *("obj/include", "obj/scripts", "obj/arch/um/include", "obj/arch/x86/include"),
    *("src/Makefile", "src/Kbuild", "src/scripts", "src/include", "src/net/ipv4/tcp_cubic.c"),
    *("src/arch/um", "src/arch/x86/include", "src/arch/x86/um", "src/arch/x86/Makefile.um", "src/arch/x86/entry"),
)
OBJECTS = (".o", ".a", ".cmd", ".order")  # nothing is linked again
# Of the builder: the kernel is built, and nothing that the lab builds is optimised when it is linked (66 MB).
NOT_KEPT = re.compile(r"root/usr/src/.*|root/usr/(bin|libexec/gcc/[^/]+/[^/]+)/([^/]+-lto-dump-\d+|lto1)")
# What the making of an image took from its machine. A bundle has such files empty: a guest finds the same names.
OF_THE_MACHINE = ("root/etc/hostname", "root/etc/resolv.conf", "root/etc/apt/sources.list")


@dataclass(frozen=True)
class Folder:
    """A folder of the cache, and which of its entries a bundle keeps."""

    path: Path
    name: str  # in the cache
    keeps: Callable[[str], bool]

    def entries(self) -> Iterator[tuple[Path, str]]:
        """Yield every file, link and folder that is kept, a folder before its content, in the order of names."""
        yield from self._below(self.path, "")

    def _below(self, folder: Path, above: str) -> Iterator[tuple[Path, str]]:
        for found in sorted(os.scandir(folder), key=lambda entry: entry.name):
            inside = f"{above}{found.name}"
            if inside == ".complete" or not self.keeps(inside):
                continue
            yield Path(found.path), inside
            if found.is_dir(follow_symlinks=False):
                yield from self._below(Path(found.path), f"{inside}/")


def folders(recordings: bool, parts: Collection[str] = ()) -> list[Folder]:
    """Return what a bundle of this checkout holds; UserError where something is not built, fetched, or as pinned.

    parts: names of ways of senders whose programs it also holds.
    """
    kernel = build.find()
    if kernel is None:
        raise UserError("lab bundle make: the virtual kernel is not built: run 'lab kernel build'")
    found = [Folder(kernel.folders[0], kernel.folders[0].name, keeps_kernel)]
    found.append(Folder(kernel.folders[1], kernel.folders[1].name, _keeps_module))
    for name in IMAGES:
        folder = _image(name)
        found.append(Folder(folder, folder.name, _keeps_image))
    programs = [folder for part in parts for folder in _programs(part)]
    return [*found, *programs, *(_recordings() if recordings else [])]


def programs_of() -> dict[str, list[Buildable]]:
    """Return the programs of senders by the name of the part that a bundle has of them."""
    return {way.part: [*way.programs()] for way in ways() if way.part}


def program_folders() -> dict[str, str]:
    """Return each program's file by the name of its folder, of this checkout."""
    programs = [each for part in programs_of().values() for each in part]
    return {each.pinned().program.parent.name: each.program for each in programs}


def _programs(part: str) -> list[Folder]:
    programs = programs_of()[part]
    missing = [each.program for each in programs if each.find() is None]
    if missing:
        raise UserError(f"lab bundle make: {missing[0]} is not built: use --with {part}")
    names = [each.pinned().program.parent.name for each in programs]
    return [Folder(paths.cache() / name, name, lambda _inside: True) for name in names]


def _image(name: str) -> Path:
    found = image.find(name)
    if found is None:
        raise UserError(f"lab bundle make: the {name} image is not made: run 'lab kernel build'")
    if found.drifted:
        package, drift = next(iter(found.drifted.items()))
        raise field_error(f"lab/images/{name}.lock", package, drift, "the pinned version: a bundle holds no other")
    return found.root.parent


def distributable() -> list[Dataset]:
    """Return the files of recordings that a licence lets pass on, each once."""
    allowed = [each for each in datasets().values() if each.origin.may_be_passed_on]
    return list({file.name: file for each in allowed for file in each.files}.values())


def _recordings() -> list[Folder]:
    found = recording_folders()
    missing = [each.name for each in found if not finished(each.path)]
    if missing:
        rule = f"{missing[0]} ({len(missing)} recordings and licences): not fetched: run 'lab traces fetch --all'"
        raise UserError(f"lab bundle make: {rule}")
    return found


def recording_folders() -> list[Folder]:
    """Return the folders of recordings and documents: what was fetched, without what the lab made of it."""
    names = sorted({path.rpartition("/")[0] for path in recorded_digests()})
    return [Folder(paths.cache() / name, name, partial(_keeps_recording, name)) for name in names]


def _keeps_recording(folder: str, inside: str) -> bool:
    return f"{folder}/{inside}" in recorded_digests()


@cache
def recorded_digests() -> dict[str, str]:
    """Return the path in the cache, and the digest, of each recording and document that may be passed on."""
    files = distributable()
    found = {f"{TRACES}/{each.name}/{PurePosixPath(each.file).name}": each.own.sha256 for each in files}
    for collection, origin in {each.collection: each.origin for each in files}.items():
        for name, document in origin.documents.items():
            found[f"{TRACES}/{collection}/{DOCUMENTS}/{name}"] = document.sha256
    return found


def keeps_kernel(inside: str) -> bool:
    """Return whether a bundle keeps a path of a kernel's folder: a kept one, what is below it, a folder above it."""
    path = PurePosixPath(inside)
    on_the_way = (path.is_relative_to(kept) or PurePosixPath(kept).is_relative_to(path) for kept in KERNEL_KEPT)
    return _keeps_module(inside) and any(on_the_way)


def _keeps_module(inside: str) -> bool:
    is_object = inside.endswith(OBJECTS) and not inside.startswith("lib/")
    return not is_object and not _leads_out(inside)


def _keeps_image(inside: str) -> bool:
    return not NOT_KEPT.fullmatch(inside)


def _leads_out(inside: str) -> bool:
    """Return whether it is one of the links to /build of the build's sandbox, which nothing reads."""
    return inside == "obj/source" or (inside.startswith("lib/modules/") and inside.endswith("/build"))
