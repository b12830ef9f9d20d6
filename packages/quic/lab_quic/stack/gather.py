# SPDX-License-Identifier: GPL-2.0-or-later
"""Copy a stack's programs, their libraries and its files into one folder, which its guests can read and nobody writes.

Nothing of the host comes along but what lies below the folder of the stack's file, and libraries of the system by the
name that a program needs: the file's author may be a stranger. Each file is opened once, by a descriptor of which the
place is checked; what was checked is what is copied.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lab.base.errors import UserError, field_error
from lab_quic.stack import elf

MOST_BYTES, MOST_FILES, MOST_DEPTH = 300_000_000, 20_000, 20
LIBRARIES = ".lab-libraries"  # beside the stack's own files
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
LISTED = re.compile(r"^\t(\S+) \(libc6,x86-64[^)]*\) => (\S+)$", re.MULTILINE)  # of `ldconfig -p`
LOADER = "ld-linux-x86-64.so.2"


@dataclass
class Gathered:
    """A folder under way: what it holds by path, and how many bytes that is."""

    file: Path  # of the stack
    target: Path
    folders: tuple[str, ...] = ()  # of the stack's own libraries
    size_bytes: int = 0
    files: dict[str, bytes | None] = field(default_factory=dict)  # ELF files' content, by path

    @property
    def root(self) -> Path:
        return self.file.parent.resolve()

    def program(self, place: str) -> bool:
        """Copy a program with all libraries that it needs; return whether it has a loader."""
        content = self.copy(place, 0o755)
        if content is None:
            return False
        found = elf.read(content, f"{self.file.parent / place}")
        if found.interpreter:
            self._libraries(place, found)
        return found.interpreter is not None

    def copy_all(self, place: str) -> None:
        """Copy a file, or a folder with all that it holds."""
        path = self.root / place
        if not path.is_dir():
            self.copy(place)
            return
        for inner in self._below(place):
            self.copy(inner, 0o755 if os.access(self.root / inner, os.X_OK) else 0o644)

    def copy(self, place: str, mode: int = 0o644) -> bytes | None:
        """Copy one file below the stack's folder; return its content if it is an ELF file."""
        if place in self.files:
            return self.files[place]
        with _opened(self.file, self.root, place) as source:
            self.files[place] = self._write(source, place, mode)
        return self.files[place]

    def _below(self, folder: str, depth: int = 1) -> Iterator[str]:
        """Yield the plain files of a folder; links to folders are not followed."""
        if depth > MOST_DEPTH:
            raise field_error(self.file, "files", folder, f"at most {MOST_DEPTH} folders deep")
        for each in sorted(os.scandir(self.root / folder), key=lambda entry: entry.name):
            place = f"{folder}/{each.name}".removeprefix("./")
            if each.is_dir(follow_symlinks=False):
                yield from self._below(place, depth + 1)
            else:
                yield place

    def _libraries(self, place: str, first: elf.Elf) -> None:
        """Copy the libraries of a program, and those that they need."""
        waiting = [(place, first)]
        have: set[str] = set()
        while waiting:
            by, found = waiting.pop()
            for name in (*found.needed, *([LOADER] if found.interpreter else [])):
                if name not in have:
                    have.add(name)
                    waiting.append((name, self._library(name, by, found.folders)))

    def _library(self, name: str, by: str, folders: tuple[str, ...]) -> elf.Elf:
        target = f"{LIBRARIES}/{name}"
        content = self.files.get(target)
        if content is None:
            content = self._found(name, by, folders)
            self.files[target] = content
        return elf.read(content or b"", name)

    def _found(self, name: str, by: str, folders: tuple[str, ...]) -> bytes | None:
        """Copy a library from the stack's folder, else from the system."""
        if "/" in name:
            raise UserError(f"{self.file}: {by}: library={name}: must be a name without a folder")
        for folder in (*self.folders, *_own_folders(by, folders)):
            place = f"{folder}/{name}".removeprefix("./")
            if (self.root / place).exists():
                with _opened(self.file, self.root, place) as source:
                    return self._write(source, f"{LIBRARIES}/{name}", 0o755)
        system = system_libraries().get(name)
        if not system:
            raise UserError(
                f"{self.file}: {by}: library={name}: must be in libraries: or of this system; it is missing"
            )
        with Path(system).open("rb") as source:
            return self._write(source.fileno(), f"{LIBRARIES}/{name}", 0o755)

    def _write(self, source: int, place: str, mode: int) -> bytes | None:
        """Copy from a descriptor; UserError above the limits."""
        self.size_bytes += os.fstat(source).st_size
        if self.size_bytes > MOST_BYTES or len(self.files) > MOST_FILES:
            raise field_error(
                self.file, "bytes", self.size_bytes, f"at most {MOST_BYTES}, in at most {MOST_FILES} files"
            )
        target = self.target / place
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as stream, open(source, "rb", closefd=False) as plain:
            begin = plain.read(len(elf.MAGIC))
            stream.write(begin)
            shutil.copyfileobj(plain, stream)
        target.chmod(mode)
        return target.read_bytes() if elf.is_elf(begin) else None


@contextmanager
def _opened(stack: Path, root: Path, place: str) -> Iterator[int]:
    """Yield a plain file below a folder as a descriptor; UserError where it is none, or lies elsewhere by a link."""
    try:
        descriptor = os.open(root / place, FILE)
    except OSError as error:
        raise UserError(f"{stack}: {place}: {error.strerror}: must be a readable file") from None
    try:
        found = Path(f"/proc/self/fd/{descriptor}").readlink()
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or not found.is_relative_to(root):
            rule = "must be a plain file below the folder of this file, without a link out of it"
            raise UserError(f"{stack}: {place}: {rule}")
        yield descriptor
    finally:
        os.close(descriptor)


def _own_folders(by: str, folders: tuple[str, ...]) -> Iterator[str]:
    """Yield the folders that a program names relative to itself; those of its author's machine are left out."""
    for folder in folders:
        if folder.startswith(("$ORIGIN", "${ORIGIN}")):
            below = folder.removeprefix("$ORIGIN").removeprefix("${ORIGIN}").lstrip("/")
            place = os.path.normpath(Path(by).parent / below)
            if not place.startswith(".."):
                yield place


@cache
def system_libraries() -> dict[str, str]:
    """Return this system's libraries by name, as ldconfig lists them."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    found: dict[str, str] = {}
    for name, path in LISTED.findall(listed):
        found.setdefault(name, path)
    return found
