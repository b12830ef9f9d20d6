# SPDX-License-Identifier: GPL-2.0-or-later
"""Small collections of the tests' own."""

import hashlib

from lab.schema.dataset import Collections
from lab.traces.datasets import Dataset, by_name

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def stanza(files: dict[str, bytes], **changes: object) -> dict[str, object]:
    """Build a collection of files with these contents."""
    entries = {name: {"bytes": len(content), "sha256": sha256(content)} for name, content in files.items()}
    return {
        "link": "a link of the tests",
        "repository": "someone/somewhere",
        "commit": COMMIT,
        "path": "data/{file}",
        "licence": "CC0-1.0",
        "attribution": "nobody",
        "recorded": ["rtt"],
        "holds": "a few numbers",
        "files": entries,
        "documents": {},
    } | changes


def collection(files: dict[str, bytes], **changes: object) -> list[Dataset]:
    """Return the datasets of a collection named `mine`."""
    return list(by_name(Collections.model_validate({"mine": stanza(files, **changes)}).root).values())
