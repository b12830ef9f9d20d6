# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of the report: each is whole or not there, whatever stops the writing."""

from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write to another name in the same folder, then rename."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
