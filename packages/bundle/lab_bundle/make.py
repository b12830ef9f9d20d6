# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab bundle make`: the same bytes from the same commit, whoever makes it and when."""

import hashlib
import json
import os
import platform
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths
from lab.base.cache import use
from lab.base.commit import commit
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
from lab_bundle import licences, wheels
from lab_bundle.content import OF_THE_MACHINE, Folder, folders
from lab_bundle.manifest import CONTENT, LICENCES, LIST, MANIFEST, TIME_S, WHEELS, BundledFile, Manifest, Member
from lab_bundle.stream import END, compress, header, padding, pieces

EXECUTABLE = 0o100  # for its owner


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
    draft = file.with_name(f".{file.name}.part")
    with scratch_folder() as scratch:
        members = _members(held, python, jupyter, scratch)
        manifest, sources = _manifest(held, python, scratch, members)
        try:
            with draft.open("wb") as sink:
                for piece in _bundle(manifest, sources):
                    sink.write(piece)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
    return manifest


def _members(held: list[Folder], python: str | None, jupyter: bool, scratch: Path) -> list[Source]:
    """Prepare the members beside the content: licences, then wheels."""
    written = licences.write(scratch / "licences", held)
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
        list_sha256=_digest(listed),
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
    """Yield the bytes of a tar."""
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
    return Source(BundledFile(path=name, kind="file", bytes=path.stat().st_size, sha256=_digest(path)), path)


def _source(path: Path, name: str) -> Source:
    """Describe a file; a Python source keeps its time, which stands in its compiled form."""
    status = path.stat()
    entry = BundledFile(
        path=name,
        kind="file",
        bytes=status.st_size,
        sha256=_digest(path),
        runs=bool(status.st_mode & EXECUTABLE),
        time_s=int(status.st_mtime) if path.suffix == ".py" else TIME_S,
    )
    return Source(entry, path)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
