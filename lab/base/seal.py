# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab makes of a stored run and keeps beside it: it counts only where this user's lab has written it.

A digest shows damage, but whoever edits a file can write its digest. A seal follows from a key of the
user's, which nobody else can read.
"""

import hmac
import os
import shutil
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_bytes
from tempfile import gettempdir, mkdtemp

from lab.base import paths
from lab.base.errors import UserError
from lab.base.plain_file import read_plain, write_whole

KEY, KEY_BYTES = "key", 32


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
    made = hmac.new(_key(*places()), f"{len(about)} {about}".encode(), "sha256")
    made.update(content)
    return made.hexdigest().encode()


def places() -> tuple[Path, Path]:
    """Return where the key may lie: in the user's own cache; where that cannot be written, among temporary files."""
    return paths.own_cache() / "reports" / "seal", Path(gettempdir()) / f"search-lab-seal-{os.geteuid()}"


@cache
def _key(*folders: Path) -> bytes:
    """Return the key of the first folder that has one or can get one; else one of this process alone."""
    for folder in folders:
        with suppress(OSError, UserError):
            if not (folder / KEY).exists():
                _make(folder)
            if len(found := _own(folder)) == KEY_BYTES:
                return found
    return token_bytes(KEY_BYTES)


def _make(folder: Path) -> None:
    """Make a folder with a key; one that another process of this user makes meanwhile stays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))  # its owner alone may enter it
    try:
        (draft / KEY).write_bytes(token_bytes(KEY_BYTES))
        with suppress(OSError):
            draft.rename(folder)  # no file system replaces a folder that has files
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _own(folder: Path) -> bytes:
    """Return the key in a folder of this user's that no other user may enter."""
    found = folder.lstat()
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return read_plain(folder / KEY, KEY_BYTES) if own else b""
