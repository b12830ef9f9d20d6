# SPDX-License-Identifier: GPL-2.0-or-later
"""Open a zip whose directory is bounded before it is read: each entry of it takes memory, with or without content."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.errors import field_error

MOST_BYTES = 2 << 20  # at least 46 per entry (PKWARE APPNOTE, 4.3.12), and the name: ten thousand with long names


class _Stream(io.FileIO):
    """A file that refuses a large read while `zipfile` reads the directory, which it does in one piece."""

    most_bytes: int | None = MOST_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as a file does."""
        if self.most_bytes is not None and size is not None and size > self.most_bytes:
            raise field_error(str(self.name), "directory_bytes", size, f"at most {self.most_bytes}: fewer files")
        return super().read(size)


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield a zip; UserError where its directory is too large, zipfile's own errors where it is damaged."""
    with _Stream(path) as stream, zipfile.ZipFile(stream) as archive:
        stream.most_bytes = None
        yield archive
