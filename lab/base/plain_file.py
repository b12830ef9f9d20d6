# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a user: plain files only, because a device or a pipe may never end."""

from pathlib import Path

from lab.base.errors import UserError, field_error

MEGABYTE = 1_000_000


def require_plain(path: Path) -> None:
    """Refuse what is no plain file, before it is opened: opening a pipe would wait for its writer."""
    try:
        found = path.exists()
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}: must be a readable file") from None
    if found and not path.is_file():
        raise UserError(f"{path}: must be a plain file, no folder, pipe or device")


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Read a plain file of bounded size; UserError where it is another one, OSError where it cannot be read."""
    require_plain(path)
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise field_error(path, "bytes", path.stat().st_size, f"at most {most_bytes}")
    return content
