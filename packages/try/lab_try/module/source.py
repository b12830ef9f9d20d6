# SPDX-License-Identifier: GPL-2.0-or-later
"""The source of a user's own congestion control: one C file, or a folder with a Kbuild."""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.plain_file import read_plain

MOST_FILES, MOST_BYTES, MOST_DEPTH = 200, 8 << 20, 4
KBUILDS = ("Kbuild", "Makefile")
ONLY = b"\nobj-m := $(filter %s.o,$(obj-m))\n"
OUTPUTS = re.compile(r"\.(o|ko|mod|mod\.c|a|so|order|symvers|cmd)$|^\.|^(modules\.order|Module\.symvers)$")
PLAIN_NAME = re.compile(r"[\w+-][\w+.-]{0,49}(?<!\.mod)\.c")
MODULES = re.compile(r"^[ \t]*obj-m[ \t]*[:+]?=[ \t]*((?:[^\n\\]|\\\n)*)", re.MULTILINE)
OBJECT = re.compile(r"(?<![\w+-])[\w+-]++(?=\.o(?:\s|$))")
REMARK = re.compile(r"(?<!\\)#[^\n]*")  # of make
FLAGS = re.compile(rb"^[ \t]*(?:ccflags-|CFLAGS_|EXTRA_CFLAGS)", re.MULTILINE)
PACES = re.compile(r"SK_PACING_NEEDED|sk_pacing_rate\s*=[^=]|WRITE_ONCE\s*\([^,;]{1,99}sk_pacing_rate\s*,")
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"/]+)"', re.MULTILINE)
PLACES = re.compile(rb"^((?:[ \t]|/\*[^*\n]*\*/)*)(?:#|%:)(?:[ \t]|/\*[^*\n]*\*/)*(?:line\b|\d)[^\n]*", re.MULTILINE)


@dataclass(frozen=True)
class OwnSource:
    """Files to build, by their name below `folder`."""

    path: Path  # as the user named it
    folder: Path
    name: str  # of the sender, unless its module registers another one
    files: dict[str, bytes]
    notes: tuple[str, ...] = ()  # on what is not used, one line each
    module: str | None = None  # the one that is built, of several in obj-m

    @property
    def digest(self) -> str:
        """Return a digest of all names and contents."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()[:16]

    def paces(self, compiled: Iterable[str]) -> bool:
        """Return whether the code of some of its files requests pacing of the socket."""
        return any(PACES.search(self.code(name)) for name in compiled)

    def code(self, name: str) -> str:
        """Return what a file of C has without remarks, each at its line."""
        text = self.files[name].decode(errors="replace")
        return COMMENT.sub(lambda remark: "\n" * remark[0].count("\n"), text)

    def built_file(self, name: str) -> bytes:
        """Return what is compiled: without #line, so that each complaint is about the file and line that have it."""
        return PLACES.sub(rb"\1", self.files[name]) if name.endswith((".c", ".h")) else self.files[name]

    def digest_with(self, *others: str) -> str:
        """Return a digest of the source and of what it is built for."""
        return hashlib.sha256("\0".join([self.digest, *others]).encode()).hexdigest()[:16]


def read_source(path: Path) -> OwnSource:
    """Read a C file with the headers beside it that it includes, or a folder; UserError where it is neither."""
    whole = Path(os.path.realpath(path))
    name = _plain(whole.stem if path.suffix == ".c" else whole.name)
    if path.is_dir():
        return OwnSource(path, path, name, _with_kbuild(path, dict(_folder_files(path, path))))
    if path.suffix != ".c":
        raise field_error(COMMAND_LINE, "source", path, "a .c file, or a folder with a Kbuild")
    kbuild = _kbuild(path.name)
    return OwnSource(path, path.parent, name, {**_with_includes(path), "Kbuild": kbuild}, (*_unused_flags(path),))


def read_sources(path: Path) -> list[OwnSource]:
    """Read a C file, or a folder as one source for each module of its Kbuild; UserError where one has no code."""
    whole = read_source(path)
    file = next(name for name in KBUILDS if name in whole.files)
    kbuild = whole.files[file]
    rules = REMARK.sub("", kbuild.decode(errors="replace"))
    modules = [*dict.fromkeys(OBJECT.findall(" ".join(MODULES.findall(rules))))]
    for module in modules:
        name = f"{module}.c"
        if name in whole.files and not whole.code(name).strip():
            raise field_error(whole.folder / name, "content", "", "a module: the file has no code")
    if len(modules) < 2:
        return [whole]
    return [  # each is built alone, if the file's conditions let make build it: the others are sources of their own
        replace(whole, name=_plain(each), module=each, files={**whole.files, file: kbuild + ONLY % each.encode()})
        for each in modules
    ]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_]", "_", name.lower())


def _kbuild(file: str) -> bytes:
    """Return the Kbuild of one C file; make splits other names, or reads them as its own language."""
    if not PLAIN_NAME.fullmatch(file):
        raise field_error(COMMAND_LINE, "source", file, "a name of at most 50 letters, digits and _ + . - before .c")
    stem = file.removesuffix(".c")
    module = stem.replace(".", "_")  # the kernel makes a C name of it
    return f"obj-m := {module}.o\n{f'{module}-y := {stem}.o{chr(10)}' * (module != stem)}".encode()


def _unused_flags(path: Path) -> Iterator[str]:
    """Yield a line for each file of make beside a C file that has flags: a C file alone is built without them."""
    for file in (path.parent / name for name in KBUILDS):
        with suppress(UserError):
            if FLAGS.search(_read(file, {})):
                yield f"{file}: warning: its flags are for the folder: {path.name} alone is built without them"


def _with_includes(path: Path) -> dict[str, bytes]:
    """Read a file, and each file of its folder that it includes by a quoted name."""
    files: dict[str, bytes] = {}
    left = [path.name]
    while left:
        name = left.pop()
        file = path.parent / name
        if name in files or not (name == path.name or file.exists()):  # missing: the lab's header, or an error of gcc's
            continue
        files[name] = _read(file, files)
        left += INCLUDE.findall(files[name].decode(errors="replace"))
    return files


def _folder_files(top: Path, folder: Path, depth: int = 1) -> Iterator[tuple[str, bytes]]:
    """Read a folder's files, without what a build leaves; no link is followed."""
    if depth > MOST_DEPTH:
        raise field_error(folder, "depth", depth, f"at most {MOST_DEPTH} folders")
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if OUTPUTS.search(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _folder_files(top, Path(entry.path), depth + 1)
        else:
            yield str(Path(entry.path).relative_to(top)), _read(Path(entry.path), {})


def _with_kbuild(path: Path, files: dict[str, bytes]) -> dict[str, bytes]:
    """Require a Kbuild; the only C file of a folder without obj-m is the module, with the flags that are given."""
    size = sum(map(len, files.values()))
    if len(files) > MOST_FILES or size > MOST_BYTES:
        rule = f"at most {MOST_FILES} files of {MOST_BYTES} bytes in all"
        raise field_error(path, "files", f"{len(files)} of {size} bytes", rule)
    if any(b"obj-m" in files.get(name, b"") for name in KBUILDS):
        return files
    sources = [name for name in files if name.endswith(".c") and "/" not in name]
    if len(sources) != 1:
        raise field_error(path, "Kbuild", "", "a file with obj-m, since the folder does not hold just one .c file")
    given = next((name for name in KBUILDS if name in files), "")
    rules = files[given] + b"\n" if FLAGS.search(files.get(given, b"")) else b""
    return {**files, given if rules else "Kbuild": rules + _kbuild(sources[0])}


def _read(file: Path, others: dict[str, bytes]) -> bytes:
    try:
        target = Path(os.path.realpath(file))  # Path.resolve() of Python 3.11 fails at a link to itself
        if stat.S_ISLNK(file.lstat().st_mode) and not target.is_relative_to(os.path.realpath(file.parent)):
            raise field_error(file, "link", target, "a file of the same folder")
        return read_plain(file, MOST_BYTES - sum(map(len, others.values())))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
