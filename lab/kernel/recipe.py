# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe of a virtual-time kernel: version, source, configuration, patches."""

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import COMMAND_LINE, field_error
from lab.images import image
from lab.kernel.versions import DEFAULT, VERSIONS

HERE = Path(__file__).parent
OTHERS = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.HeaderError)  # what a file of another kind gives


@dataclass(frozen=True)
class Source:
    """A kernel source tarball and its name."""

    tarball: Path
    name: str


@dataclass(frozen=True)
class Recipe:
    """One of Debian's kernels, or a tarball configured like it; `sanitize` adds all checkers of bugs."""

    version: str = DEFAULT
    tarball: Path | None = None
    sanitize: bool = False

    def __post_init__(self) -> None:
        if self.version not in VERSIONS:
            raise field_error(COMMAND_LINE, "kernel", self.version, f"one of {', '.join(VERSIONS)}")
        if self.tarball and not (self.tarball.is_file() and _begins_as_tar(self.tarball)):
            raise field_error(COMMAND_LINE, "source", self.tarball, "a kernel source tarball")

    @property
    def label(self) -> str:
        """Return the name of the kernel for messages."""
        return self.named(self.tarball.name if self.tarball else f"Linux {VERSIONS[self.version].number}")

    def named(self, source: str) -> str:
        """Return the name of a source, and what sets this kernel apart from it."""
        held_bytes = VERSIONS[self.version].socket_bytes
        return f"{source}, {held_bytes} bytes per socket for a congestion control" if held_bytes else source

    @property
    def fragments(self) -> list[Path]:
        """Return the configurations; a later one overrides an earlier one."""
        names = [*VERSIONS[self.version].configs, *(["sanitize"] if self.sanitize else [])]
        return [HERE / f"{name}.config" for name in names]

    @property
    def patches(self) -> list[Path]:
        """Return the patches that apply to every version, then those of this one."""
        folders = [HERE / "patches", *(HERE / "patches" / own for own in VERSIONS[self.version].own_patches)]
        return [patch for folder in folders for patch in sorted(folder.glob("*.patch"))]

    @property
    def traps(self) -> bool:
        """Return whether its programs' calls may be trapped by filters: a tarball may hold a stranger's kernel."""
        return VERSIONS[self.version].traps and not self.tarball

    @property
    def profile(self) -> list[Path]:
        """Return how often trials ran each branch, as bench/profile_kernel.py packs it, where it is known."""
        file = HERE / f"{self.version}.profile.tar.xz"
        return [file] if file.is_file() and not self.sanitize and not self.tarball else []

    def find_source(self) -> Source | None:
        """Return the source, if its image is cached."""
        if self.tarball:
            return self._user_source()
        held = image.find(VERSIONS[self.version].image)
        return self.packaged(held) if held else None

    def source(self) -> Source:
        """Return the source; make its image if it is not cached."""
        return self._user_source() if self.tarball else self.packaged(image.ensure(VERSIONS[self.version].image))

    def packaged(self, held: image.Image) -> Source:
        """Return the source that an image holds."""
        package = f"linux-source-{VERSIONS[self.version].number}"
        return Source(held.root / f"usr/src/{package}.tar.xz", f"{package} {held.versions[package]}")

    def _user_source(self) -> Source:
        assert self.tarball
        digest = hashlib.file_digest(self.tarball.open("rb"), "sha256").hexdigest()
        return Source(self.tarball, f"{self.tarball.name} sha256:{digest}")


def _begins_as_tar(file: Path) -> bool:
    """Return whether a file begins with a header of tar: tarfile would read all that a header says belongs to it."""
    for opened in (open, gzip.open, bz2.open, lzma.open):
        with suppress(*OTHERS), opened(file, "rb") as stream:
            return bool(tarfile.TarInfo.frombuf(stream.read(tarfile.BLOCKSIZE), "utf-8", "replace"))
    return False
