# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings as their importers read them, stored once for each content of a file and of the importers."""

import hashlib
from functools import cache
from pathlib import Path

from lab import paths
from lab.cache import publish
from lab.traces import importers, recording
from lab.traces.datasets import dataset, path_of
from lab.traces.importers import stored
from lab.traces.importers.importer import Head


def imported(path: Path, format: str | None = None) -> Path:  # noqa: A002
    """Return the stored recording of a file, importing it where that has not been done."""
    if format is None and stored.fits(Head(path)):
        return path
    with path.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()
    name = hashlib.sha256(f"{content} {format} {_importers()}".encode()).hexdigest()[:16]
    folder = paths.cache() / f"recording-{name}"
    with publish(folder) as draft:
        if draft:
            recording.write(importers.read(path, format), draft / "recording.parquet")
    return folder / "recording.parquet"


def imported_dataset(name: str) -> Path:
    """Return the stored recording of a fetched dataset; UserError says what to fetch."""
    return imported(path_of(name), dataset(name).own.format)


@cache
def _importers() -> str:
    """Digest the code that reads recordings: what an older one stored is imported again."""
    digest = hashlib.sha256()
    for file in sorted((Path(importers.__file__).parent).glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
