# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab bundle make`: the same bytes from the same commit, whoever makes it and when."""

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths
from lab.base.cache import use
from lab.base.commit import commit
from lab.base.errors import UserError
from lab.base.plain_file import whole_file
from lab.base.scratch import scratch_folder
from lab.images import image
from lab.kernel.build import DEFAULT
from lab.kernel.program import Buildable
from lab.senders.ways import ways
from lab.tables.digests import digest_of
from lab_bundle import wheels
from lab_bundle.content import OF_THE_MACHINE, TRACES, Folder, distributable, folders
from lab_bundle.manifest import CONTENT, LICENCES, LIST, MANIFEST, TIME_S, WHEELS, BundledFile, Manifest, Member
from lab_bundle.stream import END, compress, header, padding, pieces

HEAD = """\
This file is a bundle of search-lab: see docs/bundle.md of its repository. 'lab bundle use FILE' installs it.

The lab, its kernel modules and its patches of the kernel are free software: GPL-2.0-or-later, in COPYING. Their source
is the repository at the commit that manifest.json names.

The kernel is Linux, GPL-2.0-only. Its source is Debian's package {source}, configured and patched by lab/kernel of the
repository. 'lab kernel build' builds it again.

The folders world and builder are packages of Debian 13, unchanged. The copyright file of each package is in the folder
copyright beside root. A package without one shares that of another package of its source. Their versions are in
var/lib/dpkg/status, and in lab/images/*.lock of the repository. Debian's archive, and its archive of snapshots for
older versions, has the source of each one. The wheels are those that their authors publish. Each holds its own licence.

{programs}Recordings of real links, under the licences of their authors:
"""
EXECUTABLE = 0o100  # for its owner


def write_licences(folder: Path, held: list[Folder]) -> list[Path]:
    """Write COPYING and the read-me of a bundle with some folders."""
    folder.mkdir()
    shutil.copyfile(paths.REPO / "COPYING", folder / "COPYING")
    source = DEFAULT.packaged(image.pinned("builder")).name
    programs = "".join(f"{way.part_note}\n" for way in ways() if way.part and _holds(way.programs(), held))
    (folder / "README").write_text(HEAD.format(source=source, programs=programs) + _recordings(held))
    return [folder / "COPYING", folder / "README"]


def _holds(programs: Iterable[Buildable], held: list[Folder]) -> bool:
    return bool({each.pinned().program.parent.name for each in programs} & {folder.name for folder in held})


def _recordings(held: list[Folder]) -> str:
    names = {folder.name.split("/")[1] for folder in held if folder.name.startswith(f"{TRACES}/")}
    origins = {each.collection: each.origin for each in distributable()}
    lines = [f"  {name}: {origins[name].licence}; {origins[name].attribution}\n" for name in sorted(names)]
    return "".join(lines) or "  none in this bundle\n"


@dataclass(frozen=True)
class Source:
    """An entry of the content, and the file that holds its bytes; None: it is empty, a folder or a link."""

    entry: BundledFile
    file: Path | None


def make(
    file: Path, recordings: bool, python: str | None, jupyter: bool = False, parts: Collection[str] = ()
) -> Manifest:
    """Write a bundle; the file appears when it is whole.

    python: the version that its wheels are for; null: without wheels. jupyter: those of JupyterLab, too. parts:
    names of ways of senders, with whose programs.
    """
    held = folders(recordings, parts)
    for folder in held:
        if folder.path.parent == paths.cache():
            use(folder.path)  # `lab clean` of another checkout leaves it
    with scratch_folder() as scratch:
        members = _members(held, python, jupyter, scratch)
        manifest, sources = _manifest(held, python, scratch, members)
        with whole_file(file) as sink:
            for piece in _bundle(manifest, sources):
                sink.write(piece)
    return manifest


def _members(held: list[Folder], python: str | None, jupyter: bool, scratch: Path) -> list[Source]:
    """Prepare the members beside the content: licences, then wheels."""
    written = write_licences(scratch / "licences", held)
    sources = [_member_source(path, f"{LICENCES}{path.name}") for path in written]
    if python:
        downloaded = wheels.download(python, scratch / "wheels", jupyter)
        sources += [_member_source(path, f"{WHEELS}{path.name}") for path in downloaded]
    return sources


def _manifest(
    held: list[Folder], python: str | None, scratch: Path, members: list[Source]
) -> tuple[Manifest, list[Source]]:
    """Compress the content, and describe all members."""
    content = [source for folder in held for source in _sources(folder)]
    rows = [source.entry.model_dump(exclude_defaults=True) for source in content]
    listed = scratch / LIST
    listed.write_text(json.dumps(rows, separators=(",", ":")) + "\n")
    packed = scratch / CONTENT
    with packed.open("wb") as sink:
        compress(_tar([_member_source(listed, LIST), *content]), sink)
    members = [*members, _member_source(packed, CONTENT)]
    manifest = Manifest(
        format=1,
        version=commit() or "unknown",
        machine=platform.machine(),
        python=python,
        folders=[folder.name for folder in held],
        files=len(content),
        content_bytes=sum(source.entry.bytes for source in content),
        list_bytes=listed.stat().st_size,
        list_sha256=digest_of(listed),
        members=[_member(source.entry) for source in members],
    )
    return manifest.sealed, members


def _member(entry: BundledFile) -> Member:
    assert entry.sha256
    return Member(path=entry.path, bytes=entry.bytes, sha256=entry.sha256)


def _bundle(manifest: Manifest, members: list[Source]) -> Iterator[bytes]:
    text = manifest.text
    yield header(BundledFile(path=MANIFEST, kind="file", bytes=len(text)))
    yield text + padding(len(text))
    yield from _tar(members)


def _tar(sources: Iterable[Source]) -> Iterator[bytes]:
    for source in sources:
        yield header(source.entry)
        if source.file:
            yield from _content(source.file, source.entry)
    yield END


def _content(file: Path, entry: BundledFile) -> Iterator[bytes]:
    with file.open("rb") as stream:
        yield from pieces(stream)
        if stream.tell() != entry.bytes:
            raise UserError(f"{file}: it changed while the bundle was made: make it again")
    yield padding(entry.bytes)


def _sources(folder: Folder) -> Iterator[Source]:
    """Describe the kept content of a folder of the cache."""
    for path, inside in folder.entries():
        name = f"{folder.name}/{inside}"
        if path.is_symlink():
            yield Source(BundledFile(path=name, kind="link", link=os.readlink(path)), None)  # noqa: PTH115 (a Path tidies it)
        elif path.is_dir():
            yield Source(BundledFile(path=name, kind="folder"), None)
        elif not path.is_file():
            raise UserError(f"{path}: must be a plain file, a folder or a link")
        elif inside in OF_THE_MACHINE:
            empty = hashlib.sha256().hexdigest()
            yield Source(BundledFile(path=name, kind="file", sha256=empty), None)
        else:
            yield _source(path, name)


def _member_source(path: Path, name: str) -> Source:
    return Source(BundledFile(path=name, kind="file", bytes=path.stat().st_size, sha256=digest_of(path)), path)


def _source(path: Path, name: str) -> Source:
    """Describe a file; a Python source keeps its time, which stands in its compiled form."""
    status = path.stat()
    entry = BundledFile(
        path=name,
        kind="file",
        bytes=status.st_size,
        sha256=digest_of(path),
        runs=bool(status.st_mode & EXECUTABLE),
        time_s=int(status.st_mtime) if path.suffix == ".py" else TIME_S,
    )
    return Source(entry, path)
