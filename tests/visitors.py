# SPDX-License-Identifier: GPL-2.0-or-later
"""Small visitors of the tests' own."""

from pathlib import Path

import yaml

from tests.recordings import COMMIT, sha256

CONTENT = b"static int old_api;\n"


def stanza(**changes: object) -> dict[str, object]:
    """Build a visitor of one file; None leaves a field out."""
    fields = {
        "label": "Mine",
        "slow_start": "doubles",
        "repository": "someone/somewhere",
        "commit": COMMIT,
        "licence": "GPL-2.0-only",
        "attribution": "nobody",
        "files": {"mine.c": {"path": "src/tcp_mine.c", "bytes": len(CONTENT), "sha256": sha256(CONTENT)}},
        "edits": [{"file": "mine.c", "find": "old_api", "replace": "new_api", "why": "Linux 6.12"}],
        "algorithm": "mine",
        "slow_start_exit": "own",
        "exit_label": "its own",
    }
    return {name: value for name, value in (fields | changes).items() if value is not None}


def written(folder: Path, name: str = "mine", **changes: object) -> Path:
    """Write a visitor's file into a folder of the user's."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.yml"
    file.write_text(yaml.safe_dump(stanza(**changes)))
    return file
