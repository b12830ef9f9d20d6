# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a bundle of a stranger: each byte that decides where something is written is checked before it is."""

import hashlib
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeVar

from pydantic import BaseModel

from lab.base import strict_json
from lab.base.errors import Faults, UserError, field_error
from lab.base.plain_file import MEGABYTE
from lab.schema.load import parse
from lab_bundle.manifest import CONTENT, LIST, MANIFEST, BundledFile, Entries, Manifest, Member, check_entries
from lab_bundle.stream import BLOCK_BYTES, END, PIECE_BYTES, Limited, decompressed, header, padding

CUT = "whole: it is cut short or damaged: fetch it again"
Model = TypeVar("Model", bound=BaseModel)


class Bundle:
    """An open bundle: its manifest; then its content, once."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        self.manifest = self._manifest()
        self._check_size()

    def _manifest(self) -> Manifest:
        block = self.file.read(BLOCK_BYTES)
        try:
            size = tarfile.TarInfo.frombuf(block, "utf-8", "strict").size
        except (tarfile.HeaderError, ValueError):
            raise self._no_bundle() from None
        if not 0 <= size <= 64 * MEGABYTE or block != header(_entry(MANIFEST, size)):
            raise self._no_bundle()
        data = self.file.read(size)
        self._expect(self.file.read(len(padding(size))), padding(size), MANIFEST)
        manifest = self._parsed(Manifest, data)
        if manifest.sealed.text != data:
            raise field_error(self.path, "digest", f"{manifest.digest[:16]}… of {MANIFEST}", CUT)
        return manifest

    def _no_bundle(self) -> UserError:
        return UserError(f"{self.path}: must be a bundle that 'lab bundle make' wrote")

    def _parsed(self, model: type[Model], data: bytes) -> Model:
        try:
            content = strict_json.loads(data)
        except (ValueError, RecursionError):
            raise UserError(f"{self.path}: must be {CUT}") from None
        try:
            return parse(model, content, self.path)
        except Faults as faults:  # no hand writes it: the first one says that it is damaged
            raise UserError(faults.lines[0]) from None

    def _check_size(self) -> None:
        """Refuse another size than that of all members: it is seen before anything is read."""
        rest = sum(BLOCK_BYTES + each.bytes + len(padding(each.bytes)) for each in self.manifest.members)
        expected, found = self.file.tell() + rest + len(END), os.fstat(self.file.fileno()).st_size
        if found != expected:
            raise field_error(self.path, "bytes", found, f"{expected}: it is cut short or damaged: fetch it again")

    def members(self) -> Iterator[tuple[Member, Limited]]:
        """Yield each member with its bytes; one that the caller did not read is read and checked here."""
        for member in self.manifest.members:
            self._expect(self.file.read(BLOCK_BYTES), header(_entry(member.path, member.bytes)), member.path)
            data = Limited(self.file, member.bytes)
            yield member, data
            if data.drain() != member.sha256:
                raise field_error(self.path, "sha256", f"{data.digest.hexdigest()[:16]}… of {member.path}", CUT)
            self._expect(self.file.read(len(padding(member.bytes))), padding(member.bytes), member.path)
        self._expect(self.file.read(len(END)), END, "end")

    def content(self, data: Limited) -> Iterator[tuple[BundledFile, Iterator[bytes]]]:
        """Yield each entry of the content, in the order of the list, with its checked bytes."""
        stream = decompressed(data)
        size = self.manifest.list_bytes
        self._expect(self._take(stream, BLOCK_BYTES), header(_entry(LIST, size)), LIST)
        listed = self._take(stream, size)
        if hashlib.sha256(listed).hexdigest() != self.manifest.list_sha256:
            raise field_error(self.path, "list_sha256", self.manifest.list_sha256[:16] + "…", CUT)
        self._expect(self._take(stream, len(padding(size))), padding(size), LIST)
        entries = self._parsed(Entries, listed).root
        check_entries(self.path, self.manifest, entries)
        for entry in entries:
            self._expect(self._take(stream, BLOCK_BYTES), header(entry), entry.path)
            yield entry, self._checked(stream, entry)
        self._expect(self._take(stream, len(END)), END, "end")

    def _checked(self, stream: IO[bytes], entry: BundledFile) -> Iterator[bytes]:
        digest, left = hashlib.sha256(), entry.bytes
        while left:
            piece = self._take(stream, min(PIECE_BYTES, left))
            digest.update(piece)
            left -= len(piece)
            yield piece
        self._expect(self._take(stream, len(padding(entry.bytes))), padding(entry.bytes), entry.path)
        if entry.kind == "file" and digest.hexdigest() != entry.sha256:
            raise field_error(self.path, "sha256", f"{digest.hexdigest()[:16]}… of {entry.path}", CUT)

    def _take(self, stream: IO[bytes], size: int) -> bytes:
        """Read so many bytes; UserError where they are damaged, or fewer."""
        try:
            data = bytes(stream.read(size)) if size else b""
        except (OSError, ValueError):
            data = b""
        if len(data) != size:
            raise UserError(f"{self.path}: {CONTENT}: must be {CUT}")
        return data

    def _expect(self, found: bytes, expected: bytes, what: str) -> None:
        if found != expected:
            raise field_error(self.path, "member", what, f"at its place, {CUT}")


def _entry(path: str, size: int) -> BundledFile:
    return BundledFile(path=path, kind="file", bytes=size)
