# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab makes of a stored run and keeps beside it: it counts only where this user's lab has written it.

A digest shows damage, but whoever edits a file can write its digest. A seal follows from a key in the user's own cache.
"""

import hmac
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_bytes
from tempfile import NamedTemporaryFile

from lab.base import paths
from lab.base.errors import UserError
from lab.base.plain_file import read_plain, write_whole

KEY_BYTES = 32


def keep(file: Path, content: bytes, about: str = "") -> None:
    """Write a file, and the seal of it and of what it is about; what cannot be written is made again next time."""
    with suppress(OSError):
        write_whole(file, content)
        write_whole(_of(file), _seal(content, about))


def kept(file: Path, most_bytes: int, about: str = "") -> bytes | None:
    """Return what `keep` wrote of the same; none where it is not there, is damaged, or another user's."""
    with suppress(OSError, UserError):
        content = read_plain(file, most_bytes)
        if hmac.compare_digest(read_plain(_of(file), 2 * KEY_BYTES), _seal(content, about)):
            return content
    return None


def _of(file: Path) -> Path:
    return file.with_name(f"{file.name}.seal")


def _seal(content: bytes, about: str) -> bytes:
    made = hmac.new(_key(paths.own_cache() / "reports" / "seal.key"), f"{len(about)} {about}".encode(), "sha256")
    made.update(content)
    return made.hexdigest().encode()


@cache
def _key(file: Path) -> bytes:
    """Return the key, made once; in a cache that cannot be written one of this process alone."""
    found = b""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=file.parent) as draft:  # its owner alone may read it
            draft.write(token_bytes(KEY_BYTES))
            draft.flush()
            with suppress(FileExistsError):
                os.link(draft.name, file)
        found = read_plain(file, KEY_BYTES)
    return found if len(found) == KEY_BYTES else token_bytes(KEY_BYTES)
