# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes of a bundle: tar members with fixed owners and times, and zstd frames of fixed size.

Every byte of a tar header follows from the manifest or the list. A reader therefore builds the header that must come
next and compares: nothing in a header of a stranger is interpreted.
"""

import hashlib
import os
import tarfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import IO

import pyarrow as pa

from lab.base.errors import UserError
from lab_bundle.manifest import BundledFile

FRAME_BYTES = 32 * 2**20  # compressed apart from the next, on any processor: the same bytes whatever their number
LEVEL = 9  # of zstd: a tenth larger than the highest level, in a tenth of its time
BLOCK_BYTES = 512  # of a tar
PIECE_BYTES = 2**20
TYPES = {"file": tarfile.REGTYPE, "folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}
END = bytes(2 * BLOCK_BYTES)  # of a tar


def header(entry: BundledFile) -> bytes:
    """Return the tar header of an entry; UserError where its names are too long for one."""
    info = tarfile.TarInfo(entry.path)
    info.type, info.size, info.mtime, info.linkname = TYPES[entry.kind], entry.bytes, entry.time_s, entry.link or ""
    info.mode = 0o755 if entry.runs or entry.kind == "folder" else 0o644
    try:
        return info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
    except ValueError as error:
        raise UserError(f"bundle: {entry.path}: {error}: must be a name that a tar header holds") from None


def padding(size: int) -> bytes:
    """Return what follows a file's content in a tar."""
    return bytes(-size % BLOCK_BYTES)


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in pieces."""
    while piece := file.read(PIECE_BYTES):
        yield piece


def compress(stream: Iterable[bytes], sink: IO[bytes]) -> None:
    """Compress a stream into frames, on all processors."""
    processors = len(os.sched_getaffinity(0))
    frames = _rechunked(stream)
    with ThreadPoolExecutor(processors) as pool:
        while several := list(islice(frames, processors)):
            for frame in pool.map(_frame, several):
                sink.write(frame)


def _frame(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd", compression_level=LEVEL).compress(data, asbytes=True))


def _rechunked(stream: Iterable[bytes]) -> Iterator[bytes]:
    held = bytearray()
    for piece in stream:
        held += piece
        while len(held) >= FRAME_BYTES:
            yield bytes(held[:FRAME_BYTES])
            del held[:FRAME_BYTES]
    if held:
        yield bytes(held)


class Limited:
    """So many bytes of a file, as a file of its own, with their digest."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file, self.left, self.digest, self.closed = file, size, hashlib.sha256(), False

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes; none at the end."""
        data = self.file.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        self.digest.update(data)
        return data

    def close(self) -> None:
        """Do nothing: the file is the caller's."""

    def drain(self) -> str:
        """Read the rest, and return the digest of all."""
        while self.read(PIECE_BYTES):
            pass
        return self.digest.hexdigest()


def decompressed(source: Limited) -> IO[bytes]:
    """Open zstd frames; reading raises OSError where they are damaged."""
    stream: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd")
    return stream
